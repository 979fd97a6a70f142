"""The rules about answers as answers to what was asked, and about the statuses of gRPC."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.findings.result import of_refusal, of_result
from inspector.findings.rules import RULES
from inspector.findings.transport.judge import of_status
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.model import (
    ListTasksRequest,
    Message,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskList,
    TaskRequest,
    TaskStatus,
)
from inspector.protocol.operations import Operation

WAITING = SendRequest(message=Message(message_id="m"))
AT_ONCE = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(return_immediately=True))
SHORT = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(history_length=1))


def task(state: str = "COMPLETED", time: str | None = None, **members: Any) -> Task:
    status = TaskStatus(state=f"TASK_STATE_{state}", timestamp=time)
    return Task(id="t", context_id="c", status=status, **members)


def told(number: int) -> list[Message]:
    return [Message(message_id=str(one)) for one in range(number)]


LATE, EARLY = "2026-01-31T12:00:01.000Z", "2026-01-31T12:00:00Z"
ASKED = ListTasksRequest(context_id="c", page_size=2)
HOOK = PushConfig(id="p", task_id="t", url="https://example.com/hook")
ONE_OF_T = PushConfigRequest(task_id="t", id="p")
BREACHES = [
    ("RESULT-007", Operation.SET_PUSH, HOOK, HOOK.model_copy(update={"url": "https://example.com/"}), "/url"),
    ("RESULT-007", Operation.SET_PUSH, HOOK, HOOK.model_copy(update={"task_id": "u"}), "/taskId"),
    ("RESULT-007", Operation.GET_PUSH, ONE_OF_T, HOOK.model_copy(update={"id": "q"}), "/id"),
    (
        "RESULT-007",
        Operation.LIST_PUSH,
        PushConfigRequest(task_id="u"),
        PushConfigList(configs=[HOOK]),
        "/configs/0/taskId",
    ),
    ("RESULT-001", Operation.SEND, WAITING, task("WORKING"), "/status/state"),
    ("RESULT-002", Operation.SEND, SHORT, task(history=told(2)), "/history"),
    ("RESULT-002", Operation.GET, TaskRequest(id="t", history_length=0), task(history=told(1)), "/history"),
    (
        "RESULT-002",
        Operation.LIST,
        ListTasksRequest(history_length=0),
        TaskList(tasks=[task(history=told(1))]),
        "/tasks/0/history",
    ),
    ("RESULT-003", Operation.LIST, ASKED, TaskList(tasks=[task()] * 3), "/tasks"),
    ("RESULT-004", Operation.LIST, ASKED, TaskList(tasks=[task(artifacts=[])]), "/tasks/0/artifacts"),
    ("RESULT-005", Operation.LIST, ListTasksRequest(context_id="d"), TaskList(tasks=[task()]), "/tasks/0/contextId"),
    (
        "RESULT-005",
        Operation.LIST,
        ListTasksRequest(status="TASK_STATE_WORKING"),
        TaskList(tasks=[task()]),
        "/tasks/0/status/state",
    ),
    (
        "RESULT-006",
        Operation.LIST,
        ASKED,
        TaskList(tasks=[task(time=EARLY), task(time=LATE)]),
        "/tasks/1/status/timestamp",
    ),
]


@pytest.mark.parametrize(("rule", "operation", "request_", "answer", "pointer"), BREACHES)
def test_a_breach_is_found_where_it_stands(rule: str, operation: Operation, request_: Any, answer: Any, pointer: str):
    [found] = of_result("1.0", operation, request_, answer)
    assert (found.rule, found.pointer, found.severity) == (rule, pointer, RULES[rule].severity)
    assert of_result("0.3", operation, request_, answer) == ()


SOUND = [
    (Operation.SET_PUSH, HOOK, HOOK),
    (Operation.SET_PUSH, PushConfig(task_id="t", url=HOOK.url), HOOK),
    (Operation.SET_PUSH, HOOK, PushConfig(url=HOOK.url)),
    (Operation.GET_PUSH, ONE_OF_T, HOOK),
    (Operation.LIST_PUSH, PushConfigRequest(task_id="t"), PushConfigList(configs=[HOOK, HOOK])),
    (Operation.SEND, WAITING, task()),
    (Operation.SEND, WAITING, task("INPUT_REQUIRED")),
    (Operation.SEND, AT_ONCE, task("WORKING")),
    (Operation.STREAM, WAITING, task("WORKING")),
    (Operation.SEND, SHORT, task(history=told(1))),
    (Operation.SEND, WAITING, Message(message_id="m")),
    (Operation.GET, TaskRequest(id="t"), task("WORKING", history=told(9))),
    (Operation.LIST, ASKED, TaskList(tasks=[task(time=LATE), task(time=EARLY)])),
    (Operation.LIST, ListTasksRequest(include_artifacts=True), TaskList(tasks=[task(artifacts=[])])),
    (Operation.LIST, ListTasksRequest(), TaskList(tasks=[task(time="x"), task(time=LATE), task(time=None)])),
]


@pytest.mark.parametrize(("operation", "request_", "answer"), SOUND)
def test_what_was_asked_for_is_not_found(operation: Operation, request_: Any, answer: Any):
    assert of_result("1.0", operation, request_, answer) == ()


PUSHED = SendRequest(
    message=Message(message_id="m", task_id="t"),
    configuration=SendConfiguration(task_push_notification_config=HOOK),
)
REFERRING = SendRequest(message=Message(message_id="m", reference_task_ids=["t"]))
UNASKED = [
    ("TaskNotFoundError", Operation.SEND, WAITING),
    ("TaskNotCancelableError", Operation.STREAM, PUSHED),
    ("PushNotificationNotSupportedError", Operation.SEND, WAITING),
    ("PushNotificationNotSupportedError", Operation.GET, TaskRequest(id="t")),
    ("ExtendedAgentCardNotConfiguredError", Operation.SEND, WAITING),
]
FITTING = [
    ("TaskNotFoundError", Operation.SEND, PUSHED),
    ("TaskNotFoundError", Operation.SEND, REFERRING),
    ("TaskNotFoundError", Operation.GET, TaskRequest(id="t")),
    ("TaskNotCancelableError", Operation.CANCEL, TaskRequest(id="t")),
    ("PushNotificationNotSupportedError", Operation.SEND, PUSHED),
    ("PushNotificationNotSupportedError", Operation.SET_PUSH, HOOK),
    ("UnsupportedOperationError", Operation.STREAM, WAITING),
    ("InternalError", Operation.SEND, WAITING),
]


def refusal(name: str, operation: Operation, request: Any, version: str = "1.0") -> list[tuple[str, str]]:
    error = ProtocolError(BY_NAME[name].code, "x", None)
    found = of_refusal(version, operation, request, error, "/error/code")
    return [(one.rule, one.pointer) for one in found]


@pytest.mark.parametrize("version", ["0.2", "0.3", "1.0", "opvs"])
@pytest.mark.parametrize(("name", "operation", "request_"), UNASKED)
def test_an_error_that_the_request_cannot_have_earned_is_found(
    name: str, operation: Operation, request_: Any, version: str
):
    assert refusal(name, operation, request_, version) == [("RESULT-008", "/error/code")]


@pytest.mark.parametrize(("name", "operation", "request_"), FITTING)
def test_an_error_that_fits_the_request_is_not_found(name: str, operation: Operation, request_: Any):
    assert refusal(name, operation, request_) == []


def test_errors_of_0_1_are_not_compared_with_the_request():
    assert refusal("TaskNotFoundError", Operation.SEND, WAITING, "0.1") == []
    assert of_refusal("1.0", Operation.SEND, WAITING, ProtocolError(None, "x", None), "") == ()


def test_a_status_of_grpc_is_that_of_its_error():
    kind = BY_NAME["TaskNotFoundError"]
    sound = ProtocolError(kind.code, "no such task", [kind.info()])
    assert of_status("1.0", "NOT_FOUND", sound) == ()
    assert [one.rule for one in of_status("1.0", "INTERNAL", sound)] == ["GRPC-001"]
    assert [one.rule for one in of_status("1.0", "NOT_FOUND", ProtocolError(kind.code, "x", None))] == ["GRPC-002"]
    assert of_status("0.3", "INTERNAL", ProtocolError(kind.code, "x", None)) == ()
    assert of_status("1.0", "UNAVAILABLE", ProtocolError(None, "x", None, called="UNAVAILABLE")) == ()
    for name in ("VersionNotSupportedError", "UnsupportedOperationError"):
        for status in ("UNIMPLEMENTED", "FAILED_PRECONDITION"):
            assert of_status("1.0", status, ProtocolError(BY_NAME[name].code, "x", [BY_NAME[name].info()])) == ()
