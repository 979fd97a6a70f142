"""0.1: task ids chosen by the client, sessions, parts with `type`, artifacts with `index`, other error codes."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.assemble import AssembledTask
from inspector.protocol.dialects.v0_1 import DIALECT
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Artifact,
    AuthenticationInfo,
    Message,
    Part,
    PushConfig,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation

HELLO = Message(message_id="m", role="ROLE_USER", parts=[Part(text="hi")])
WRITTEN_HELLO = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}


def sent(**members: Any) -> Any:
    return DIALECT.encode_request(Operation.SEND, SendRequest(message=HELLO.model_copy(update=members)))


def test_the_id_of_the_first_message_becomes_the_task_id() -> None:
    assert sent() == {"id": "m", "message": WRITTEN_HELLO}


def test_a_message_to_a_task_has_the_ids_of_task_and_session_next_to_it() -> None:
    assert sent(task_id="t", context_id="s") == {"id": "t", "sessionId": "s", "message": WRITTEN_HELLO}


def test_a_message_without_an_id_sets_no_task_id() -> None:
    assert "id" not in sent(message_id="")


def test_the_configuration_of_a_send_is_flat() -> None:
    push = PushConfig(id="c", task_id="t", url="u", token="k", authentication=AuthenticationInfo(scheme="Bearer"))
    configuration = SendConfiguration(
        accepted_output_modes=["text"], history_length=2, task_push_notification_config=push, return_immediately=True
    )
    request = SendRequest(message=HELLO, configuration=configuration, metadata={"a": 1})
    written = DIALECT.encode_request(Operation.STREAM, request)
    assert written == {
        "id": "m",
        "message": WRITTEN_HELLO,
        "acceptedOutputModes": ["text"],
        "historyLength": 2,
        "pushNotification": {"url": "u", "token": "k", "authentication": {"schemes": ["Bearer"]}},
        "metadata": {"a": 1},
    }
    read = DIALECT.decode_request(Operation.STREAM, written)
    assert isinstance(read, SendRequest)
    assert read.message.task_id == "m"
    assert read.configuration == SendConfiguration(
        accepted_output_modes=["text"],
        history_length=2,
        task_push_notification_config=PushConfig(
            url="u", token="k", authentication=AuthenticationInfo(scheme="Bearer")
        ),
    )


def test_nulls_of_the_official_library_count_as_missing() -> None:
    nulls = {"pushNotification": None, "historyLength": None, "metadata": None, "acceptedOutputModes": ["text"]}
    part = {"type": "text", "text": "hi", "metadata": None}
    message = {"role": "user", "parts": [part], "metadata": None}
    read = DIALECT.decode_request(Operation.SEND, {"id": "t", "sessionId": "s", "message": message, **nulls})
    assert read == SendRequest(
        message=Message(task_id="t", context_id="s", role="ROLE_USER", parts=[Part(text="hi")]),
        configuration=SendConfiguration(accepted_output_modes=["text"]),
    )


@pytest.mark.parametrize(
    ("operation", "request_", "written"),
    [
        (Operation.GET, TaskRequest(tenant="a", id="t", history_length=2), {"id": "t", "historyLength": 2}),
        (Operation.CANCEL, TaskRequest(id="t"), {"id": "t"}),
        (Operation.GET_PUSH, PushConfigRequest(task_id="t", id="c"), {"id": "t"}),
        (
            Operation.SET_PUSH,
            PushConfig(task_id="t", id="c", url="u"),
            {"id": "t", "pushNotificationConfig": {"url": "u"}},
        ),
    ],
)
def test_requests_refer_to_a_task_by_id(operation: Operation, request_: Any, written: Any) -> None:
    assert DIALECT.encode_request(operation, request_) == written


def test_a_status_with_an_artifact_that_is_null_is_a_status_update() -> None:
    value = {"id": "t", "status": {"state": "working"}, "artifact": None, "final": False}
    event = DIALECT.decode_event(value)
    assert isinstance(event, TaskStatusUpdateEvent)
    assert event.status.state == "TASK_STATE_WORKING"
    artifact = DIALECT.decode_event({"id": "t", "status": None, "artifact": {"parts": []}})
    assert isinstance(artifact, TaskArtifactUpdateEvent)


def test_a_status_item_is_a_status_update() -> None:
    value = {"id": "t", "status": {"state": "working"}, "final": False}
    event = DIALECT.decode_event(value)
    assert isinstance(event, TaskStatusUpdateEvent)
    assert (event.task_id, event.status.state) == ("t", "TASK_STATE_WORKING")
    assert DIALECT.encode_event(event) == value


def chunk(text: str, **members: Any) -> dict[str, Any]:
    return {"id": "t", "artifact": {"parts": [{"type": "text", "text": text}], "index": 1, **members}}


def test_append_and_last_chunk_are_members_of_the_artifact() -> None:
    value = chunk("a", append=True, lastChunk=False, name="n")
    event = DIALECT.decode_event(value)
    assert isinstance(event, TaskArtifactUpdateEvent)
    assert (event.append, event.last_chunk) == (True, False)
    assert event.artifact == Artifact(artifact_id="artifact-1", name="n", parts=[Part(text="a")], index=1)
    assert DIALECT.encode_event(event) == value


def test_the_chunks_of_an_index_become_one_artifact() -> None:
    task = AssembledTask("t")
    for value in (chunk("a", append=False), chunk("b", append=True, lastChunk=True)):
        event = DIALECT.decode_event(value)
        assert isinstance(event, TaskArtifactUpdateEvent)
        task.apply(event, 0.0)
    [artifact] = task.artifacts.values()
    assert (artifact.artifact_id, str(artifact.text), artifact.closed) == ("artifact-1", "ab", True)


def test_artifacts_without_an_index_get_different_ids() -> None:
    read = DIALECT.decode_result(Operation.GET, {"id": "t", "status": {}, "artifacts": [{"parts": []}, {"parts": []}]})
    assert isinstance(read, Task)
    assert [artifact.artifact_id for artifact in read.artifacts or []] == ["artifact-0", "artifact-1"]


@pytest.mark.parametrize("index", ["1", 1.0, True, None, [], 10**30])
def test_an_invalid_index_is_unchanged(index: Any) -> None:
    event = DIALECT.decode_event({"id": "t", "artifact": {"parts": [], "index": index}})
    assert isinstance(event, TaskArtifactUpdateEvent)
    assert event.artifact.model_extra == {"index": index}
    assert DIALECT.encode_event(event)["artifact"]["index"] == index


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"id": "t", "status": {"state": "working"}}, TaskStatusUpdateEvent),
        ({"id": "t", "sessionId": "s", "status": {"state": "working"}}, Task),
        ({"id": "t", "status": {"state": "working"}, "history": []}, Task),
        ({"id": "t", "status": {"state": "working"}, "artifacts": []}, Task),
        ({"role": "agent", "parts": []}, Message),
    ],
)
def test_stream_items_are_distinguished_by_their_members(value: Any, kind: type[Any]) -> None:
    assert isinstance(DIALECT.decode_event(value), kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"id": "t", "status": {"state": "working"}}, Task),
        ({"id": "t", "status": {"state": "working"}, "final": True}, TaskStatusUpdateEvent),
        ({"id": "t", "artifact": {"parts": [], "index": 0}}, TaskArtifactUpdateEvent),
    ],
)
def test_a_push_body_is_a_task_or_an_event(value: Any, kind: type[Any]) -> None:
    assert isinstance(DIALECT.decode_push(value), kind)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "expected an event (an object), found null"),
        ({}, "expected status or artifact; found none"),
        (
            {"kind": "task", "id": "t", "status": {}},
            "expected status or artifact, as in 0.1; found kind 'task', as in 0.2 and 0.3 over JSONRPC",
        ),
        ({"task": {"id": "t"}}, "expected status or artifact, as in 0.1; found the format of 1.0"),
        ({"id": "t", "artifact": []}, "TaskArtifactUpdateEvent/artifact: expected an object, found an array"),
    ],
)
def test_an_invalid_event_is_unreadable_with_the_reason(value: Any, why: str) -> None:
    assert DIALECT.decode_event(value) == Unreadable(value, why)


def test_a_result_in_the_format_of_another_version_is_unreadable() -> None:
    wrapped = DIALECT.decode_result(Operation.SEND, {"task": {"id": "t"}})
    assert isinstance(wrapped, Unreadable)
    assert wrapped.why.endswith("found the format of 1.0")


def test_an_operation_that_0_1_does_not_have_is_unreadable() -> None:
    read = DIALECT.decode_result(Operation.LIST_PUSH, [])
    assert read == Unreadable([], "A2A 0.1 does not have ListTaskPushNotificationConfigs")
    assert not DIALECT.has(Operation.EXTENDED_CARD)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (-32001, "TaskNotFoundError"),
        (-32005, "ContentTypeNotSupportedError"),
        (-32006, "StreamingNotSupportedError"),
        (-32007, "AuthenticationRequiredError"),
        (-32009, "InvalidTaskStateError"),
        (-32011, "ResourceUnavailableError"),
        (-32700, "JSONParseError"),
    ],
)
def test_error_codes_have_the_names_of_0_1(code: int, name: str) -> None:
    assert DIALECT.errors[code] == name


def test_an_error_keeps_its_code() -> None:
    assert ProtocolError(-32006, "no streams").code == -32006
