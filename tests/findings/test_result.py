"""The rules that compare responses with requests, and those about gRPC statuses."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.findings.result import judge_error, judge_result
from inspector.findings.rules import RULES
from inspector.findings.transport.judge import judge_grpc_status
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

BLOCKING = SendRequest(message=Message(message_id="m"))
NON_BLOCKING = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(return_immediately=True))
SHORT = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(history_length=1))


def task(state: str = "COMPLETED", time: str | None = None, **members: Any) -> Task:
    status = TaskStatus(state=f"TASK_STATE_{state}", timestamp=time)
    return Task(id="t", context_id="c", status=status, **members)


def messages(number: int) -> list[Message]:
    return [Message(message_id=str(index)) for index in range(number)]


LATE, EARLY = "2026-01-31T12:00:01.000Z", "2026-01-31T12:00:00Z"
LIST_REQUEST = ListTasksRequest(context_id="c", page_size=2)
HOOK = PushConfig(id="p", task_id="t", url="https://example.com/hook")
CONFIG_REQUEST = PushConfigRequest(task_id="t", id="p")
VIOLATIONS = [
    ("RESULT-007", Operation.SET_PUSH, HOOK, HOOK.model_copy(update={"url": "https://example.com/"}), "/url"),
    ("RESULT-007", Operation.SET_PUSH, HOOK, HOOK.model_copy(update={"task_id": "u"}), "/taskId"),
    ("RESULT-007", Operation.GET_PUSH, CONFIG_REQUEST, HOOK.model_copy(update={"id": "q"}), "/id"),
    (
        "RESULT-007",
        Operation.LIST_PUSH,
        PushConfigRequest(task_id="u"),
        PushConfigList(configs=[HOOK]),
        "/configs/0/taskId",
    ),
    ("RESULT-001", Operation.SEND, BLOCKING, task("WORKING"), "/status/state"),
    ("RESULT-002", Operation.SEND, SHORT, task(history=messages(2)), "/history"),
    ("RESULT-002", Operation.GET, TaskRequest(id="t", history_length=0), task(history=messages(1)), "/history"),
    (
        "RESULT-002",
        Operation.LIST,
        ListTasksRequest(history_length=0),
        TaskList(tasks=[task(history=messages(1))]),
        "/tasks/0/history",
    ),
    ("RESULT-003", Operation.LIST, LIST_REQUEST, TaskList(tasks=[task()] * 3), "/tasks"),
    ("RESULT-004", Operation.LIST, LIST_REQUEST, TaskList(tasks=[task(artifacts=[])]), "/tasks/0/artifacts"),
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
        LIST_REQUEST,
        TaskList(tasks=[task(time=EARLY), task(time=LATE)]),
        "/tasks/1/status/timestamp",
    ),
]


@pytest.mark.parametrize(("rule", "operation", "request_", "answer", "pointer"), VIOLATIONS)
def test_a_violation_is_found_at_its_member(rule: str, operation: Operation, request_: Any, answer: Any, pointer: str):
    [found] = judge_result("1.0", operation, request_, answer)
    assert (found.rule, found.pointer, found.severity) == (rule, pointer, RULES[rule].severity)
    assert judge_result("0.3", operation, request_, answer) == ()


VALID = [
    (Operation.SET_PUSH, HOOK, HOOK),
    (Operation.SET_PUSH, PushConfig(task_id="t", url=HOOK.url), HOOK),
    (Operation.SET_PUSH, HOOK, PushConfig(url=HOOK.url)),
    (Operation.GET_PUSH, CONFIG_REQUEST, HOOK),
    (Operation.LIST_PUSH, PushConfigRequest(task_id="t"), PushConfigList(configs=[HOOK, HOOK])),
    (Operation.SEND, BLOCKING, task()),
    (Operation.SEND, BLOCKING, task("INPUT_REQUIRED")),
    (Operation.SEND, NON_BLOCKING, task("WORKING")),
    (Operation.STREAM, BLOCKING, task("WORKING")),
    (Operation.SEND, SHORT, task(history=messages(1))),
    (Operation.SEND, BLOCKING, Message(message_id="m")),
    (Operation.GET, TaskRequest(id="t"), task("WORKING", history=messages(9))),
    (Operation.LIST, LIST_REQUEST, TaskList(tasks=[task(time=LATE), task(time=EARLY)])),
    (Operation.LIST, ListTasksRequest(include_artifacts=True), TaskList(tasks=[task(artifacts=[])])),
    (Operation.LIST, ListTasksRequest(), TaskList(tasks=[task(time="x"), task(time=LATE), task(time=None)])),
]


@pytest.mark.parametrize(("operation", "request_", "answer"), VALID)
def test_requested_results_have_no_findings(operation: Operation, request_: Any, answer: Any):
    assert judge_result("1.0", operation, request_, answer) == ()


PUSHED = SendRequest(
    message=Message(message_id="m", task_id="t"),
    configuration=SendConfiguration(task_push_notification_config=HOOK),
)
REFERRING = SendRequest(message=Message(message_id="m", reference_task_ids=["t"]))
IMPOSSIBLE = [
    ("TaskNotFoundError", Operation.SEND, BLOCKING),
    ("TaskNotCancelableError", Operation.STREAM, PUSHED),
    ("PushNotificationNotSupportedError", Operation.SEND, BLOCKING),
    ("PushNotificationNotSupportedError", Operation.GET, TaskRequest(id="t")),
    ("ExtendedAgentCardNotConfiguredError", Operation.SEND, BLOCKING),
]
POSSIBLE = [
    ("TaskNotFoundError", Operation.SEND, PUSHED),
    ("TaskNotFoundError", Operation.SEND, REFERRING),
    ("TaskNotFoundError", Operation.GET, TaskRequest(id="t")),
    ("TaskNotCancelableError", Operation.CANCEL, TaskRequest(id="t")),
    ("PushNotificationNotSupportedError", Operation.SEND, PUSHED),
    ("PushNotificationNotSupportedError", Operation.SET_PUSH, HOOK),
    ("UnsupportedOperationError", Operation.STREAM, BLOCKING),
    ("InternalError", Operation.SEND, BLOCKING),
]


def findings_about(name: str, operation: Operation, request: Any, version: str = "1.0") -> list[tuple[str, str]]:
    error = ProtocolError(BY_NAME[name].code, "x", None)
    found = judge_error(version, operation, request, error, "/error/code")
    return [(finding.rule, finding.pointer) for finding in found]


@pytest.mark.parametrize("version", ["0.2", "0.3", "1.0", "opvs"])
@pytest.mark.parametrize(("name", "operation", "request_"), IMPOSSIBLE)
def test_an_error_that_the_request_cannot_cause_is_found(name: str, operation: Operation, request_: Any, version: str):
    assert findings_about(name, operation, request_, version) == [("RESULT-008", "/error/code")]


@pytest.mark.parametrize(("name", "operation", "request_"), POSSIBLE)
def test_an_error_that_the_request_can_cause_has_no_finding(name: str, operation: Operation, request_: Any):
    assert findings_about(name, operation, request_) == []


def test_errors_of_0_1_are_not_compared_with_the_request():
    assert findings_about("TaskNotFoundError", Operation.SEND, BLOCKING, "0.1") == []
    assert judge_error("1.0", Operation.SEND, BLOCKING, ProtocolError(None, "x", None), "") == ()


def test_a_grpc_status_matches_its_error():
    kind = BY_NAME["TaskNotFoundError"]
    valid = ProtocolError(kind.code, "no such task", [kind.info()])
    assert judge_grpc_status("1.0", "NOT_FOUND", valid) == ()
    assert [finding.rule for finding in judge_grpc_status("1.0", "INTERNAL", valid)] == ["GRPC-001"]
    assert [finding.rule for finding in judge_grpc_status("1.0", "NOT_FOUND", ProtocolError(kind.code, "x", None))] == [
        "GRPC-002"
    ]
    assert judge_grpc_status("0.3", "INTERNAL", ProtocolError(kind.code, "x", None)) == ()
    assert judge_grpc_status("1.0", "UNAVAILABLE", ProtocolError(None, "x", None, called="UNAVAILABLE")) == ()
    for name in ("VersionNotSupportedError", "UnsupportedOperationError"):
        for status in ("UNIMPLEMENTED", "FAILED_PRECONDITION"):
            assert (
                judge_grpc_status("1.0", status, ProtocolError(BY_NAME[name].code, "x", [BY_NAME[name].info()])) == ()
            )
