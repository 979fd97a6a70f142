"""The protocol version of a value is detected from its members."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from recordings import dialect_of, exchanges, name_of, recordings
from strategies import json_values, protocol_json

from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        # parts
        ({"type": "text", "text": "a"}, "0.1"),
        ({"kind": "text", "text": "a"}, "0.3"),
        ({"file": {"fileWithBytes": "QQ=="}}, "0.3"),
        ({"text": "a"}, "1.0"),
        ({"raw": "QQ=="}, "1.0"),
        ({"data": {"kind": "text"}}, ""),
        # messages
        ({"role": "user", "parts": [{"type": "text", "text": "a"}]}, "0.1"),
        ({"role": "user", "parts": [{"kind": "text", "text": "a"}]}, "0.3"),
        ({"role": "user", "messageId": "m", "parts": []}, "0.3"),
        ({"role": "ROLE_USER", "content": [{"text": "a"}]}, "0.3"),
        ({"role": "ROLE_USER", "parts": [{"text": "a"}]}, "1.0"),
        ({"role": "user"}, ""),
        # events
        ({"kind": "status-update", "status": {"state": "working"}}, "0.3"),
        ({"statusUpdate": {"status": {"state": "TASK_STATE_WORKING"}}}, "1.0"),
        ({"statusUpdate": {"status": {"state": "TASK_STATE_CANCELLED"}}}, "0.3"),
        ({"message": {"role": "ROLE_AGENT", "content": []}}, "0.3"),
        ({"task": {}}, "1.0"),
        ({"id": "t", "status": {"state": "working"}, "final": False}, "0.1"),
        ({"id": "t", "artifact": {"parts": []}}, "0.1"),
        ({"id": "t", "sessionId": "s", "status": {}}, "0.1"),
        ({"artifacts": [{"parts": [], "index": 0}]}, "0.1"),
        ({"artifacts": [{"artifactId": "a", "parts": [], "index": 0}]}, ""),
        # cards
        ({"supportedInterfaces": []}, "1.0"),
        ({"url": "u", "skills": [], "protocolVersion": "0.3.0"}, "0.3"),
        ({"url": "u", "protocolVersion": "0.2.6"}, "0.2"),
        ({"url": "u", "preferredTransport": "GRPC"}, "0.2"),
        ({"url": "u", "skills": [], "authentication": {"schemes": []}}, "0.1"),
        ({"url": "u", "skills": []}, ""),
        # nothing
        ({}, ""),
        ({"kind": "banana"}, ""),
        ({"kind": 5, "type": [], "role": {}, "state": 7, "file": "f"}, ""),
        ({"metadata": {"kind": "task"}}, ""),
        (None, ""),
        ("task", ""),
    ],
)
def test_the_version_of_a_value_is_detected(value: Any, shape: str) -> None:
    assert looks_like(value) == shape


def test_an_unreadable_value_has_the_version_of_its_format() -> None:
    old = {"id": "t", "status": {"state": "working"}, "final": False}
    for dialect in (v1_0.DIALECT, v0_3.DIALECT):
        read = dialect.decode_event(old)
        assert isinstance(read, Unreadable)
        assert read.why.endswith("; found the format of 0.1")
    new = v0_3.DIALECT.decode_event({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}})
    assert isinstance(new, Unreadable)
    assert new.why.endswith("; found the format of 1.0")


SHAPES = {"0.1": "0.1", "0.2": "0.3", "0.3": "0.3", "1.0": "1.0"}
"""0.2 spells what goes over the wire as 0.3 does."""


@pytest.mark.parametrize("path", recordings("jsonrpc"), ids=name_of)
def test_every_recorded_event_has_the_format_of_its_version_or_none(path: Any) -> None:
    due = SHAPES[dialect_of(path).version]
    for exchange in exchanges(path):
        for frame in exchange.response.frames if exchange.response.is_stream else []:
            result = parse(frame).get("result")
            assert looks_like(result) in (due, "" if result is None else due)


@given(value=protocol_json | json_values)
@settings(max_examples=examples(200))
def test_any_json_can_be_examined(value: Any) -> None:
    assert looks_like(value) in ("", "0.1", "0.2", "0.3", "1.0")


@given(st.integers(min_value=2000, max_value=5000))
@settings(max_examples=3)
def test_only_the_beginning_of_a_huge_value_is_examined(size: int) -> None:
    parts = [{"data": {}} for _ in range(size)] + [{"kind": "text", "text": "late"}]
    assert looks_like({"parts": parts}) == ""
