"""0.3 over JSON-RPC, member by member: reading, unknown members, rejections, writing."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.dialects.v0_3 import DIALECT
from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    AuthenticationInfo,
    Deleted,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation

STATES = {
    "submitted": "TASK_STATE_SUBMITTED",
    "working": "TASK_STATE_WORKING",
    "input-required": "TASK_STATE_INPUT_REQUIRED",
    "auth-required": "TASK_STATE_AUTH_REQUIRED",
    "completed": "TASK_STATE_COMPLETED",
    "failed": "TASK_STATE_FAILED",
    "canceled": "TASK_STATE_CANCELED",
    "rejected": "TASK_STATE_REJECTED",
    "unknown": "TASK_STATE_UNSPECIFIED",
}


def read_part(part: Any) -> Any:
    message = DIALECT.decode_event({"kind": "message", "parts": [part]})
    return message if isinstance(message, Unreadable) else message.parts[0]


def write_part(part: Part) -> Any:
    return DIALECT.encode_event(Message(parts=[part]))["parts"][0]


@pytest.mark.parametrize(("spelled", "canonical"), STATES.items())
def test_a_state_is_converted_in_both_directions(spelled: str, canonical: str) -> None:
    event = {"kind": "status-update", "taskId": "t", "status": {"state": spelled}}
    read = DIALECT.decode_event(event)
    assert isinstance(read, TaskStatusUpdateEvent)
    assert read.status.state == canonical
    assert DIALECT.encode_event(read)["status"]["state"] == spelled


def test_every_state_has_a_name() -> None:
    assert set(STATES.values()) == {state.value for state in State}


@pytest.mark.parametrize("state", ["cancelled", "WORKING", "", "TASK_STATE_CANCELLED"])
def test_an_unknown_state_is_unchanged(state: str) -> None:
    task = DIALECT.decode_event({"kind": "task", "id": "t", "status": {"state": state}})
    assert isinstance(task, Task)
    assert task.status.state == state
    assert DIALECT.encode_event(task)["status"]["state"] == state


@pytest.mark.parametrize(
    ("spelled", "canonical"), [("user", "ROLE_USER"), ("agent", "ROLE_AGENT"), ("robot", "robot"), ("", "")]
)
def test_a_role_is_converted_in_both_directions(spelled: str, canonical: str) -> None:
    message = DIALECT.decode_event({"kind": "message", "role": spelled})
    assert isinstance(message, Message)
    assert message.role == canonical
    assert DIALECT.encode_event(message)["role"] == spelled


PARTS = {
    "text": ({"kind": "text", "text": "a"}, Part(text="a")),
    "empty text": ({"kind": "text", "text": ""}, Part(text="")),
    "text with metadata": (
        {"kind": "text", "text": "a", "metadata": {"m": None}},
        Part(text="a", metadata={"m": None}),
    ),
    "bytes": (
        {"kind": "file", "file": {"bytes": "QQ==", "name": "a.txt", "mimeType": "text/plain"}},
        Part(raw="QQ==", filename="a.txt", media_type="text/plain"),
    ),
    "uri": ({"kind": "file", "file": {"uri": "http://h"}, "metadata": {}}, Part(url="http://h", metadata={})),
    "bytes and uri": ({"kind": "file", "file": {"bytes": "QQ==", "uri": "u"}}, Part(raw="QQ==", url="u")),
    "data": ({"kind": "data", "data": {"a": [1]}}, Part(data={"a": [1]})),
    "data that is not an object": ({"kind": "data", "data": [1]}, Part(data=[1])),
    "null data": ({"kind": "data", "data": None}, Part(data=None)),
    "members unknown to a part": ({"kind": "text", "text": "a", "x": {}}, Part(text="a", x={})),
    "members unknown to a file": ({"kind": "file", "file": {"uri": "u", "size": 3}}, Part(url="u", file={"size": 3})),
    "a file without content": ({"kind": "file", "file": {"name": "a"}}, Part(filename="a", kind="file")),
    "an unknown kind": ({"kind": "video", "video": {"a": 1}}, Part(kind="video", video={"a": 1})),
    "a kind that does not fit": ({"kind": "data", "text": "a"}, Part(text="a", kind="data")),
    "a kind that is not a string": ({"kind": 5, "text": "a"}, Part(text="a", kind=5)),
    "a file that is not an object": ({"kind": "file", "file": "QQ=="}, Part(kind="file", file="QQ==")),
    "a part of 0.1": ({"kind": "text", "type": "text", "text": "a"}, Part(text="a", type="text")),
}


@pytest.mark.parametrize(("spelled", "canonical"), PARTS.values(), ids=PARTS)
def test_a_part_is_read_and_written_back_as_it_was(spelled: Any, canonical: Part) -> None:
    assert read_part(spelled) == canonical
    assert write_part(read_part(spelled)) == spelled


@pytest.mark.parametrize(
    ("spelled", "canonical", "content"),
    [
        ({"text": "a"}, Part(text="a"), "text"),
        ({"kind": "text", "text": "a", "metadata": None}, Part(text="a"), "text"),
        ({"kind": "text", "text": "a", "file": None, "data": None}, Part(text="a", file=None), "text"),
        (
            {"kind": "file", "file": {"bytes": None, "uri": "u", "name": None, "mimeType": None}, "metadata": None},
            Part(url="u"),
            "url",
        ),
    ],
)
def test_a_part_with_absent_or_null_members_is_read(spelled: Any, canonical: Part, content: str) -> None:
    assert read_part(spelled) == canonical
    assert read_part(spelled).content == content


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "text", "text": 5},
        {"kind": "text", "text": ["a"]},
        {"kind": "file", "file": {"bytes": 5}},
        {"kind": "file", "file": {"uri": []}},
        "a part",
        5,
        [],
    ],
)
def test_a_part_with_a_member_of_the_wrong_type_makes_the_event_unreadable(part: Any) -> None:
    event = {"kind": "message", "parts": [part]}
    refused = DIALECT.decode_event(event)
    assert isinstance(refused, Unreadable)
    assert refused.value is event
    assert refused.why.startswith("Message/parts/0")


def test_a_text_part_has_only_kind_and_text() -> None:
    assert write_part(Part(text="a")) == {"kind": "text", "text": "a"}
    assert write_part(Part(text="a", file={"size": 1})) == {"kind": "text", "text": "a", "file": {"size": 1}}
    assert write_part(Part(raw=None, text="a")) == {"kind": "text", "text": "a", "raw": None}


EVENTS: dict[str, tuple[Any, Any]] = {
    "task": (
        {
            "kind": "task",
            "id": "t",
            "contextId": "c",
            "status": {
                "state": "working",
                "timestamp": "2026-01-01T00:00:00+00:00",
                "message": {"kind": "message", "messageId": "m", "role": "agent", "parts": []},
            },
            "history": [
                {"kind": "message", "messageId": "h", "role": "user", "parts": [{"kind": "text", "text": "q"}]}
            ],
            "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "r"}]}],
            "metadata": {"kind": "mine"},
        },
        Task(
            id="t",
            context_id="c",
            status=TaskStatus(
                state="TASK_STATE_WORKING",
                timestamp="2026-01-01T00:00:00+00:00",
                message=Message(message_id="m", role="ROLE_AGENT", parts=[]),
            ),
            history=[Message(message_id="h", role="ROLE_USER", parts=[Part(text="q")])],
            artifacts=[Artifact(artifact_id="a", parts=[Part(text="r")])],
            metadata={"kind": "mine"},
        ),
    ),
    "message": (
        {"kind": "message", "messageId": "m", "role": "user", "parts": [], "referenceTaskIds": ["t"], "extensions": []},
        Message(message_id="m", role="ROLE_USER", parts=[], reference_task_ids=["t"], extensions=[]),
    ),
    "status update": (
        {"kind": "status-update", "taskId": "t", "contextId": "c", "final": True, "status": {"state": "completed"}},
        TaskStatusUpdateEvent(task_id="t", context_id="c", final=True, status=TaskStatus(state="TASK_STATE_COMPLETED")),
    ),
    "artifact update": (
        {
            "kind": "artifact-update",
            "taskId": "t",
            "contextId": "c",
            "append": True,
            "lastChunk": False,
            "artifact": {"artifactId": "a", "name": "n", "parts": [{"kind": "data", "data": {}}]},
        },
        TaskArtifactUpdateEvent(
            task_id="t",
            context_id="c",
            append=True,
            last_chunk=False,
            artifact=Artifact(artifact_id="a", name="n", parts=[Part(data={})]),
        ),
    ),
    "unknown members that other events name": (
        {"kind": "task", "id": "t", "artifact": "x", "parts": 5, "role": {}, "final": None},
        Task(id="t", artifact="x", parts=5, role={}, final=None),
    ),
    "a message of another kind in the history": (
        {"kind": "task", "id": "t", "history": [{"kind": "note", "messageId": "m"}]},
        Task(id="t", history=[Message(message_id="m", kind="note")]),
    ),
}


@pytest.mark.parametrize(("spelled", "canonical"), EVENTS.values(), ids=EVENTS)
def test_an_event_is_read_and_written_back_as_it_was(spelled: Any, canonical: Any) -> None:
    assert DIALECT.decode_event(spelled) == canonical
    assert DIALECT.decode_push(spelled) == canonical
    assert DIALECT.encode_event(canonical) == spelled


def test_a_task_with_null_members_is_read() -> None:
    task = DIALECT.decode_event(
        {
            "kind": "task",
            "id": "t",
            "contextId": None,
            "history": None,
            "artifacts": None,
            "metadata": None,
            "status": {
                "state": "working",
                "timestamp": None,
                "message": {"kind": "message", "role": None, "parts": None, "taskId": None, "extensions": None},
            },
        }
    )
    assert task == Task(id="t", status=TaskStatus(state="TASK_STATE_WORKING", message=Message()))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "expected an event (an object), found null"),
        ([], "expected an event (an object), found an array"),
        ({}, "the member kind is missing; found none"),
        ({"kind": None, "id": "t"}, "the member kind is missing; found 'id'"),
        ({"kind": "Task"}, "unknown kind: 'Task'"),
        ({"kind": ["task"]}, "unknown kind: an array"),
        ({"kind": {"task": 1}}, "unknown kind: an object"),
        ({"statusUpdate": {"taskId": "t"}}, "the member kind is missing; found the format of 1.0"),
        ({"task": {}}, "the member kind is missing; found the format of 1.0"),
    ],
)
def test_an_invalid_event_is_unreadable_with_the_reason(value: Any, why: str) -> None:
    assert DIALECT.decode_event(value) == Unreadable(value, why)


def test_a_long_kind_is_quoted_partly() -> None:
    refused = DIALECT.decode_event({"kind": "k" * 100_000})
    assert isinstance(refused, Unreadable)
    assert len(refused.why) < 200


@pytest.mark.parametrize(
    ("state", "final"),
    [("WORKING", False), ("INPUT_REQUIRED", True), ("AUTH_REQUIRED", True), ("COMPLETED", True), ("SUBMITTED", False)],
)
def test_a_status_update_has_final(state: str, final: bool) -> None:
    event = TaskStatusUpdateEvent(task_id="t", status=TaskStatus(state=f"TASK_STATE_{state}"))
    assert DIALECT.encode_event(event)["final"] is final


def test_an_existing_final_is_unchanged() -> None:
    event = TaskStatusUpdateEvent(status=TaskStatus(state="TASK_STATE_COMPLETED"), final=False)
    assert DIALECT.encode_event(event)["final"] is False


def test_a_pushed_task_may_have_no_kind() -> None:
    assert DIALECT.decode_push({"id": "t", "status": {"state": "failed"}}) == Task(
        id="t", status=TaskStatus(state="TASK_STATE_FAILED")
    )
    assert isinstance(DIALECT.decode_event({"id": "t", "status": {"state": "failed"}}), Unreadable)
    assert isinstance(DIALECT.decode_push({"id": "t"}), Unreadable)


@pytest.mark.parametrize("operation", [Operation.GET, Operation.CANCEL])
def test_a_requested_task_cannot_be_another_kind(operation: Operation) -> None:
    assert DIALECT.decode_result(operation, {"id": "t"}) == Task(id="t")
    assert DIALECT.decode_result(operation, {"id": "t", "kind": "task"}) == Task(id="t")
    refused = DIALECT.decode_result(operation, {"kind": "message", "messageId": "m"})
    assert refused == Unreadable({"kind": "message", "messageId": "m"}, "expected a task, found the kind 'message'")
    assert isinstance(DIALECT.decode_result(operation, None), Unreadable)


@pytest.mark.parametrize(
    ("configuration", "read"),
    [
        ({"blocking": True}, SendConfiguration(return_immediately=False)),
        ({"blocking": False}, SendConfiguration(return_immediately=True)),
        ({"blocking": None}, SendConfiguration()),
        ({"acceptedOutputModes": None, "historyLength": None}, SendConfiguration()),
        ({"pushNotificationConfig": None}, SendConfiguration()),
        (
            {"historyLength": 0, "pushNotificationConfig": {"url": "u", "authentication": {"schemes": ["Bearer"]}}},
            SendConfiguration(
                history_length=0,
                task_push_notification_config=PushConfig(url="u", authentication=AuthenticationInfo(scheme="Bearer")),
            ),
        ),
    ],
)
def test_a_configuration_is_read(configuration: Any, read: SendConfiguration) -> None:
    value = {"message": {"kind": "message"}, "configuration": configuration}
    assert DIALECT.decode_request(Operation.SEND, value) == SendRequest(message=Message(), configuration=read)


@pytest.mark.parametrize(
    "configuration",
    ["x", [], {"blocking": "yes"}, {"blocking": 1}, {"pushNotificationConfig": "u"}, {"historyLength": "1"}],
)
def test_a_configuration_with_a_member_of_the_wrong_type_is_refused(configuration: Any) -> None:
    value = {"message": {}, "configuration": configuration}
    refused = DIALECT.decode_request(Operation.STREAM, value)
    assert isinstance(refused, Unreadable)
    assert refused.value is value


@pytest.mark.parametrize(
    ("configuration", "written"),
    [
        (SendConfiguration(return_immediately=True), {"blocking": False}),
        (SendConfiguration(return_immediately=False), {"blocking": True}),
        (SendConfiguration(return_immediately=None), {}),
        (SendConfiguration(task_push_notification_config=None), {"pushNotificationConfig": None}),
        (SendConfiguration(history_length=3, x=1), {"historyLength": 3, "x": 1}),
    ],
)
def test_a_configuration_is_written(configuration: SendConfiguration, written: Any) -> None:
    request = SendRequest(configuration=configuration)
    assert DIALECT.encode_request(Operation.SEND, request) == {"configuration": written}


PUSH = {
    "a complete configuration": (
        {
            "taskId": "t",
            "pushNotificationConfig": {
                "id": "c",
                "url": "u",
                "token": "k",
                "authentication": {"schemes": ["Bearer"], "credentials": "s"},
            },
        },
        PushConfig(
            task_id="t", id="c", url="u", token="k", authentication=AuthenticationInfo(scheme="Bearer", credentials="s")
        ),
    ),
    "one without schemes": (
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "authentication": {"schemes": []}}},
        PushConfig(task_id="t", url="u", authentication=AuthenticationInfo(scheme="")),
    ),
    "one with two schemes": (
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "authentication": {"schemes": ["a", "b"]}}},
        PushConfig(task_id="t", url="u", authentication=AuthenticationInfo(scheme="a", schemes=["a", "b"])),
    ),
    "one with unknown members": (
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "x": [1]}},
        PushConfig(task_id="t", url="u", x=[1]),
    ),
    "one with schemes of the wrong type": (
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "authentication": {"schemes": "Bearer"}}},
        PushConfig(task_id="t", url="u", authentication=AuthenticationInfo(schemes="Bearer")),
    ),
}


@pytest.mark.parametrize(("spelled", "canonical"), PUSH.values(), ids=PUSH)
def test_a_push_configuration_is_read_flat_and_written_nested(spelled: Any, canonical: PushConfig) -> None:
    assert DIALECT.decode_request(Operation.SET_PUSH, spelled) == canonical
    assert DIALECT.decode_result(Operation.GET_PUSH, spelled) == canonical
    assert DIALECT.decode_result(Operation.LIST_PUSH, [spelled, spelled]) == PushConfigList(configs=[canonical] * 2)
    assert DIALECT.encode_request(Operation.SET_PUSH, canonical) == spelled
    assert DIALECT.encode_result(Operation.SET_PUSH, canonical) == spelled
    assert DIALECT.encode_result(Operation.LIST_PUSH, PushConfigList(configs=[canonical])) == [spelled]


def test_the_outer_task_id_of_a_push_configuration_has_priority() -> None:
    sent = {"taskId": "outer", "pushNotificationConfig": {"taskId": "inner", "url": "u"}}
    assert DIALECT.decode_result(Operation.SET_PUSH, sent) == PushConfig(task_id="outer", url="u")


@pytest.mark.parametrize(
    "value",
    [
        None,
        "u",
        {"taskId": "t", "pushNotificationConfig": {"url": 5}},
        {"taskId": 5, "pushNotificationConfig": {}},
        {"pushNotificationConfig": {"authentication": {"schemes": [5]}}},
        {"pushNotificationConfig": {"authentication": "Bearer"}},
    ],
)
def test_a_push_configuration_with_a_member_of_the_wrong_type_is_refused(value: Any) -> None:
    assert isinstance(DIALECT.decode_result(Operation.SET_PUSH, value), Unreadable)
    assert isinstance(DIALECT.decode_result(Operation.LIST_PUSH, [value]), Unreadable)


def test_a_list_of_push_configurations_is_an_array() -> None:
    assert DIALECT.decode_result(Operation.LIST_PUSH, []) == PushConfigList(configs=[])
    assert DIALECT.decode_result(Operation.LIST_PUSH, None) == PushConfigList()
    shaped_like_1_0 = {"configs": []}
    refused = DIALECT.decode_result(Operation.LIST_PUSH, shaped_like_1_0)
    assert refused == Unreadable(shaped_like_1_0, "PushConfigList/configs: expected an array, found an object")


@pytest.mark.parametrize("operation", [Operation.GET_PUSH, Operation.LIST_PUSH, Operation.DELETE_PUSH])
def test_a_push_query_has_the_task_id_as_id(operation: Operation) -> None:
    sent = {"id": "t", "pushNotificationConfigId": "c", "metadata": {"a": 1}}
    query = DIALECT.decode_request(operation, sent)
    assert query == PushConfigRequest(task_id="t", id="c", metadata={"a": 1})
    assert DIALECT.encode_request(operation, query) == sent
    assert DIALECT.encode_request(operation, PushConfigRequest(task_id="t", id=None)) == {"id": "t"}


@pytest.mark.parametrize("operation", [Operation.GET, Operation.CANCEL, Operation.SUBSCRIBE])
def test_a_task_query_is_that_of_1_0_without_the_tenant(operation: Operation) -> None:
    request = TaskRequest(tenant="acme", id="t", history_length=2, metadata={"a": 1})
    written = DIALECT.encode_request(operation, request)
    assert written == {"id": "t", "historyLength": 2, "metadata": {"a": 1}}
    assert DIALECT.decode_request(operation, written) == TaskRequest(id="t", history_length=2, metadata={"a": 1})


@pytest.mark.parametrize("operation", list(DIALECT.methods))
def test_parameters_may_be_left_out_but_not_be_an_array(operation: Operation) -> None:
    assert not isinstance(DIALECT.decode_request(operation, None), Unreadable)
    assert isinstance(DIALECT.decode_request(operation, []), Unreadable)


def test_a_deletion_is_answered_with_null() -> None:
    assert DIALECT.encode_result(Operation.DELETE_PUSH, Deleted()) is None
    assert DIALECT.decode_result(Operation.DELETE_PUSH, None) == Deleted()


def test_tasks_cannot_be_listed() -> None:
    assert isinstance(DIALECT.decode_result(Operation.LIST, {"tasks": []}), Unreadable)
    listed = DIALECT.encode_result(Operation.LIST, TaskList(tasks=[Task(id="t")], page_size=1))
    assert listed == {"tasks": [{"kind": "task", "id": "t"}], "pageSize": 1}
