"""Recorded gRPC and HTTP+JSON of official SDKs is read and written back unchanged; also OPVS, rejections and pings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import ROOT, HttpMessage, dialect_of, exchanges, name_of, payloads, pinged, proto_messages, recordings

from inspector.protocol.bindings import jsonrpc
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import opvs, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Message, Part, Task, TaskStatusUpdateEvent, Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import Decoder

WRAPPERS = {"task", "message", "statusUpdate", "artifactUpdate"}

NOT_PROTO_JSON = {
    "10/grpc/errors_matrix": "a table of statuses",
    "opvs/grpc/paths": "a table of methods",
}
"""The gRPC recordings without a message."""

GRPC = [path for path in recordings("grpc") if name_of(path) not in NOT_PROTO_JSON]


@pytest.mark.parametrize("path", GRPC, ids=name_of)
def test_every_grpc_request_is_read_and_written_back_as_it_was(path: Path) -> None:
    dialect = dialect_of(path)
    messages = [message for message in proto_messages(path) if message.sent]
    assert messages
    for message in messages:
        operation = message.operation(dialect)
        request = dialect.decode_request(operation, message.value)
        assert not isinstance(request, Unreadable), request
        assert settled(dialect.encode_request(operation, request)) == settled(message.value)


def settled(value: Any) -> Any:
    """Leave out what protobuf does not send: members that are empty, and false."""
    match value:
        case dict():
            kept = {name: settled(member) for name, member in value.items()}
            return {name: member for name, member in kept.items() if member not in (None, False, "", {}, [])}
        case list():
            return [settled(item) for item in value]
        case _:
            return value


@pytest.mark.parametrize("path", GRPC, ids=name_of)
def test_every_grpc_response_is_read_and_written_back_as_it_was(path: Path) -> None:
    dialect = dialect_of(path)
    for message in proto_messages(path):
        if message.sent:
            continue
        operation = message.operation(dialect)
        if operation in STREAMING:
            event = dialect.decode_event(message.value)
            assert not isinstance(event, Unreadable), event
            assert dialect.encode_event(event) == message.value
        else:
            result = dialect.decode_result(operation, message.value)
            assert not isinstance(result, Unreadable), result
            assert settled(dialect.encode_result(operation, result) or {}) == settled(message.value)


def test_the_recordings_contain_the_operations_of_every_service() -> None:
    said_by = [(dialect_of(path), message) for path in GRPC for message in proto_messages(path)]
    seen = {(dialect.version, message.operation(dialect)) for dialect, message in said_by}
    assert {operation for version, operation in seen if version == "1.0"} == set(Operation)
    assert {operation for version, operation in seen if version == "0.3"} == set(v0_3_proto.SERVICE.methods) - {
        Operation.LIST_PUSH,
        Operation.DELETE_PUSH,
    }


@pytest.mark.parametrize("path", recordings("rest"), ids=name_of)
def test_every_event_over_rest_is_read_and_written_back_as_it_was(path: Path) -> None:
    dialect = dialect_of(path)
    for exchange in exchanges(path):
        for value in map(parse, rest_payloads(exchange.response)):
            if isinstance(value, dict) and len(value) == 1 and value.keys() <= WRAPPERS:
                inner = next(iter(value.values()))
                if not isinstance(inner, dict):  # `{"message": "..."}` is an error
                    continue
                event = dialect.decode_event(value)
                assert not isinstance(event, Unreadable), event
                assert dialect.encode_event(event) == value


def rest_payloads(response: HttpMessage) -> list[bytes]:
    if response.is_stream:
        return [frame.data for frame in Decoder().feed(response.body) if frame.data is not None]
    return [response.body]


def outcome(path: Path) -> Any:
    dialect = dialect_of(path)
    answers = [message for message in proto_messages(path) if not message.sent]
    return dialect.decode_event(answers[0].value)


@pytest.mark.parametrize("name", ["send_data", "send_fail", "send_url", "send_unicode", "send_task_hi", "send_reject"])
def test_a_task_over_grpc_is_read_equally_in_0_3_and_1_0(name: str) -> None:
    old, new = (outcome(ROOT / version / "grpc" / f"{name}.txt") for version in ("03", "10"))
    assert isinstance(old, Task)
    assert old.status.state == new.status.state
    assert [said(message) for message in old.history or []] == [said(message) for message in new.history or []]
    assert [content(artifact.parts) for artifact in old.artifacts or []] == [
        content(artifact.parts) for artifact in new.artifacts or []
    ]


def content(parts: list[Part]) -> list[Any]:
    return [(part.content, getattr(part, part.content)) for part in parts]


def said(message: Message) -> Any:
    return message.role, content(message.parts)


# ── OPVS, refusals, keep-alives ──


@pytest.mark.parametrize("path", recordings("raw"), ids=name_of)
def test_the_responses_of_an_opvs_agent_are_read(path: Path) -> None:
    values = payloads(path)
    assert values
    for value in values:
        if "supportedInterfaces" in value:
            assert isinstance(opvs.DIALECT.decode_card(value), AgentCard)
        elif "jsonrpc" in value:
            item = jsonrpc.decode_item(opvs.DIALECT, value)
            assert isinstance(item, ProtocolError) == ("error" in value), item
            assert not isinstance(item, Unreadable)
        elif "error" not in value:
            assert isinstance(opvs.DIALECT.decode_event(value), Message)


@pytest.mark.parametrize("path", sorted((ROOT / "nocaps").glob("*_unsupported.txt")), ids=name_of)
def test_a_rejection_is_an_error(path: Path) -> None:
    dialect: Dialect = v0_3.DIALECT if path.name.startswith("03") else v1_0.DIALECT
    for value in payloads(path):
        if "jsonrpc" in value:
            answer = jsonrpc.decode_item(dialect, value)
            inline = path.stem == "10_inline_push_unsupported"  # accepted in silence, although it cannot push
            assert isinstance(answer, Task if inline else ProtocolError), answer


@pytest.mark.parametrize("path", sorted((ROOT / "ping").glob("*.txt")), ids=name_of)
def test_a_stream_with_pings_contains_the_events_between_them(path: Path) -> None:
    dialect = v1_0.DIALECT if "10" in path.stem else v0_3.DIALECT
    response = pinged(path)
    assert response.complete
    events = [jsonrpc.decode_item(dialect, parse(frame)) for frame in response.frames]
    assert isinstance(events[0], Task)
    assert isinstance(events[-1], TaskStatusUpdateEvent)
    assert events[-1].status.state == "TASK_STATE_COMPLETED"
