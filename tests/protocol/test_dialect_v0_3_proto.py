"""The ProtoJSON of 0.3: oneof members, resource names, two Ls in CANCELLED, and files in base64 of base64."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import ROOT, exchanges, proto_messages

from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.double_base64 import looks_double_encoded
from inspector.protocol.dialects.v0_3_proto import DIALECT
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import (
    Artifact,
    AuthenticationInfo,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskList,
    TaskRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (Part(text="hi"), {"text": "hi"}),
        (Part(text="hi", metadata={"a": 1}), {"text": "hi", "metadata": {"a": 1}}),
        (Part(data={"a": 1}), {"data": {"data": {"a": 1}}}),
        (Part(data={"data": 1}), {"data": {"data": {"data": 1}}}),
        (Part(data={}), {"data": {"data": {}}}),
        (
            Part(raw="QQ==", filename="a", media_type="text/plain"),
            {"file": {"fileWithBytes": "QQ==", "name": "a", "mimeType": "text/plain"}},
        ),
        (Part(url="http://f"), {"file": {"fileWithUri": "http://f"}}),
    ],
)
def test_parts_are_one_of_members(part: Part, written: Any) -> None:
    message = DIALECT.encode_event(Message(parts=[part]))
    assert message == {"message": {"content": [written]}}
    assert DIALECT.decode_event(message) == Message(parts=[part])


def test_data_without_a_struct_is_empty() -> None:
    assert DIALECT.decode_event({"message": {"content": [{"data": {}}]}}) == Message(parts=[Part(data={})])


@pytest.mark.parametrize("name", ["message", "msg"])
def test_a_message_is_the_member_message_or_msg(name: str) -> None:
    assert DIALECT.decode_event({name: {"messageId": "m"}}) == Message(message_id="m")


def test_the_canceled_state_is_written_with_two_ls() -> None:
    event = TaskStatusUpdateEvent(task_id="t", status=TaskStatus(state="TASK_STATE_CANCELED"))
    written = DIALECT.encode_event(event)
    assert written == {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_CANCELLED"}, "final": True}}
    read = DIALECT.decode_event(written)
    assert isinstance(read, TaskStatusUpdateEvent)
    assert read.status.state == "TASK_STATE_CANCELED"


def test_an_empty_id_does_not_replace_that_in_the_name():
    inner = {"url": "u", "id": ""}
    value = {"name": "tasks/t/pushNotificationConfigs/c", "pushNotificationConfig": inner}
    read = DIALECT.decode_result(Operation.GET_PUSH, value)
    assert (read.task_id, read.id, read.url) == ("t", "c", "u")


@pytest.mark.parametrize(
    ("operation", "request_", "written"),
    [
        (Operation.GET, TaskRequest(id="t", history_length=1), {"name": "tasks/t", "historyLength": 1}),
        (Operation.CANCEL, TaskRequest(id="t", history_length=1), {"name": "tasks/t"}),
        (Operation.SUBSCRIBE, TaskRequest(tenant="a", id="t"), {"name": "tasks/t"}),
        (
            Operation.GET_PUSH,
            PushConfigRequest(task_id="t", id="c"),
            {"name": "tasks/t/pushNotificationConfigs/c"},
        ),
        (Operation.GET_PUSH, PushConfigRequest(task_id="t"), {"name": "tasks/t/pushNotificationConfigs/t"}),
        (
            Operation.LIST_PUSH,
            PushConfigRequest(task_id="t", page_size=2, page_token="p"),
            {"parent": "tasks/t", "pageSize": 2, "pageToken": "p"},
        ),
        (
            Operation.SET_PUSH,
            PushConfig(task_id="t", id="c", url="u", token="k", authentication=AuthenticationInfo(scheme="Bearer")),
            {
                "parent": "tasks/t",
                "configId": "c",
                "config": {
                    "name": "tasks/t/pushNotificationConfigs/c",
                    "pushNotificationConfig": {
                        "id": "c",
                        "url": "u",
                        "token": "k",
                        "authentication": {"schemes": ["Bearer"]},
                    },
                },
            },
        ),
        (
            Operation.SEND,
            SendRequest(
                message=Message(message_id="m"),
                configuration=SendConfiguration(
                    return_immediately=False, task_push_notification_config=PushConfig(url="u")
                ),
            ),
            {
                "message": {"messageId": "m"},
                "configuration": {"pushNotification": {"url": "u"}, "blocking": True},
            },
        ),
    ],
)
def test_requests_contain_resource_names(operation: Operation, request_: Any, written: Any) -> None:
    assert DIALECT.encode_request(operation, request_) == written
    read = DIALECT.decode_request(operation, written)
    assert not isinstance(read, Unreadable)
    assert DIALECT.encode_request(operation, read) == written


def test_a_push_configuration_is_read_flat() -> None:
    value = {"name": "tasks/t/pushNotificationConfigs/c", "pushNotificationConfig": {"url": "u"}}
    expected = PushConfig(task_id="t", id="c", url="u")
    assert DIALECT.decode_result(Operation.GET_PUSH, value) == expected
    assert DIALECT.decode_result(Operation.LIST_PUSH, {"configs": [value]}) == PushConfigList(configs=[expected])
    assert DIALECT.decode_result(Operation.LIST_PUSH, [value]) == PushConfigList(configs=[expected])


@pytest.mark.parametrize("value", [{"tasks": [{"id": "t"}]}, [{"id": "t"}]])
def test_a_list_of_tasks_may_have_no_wrapper(value: Any) -> None:
    assert DIALECT.decode_result(Operation.LIST, value) == TaskList(tasks=[Task(id="t")])


@pytest.mark.parametrize(
    "value",
    [
        {"name": 5},
        {"name": "t"},
        {"name": "tasks/"},
        {"name": "pushNotificationConfigs"},
        {"parent": []},
        {"config": 5},
        {"config": {"name": 5, "pushNotificationConfig": 7}},
    ],
)
@pytest.mark.parametrize("operation", list(Operation))
def test_invalid_resource_names_are_read_or_rejected(operation: Operation, value: Any) -> None:
    read = DIALECT.decode_request(operation, value)
    if not isinstance(read, Unreadable):
        assert isinstance(DIALECT.encode_request(operation, read), dict)


SECURE = {
    "url": "u",
    "protocolVersion": "0.3.0",
    "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header", "name": "k"}}},
    "security": [{"schemes": {"key": {"list": ["read"]}}}],
}


def test_the_security_of_a_proto_card_and_of_a_json_card_read_alike() -> None:
    json_card = SECURE | {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}},
        "security": [{"key": ["read"]}],
    }
    card = DIALECT.decode_result(Operation.EXTENDED_CARD, SECURE)
    assert card == DIALECT.decode_result(Operation.EXTENDED_CARD, json_card)
    assert isinstance(card, AgentCard)
    written = DIALECT.encode_result(Operation.EXTENDED_CARD, card)
    assert (written["security"], written["securitySchemes"]) == (SECURE["security"], SECURE["securitySchemes"])
    served = DIALECT.encode_card(card)
    assert (served["security"], served["securitySchemes"]) == (json_card["security"], json_card["securitySchemes"])


def test_the_main_interface_of_a_proto_card_is_the_first() -> None:
    interface = AgentInterface(url="u", protocol_binding="GRPC", protocol_version="0.3.0")
    written = DIALECT.encode_result(Operation.EXTENDED_CARD, AgentCard(supported_interfaces=[interface]))
    assert (written["url"], written["preferredTransport"]) == ("u", "GRPC")


# ── section 4 of the protocol notes, by number ──


def artifacts_of(version: str, transport: str, name: str) -> list[Artifact]:
    path = ROOT / version / transport / f"{name}.txt"
    if transport == "rest":
        value = parse(exchanges(path)[-1].response.body)
    else:
        value = next(message.value for message in proto_messages(path) if not message.sent)
    task = DIALECT.decode_event(value)
    assert isinstance(task, Task)
    return task.artifacts or []


def test_quirk_13_statuses_over_rest_come_without_a_time() -> None:
    path = ROOT / "03" / "rest" / "send_task_hi.txt"
    task = DIALECT.decode_event(parse(exchanges(path)[-1].response.body))
    assert isinstance(task, Task)
    assert task.status.timestamp is None


@pytest.mark.parametrize(("version", "transport"), [("03", "rest"), ("03", "grpc"), ("02", "grpc")])
def test_quirk_15_base64_of_base64_is_unchanged_and_detected(version: str, transport: str) -> None:
    [part] = [part for artifact in artifacts_of(version, transport, "send_file") for part in artifact.parts if part.raw]
    assert part.raw is not None
    assert looks_double_encoded(part.raw)
    once = base64.b64decode(part.raw)
    assert base64.b64decode(once).startswith(b"\x89PNG")
    assert not looks_double_encoded(once.decode())


def test_quirk_15_a_short_text_that_was_encoded_twice_is_detected() -> None:
    [raw] = [part.raw for artifact in artifacts_of("03", "rest", "send_mixed") for part in artifact.parts if part.raw]
    assert raw == "YUdWc2JHOD0="
    assert looks_double_encoded(raw)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("raw", "twice"),
    [
        ("", False),
        ("not base64!", False),
        ("abc", False),
        ("é", False),
        (encoded(b"hello, world"), False),
        (encoded(b"test"), False),
        (encoded(b"\x89PNG\r\n\x1a\n" + bytes(5000)), False),
        (encoded(encoded(b"\x89PNG\r\n\x1a\n" + bytes(5000)).encode()), True),
        (encoded(encoded("grüße".encode() * 2000).encode()), True),
        (encoded(encoded(bytes(range(256)) * 40).encode()), False),
        (encoded(b"AAAA"), False),
        (encoded(b"edit"), False),  # is base64 of the text "y\u062d"
        (encoded(encoded(b"123456789").encode()), False),
        (encoded(encoded(b"123456789012").encode()), True),
    ],
)
def test_quirk_15_other_files_are_not_detected(raw: str, twice: bool) -> None:
    assert looks_double_encoded(raw) is twice


@given(st.binary(max_size=60) | st.text(max_size=30).map(str.encode))
def test_quirk_15_any_file_can_be_examined(data: bytes) -> None:
    assert looks_double_encoded(encoded(data)) in (True, False)
    assert looks_double_encoded(data.decode("latin-1")) in (True, False)


@given(st.text(st.characters(exclude_categories=("C", "Z")), min_size=12, max_size=60))
def test_quirk_15_text_that_was_encoded_twice_is_always_detected(text: str) -> None:
    assert looks_double_encoded(encoded(encoded(text.encode()).encode()))
