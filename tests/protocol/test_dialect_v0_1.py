"""0.1: tasks that the client names, sessions, parts by `type`, artifacts by `index`, and codes of its own."""

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


def test_the_id_of_a_message_names_the_task_that_it_begins() -> None:
    assert sent() == {"id": "m", "message": WRITTEN_HELLO}


def test_a_message_to_a_task_carries_the_task_and_the_session_beside_it() -> None:
    assert sent(task_id="t", context_id="s") == {"id": "t", "sessionId": "s", "message": WRITTEN_HELLO}


def test_a_message_without_any_id_leaves_the_task_unnamed() -> None:
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


def test_the_nulls_of_the_official_library_say_nothing() -> None:
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
def test_requests_about_a_task_name_it_by_id(operation: Operation, request_: Any, written: Any) -> None:
    assert DIALECT.encode_request(operation, request_) == written


def test_a_status_item_is_a_status_update() -> None:
    value = {"id": "t", "status": {"state": "working"}, "final": False}
    event = DIALECT.decode_event(value)
    assert isinstance(event, TaskStatusUpdateEvent)
    assert (event.task_id, event.status.state) == ("t", "TASK_STATE_WORKING")
    assert DIALECT.encode_event(event) == value


def chunk(text: str, **members: Any) -> dict[str, Any]:
    return {"id": "t", "artifact": {"parts": [{"type": "text", "text": text}], "index": 1, **members}}


def test_an_artifact_item_says_in_the_artifact_whether_it_is_a_chunk() -> None:
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


def test_artifacts_of_a_task_without_an_index_stay_apart() -> None:
    read = DIALECT.decode_result(Operation.GET, {"id": "t", "status": {}, "artifacts": [{"parts": []}, {"parts": []}]})
    assert isinstance(read, Task)
    assert [one.artifact_id for one in read.artifacts or []] == ["artifact-0", "artifact-1"]


@pytest.mark.parametrize("index", ["1", 1.0, True, None, [], 10**30])
def test_an_odd_index_is_kept_as_it_came(index: Any) -> None:
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
def test_stream_items_are_told_apart_by_their_members(value: Any, kind: type[Any]) -> None:
    assert isinstance(DIALECT.decode_event(value), kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"id": "t", "status": {"state": "working"}}, Task),
        ({"id": "t", "status": {"state": "working"}, "final": True}, TaskStatusUpdateEvent),
        ({"id": "t", "artifact": {"parts": [], "index": 0}}, TaskArtifactUpdateEvent),
    ],
)
def test_a_delivery_is_a_bare_task_or_an_event(value: Any, kind: type[Any]) -> None:
    assert isinstance(DIALECT.decode_push(value), kind)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "expected an event (an object), received null"),
        ({}, "expected status or artifact"),
        (
            {"kind": "task", "id": "t", "status": {}},
            "expected status or artifact, as in 0.1; this is the format of A2A 0.3",
        ),
        ({"task": {"id": "t"}}, "expected status or artifact, as in 0.1; this is the format of A2A 1.0"),
        ({"id": "t", "artifact": []}, "TaskArtifactUpdateEvent/artifact: expected an object, received an array"),
    ],
)
def test_what_is_no_event_says_why(value: Any, why: str) -> None:
    assert DIALECT.decode_event(value) == Unreadable(value, why)


def test_a_result_in_another_shape_is_no_task() -> None:
    wrapped = DIALECT.decode_result(Operation.SEND, {"task": {"id": "t"}})
    assert isinstance(wrapped, Unreadable)
    assert wrapped.why.endswith("this is the format of A2A 1.0")


def test_the_operations_that_0_1_does_not_have_are_named() -> None:
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
def test_the_codes_of_0_1_have_names_of_their_own(code: int, name: str) -> None:
    assert DIALECT.errors[code] == name


def test_the_raw_code_stays_with_the_error() -> None:
    assert ProtocolError(-32006, "no streams").code == -32006
