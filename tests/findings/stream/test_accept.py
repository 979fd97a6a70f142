"""Accepted events violate no rule: checked with valid events, and with changed events."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.findings.payload import content
from inspector.findings.rule_set import HINT, Violation
from inspector.findings.stream.accept import Acceptor, covers_all_rules
from inspector.findings.transport.judge import judge_payload
from inspector.findings.transport.payload import Payload
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.content import Content
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import Operation

_PART, _OLD_PART = {"text": "hello", "mediaType": "text/plain"}, {"kind": "text", "text": "hello"}
_MESSAGE = {"messageId": "m", "role": "ROLE_AGENT", "parts": [_PART, {"data": {"a": None}}], "taskId": "t"}
_OLD_MESSAGE = {"kind": "message", "messageId": "m", "role": "agent", "parts": [_OLD_PART]}
_STATUS = {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T12:00:00.123Z", "message": _MESSAGE}
_OLD_STATUS = {"state": "working", "timestamp": "2026-01-31T12:00:00Z", "message": _OLD_MESSAGE}
_IDS = {"taskId": "t", "contextId": "c"}
_ARTIFACT = {"artifactId": "a", "name": "report", "parts": [_PART]}
_PROTO_MESSAGE = {"messageId": "m", "role": "ROLE_AGENT", "content": [{"text": "hello"}]}
_V1: list[dict[str, Any]] = [
    {"task": {"id": "t", "contextId": "c", "status": _STATUS}},
    {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [_PART], "metadata": {"a": [1]}}},
    {"statusUpdate": {**_IDS, "status": _STATUS}},
    {"artifactUpdate": {**_IDS, "artifact": _ARTIFACT, "append": True, "lastChunk": False, "metadata": {"n": 1.5}}},
]
_V0_3: list[dict[str, Any]] = [
    {"kind": "task", "id": "t", "contextId": "c", "status": _OLD_STATUS},
    _OLD_MESSAGE,
    {"kind": "status-update", **_IDS, "status": _OLD_STATUS, "final": False},
    {"kind": "artifact-update", **_IDS, "artifact": {"artifactId": "a", "parts": [_OLD_PART]}, "append": True},
]
_PROTO_0_3: list[dict[str, Any]] = [
    {"statusUpdate": {**_IDS, "status": {"state": "TASK_STATE_WORKING", "update": _PROTO_MESSAGE}, "final": False}},
    {"artifactUpdate": {**_IDS, "artifact": {"artifactId": "a", "parts": [{"text": "hello"}]}}},
    {"msg": _PROTO_MESSAGE},
]
_V0_1: list[dict[str, Any]] = [
    {"id": "t", "status": {"state": "working"}, "final": False},
    {"id": "t", "artifact": {"parts": [{"type": "text", "text": "hello"}], "index": 0, "append": True}},
]
_EVENTS = [
    (version, binding, event)
    for versions, bindings, events in (
        (("1.0", "opvs", "1.1"), ("JSONRPC", "HTTP+JSON", "GRPC"), _V1),
        (("0.3", "0.2"), ("JSONRPC",), _V0_3),
        (("0.3", "0.2"), ("HTTP+JSON", "GRPC"), _PROTO_0_3),
        (("0.1",), ("JSONRPC",), _V0_1),
    )
    for version in versions
    for binding in bindings
    for event in events
    if for_request(version, binding)
]
_REPLACEMENTS: list[Any] = [
    *(None, "", " ", "x", 0, 1.0, True, [], {}, [None], ["x"], {"a": 1}, 10**20),
    *("ROLE_USER", "user", "TASK_STATE_AUTH_REQUIRED", "working", "message"),
    *(
        "2026-02-30T00:00:00Z",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00:00+01:00",
        "yesterday",
        "2026-01-31T12:00:00.1Z",
    ),
    *("text/plain; charset=utf-8", "aGVsbG8=", "not base64!", "https://example.com/a", "hello.txt"),
    *(copy.deepcopy(value) for value in (_PART, _MESSAGE, _ARTIFACT, [_ARTIFACT, _ARTIFACT], [_MESSAGE], {"uri": "x"})),
]
_NAMES = (
    *("id", "taskId", "contextId", "messageId", "role", "parts", "content", "text", "raw", "url", "data", "file"),
    *("kind", "type", "status", "state", "timestamp", "message", "artifact", "artifacts", "history", "final"),
    *("append", "lastChunk", "mediaType", "mimeType", "metadata", "extensions", "generation", "task_id", "mood"),
)


def payload(version: str, binding: str, event: Any, text: str = "") -> Payload:
    dialect, wire = for_request(version, binding), BINDINGS[binding]
    assert dialect is not None
    whole = {"jsonrpc": "2.0", "id": "1", "result": event} if binding == "JSONRPC" else event
    raw = (text or json.dumps(whole)).encode()
    answer = wire.decode_item(dialect, whole)
    media_type = "text/event-stream"
    return Payload(
        binding, Operation.STREAM, version, "1", 200, media_type, True, whole, answer, raw if wire.uses_sse else b""
    )


def is_accepted(sent: Payload) -> bool:
    content = Content(sent.raw, sent.answer, parse, sent.value)
    return Acceptor(sent.version, BINDINGS[sent.binding], sent.request_id).accepts(content)


@pytest.mark.parametrize(("version", "binding", "event"), _EVENTS)
def test_valid_events_of_each_version_are_accepted(version: str, binding: str, event: Any):
    assert judge_payload(payload(version, binding, event)) == ()
    assert is_accepted(payload(version, binding, event))


def objects_in(value: Any) -> list[Any]:
    """Return every object and array in a value, and the value itself."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for item in inner if isinstance(item, dict | list) for found in objects_in(item))]


@st.composite
def changed_events(draw: st.DrawFn) -> tuple[str, str, Any]:
    """Return an event with up to three members that were replaced, removed or added."""
    version, binding, event = draw(st.sampled_from(_EVENTS))
    event = copy.deepcopy(event)
    for _ in range(draw(st.integers(1, 3))):
        holder = draw(st.sampled_from(objects_in(event)))
        new = copy.deepcopy(draw(st.sampled_from(_REPLACEMENTS)))
        if isinstance(holder, list):
            holder.append(new)
        elif holder and draw(st.booleans()):
            name = draw(st.sampled_from(sorted(holder)))
            if draw(st.booleans()):
                holder[name] = new
            else:
                del holder[name]
        else:
            holder[draw(st.sampled_from(_NAMES))] = new
    return version, binding, event


@given(changed_events())
@settings(max_examples=examples(600))
def test_accepted_events_violate_no_rule(case: tuple[str, str, Any]):
    sent = payload(*case)
    if is_accepted(sent):
        assert judge_payload(sent) == ()
        assert not isinstance(sent.answer, Unreadable)


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":"1","result":%s,"id":"1"}',
        '{"jsonrpc":"2.0","id" :"1","id":"1","result":%s}',
        '{"jsonrpc":"2.0","id"  :"0","id":"1","result":%s}',
        '{"jsonrpc":"2.0","id"\n:"1","id":"1","result":%s}',
    ],
)
def test_a_repeated_name_is_not_accepted(text: str):
    written = text % json.dumps(_V1[0])
    assert not is_accepted(payload("1.0", "JSONRPC", _V1[0], written))
    assert [finding.rule for finding in judge_payload(payload("1.0", "JSONRPC", _V1[0], written))] == ["DATA-023"]


def test_a_text_that_looks_like_names_is_not_a_repeated_name():
    event = {"message": {**_MESSAGE, "parts": [{"text": 'he said: "a":1, "a" :2'}]}}
    assert judge_payload(payload("1.0", "JSONRPC", event)) == ()


def test_a_rule_that_was_added_later_is_checked(monkeypatch: pytest.MonkeyPatch):
    assert covers_all_rules()
    monkeypatch.setattr(content.RULE_SET, "rules", [*content.RULE_SET.rules])
    monkeypatch.setattr(content.RULE_SET, "_declared", [])

    @content.RULE_SET.rule("DATA-999", HINT, "t", section="s", requirement="r", remedy="r", failing={})
    def rule(_: object) -> Iterator[Violation]:
        yield Violation("", "seen")

    assert not covers_all_rules()
