"""1.0: results of several types have a wrapper with one member, other results have none."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.dialects.v1_0 import DIALECT
from inspector.protocol.model import (
    Artifact,
    Deleted,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation

EVENTS = {
    "task": Task(id="t", status=TaskStatus(state="TASK_STATE_WORKING")),
    "message": Message(message_id="m", parts=[Part(text="a")]),
    "statusUpdate": TaskStatusUpdateEvent(task_id="t", status=TaskStatus(state="TASK_STATE_FAILED")),
    "artifactUpdate": TaskArtifactUpdateEvent(task_id="t", artifact=Artifact(artifact_id="a"), append=True),
}
ONE_OF_SEVERAL = [Operation.SEND, Operation.STREAM, Operation.SUBSCRIBE]
events = pytest.mark.parametrize(("wrapper", "event"), EVENTS.items())


@events
def test_an_event_is_wrapped(wrapper: str, event: Any) -> None:
    assert DIALECT.encode_event(event) == DIALECT.encode_push(event) == {wrapper: event.to_json()}
    assert DIALECT.decode_event({wrapper: event.to_json()}) == event
    assert DIALECT.decode_push({wrapper: event.to_json()}) == event


@events
@pytest.mark.parametrize("operation", ONE_OF_SEVERAL)
def test_a_result_of_several_types_is_wrapped(operation: Operation, wrapper: str, event: Any) -> None:
    written = DIALECT.encode_result(operation, event)
    assert written == {wrapper: event.to_json()}
    assert DIALECT.decode_result(operation, written) == event


@events
def test_null_members_are_ignored_in_a_oneof(wrapper: str, event: Any) -> None:
    value = dict.fromkeys(EVENTS, None) | {wrapper: event.to_json()}
    assert DIALECT.decode_event(value) == event


NO_EVENT = "expected one of the members artifactUpdate, message, statusUpdate, task"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "expected an event (an object), found null"),
        ("task", "expected an event (an object), found a string"),
        ({}, f"{NO_EVENT}; found none"),
        ({"task": None}, f"{NO_EVENT}; found none"),
        ({"status_update": {}}, f"{NO_EVENT}; found 'status_update'"),
        ({"kind": "task", "id": "t"}, f"{NO_EVENT}; found kind 'task', as in 0.2 and 0.3 over JSONRPC"),
        ({"kind": 5}, f"{NO_EVENT}; found 'kind'"),
        (
            {"event": "status", "task_id": "t", "state": "TASK_STATE_WORKING"},  # with a word of this version
            f"{NO_EVENT}; found 'event', 'task_id', 'state'",
        ),
        (dict.fromkeys("abcdefg", 1), f"{NO_EVENT}; found 'a', 'b', 'c', 'd', 'e' and 2 more"),
        ({"task": {}, "message": {}}, "expected one of these members, found several: message, task"),
        ({"task": []}, "Task: expected an object, found an array"),
        ({"task": {"id": 5}}, "Task/id: expected a string, found a number"),
        ({"artifactUpdate": {"append": "true"}}, "TaskArtifactUpdateEvent/append: expected a boolean, found 'true'"),
    ],
)
def test_an_invalid_event_is_unreadable_with_the_reason(value: Any, why: str) -> None:
    assert DIALECT.decode_event(value) == Unreadable(value, why)


@pytest.mark.parametrize("operation", [Operation.GET, Operation.CANCEL])
def test_a_requested_task_has_no_wrapper(operation: Operation) -> None:
    task = EVENTS["task"]
    assert DIALECT.encode_result(operation, task) == task.to_json()
    assert DIALECT.decode_result(operation, task.to_json()) == task
    wrapped = {"task": task.to_json()}
    refused = DIALECT.decode_result(operation, wrapped)
    assert refused == Unreadable(wrapped, "expected a task without a wrapper, found a task in the wrapper 'task'")


def test_a_requested_task_may_have_a_member_named_task() -> None:
    assert DIALECT.decode_result(Operation.GET, {"id": "t", "task": 1}) == Task(id="t", task=1)


def test_pages_are_read_with_missing_members() -> None:
    assert DIALECT.decode_result(
        Operation.LIST, {"tasks": [{"id": "t"}], "nextPageToken": "n", "totalSize": 2}
    ) == TaskList(tasks=[Task(id="t")], next_page_token="n", total_size=2)
    assert DIALECT.decode_result(Operation.LIST, {"tasks": None, "nextPageToken": None}) == TaskList()
    assert DIALECT.decode_result(Operation.LIST_PUSH, {"configs": [{"url": "u"}]}) == PushConfigList(
        configs=[PushConfig(url="u")]
    )
    assert isinstance(DIALECT.decode_result(Operation.LIST, []), Unreadable)


def test_a_deletion_is_answered_with_null_or_an_empty_object() -> None:
    assert DIALECT.encode_result(Operation.DELETE_PUSH, Deleted()) is None
    for value in (None, {}):
        assert DIALECT.decode_result(Operation.DELETE_PUSH, value) == Deleted()
    assert DIALECT.encode_result(Operation.DELETE_PUSH, Deleted(x=1)) == {"x": 1}
    assert isinstance(DIALECT.decode_result(Operation.DELETE_PUSH, False), Unreadable)


@pytest.mark.parametrize("operation", list(Operation))
def test_parameters_may_be_left_out_but_not_be_an_array(operation: Operation) -> None:
    assert not isinstance(DIALECT.decode_request(operation, None), Unreadable)
    assert isinstance(DIALECT.decode_request(operation, []), Unreadable)


def test_a_0_3_part_on_a_1_0_interface_keeps_its_content_in_unknown_members() -> None:
    file = {"kind": "file", "file": {"uri": "u"}}
    message = DIALECT.decode_event({"message": {"messageId": "m", "parts": [file]}})
    assert isinstance(message, Message)
    assert message.parts[0].content == ""
    assert message.parts[0].model_extra == file
