"""Decoding any JSON returns a value without an exception, and this value can be written again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from recordings import exchanges, recordings
from strategies import json_values, name_of_dialect, protocol_json

from inspector.protocol.bindings import jsonrpc
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import registry
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import (
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
    Wire,
)
from inspector.protocol.operations import REQUESTS, Operation

EVENTS = (Task, Message, TaskStatusUpdateEvent, TaskArtifactUpdateEvent)
KINDS = ("task", "message", "status-update", "artifact-update")
dialects = pytest.mark.parametrize("dialect", registry.ALL, ids=name_of_dialect)
many = settings(max_examples=examples(60))


def answered() -> list[Any]:
    """Collect the payloads that the recorded agents and clients sent: good JSON to damage."""
    bodies: list[bytes] = []
    for exchange in (exchange for path in recordings("jsonrpc") for exchange in exchanges(path)):
        bodies += [exchange.request.body, *(exchange.response.frames or [exchange.response.body])]
    values = [value for value in map(parse, bodies) if isinstance(value, dict)]
    return [value.get("result") or value.get("params") or value for value in values]


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for step, member in members for place in places(member, (*here, step)))]


def put(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    copy = value.copy()
    copy[place[0]] = put(copy[place[0]], place[1:], other)
    return copy


@st.composite
def damaged_payloads(draw: st.DrawFn) -> Any:
    """Good JSON with one value in it replaced."""
    payload = draw(st.sampled_from(PAYLOADS))
    return put(payload, draw(st.sampled_from(places(payload))), draw(protocol_json))


PAYLOADS = answered()
damaged = damaged_payloads()


def refused(read: Any, value: Any) -> bool:
    """Say whether a value was refused, in one line of words and with the value itself."""
    if not isinstance(read, Unreadable):
        return False
    assert read.why
    assert "\n" not in read.why
    assert len(read.why) < 400
    assert read.value is value
    return True


def rewritten(value: Any) -> None:
    """Writing it, and reading what was written, works."""
    assert not isinstance(parse(dump(value)), Unreadable)


@dialects
@given(value=protocol_json | damaged, kind=st.sampled_from(KINDS))
@many
def test_any_json_is_an_event_or_unreadable(dialect: Dialect, value: Any, kind: str) -> None:
    wrapped = {"task": value}, {"artifactUpdate": value}, {"statusUpdate": value}, {"message": value}
    kinded = value | {"kind": kind} if isinstance(value, dict) else value
    for sent in (value, kinded, *wrapped):
        for read in (dialect.decode_event(sent), dialect.decode_push(sent)):
            if not refused(read, sent):
                assert isinstance(read, EVENTS)
                for other in registry.ALL:
                    assert all(pointer == "" or pointer[0] == "/" for pointer in other.unsupported_members(read))
                    rewritten(other.encode_event(read))
                    rewritten(other.encode_push(read))


@dialects
@given(value=protocol_json | damaged)
@many
def test_any_json_is_a_card_or_unreadable(dialect: Dialect, value: Any) -> None:
    read = dialect.decode_card(value)
    if not refused(read, value):
        assert isinstance(read, AgentCard)
        for other in registry.ALL:
            rewritten(other.encode_card(read))
    assert isinstance(registry.read_card(value)[0], AgentCard | Unreadable)


@dialects
@given(value=protocol_json | damaged, operation=st.sampled_from(Operation))
@many
def test_any_json_is_a_request_or_unreadable(dialect: Dialect, operation: Operation, value: Any) -> None:
    read = dialect.decode_request(operation, value)
    if not refused(read, value):
        assert isinstance(read, REQUESTS[operation])
        for other in registry.ALL:
            rewritten(other.encode_request(operation, read))


@dialects
@given(value=protocol_json | damaged, operation=st.sampled_from(Operation))
@many
def test_any_json_is_a_result_or_unreadable(dialect: Dialect, operation: Operation, value: Any) -> None:
    read = dialect.decode_result(operation, value)
    if not refused(read, value):
        assert isinstance(read, Wire)
        for other in registry.ALL:
            rewritten(other.encode_result(operation, read))


@dialects
@given(value=protocol_json | json_values, operation=st.sampled_from(Operation))
@many
def test_any_json_is_an_answer_an_error_or_unreadable(dialect: Dialect, value: Any, operation: Operation) -> None:
    for sent in (value, {"jsonrpc": "2.0", "result": value}, {"jsonrpc": "2.0", "error": value}):
        assert isinstance(jsonrpc.decode_answer(dialect, operation, 200, sent), Wire | ProtocolError | Unreadable)
        assert isinstance(jsonrpc.decode_item(dialect, sent), Wire | ProtocolError | Unreadable)


@given(value=protocol_json | json_values)
@many
def test_any_json_is_a_call_or_an_error(value: Any) -> None:
    for sent in (
        value,
        {"jsonrpc": "2.0", "method": value, "id": value},
        {"jsonrpc": "2.0", "method": "m", "id": value},
    ):
        assert isinstance(jsonrpc.decode_call(sent), jsonrpc.Call | ProtocolError)


@given(value=json_values)
@many
def test_any_version_text_has_a_dialect_or_none(value: Any) -> None:
    assert registry.for_version(str(value)) in (None, *registry.DIALECTS.values())
