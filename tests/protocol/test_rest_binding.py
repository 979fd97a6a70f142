"""The HTTP+JSON binding: operations become methods and paths; responses and errors of every format are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import Exchange, dialect_of, exchanges, name_of, recordings
from strategies import json_values

from inspector.protocol.bindings import registry, rest
from inspector.protocol.bindings.rest import Found, find
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect, Route
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import (
    Deleted,
    ExtendedCardRequest,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskRequest,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import Decoder

V1, V03 = v1_0.DIALECT, v0_3_proto.DIALECT
HELLO = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(text="hé")]))
EVENTS = (Task, Message, TaskStatusUpdateEvent, TaskArtifactUpdateEvent)


def encode(operation: Operation, request: Request, url: str = "http://h/a2a", dialect: Dialect = V1) -> Any:
    return rest.BINDING.encode(url, dialect, operation, request, "unused")


def error_info(reason: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}


# ── the request ──


def test_the_binding_has_its_name_on_cards() -> None:
    assert registry.BINDINGS["HTTP+JSON"] is rest.BINDING


def test_a_message_of_1_0_is_a_post_of_exactly_these_bytes() -> None:
    request = encode(Operation.SEND, HELLO)
    assert (request.method, request.url) == ("POST", "http://h/a2a/message:send")
    assert request.headers == {
        "Content-Type": "application/json",
        "Accept": "application/a2a+json, application/json",
        "A2A-Version": "1.0",
    }
    assert request.body == '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hé"}]}}'.encode()


def test_a_streaming_call_asks_for_an_event_stream() -> None:
    for dialect in (V1, V03):
        for operation, asked in ((Operation.STREAM, HELLO), (Operation.SUBSCRIBE, TaskRequest(id="t"))):
            assert encode(operation, asked, dialect=dialect).headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize(
    ("operation", "request_", "line"),
    [
        (Operation.GET, TaskRequest(id="t"), "GET /tasks/t"),
        (Operation.GET, TaskRequest(id="t", history_length=0), "GET /tasks/t?historyLength=0"),
        (Operation.CANCEL, TaskRequest(id="t"), "POST /tasks/t:cancel"),
        (Operation.LIST, ListTasksRequest(), "GET /tasks"),
        (
            Operation.LIST,
            ListTasksRequest(page_size=5, include_artifacts=True, page_token="a b&c", status=None),
            "GET /tasks?pageSize=5&pageToken=a%20b%26c&includeArtifacts=true",
        ),
        (Operation.LIST, ListTasksRequest(include_artifacts=False), "GET /tasks?includeArtifacts=false"),
        (Operation.SET_PUSH, PushConfig(task_id="t", url="http://w"), "POST /tasks/t/pushNotificationConfigs"),
        (Operation.GET_PUSH, PushConfigRequest(task_id="t", id="c"), "GET /tasks/t/pushNotificationConfigs/c"),
        (Operation.LIST_PUSH, PushConfigRequest(task_id="t"), "GET /tasks/t/pushNotificationConfigs"),
        (Operation.DELETE_PUSH, PushConfigRequest(task_id="t", id="c"), "DELETE /tasks/t/pushNotificationConfigs/c"),
        (Operation.EXTENDED_CARD, ExtendedCardRequest(), "GET /extendedAgentCard"),
    ],
)
def test_an_operation_of_1_0_has_its_method_path_and_query(operation: Operation, request_: Request, line: str) -> None:
    sent = encode(operation, request_)
    assert f"{sent.method} {sent.url}" == line.replace(" /", " http://h/a2a/", 1)
    if sent.method != "POST":
        assert sent.body == b""
        assert "Content-Type" not in sent.headers


REQUESTS = [
    (Operation.SEND, HELLO),
    (Operation.STREAM, HELLO),
    (Operation.GET, TaskRequest(id="a/b ü", history_length=3)),
    (Operation.CANCEL, TaskRequest(id="t", metadata={"why": "late"})),
    (Operation.SUBSCRIBE, TaskRequest(id="t:cancel")),
    (Operation.LIST, ListTasksRequest(context_id="c", page_size=5, include_artifacts=True)),
    (Operation.SET_PUSH, PushConfig(task_id="t", id="c", url="http://w/?a=b", token="k")),
    (Operation.GET_PUSH, PushConfigRequest(task_id="t", id="c d")),
    (Operation.LIST_PUSH, PushConfigRequest(task_id="t")),
    (Operation.DELETE_PUSH, PushConfigRequest(task_id="t", id="c")),
]


@pytest.mark.parametrize(
    "dialect", [V1, V03, V03.with_whole_body(Operation.SET_PUSH)], ids=["1.0", "0.3", "whole body"]
)
@pytest.mark.parametrize(("operation", "request_"), REQUESTS, ids=[operation for operation, _ in REQUESTS])
def test_the_parameters_are_read_from_the_url_and_the_body(
    operation: Operation, request_: Request, dialect: Dialect
) -> None:
    if operation not in dialect.routes:
        pytest.skip(f"{dialect.version} has no {operation}")
    if dialect is not V1 and operation is Operation.GET:
        request_ = TaskRequest(id="a b ü", history_length=3)  # the ids of 0.3 are segments of a path
    sent = encode(operation, request_, dialect=dialect)
    body = parse(sent.body) if sent.body else {}
    params = rest.decode_params(dialect, operation, sent.url, body)
    assert dialect.decode_request(operation, params) == dialect.decode_request(
        operation, dialect.encode_request(operation, request_)
    )


def test_a_tenant_is_the_first_segment_after_the_url_and_not_in_the_body() -> None:
    sent = encode(Operation.SEND, HELLO.model_copy(update={"tenant": "ac/me"}), "http://h/a2a/")
    assert sent.url == "http://h/a2a/ac%2Fme/message:send"
    assert "tenant" not in parse(sent.body)
    listed = encode(Operation.LIST, ListTasksRequest(tenant="acme", page_size=1))
    assert listed.url == "http://h/a2a/acme/tasks?pageSize=1"


@pytest.mark.parametrize("url", ["http://h", "http://h/", "http://h//"])
def test_a_slash_at_the_end_of_the_url_makes_no_difference(url: str) -> None:
    assert encode(Operation.GET, TaskRequest(id="t"), url).url == "http://h/tasks/t"


def test_the_query_of_the_url_is_kept_and_the_fragment_removed() -> None:
    sent = encode(Operation.GET, TaskRequest(id="t", history_length=2), "http://h/x/?key=1#top")
    assert sent.url == "http://h/x/tasks/t?key=1&historyLength=2"


@pytest.mark.parametrize(
    ("identity", "segment"),
    [
        ("a/b", "a%2Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("a:cancel", "a%3Acancel"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("ü {id}", "%C3%BC%20%7Bid%7D"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_an_id_is_one_segment_of_the_path(identity: str, segment: str) -> None:
    assert encode(Operation.GET, TaskRequest(id=identity)).url == f"http://h/a2a/tasks/{segment}"


@pytest.mark.parametrize(
    ("operation", "identity", "path"),
    [
        (Operation.GET, "a/b", "/v1/tasks/a%2Fb"),
        (Operation.GET, "a/pushNotificationConfigs/b", "/v1/tasks/a%2FpushNotificationConfigs%2Fb"),
        (Operation.CANCEL, "..", "/v1/tasks/%2E%2E:cancel"),
        (Operation.GET_PUSH, "a/b", "/v1/tasks/a%2Fb/pushNotificationConfigs/c%2Fd"),
        (Operation.LIST_PUSH, "a/b", "/v1/tasks/a%2Fb/pushNotificationConfigs"),
    ],
)
def test_an_id_is_one_segment_of_a_path_of_0_3(operation: Operation, identity: str, path: str) -> None:
    dialect, of_task = v0_3_proto.DIALECT, operation in (Operation.GET, Operation.CANCEL)
    of_config = PushConfigRequest(task_id=identity, id=None if operation is Operation.LIST_PUSH else "c/d")
    request = TaskRequest(id=identity) if of_task else of_config
    sent = encode(operation, request, dialect=dialect)
    assert sent.url == f"http://h/a2a{path}"
    assert rest.operation_at(dialect, sent.method, sent.url) is operation
    members = rest.decode_params(dialect, operation, sent.url, None)
    assert dialect.decode_request(operation, members) == request


def test_a_member_may_keep_its_slashes_and_a_body_may_be_whole() -> None:
    routes = {
        Operation.GET: Route("GET", "/v1/{+id}"),
        Operation.CANCEL: Route("POST", "/v1/{+id}:cancel", whole_body=True),
    }
    dialect = replace(V1, routes=routes)
    assert encode(Operation.GET, TaskRequest(id="tasks/a b"), dialect=dialect).url == "http://h/a2a/v1/tasks/a%20b"
    assert encode(Operation.GET, TaskRequest(id="tasks/.."), dialect=dialect).url == "http://h/a2a/v1/tasks/%2E%2E"
    canceled = encode(Operation.CANCEL, TaskRequest(id="tasks/t"), dialect=dialect)
    assert (canceled.url, canceled.body) == ("http://h/a2a/v1/tasks/t:cancel", b'{"id":"tasks/t"}')


def test_objects_in_a_query_are_written_as_json() -> None:
    sent = encode(Operation.GET, TaskRequest(id="t", metadata={"a": [1, None]}))
    assert parse_qsl(urlsplit(sent.url).query) == [("metadata", '{"a":[1,null]}')]


def test_an_operation_without_a_route_is_not_offered() -> None:
    assert all(rest.BINDING.offers(V1, operation) for operation in Operation)
    assert not rest.BINDING.offers(replace(V1, routes={}), Operation.SEND)


@given(url=st.text(max_size=30), identity=st.text(max_size=12), token=st.text(max_size=12))
def test_any_names_in_card_and_task_become_a_request(url: str, identity: str, token: str) -> None:
    sent = encode(Operation.GET_PUSH, PushConfigRequest(task_id=identity, id=token), url)
    *_, task, configs, config = sent.url.partition("?")[0].split("/")
    assert (unquote(task), configs, unquote(config)) == (identity, "pushNotificationConfigs", token)


# ── payloads ──


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "the body is empty"),
        (b" \r\n", "the body is empty"),
        (b"Internal Server Error", "text, not JSON: 'Internal Server Error'"),
        (b"true story", "text, not JSON: 'true story'"),
        (b"<!DOCTYPE html><title>Error</title>", "a web page or XML, not JSON"),
        (b'{"id":', "ends within"),
        (b"\xff\xfe{", "UTF-16"),
    ],
)
def test_a_body_that_is_not_json_is_described(raw: bytes, why: str) -> None:
    read = rest.BINDING.read(V1, Operation.GET, raw)
    assert isinstance(read, Unreadable)
    assert why in read.why


@pytest.mark.parametrize("raw", [b"", b"{}", b"null"])
def test_an_empty_response_to_a_deletion_is_success(raw: bytes) -> None:
    value = rest.BINDING.read(V1, Operation.DELETE_PUSH, raw)
    assert rest.BINDING.decode_answer(V1, Operation.DELETE_PUSH, 204, value) == Deleted()


@pytest.mark.parametrize("status", [301, 307, 404, 500])
def test_a_deletion_with_an_error_status_failed(status: int) -> None:
    answer = rest.BINDING.decode_answer(V1, Operation.DELETE_PUSH, status, None)
    assert answer == Unreadable(None, f"status {status} without a body")


@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_status_of_success_has_a_result(status: int) -> None:
    assert rest.BINDING.decode_answer(V1, Operation.GET, status, {"id": "t"}) == Task(id="t")
    assert rest.BINDING.decode_answer(V1, Operation.SEND, status, {"task": {"id": "t"}}) == Task(id="t")
    assert rest.BINDING.decode_answer(V1, Operation.STREAM, status, {"task": {"id": "t"}}) == Task(id="t")


@pytest.mark.parametrize("operation", list(Operation))
def test_a_response_with_the_envelope_of_another_binding_is_unreadable(operation: Operation) -> None:
    answer = rest.BINDING.decode_answer(V1, operation, 200, {"jsonrpc": "2.0", "id": 1, "result": {"id": "t"}})
    assert isinstance(answer, Unreadable)
    assert "JSON-RPC" in answer.why


# ── errors ──

NOT_FOUND = {"code": 404, "status": "NOT_FOUND", "message": "no", "details": [error_info("TASK_NOT_FOUND")]}


@pytest.mark.parametrize(
    ("status", "body", "code", "name", "message"),
    [
        (404, {"error": NOT_FOUND}, -32001, "TaskNotFoundError", "no"),
        (200, {"error": NOT_FOUND}, -32001, "TaskNotFoundError", "no"),
        (500, {"error": {"code": 500, "status": "INTERNAL", "message": "boom"}}, None, "INTERNAL", "boom"),
        (404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "?"}}, None, "NOT_FOUND", "?"),
        (429, {"error": {"details": [error_info("SLOW_DOWN")]}}, None, "SLOW_DOWN", ""),
        (400, {"error": {"status": "x y", "message": 7}}, None, "Bad Request", ""),
        (400, {"error": {"details": [error_info("?!"), {"reason": 7}, None]}}, None, "Bad Request", ""),
        (400, {"error": {"message": "VersionNotSupportedError: 2.0"}}, -32009, "VersionNotSupportedError", "2.0"),
        (404, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001}}, -32001, "TaskNotFoundError", ""),
        (418, {"error": "teapot"}, None, "I'm a Teapot", "teapot"),
        (499, {"error": {}}, None, "Error", ""),
        (409, {"message": "Task cannot be canceled"}, -32002, "TaskNotCancelableError", "canceled"),
        (404, {"message": "Task not found"}, -32001, "TaskNotFoundError", "not found"),
        (
            404,
            {"message": "Authenticated card not configured"},
            -32007,
            "ExtendedAgentCardNotConfiguredError",
            "card",
        ),
        (404, {"message": "no Route matched with those values"}, None, "Not Found", "no Route"),
        (415, {"message": "Incompatible content types"}, -32005, "ContentTypeNotSupportedError", ""),
        (422, {"message": "parts is empty"}, -32602, "InvalidParamsError", "parts"),
        (500, {"message": "unknown exception"}, -32603, "InternalError", "unknown"),
        (501, {"message": "Push Notification is not supported"}, -32003, "PushNotificationNotSupportedError", ""),
        (501, {"message": "This operation is not supported"}, -32004, "UnsupportedOperationError", ""),
        (502, {"message": "Invalid agent response"}, -32006, "InvalidAgentResponseError", ""),
        (502, {"message": "Bad upstream"}, None, "Bad Gateway", ""),
        (500, {"message": "TaskNotFoundError: gone"}, -32001, "TaskNotFoundError", "gone"),
        (400, {"code": -32602, "message": "no parts"}, -32602, "InvalidParamsError", "no parts"),
        (400, {"code": -31999, "message": "own"}, -31999, "Bad Request", "own"),
        (
            404,
            {"type": "https://a2a-protocol.org/errors/task-not-found", "title": "Task Not Found", "detail": "gone"},
            -32001,
            "TaskNotFoundError",
            "gone",
        ),
        (403, {"type": "about:blank", "title": "Forbidden", "status": 403}, None, "Forbidden", "Forbidden"),
    ],
)
def test_an_error_is_read_in_every_format(status: int, body: Any, code: int | None, name: str, message: str) -> None:
    for operation in (Operation.GET, Operation.STREAM):
        error = rest.BINDING.decode_answer(V1, operation, status, body)
        assert isinstance(error, ProtocolError)
        assert (error.code, error.name, error.status) == (code, name, status)
        assert message in error.message


def test_an_error_keeps_its_message_and_data() -> None:
    def data(body: Any) -> Any:
        error = rest.BINDING.decode_answer(V1, Operation.GET, 404, body)
        assert isinstance(error, ProtocolError)
        return error.data

    assert data({"error": NOT_FOUND}) == NOT_FOUND["details"]
    assert data({"code": -32001, "message": "no", "data": {"id": "t"}}) == {"id": "t"}
    assert data({"title": "No", "status": 404, "detail": "x", "taskId": "t"}) == {"taskId": "t"}
    assert data({"message": "no"}) is None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"detail": "Not Found"}, "not an A2A error: 'Not Found' from a web framework"),
        ({"detail": [{"loc": ["body"]}]}, "an array from a web framework"),
        ({}, "not an A2A error: an object"),
        ([], "not an A2A error: an array"),
        ("no", "not an A2A error: a string"),
        (None, "status 404 without a body"),
    ],
)
def test_an_error_that_is_not_of_a2a_is_unreadable(body: Any, why: str) -> None:
    answer = rest.BINDING.decode_answer(V1, Operation.GET, 404, body)
    assert isinstance(answer, Unreadable)
    assert why in answer.why


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"error": NOT_FOUND}, ProtocolError(-32001, "no", NOT_FOUND["details"], 404)),
        (
            {"error": {"code": 500, "status": "INTERNAL", "message": "unknown exception"}},
            ProtocolError(None, "unknown exception", None, 500, "INTERNAL"),
        ),
        ({"code": -32603, "message": "boom"}, ProtocolError(-32603, "boom")),
        ({"title": "Gone", "status": 410}, ProtocolError(None, "Gone", None, 410, "Gone")),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_an_error(value: Any, error: ProtocolError) -> None:
    assert rest.BINDING.decode_item(V1, value) == error


def test_a_result_that_only_resembles_an_error_is_a_result() -> None:
    for value in ({"id": "t", "error": {"code": 1}}, {"id": "t", "message": "x", "status": {}}):
        assert isinstance(rest.BINDING.decode_answer(V1, Operation.GET, 200, value), Task)
    assert rest.BINDING.decode_item(V1, {"message": {"messageId": "m"}}) == Message(message_id="m")


members = st.sampled_from(
    ["error", "message", "code", "status", "details", "data", "detail", "title", "type", "reason", "jsonrpc", "id"]
)
hostile = st.recursive(
    json_values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=5), max_leaves=12
)


@given(operation=st.sampled_from(Operation), status=st.integers(-1, 700), value=hostile)
def test_any_response_can_be_read(operation: Operation, status: int, value: Any) -> None:
    for dialect in (V1, V03):
        answer = rest.BINDING.decode_answer(dialect, operation, status, value)
        assert status < 300 or isinstance(answer, ProtocolError | Unreadable)
        rest.BINDING.decode_item(dialect, value)


@given(operation=st.sampled_from(Operation), raw=st.binary(max_size=40))
def test_any_bytes_can_be_read(operation: Operation, raw: bytes) -> None:
    value = rest.BINDING.read(V1, operation, raw)
    assert isinstance(value, Unreadable) or dump(value)


# ── recordings of the official SDKs ──

DIALECTS = {"0.3": V03, "1.0": V1}
RESULTS: dict[Operation, type[Any] | tuple[type[Any], ...]] = {
    Operation.GET: Task,
    Operation.CANCEL: Task,
    Operation.LIST: TaskList,
    Operation.SET_PUSH: PushConfig,
    Operation.GET_PUSH: PushConfig,
    Operation.LIST_PUSH: PushConfigList,
    Operation.DELETE_PUSH: Deleted,
    Operation.EXTENDED_CARD: AgentCard,
}


def calls(path: Path) -> list[tuple[Operation, Exchange]]:
    """List the exchanges of a recording that are calls of an operation."""
    dialect = DIALECTS[dialect_of(path).version]
    found = []
    for exchange in exchanges(path):
        verb, target, _ = exchange.request.start.split(" ", 2)
        asked = find(dialect, verb, urlsplit(target).path.removeprefix("/a2a/rest"))
        if isinstance(asked, Found):
            found.append((asked.operation, exchange))
    return found


RECORDED = recordings("rest", "rest/probes")


@pytest.mark.parametrize("path", RECORDED, ids=map(name_of, RECORDED))
def test_recorded_responses_of_the_sdks_are_read(path: Path) -> None:
    dialect = DIALECTS[dialect_of(path).version]
    for operation, exchange in calls(path):
        status = int(exchange.response.start.split(" ")[1])
        if exchange.response.is_stream:
            frames = [frame for frame in Decoder().feed(exchange.response.body) if frame.data is not None]
            for frame in frames:
                value = rest.BINDING.read(dialect, operation, frame.data or b"")
                item = rest.BINDING.decode_item(dialect, value)
                assert isinstance(item, ProtocolError if frame.event == "error" else EVENTS), item
            continue
        value = rest.BINDING.read(dialect, operation, exchange.response.body)
        if isinstance(value, Unreadable):
            assert status >= 300 or not exchange.response.complete
            continue
        answer = rest.BINDING.decode_answer(dialect, operation, status, value)
        if status < 300:
            assert isinstance(answer, RESULTS.get(operation, EVENTS)), answer
        elif "detail" in value:
            assert isinstance(answer, Unreadable)
        else:
            assert isinstance(answer, ProtocolError)
            assert answer.code is not None or answer.status == 500
            assert answer.status == status


def test_the_recordings_contain_every_operation_and_both_kinds_of_errors() -> None:
    seen = {(dialect_of(path).version, operation) for path in RECORDED for operation, _ in calls(path)}
    assert {operation for version, operation in seen if version == "1.0"} == set(Operation)
    # The 0.3 SDK answers a deletion with 405 and a subscription by POST too.
    assert {operation for version, operation in seen if version == "0.3"} >= set(Operation) - {
        Operation.DELETE_PUSH,
        Operation.SUBSCRIBE,
    }
    assert {operation for _, operation in seen} >= STREAMING


@pytest.mark.parametrize("path", recordings("rest"), ids=map(name_of, recordings("rest")))
def test_our_requests_equal_those_of_the_official_clients(path: Path) -> None:
    """The same verb and path, and the same members in the body where the dialect reads it back."""
    dialect = DIALECTS[dialect_of(path).version]
    for operation, exchange in calls(path):
        if operation not in (Operation.SEND, Operation.STREAM):
            continue
        verb, target, _ = exchange.request.start.split(" ", 2)
        request = dialect.decode_request(operation, parse(exchange.request.body))
        assert isinstance(request, SendRequest)
        base = target.partition("/v1/message" if dialect is V03 else "/message")[0].removesuffix("/acme")
        tenant = "acme" if "/acme/" in target else None
        sent = encode(operation, request.model_copy(update={"tenant": tenant}), f"http://h{base}", dialect)
        assert (sent.method, sent.url) == (verb, f"http://h{target}")
        written = parse(sent.body)
        assert written["message"]["messageId"] == parse(exchange.request.body)["message"]["messageId"]


def test_a_reason_of_another_domain_does_not_identify_an_error_of_a2a():
    def read(**members: str) -> ProtocolError:
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INTERNAL_ERROR", **members}
        body = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy", "details": [info]}}
        answer = rest.decode_answer(v1_0.DIALECT, Operation.GET, 503, body)
        assert isinstance(answer, ProtocolError)
        return answer

    assert read(domain="agent.example").code is None
    assert read(domain="a2a-protocol.org").code == read().code == -32603
