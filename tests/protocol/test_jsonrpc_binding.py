"""The JSON-RPC binding: valid envelopes are opened, invalid envelopes are unreadable with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from inspector.protocol.bindings import jsonrpc, registry
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_1, v0_3, v1_0
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import (
    Deleted,
    ExtendedCardRequest,
    Message,
    Part,
    PushConfigRequest,
    SendRequest,
    Task,
    TaskRequest,
    Unreadable,
)
from inspector.protocol.operations import Operation

V1, V03 = v1_0.DIALECT, v0_3.DIALECT
HELLO = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(text="hé")]))


def test_the_binding_has_its_name_on_cards() -> None:
    assert registry.BINDINGS["JSONRPC"] is jsonrpc.BINDING


def test_a_call_of_1_0_is_a_post_of_exactly_these_bytes() -> None:
    request = jsonrpc.BINDING.encode("http://h/rpc", V1, Operation.SEND, HELLO, "id-1")
    assert (request.method, request.url) == ("POST", "http://h/rpc")
    assert request.headers == {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "A2A-Version": "1.0",
    }
    assert (
        request.body
        == (
            '{"jsonrpc":"2.0","id":"id-1","method":"SendMessage","params":'
            '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hé"}]}}}'
        ).encode()
    )


def test_a_streaming_call_of_0_3_accepts_an_event_stream_and_has_no_version_header() -> None:
    request = jsonrpc.BINDING.encode("http://h", V03, Operation.STREAM, HELLO, "id-1")
    assert request.headers == {"Content-Type": "application/json", "Accept": "text/event-stream"}
    assert parse(request.body) == {
        "jsonrpc": "2.0",
        "id": "id-1",
        "method": "message/stream",
        "params": {
            "message": {
                "kind": "message",
                "messageId": "m",
                "role": "user",
                "parts": [{"kind": "text", "text": "hé"}],
            }
        },
    }


def test_a_call_without_parameters_has_no_params_in_0_3() -> None:
    body = jsonrpc.BINDING.encode("u", V03, Operation.EXTENDED_CARD, ExtendedCardRequest(), "1").body
    assert parse(body) == {"jsonrpc": "2.0", "id": "1", "method": "agent/getAuthenticatedExtendedCard"}
    body = jsonrpc.BINDING.encode("u", V1, Operation.EXTENDED_CARD, ExtendedCardRequest(), "1").body
    assert parse(body)["params"] == {}


@pytest.mark.parametrize("operation", [Operation.GET, Operation.CANCEL, Operation.SUBSCRIBE])
def test_a_server_reads_the_request_of_a_client(operation: Operation) -> None:
    for dialect in (V1, V03):
        sent = jsonrpc.BINDING.encode("u", dialect, operation, TaskRequest(id="t"), "7")
        call = jsonrpc.decode_call(parse(sent.body))
        assert call == jsonrpc.Call(dialect.methods[operation], {"id": "t"}, "7")
        assert dialect.decode_request(operation, {"id": "t"}) == TaskRequest(id="t")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([], "expected a JSON-RPC response (an object), found an array"),
        ([{"jsonrpc": "2.0", "id": 1, "result": {}}], "found an array"),
        ("ok", "found a string"),
        (None, "found null"),
        ({}, "neither result nor error"),
        ({"jsonrpc": "2.0", "id": 1}, "neither result nor error"),
        ({"jsonrpc": "2.0", "id": 1, "error": None}, "neither result nor error"),
        ({"detail": "Not Found"}, "neither result nor error"),
        ({"error": "boom"}, "expected a JSON-RPC error (an object), found a string"),
        ({"error": [1]}, "found an array"),
    ],
)
def test_an_invalid_response_is_unreadable_with_the_reason(value: Any, why: str) -> None:
    opened = jsonrpc.open_envelope(value)
    assert isinstance(opened, Unreadable)
    assert why in opened.why
    assert opened.value is value
    assert jsonrpc.decode_answer(V1, Operation.GET, 200, value) == opened
    assert jsonrpc.decode_item(V1, value) == opened


@pytest.mark.parametrize("result", [None, {}, [], 0, False, "x", {"task": {}}])
def test_any_result_is_opened(result: Any) -> None:
    for envelope in (
        {"jsonrpc": "2.0", "id": 1, "result": result},
        {"jsonrpc": "2.0", "id": 1, "result": result, "error": None},
        {"jsonrpc": "1.0", "id": "another", "result": result},
        {"result": result},
    ):
        assert jsonrpc.open_envelope(envelope) == jsonrpc.Opened(result)


@pytest.mark.parametrize(
    ("error", "read"),
    [
        ({"code": -32001, "message": "no"}, ProtocolError(-32001, "no")),
        ({"code": -32603, "message": "no", "data": None}, ProtocolError(-32603, "no")),
        ({"code": -32602, "message": "no", "data": [{"a": 1}]}, ProtocolError(-32602, "no", [{"a": 1}])),
        ({"code": "-32001", "message": "a string"}, ProtocolError(None, "a string")),
        ({"code": -32001.5, "message": "a fraction"}, ProtocolError(None, "a fraction")),
        ({"code": True, "message": "a boolean"}, ProtocolError(None, "a boolean")),
        ({"message": "no code"}, ProtocolError(None, "no code")),
        ({"code": 1, "message": {"not": "words"}}, ProtocolError(1, "")),
        ({"code": 10**30}, ProtocolError(10**30, "")),
        ({}, ProtocolError(None, "")),
    ],
)
def test_an_error_is_read_with_missing_members(error: Any, read: ProtocolError) -> None:
    assert jsonrpc.open_envelope({"jsonrpc": "2.0", "id": 1, "error": error}) == read
    assert jsonrpc.open_envelope({"error": error, "result": {"id": "t"}}) == read, "the error hurts more"


def test_a_result_of_the_wrong_type_is_unreadable_with_the_reason() -> None:
    answer = jsonrpc.decode_answer(V1, Operation.GET, 200, {"result": {"id": 7}})
    assert answer == Unreadable({"id": 7}, "Task/id: expected a string, found a number")


@pytest.mark.parametrize("dialect", [V1, V03], ids=["1.0", "0.3"])
@pytest.mark.parametrize(
    "envelope", [{"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "result": None}, {"jsonrpc": "2.0", "result": {}}]
)
def test_an_empty_response_to_a_deletion_is_success(dialect: Any, envelope: Any) -> None:
    assert jsonrpc.decode_answer(dialect, Operation.DELETE_PUSH, 200, envelope) == Deleted()


@pytest.mark.parametrize("dialect", [V1, V03], ids=["1.0", "0.3"])
def test_another_response_to_a_deletion_is_unreadable(dialect: Any) -> None:
    def delete(value: Any) -> Any:
        return jsonrpc.decode_answer(dialect, Operation.DELETE_PUSH, 200, value)

    assert delete({"jsonrpc": "2.0", "error": {"code": -32001, "message": ""}}) == ProtocolError(-32001, "")
    assert isinstance(delete({"detail": "Unauthorized"}), Unreadable)
    assert isinstance(delete({"jsonrpc": "2.0", "result": "gone"}), Unreadable)


@pytest.mark.parametrize("operation", [Operation.GET, Operation.SEND, Operation.LIST_PUSH])
def test_other_responses_need_a_result(operation: Operation) -> None:
    assert isinstance(jsonrpc.decode_answer(V1, operation, 200, {"jsonrpc": "2.0", "id": 1}), Unreadable)


@pytest.mark.parametrize("identity", ["a", 1, -1, 0, 1.5, "", None])
def test_a_call_is_read_with_its_id(identity: Any) -> None:
    value = {"jsonrpc": "2.0", "method": "GetTask", "params": {"id": "t"}, "id": identity}
    assert jsonrpc.decode_call(value) == jsonrpc.Call("GetTask", {"id": "t"}, identity)


def test_a_call_without_id_and_parameters_is_a_call() -> None:
    assert jsonrpc.decode_call({"jsonrpc": "2.0", "method": "m"}) == jsonrpc.Call("m", None, None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "call",
        [],
        [{"jsonrpc": "2.0", "method": "m", "id": 1}],
        {},
        {"method": "m", "id": 1},
        {"jsonrpc": "1.0", "method": "m", "id": 1},
        {"jsonrpc": 2.0, "method": "m", "id": 1},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "method": None, "id": 1},
        {"jsonrpc": "2.0", "method": ["m"], "id": 1},
        {"jsonrpc": "2.0", "method": "m", "id": True},
        {"jsonrpc": "2.0", "method": "m", "id": {}},
        {"jsonrpc": "2.0", "method": "m", "id": [1]},
    ],
)
def test_an_invalid_call_is_an_invalid_request(value: Any) -> None:
    read = jsonrpc.decode_call(value)
    assert isinstance(read, ProtocolError)
    assert read.name == "InvalidRequestError"


@pytest.mark.parametrize("identity", ["a", 1, None])
def test_a_written_response_is_read_back(identity: Any) -> None:
    written = jsonrpc.encode_answer(identity, V1.encode_result(Operation.GET, Task(id="t")))
    assert written == {"jsonrpc": "2.0", "id": identity, "result": {"id": "t"}}
    assert jsonrpc.decode_answer(V1, Operation.GET, 200, written) == Task(id="t")


@pytest.mark.parametrize("error", [ProtocolError(-32001, "no"), ProtocolError(-32602, "no", {"a": [1]})])
def test_a_written_error_is_read_back(error: ProtocolError) -> None:
    written = jsonrpc.encode_answer(1, error)
    assert ("data" in written["error"]) == (error.data is not None)
    assert jsonrpc.open_envelope(written) == error


def test_an_empty_result_is_written_as_null() -> None:
    written = jsonrpc.encode_answer(1, V03.encode_result(Operation.DELETE_PUSH, Deleted()))
    assert written == {"jsonrpc": "2.0", "id": 1, "result": None}


def test_the_parameters_of_a_deletion_name_the_task_and_the_configuration() -> None:
    request = PushConfigRequest(task_id="t", id="c")
    assert V1.encode_request(Operation.DELETE_PUSH, request) == {"taskId": "t", "id": "c"}
    assert V03.encode_request(Operation.DELETE_PUSH, request) == {"id": "t", "pushNotificationConfigId": "c"}


def _without_a_method() -> Any:
    methods = {one: name for one, name in V03.methods.items() if one is not Operation.EXTENDED_CARD}
    return replace(V03, methods=methods, extended_card_path="agent/authenticatedExtendedCard")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://h", "http://h"),
        ("http://h/", "http://h"),
        ("http://h/rpc", "http://h"),
        ("http://h/a/rpc/?x=1#y", "http://h/a"),
    ],
)
def test_an_extended_card_without_a_method_is_fetched_relative_to_the_interface(url: str, place: str) -> None:
    dialect = _without_a_method()
    assert jsonrpc.BINDING.offers(dialect, Operation.EXTENDED_CARD)
    request = jsonrpc.BINDING.encode(url, dialect, Operation.EXTENDED_CARD, ExtendedCardRequest(), "1")
    assert (request.method, request.url) == ("GET", f"{place}/agent/authenticatedExtendedCard")
    assert (request.headers, request.body) == ({"Accept": "application/json"}, b"")


def test_an_extended_card_without_a_method_has_no_envelope() -> None:
    def answer(status: int, value: Any) -> Any:
        return jsonrpc.BINDING.decode_answer(_without_a_method(), Operation.EXTENDED_CARD, status, value)

    card = answer(200, {"name": "more", "url": "http://h", "version": "1"})
    assert isinstance(card, AgentCard)
    assert card.name == "more"
    assert answer(404, {"detail": "Not Found"}) == Unreadable(
        {"detail": "Not Found"}, "expected a card, received status 404"
    )


def test_an_error_has_the_name_of_the_code_in_its_version() -> None:
    old = replace(V03, errors={-32001: "TaskNotFoundError"} | v0_1.ERROR_NAMES)
    for read in (
        lambda value: jsonrpc.decode_item(old, value),
        lambda value: jsonrpc.decode_answer(old, Operation.GET, 200, value),
    ):
        assert read({"error": {"code": -32006, "message": ""}}).name == "StreamingNotSupportedError"
        assert read({"error": {"code": -32001, "message": ""}}) == ProtocolError(-32001, "")
        assert read({"error": {"code": -32603, "message": ""}}) == ProtocolError(-32603, "")
        assert read({"error": {"message": ""}}) == ProtocolError(None, "")
