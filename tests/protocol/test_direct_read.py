"""Reading an event in one step has the same result as parsing its JSON and reading that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.protocol.bindings import grpc, jsonrpc, rest
from inspector.protocol.bindings.base import Binding
from inspector.protocol.dialects.registry import ALL, EXPERIMENTAL
from inspector.protocol.dialects.v1_0 import DIALECT
from inspector.protocol.jsonvalue import MOST_CONTAINERS
from inspector.protocol.model import Event, Unreadable
from inspector.protocol.operations import Operation

BINDINGS = (jsonrpc.BINDING, rest.BINDING)
UPDATE: dict[str, Any] = {
    "taskId": "t",
    "contextId": "c",
    "artifact": {"artifactId": "a", "name": "é", "parts": [{"text": "one\u2028two", "mediaType": "text/plain"}]},
    "append": True,
    "metadata": {"number": 1.5, "deep": [{"a": None}], "large": 10**30},
}
MESSAGE = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"data": None}, {"text": ""}], "extensions": ["urn:x"]}
STATUS = {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T12:00:00Z", "message": MESSAGE}
EVENTS: dict[str, Any] = {
    "artifactUpdate": UPDATE,
    "statusUpdate": {"taskId": "t", "contextId": "c", "status": STATUS},
    "task": {"id": "t", "status": STATUS, "artifacts": [UPDATE["artifact"]], "history": [MESSAGE], "metadata": {}},
    "message": MESSAGE,
}
ODD_JSON = (
    *(b"null", b"true", b"0", b"-0", b"-0.0", b"1e400", b"-1e400", b"1" * 5_000, b"NaN", b"-Infinity", b"Infinity"),
    *(b'""', b'"x"', b'"\\ud800"', b'"\\udc00"', b'"\\ud83d\\ude00"', b'"\\u0000"', b'"\xff"', b'"NaN Infinity"'),
    *(b"[]", b"{}", b'{"a":1,"a":2}', b"[" * 190 + b"]" * 190, b"[" * 250 + b"]" * 250, b"[1,]", b"01", b""),
    *(json.dumps(value).encode() for value in (MESSAGE, STATUS, UPDATE, [MESSAGE], [None], ["x"])),
)


def written(event: Any, binding: Binding) -> bytes:
    value = {"jsonrpc": "2.0", "id": "the-id", "result": event} if binding is jsonrpc.BINDING else event
    return json.dumps(value, ensure_ascii=False).encode()


def read_in_two_steps(binding: Binding, raw: bytes) -> object:
    value = binding.read(DIALECT, Operation.STREAM, raw)
    return value if isinstance(value, Unreadable) else binding.decode_item(DIALECT, value)


def check(binding: Binding, raw: bytes) -> None:
    """Check that an event that is read in one step is the same, down to the members that are set."""
    event = binding.read_event(DIALECT, raw)
    if event is None:
        return
    expected = read_in_two_steps(binding, raw)
    assert isinstance(expected, type(event)), raw
    # NaN would not be equal to itself, but is never read.
    assert event == expected
    assert list(event.to_json()) == list(expected.to_json())
    assert event.dump_json() == expected.dump_json()


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda binding: binding.name)
@pytest.mark.parametrize("name", EVENTS)
def test_each_type_of_event_is_read_in_one_step(binding: Binding, name: str):
    raw = written({name: EVENTS[name]}, binding)
    assert isinstance(binding.read_event(DIALECT, raw), Event)
    check(binding, raw)


@st.composite
def changed(draw: st.DrawFn) -> tuple[Binding, bytes]:
    """Return an event in which some names, values or bytes were replaced."""
    binding = draw(st.sampled_from(BINDINGS))
    name = draw(st.sampled_from(sorted(EVENTS)))
    raw = written({name: EVENTS[name]}, binding)
    for _ in range(draw(st.integers(1, 3))):
        how = draw(st.sampled_from(["value", "member", "bytes"]))
        if how == "bytes":
            at, cut = draw(st.integers(0, len(raw))), draw(st.integers(0, 3))
            raw = raw[:at] + draw(st.binary(max_size=3)) + raw[at + cut :]
            continue
        colons = [at for at in range(len(raw)) if raw.startswith(b": ", at)]
        if not colons:
            continue
        at = draw(st.sampled_from(colons)) + 2
        odd = draw(st.sampled_from(ODD_JSON))
        if how == "value":
            end = raw.find(b",", at) if draw(st.booleans()) else raw.find(b"}", at)
            raw = raw[:at] + odd + (raw[end:] if end > 0 else b"")
        else:
            begin = raw.rfind(b'"', 0, raw.rfind(b'"', 0, at))
            member = draw(st.sampled_from([raw[begin:at], b'"result": ', b'"error": ', b'"task": ', b'"vendor": ']))
            raw = raw[:begin] + member + odd + b", " + raw[begin:]
    return binding, raw


@given(changed())
@settings(max_examples=1_000)
def test_what_is_read_in_one_step_is_the_same(case: tuple[Binding, bytes]):
    check(*case)


@pytest.mark.parametrize("odd", ODD_JSON, ids=lambda odd: repr(odd[:20]))
@pytest.mark.parametrize("place", ["metadata", "number", "text", "taskId", "before", "after"])
def test_odd_values_are_read_as_in_two_steps(odd: bytes, place: str):
    for binding in BINDINGS:
        raw = written({"artifactUpdate": UPDATE}, binding)
        if place in ("before", "after"):
            at = raw.index(b'"artifactUpdate"') if place == "before" else raw.index(b"}", -1)
            raw = raw[:at] + (b'"vendor":%b,' if place == "before" else b',"vendor":%b') % odd + raw[at:]
        else:
            begin = raw.index(f'"{place}": '.encode()) + len(place) + 4
            raw = raw[:begin] + odd + b',"vendor":' + raw[begin:]
        check(binding, raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'{"result":{}}',
        b'{"result":null}',
        b'{"result":{"task":{"id":"t"},"message":{}}}',
        b'{"result":{"task":null,"message":{}}}',
        b'{"result":{"task":{"id":"t"}},"error":{"code":-32603,"message":"x"}}',
        b'{"error":null,"result":{"task":{"id":"t"}},"error":{"code":-32603,"message":"x"}}',
        b'{"error":{"code":-32603,"message":"x"},"result":{"task":{"id":"t"}},"error":null}',
        b'{"result":{"task":{"id":5}},"result":{"task":{"id":"t"}}}',
        b'{"result":{"task":{"id":"t"}},"result":{"task":{"id":5}}}',
        b'{"result":{"message":{}},"result":{"task":{"id":"t"}}}',
        b'{"result":{"task":{"id":"t","id":"u","vendor":1,"vendor":2}}}',
        b'{"task":{"id":"t"},"task":null}',
        b'{"task":{"id":"t"},"jsonrpc":"2.0"}',
        b'{"message":"x"}',
        b'\xef\xbb\xbf{"task":{"id":"t"}}',
        b'{"task":{"id":"t"}} {}',
        b' \r\n{"task":{"id":"t"}}\t',
    ],
)
def test_envelopes_are_read_as_in_two_steps(raw: bytes):
    for binding in BINDINGS:
        check(binding, raw)


@given(st.floats(allow_nan=False) | st.integers() | st.text())
@example("NaN")
@example("\x7f\u2028")
def test_values_are_the_same(value: Any):
    for binding in BINDINGS:
        raw = written({"message": MESSAGE | {"metadata": {"value": value}}}, binding).replace(b"Infinity", b"1e999")
        check(binding, raw)


def test_numbers_that_are_not_json_are_left_to_the_parser():
    for constant in (b"NaN", b"Infinity", b"-Infinity"):
        assert rest.BINDING.read_event(DIALECT, b'{"message":{"metadata":{"a":%b}}}' % constant) is None


def test_a_large_event_is_left_to_the_parser_which_has_a_limit():
    raw = b'{"message":{"metadata":{"a":[%b0]}}}' % (b"[]," * MOST_CONTAINERS)
    assert rest.BINDING.read_event(DIALECT, raw) is None
    assert isinstance(read_in_two_steps(rest.BINDING, raw), Unreadable)


def test_only_versions_with_the_json_of_1_0_are_read_in_one_step():
    raw = written({"task": EVENTS["task"]}, jsonrpc.BINDING)
    reading = {dialect.version for dialect in (*ALL, *EXPERIMENTAL) if jsonrpc.BINDING.read_event(dialect, raw)}
    assert reading == {"1.0", "1.1", "opvs"}
    assert grpc.BINDING.read_event(DIALECT, raw) is None
