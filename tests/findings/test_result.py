"""The rules that compare responses with requests, and those about gRPC statuses."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.findings.error_cause import judge_error
from inspector.findings.finding import Severity
from inspector.findings.result import judge_result
from inspector.findings.rules import RULES
from inspector.findings.transport.judge import judge_grpc_status
from inspector.protocol.card import AgentCapabilities, AgentCard, AgentExtension, AgentInterface
from inspector.protocol.circumstances import Circumstances, sent_extensions, sent_version
from inspector.protocol.dialects import v0_1, v0_3, v1_0
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.model import (
    ListTasksRequest,
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
)
from inspector.protocol.operations import REQUESTS, Operation

BLOCKING = SendRequest(message=Message(message_id="m"))
NON_BLOCKING = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(return_immediately=True))
SHORT = SendRequest(message=Message(message_id="m"), configuration=SendConfiguration(history_length=1))


def task(state: str = "COMPLETED", time: str | None = None, id: str = "t", **members: Any) -> Task:  # noqa: A002
    status = TaskStatus(state=f"TASK_STATE_{state}", timestamp=time)
    return Task(id=id, context_id="c", status=status, **members)


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
    ("RESULT-003", Operation.LIST, LIST_REQUEST, TaskList(tasks=[task(id=name) for name in "tuv"]), "/tasks"),
    ("RESULT-003", Operation.LIST, ListTasksRequest(), TaskList(tasks=[task(id=f"t{n}") for n in range(51)]), "/tasks"),
    (
        "RESULT-003",
        Operation.LIST,
        ListTasksRequest(page_size=200),
        TaskList(tasks=[task(id=f"t{n}") for n in range(101)]),
        "/tasks",
    ),
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
        TaskList(tasks=[task(time=EARLY), task(time=LATE, id="u")]),
        "/tasks/1/status/timestamp",
    ),
    ("RESULT-019", Operation.LIST, LIST_REQUEST, TaskList(tasks=[task(), task(id="u")], total_size=1), "/totalSize"),
    ("RESULT-012", Operation.LIST, ListTasksRequest(), TaskList(tasks=[task(), task("WORKING")]), "/tasks/1/id"),
]


@pytest.mark.parametrize(("rule", "operation", "request_", "answer", "pointer"), VIOLATIONS)
def test_a_violation_is_found_at_its_member(rule: str, operation: Operation, request_: Any, answer: Any, pointer: str):
    [found] = judge_result("1.0", operation, request_, answer)
    assert (found.rule, found.pointer, found.severity) == (rule, pointer, RULES[rule].severity)
    assert bool(judge_result("0.3", operation, request_, answer)) is ("0.3" in RULES[rule].applies_to)


def test_a_list_that_is_not_sorted_has_one_finding():
    tasks = [task(time=EARLY, id="a"), task(time=LATE, id="b"), task(time=EARLY, id="c"), task(time=LATE, id="d")]
    [found] = judge_result("1.0", Operation.LIST, ListTasksRequest(), TaskList(tasks=tasks))
    assert (found.rule, found.pointer) == ("RESULT-006", "/tasks/1/status/timestamp")
    assert found.seen == f"{LATE} follows {EARLY}; 2 of 4 tasks are later than the task before"


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
    (Operation.LIST, LIST_REQUEST, TaskList(tasks=[task(time=LATE), task(time=EARLY, id="u")])),
    (Operation.LIST, ListTasksRequest(), TaskList(tasks=[task(id=f"t{n}") for n in range(50)])),
    (Operation.LIST, ListTasksRequest(page_token="2"), TaskList(tasks=[task(id=f"t{n}") for n in range(100)])),
    (Operation.LIST, ListTasksRequest(include_artifacts=True), TaskList(tasks=[task(artifacts=[])])),
    (
        Operation.LIST,
        ListTasksRequest(),
        TaskList(tasks=[task(time="x"), task(time=LATE, id="u"), task(time=None, id="v")]),
    ),
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


# ── what a response means with the card and the state of the task ──

TO_TASK = SendRequest(message=Message(message_id="m", task_id="t", parts=[Part(text="hello")]))
ENDED = Circumstances(state="TASK_STATE_FAILED")
RUNNING = Circumstances(state="TASK_STATE_WORKING")
INVALID = BY_NAME["InvalidParamsError"]
SAYS_ENDED = ProtocolError(INVALID.code, "Task t is in terminal state: completed")


def of_card(
    version: str = "1.0", sent: str = "1.0", activated: tuple[str, ...] = (), **capabilities: Any
) -> Circumstances:
    """The circumstances of a request with a card with these capabilities."""
    interface = AgentInterface(url="https://a.example/", protocol_binding="JSONRPC", protocol_version=version)
    card = AgentCard(supported_interfaces=[interface], capabilities=AgentCapabilities(**capabilities))
    return Circumstances(card, interface, sent, frozenset(activated))


def rules_of(
    error: ProtocolError, operation: Operation, request: Any, known: Circumstances, version: str = "1.0"
) -> list[str]:
    return [finding.rule for finding in judge_error(version, operation, request, error, "/error/code", known)]


def error(name: str, message: str = "") -> ProtocolError:
    return ProtocolError(BY_NAME[name].code, message)


@pytest.mark.parametrize(
    ("operation", "request_", "required"),
    [
        (Operation.SEND, TO_TASK, "UnsupportedOperationError"),
        (Operation.STREAM, TO_TASK, "UnsupportedOperationError"),
        (Operation.SUBSCRIBE, TaskRequest(id="t"), "UnsupportedOperationError"),
        (Operation.CANCEL, TaskRequest(id="t"), "TaskNotCancelableError"),
    ],
)
def test_an_ended_task_requires_its_error(operation: Operation, request_: Any, required: str):
    of_grpc = ProtocolError(None, "bad", called="INVALID_ARGUMENT")
    for wrong in (error("InvalidParamsError"), error("InvalidRequestError"), of_grpc):
        assert rules_of(wrong, operation, request_, ENDED) == ["RESULT-011"]
        assert rules_of(wrong, operation, request_, RUNNING) == []
        assert rules_of(wrong, operation, request_, Circumstances()) == []
        assert rules_of(wrong, operation, request_, ENDED, "0.3") == []
    assert rules_of(SAYS_ENDED, operation, request_, Circumstances()) == ["RESULT-011"]
    for right in (error(required, "terminal state"), error("TaskNotFoundError"), error("InternalError")):
        assert rules_of(right, operation, request_, ENDED) == []


def test_an_invalid_message_to_an_ended_task_may_be_rejected_as_invalid():
    empty = SendRequest(message=Message(message_id="m", task_id="t"))
    assert rules_of(error("InvalidParamsError"), Operation.SEND, empty, ENDED) == []


@pytest.mark.parametrize(("sent", "expected"), [("c-1", ["RESULT-011"]), (None, ["RESULT-011"]), ("c-2", [])])
def test_a_message_with_another_context_to_an_ended_task_may_be_rejected_as_invalid(
    sent: str | None, expected: list[str]
):
    message = Message(message_id="m", task_id="t", context_id=sent, parts=[Part(text="hello")])
    known = Circumstances(state="TASK_STATE_FAILED", context_id="c-1")
    assert rules_of(error("InvalidParamsError"), Operation.SEND, SendRequest(message=message), known) == expected


@pytest.mark.parametrize("operation", [Operation.SEND, Operation.STREAM, Operation.SUBSCRIBE, Operation.CANCEL])
def test_an_operation_on_an_ended_task_may_not_succeed(operation: Operation):
    request_ = TO_TASK if operation in (Operation.SEND, Operation.STREAM) else TaskRequest(id="t")
    answer = task("CANCELED")
    [found] = judge_result("1.0", operation, request_, answer, ENDED)
    assert (found.rule, found.pointer) == ("RESULT-013", "")
    for known in (RUNNING, Circumstances()):
        assert judge_result("1.0", operation, request_, answer, known) == ()
    assert judge_result("0.3", operation, request_, answer, ENDED) == ()
    assert judge_result("1.0", Operation.GET, TaskRequest(id="t"), answer, ENDED) == ()


EXTENSION = AgentExtension(uri="https://x.example/1", required=True)
CONTRADICTIONS = [
    ("VersionNotSupportedError", of_card(), True),
    ("VersionNotSupportedError", of_card(version="1.0.1"), True),
    ("VersionNotSupportedError", of_card(sent=""), False),  # without the header, the version is 0.3
    ("VersionNotSupportedError", of_card(sent="1.1"), False),
    ("VersionNotSupportedError", of_card(version="1.1"), False),  # the request has 1.0
    ("VersionNotSupportedError", of_card(version="0.3", sent="1.0"), False),
    ("VersionNotSupportedError", Circumstances(version="1.0"), False),
    ("ExtensionSupportRequiredError", of_card(), True),
    ("ExtensionSupportRequiredError", of_card(extensions=[AgentExtension(uri="https://x.example/1")]), True),
    ("ExtensionSupportRequiredError", of_card(extensions=[EXTENSION]), False),
    ("ExtensionSupportRequiredError", of_card(extensions=[EXTENSION], activated=(EXTENSION.uri,)), True),
    ("PushNotificationNotSupportedError", of_card(push_notifications=True), True),
    ("PushNotificationNotSupportedError", of_card(push_notifications=False), False),
    ("PushNotificationNotSupportedError", of_card(), False),
    ("ExtendedAgentCardNotConfiguredError", of_card(extended_agent_card=True), False),  # section 3.3.4 allows it
]


@pytest.mark.parametrize(("name", "known", "contradicts"), CONTRADICTIONS)
def test_an_error_that_contradicts_the_card_is_found(name: str, known: Circumstances, contradicts: bool):
    operation = Operation.LIST_PUSH if "Push" in name else Operation.EXTENDED_CARD if "Card" in name else Operation.GET
    request_ = REQUESTS[operation]()
    assert rules_of(error(name), operation, request_, known) == ["RESULT-009"] * contradicts


def test_opvs_on_an_interface_of_a2a_does_not_contradict_the_card():
    refused = error("VersionNotSupportedError")
    assert rules_of(refused, Operation.GET, TaskRequest(id="t"), of_card(version="1.0"), "opvs") == []
    assert rules_of(refused, Operation.GET, TaskRequest(id="t"), of_card(version="1.0"), "1.1") == []


@pytest.mark.parametrize(
    ("operation", "capability", "required"),
    [
        (Operation.LIST_PUSH, "push_notifications", "PushNotificationNotSupportedError"),
        (Operation.SUBSCRIBE, "streaming", "UnsupportedOperationError"),
        (Operation.EXTENDED_CARD, "extended_agent_card", "UnsupportedOperationError"),
    ],
)
def test_an_undeclared_capability_requires_its_error(operation: Operation, capability: str, required: str):
    request_ = REQUESTS[operation]()
    unknown = error("MethodNotFoundError")
    for declared in (None, False):
        assert rules_of(unknown, operation, request_, of_card(**{capability: declared})) == ["RESULT-010"]
        assert rules_of(error(required), operation, request_, of_card(**{capability: declared})) == []
    assert rules_of(unknown, operation, request_, of_card(**{capability: True})) == []
    assert rules_of(unknown, operation, request_, Circumstances()) == []
    assert rules_of(unknown, Operation.GET, TaskRequest(id="t"), of_card()) == []


def test_a_response_without_a_required_extension_is_a_hint():
    answer = Message(message_id="m")
    [found] = judge_result("1.0", Operation.SEND, BLOCKING, answer, of_card(extensions=[EXTENSION]))
    assert (found.rule, found.severity) == ("RESULT-014", Severity.HINT)
    activated = of_card(extensions=[EXTENSION], activated=(EXTENSION.uri,))
    assert judge_result("1.0", Operation.SEND, BLOCKING, answer, activated) == ()
    assert judge_result("1.0", Operation.GET, TaskRequest(id="t"), task(), of_card(extensions=[EXTENSION])) == ()


def test_the_headers_of_a_request_are_its_version_and_its_extensions():
    headers = [("a2a-version", " 1.0 "), ("A2A-Extensions", "https://x.example/1, https://x.example/2"), ("x", "y")]
    assert sent_version(v1_0.DIALECT, headers) == "1.0"
    assert sent_version(v0_3.DIALECT, headers) == ""
    assert sent_extensions(v1_0.DIALECT, headers) == {"https://x.example/1", "https://x.example/2"}
    assert sent_extensions(v0_1.DIALECT, headers) == frozenset()


def test_the_unspecified_state_is_no_filter():
    listed = TaskList(tasks=[task("WORKING")], next_page_token="", page_size=50, total_size=1)
    request = ListTasksRequest(status="TASK_STATE_UNSPECIFIED")
    assert "RESULT-005" not in {finding.rule for finding in judge_result("1.0", Operation.LIST, request, listed)}
