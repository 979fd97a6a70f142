"""HTTP+JSON in a server: every path that a client creates is recognised, and no other path."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.bindings import rest
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.bindings.rest import Found, encode_error, find, read_query
from inspector.protocol.dialects import v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import BY_NAME, ErrorKind, ProtocolError
from inspector.protocol.model import (
    ExtendedCardRequest,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigRequest,
    Request,
    SendRequest,
    TaskRequest,
    Unreadable,
)
from inspector.protocol.operations import Operation

V1, V03 = v1_0.DIALECT, v0_3_proto.DIALECT
HELLO = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(text="hi")]))
CALLS: list[tuple[Operation, Request]] = [
    (Operation.SEND, HELLO),
    (Operation.STREAM, HELLO),
    (Operation.GET, TaskRequest(id="a b:c", history_length=3)),
    (Operation.LIST, ListTasksRequest(page_size=2, include_artifacts=True, context_id="5")),
    (Operation.CANCEL, TaskRequest(id="..")),
    (Operation.SUBSCRIBE, TaskRequest(id="é")),
    (Operation.SET_PUSH, PushConfig(task_id="t", id="c", url="http://x/")),
    (Operation.GET_PUSH, PushConfigRequest(task_id="t", id="c:1")),
    (Operation.LIST_PUSH, PushConfigRequest(task_id="t")),
    (Operation.DELETE_PUSH, PushConfigRequest(task_id="t", id="c")),
    (Operation.EXTENDED_CARD, ExtendedCardRequest()),
]


def found(dialect: Dialect, call: HttpRequest) -> Found:
    asked = find(dialect, call.method, urlsplit(call.url).path)
    assert isinstance(asked, Found), call.url
    return asked


@pytest.mark.parametrize("dialect", [V1, V03], ids=["1.0", "0.3"])
@pytest.mark.parametrize(("operation", "request_"), CALLS, ids=[operation.value for operation, _ in CALLS])
def test_a_server_finds_the_operation_of_a_client(dialect: Dialect, operation: Operation, request_: Request) -> None:
    call = rest.encode("http://agent", dialect, operation, request_, "1")
    asked = found(dialect, call)
    assert asked.operation is operation
    query = dict(parse_qsl(urlsplit(call.url).query, keep_blank_values=True))
    body: Any = rest.read(dialect, operation, call.body) if call.body else {}
    members = body | read_query(operation, query) | asked.members
    wanted = dialect.decode_request(operation, dialect.encode_request(operation, request_))
    assert dialect.decode_request(operation, members) == wanted


def test_a_tenant_precedes_the_path_and_slashes_in_members_are_encoded() -> None:
    call = rest.encode("http://agent", V1, Operation.GET, TaskRequest(tenant="a/b", id="c/d"), "1")
    assert found(V1, call).members == {"tenant": "a/b", "id": "c/d"}


@pytest.mark.parametrize(
    ("verb", "path", "verbs"),
    [
        ("GET", "/", set()),
        ("GET", "/tasks/x/pushNotificationConfigs/y/z", set()),
        ("POST", "/tasks", {"GET"}),
        ("PUT", "/tasks/x:subscribe", {"GET", "POST"}),
        ("PATCH", "/tasks/x/pushNotificationConfigs", {"GET", "POST"}),
        ("GET", "/message:send", {"POST"}),
        ("get", "/tasks", {"GET"}),
    ],
)
def test_an_unknown_operation_lists_the_allowed_methods(verb: str, path: str, verbs: set[str]) -> None:
    assert find(V1, verb, path) == verbs


@given(verb=st.sampled_from(["GET", "POST", "DELETE"]), path=st.text(max_size=30).map("/{}".format))
def test_any_path_can_be_searched(verb: str, path: str) -> None:
    for dialect in (V1, V03):
        assert isinstance(find(dialect, verb, path), Found | frozenset)


@pytest.mark.parametrize("text", ["", "ten", "1.5", "9" * 40, "true", "-"])
def test_an_invalid_number_is_left_to_the_dialect(text: str) -> None:
    assert isinstance(V1.decode_request(Operation.LIST, read_query(Operation.LIST, {"pageSize": text})), Unreadable)


@pytest.mark.parametrize("kind", BY_NAME.values(), ids=list(BY_NAME))
@pytest.mark.parametrize("release", ["1.0.0", "1.0.1"])
def test_an_error_is_read_as_it_was_written(kind: ErrorKind, release: str) -> None:
    status, word = kind.statuses(release)
    assert (status in kind.http_statuses, word in kind.grpc_statuses) == (True, True)
    answer = rest.decode_answer(V1, Operation.GET, status, encode_error(kind, "why", status, word))
    assert isinstance(answer, ProtocolError)
    assert (answer.code, answer.message, answer.status, answer.data) == (kind.code, "why", status, [kind.info()])
