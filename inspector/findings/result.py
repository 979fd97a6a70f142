"""Rules that compare a result or an error with its request (1.0 sections 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.findings.examples import TEXT_PART, answer, message, response
from inspector.findings.examples import task as task_example
from inspector.findings.finding import Finding
from inspector.findings.rule_set import ERROR, SINCE_0_2, V1, WARNING, Rule, RuleSet, Violation
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import BY_CODE, BY_NAME, ProtocolError
from inspector.protocol.lifecycle import State, short
from inspector.protocol.model import (
    Json,
    ListTasksRequest,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
    SendRequest,
    Task,
    TaskList,
    TaskRequest,
)
from inspector.protocol.operations import PUSH, Operation

_MOST_LISTED = 100


class ErrorFacts(NamedTuple):
    """An error, its request, and the JSON pointer to the error in the payload (`place`)."""

    version: str
    operation: Operation
    request: Request
    error: ProtocolError
    place: str


class ResultFacts(NamedTuple):
    """A result and its request; findings point into the result."""

    version: str
    operation: Operation
    request: Request
    answer: Answer


class ListedFacts(NamedTuple):
    """A listed task, the JSON pointer to it (`place`), and the task before it in the list (None for the first)."""

    version: str
    request: ListTasksRequest
    task: Task
    before: Task | None
    place: str


def judge_result(version: str, operation: Operation, request: Request, answer: Answer) -> tuple[Finding, ...]:
    """Check a result against its request; the findings point into the result."""
    found = RESULTS.judge(ResultFacts(version, operation, request, answer))
    if isinstance(request, ListTasksRequest) and isinstance(answer, TaskList):
        before = None
        for number, task in enumerate(answer.tasks):
            found += LISTED.judge(ListedFacts(version, request, task, before, f"/tasks/{number}"))
            before = task
    return tuple(found)


def judge_error(
    version: str, operation: Operation, request: Request, error: ProtocolError, place: str
) -> tuple[Finding, ...]:
    """Check an error against its request; `place` is the JSON pointer to the error in the payload."""
    return tuple(ERRORS.judge(ErrorFacts(version, operation, request, error, place)))


RULES: list[Rule] = []
ERRORS, RESULTS, LISTED = (
    RuleSet[ErrorFacts](RULES, SINCE_0_2),
    RuleSet[ResultFacts](RULES, V1),
    RuleSet[ListedFacts](RULES, V1),
)
"""Rules about errors do not apply to 0.1, where clients choose the task ids and the error codes differ. The other rules
apply since 1.0: older versions do not limit the result of a call."""

_DONE = task_example(status={"state": "TASK_STATE_COMPLETED"})
_WITH_HISTORY = task_example(status={"state": "TASK_STATE_COMPLETED"}, history=[message(TEXT_PART)["message"]])
_CONFIG: dict[str, Json] = {"id": "p-1", "taskId": "t-1", "url": "https://example.com/hook"}


def _at(time: str, task_id: str) -> dict[str, Json]:
    status = {"state": "TASK_STATE_COMPLETED", "timestamp": f"2026-01-31T{time}Z"}
    return {"id": task_id, "contextId": "c-1", "status": status}


def _refusal(name: str) -> Json:
    kind = BY_NAME[name]
    error = {"code": kind.code, "message": kind.meaning, "data": [kind.info()]}
    return response({"jsonrpc": "2.0", "id": "the-id", "error": error})


def _listed(*tasks: Json, asked: Json = None) -> Json:
    page = {"tasks": [*tasks], "nextPageToken": "", "pageSize": 50, "totalSize": len(tasks)}
    return answer(page, "ListTasks", asked=asked or {})


_ONE, _OTHER = _at("12:00:00", "t-1"), _at("12:00:01", "t-2")


@ERRORS.rule(
    "RESULT-008",
    WARNING,
    "The error does not match the request",
    section="1.0 §3.3.2, §3.1.1; 0.3 §8.2",
    requirement="Each error has a specific cause.",
    remedy="Respond with the error that describes the problem of this request; clients act on its code.",
    passing=_refusal("UnsupportedOperationError"),
    failing=_refusal("TaskNotCancelableError"),
)
def unrelated_error(facts: ErrorFacts) -> Iterator[Violation]:
    kind = BY_CODE.get(facts.error.code) if facts.error.code is not None else None
    if kind is not None and (why := _why_impossible(kind.name, facts.operation, facts.request)):
        yield Violation(facts.place, f"the error is {facts.error.name}, but {why}")


def _why_impossible(name: str, operation: Operation, request: Request) -> str:
    """Return why the request cannot cause the error, `""` if it can."""
    sent = request if isinstance(request, SendRequest) else None
    match name:
        case "TaskNotFoundError" if sent and not (sent.message.task_id or sent.message.reference_task_ids):
            return "the request names no task"
        case "TaskNotCancelableError" if operation is not Operation.CANCEL:
            return "the request does not cancel a task"
        case "PushNotificationNotSupportedError" if operation not in PUSH:
            configuration = sent.configuration if sent else None
            sets_push = configuration and configuration.task_push_notification_config
            return "" if sets_push else "the request does not configure push notifications"
        case "ExtendedAgentCardNotConfiguredError" if operation is not Operation.EXTENDED_CARD:
            return "the request does not ask for a card"
        case _:
            return ""


@RESULTS.rule(
    "RESULT-001",
    ERROR,
    "A blocking call returned while the task was running",
    section="1.0 §3.2.2",
    requirement="A blocking operation MUST wait until the task reaches a terminal or an interrupted state.",
    remedy="Respond when the task has ended or is interrupted, unless returnImmediately is true.",
    passing=answer(_DONE),
    failing=answer(task_example()),
)
def returned_early(facts: ResultFacts) -> Iterator[Violation]:
    request, task = facts.request, facts.answer
    if facts.operation is not Operation.SEND or not isinstance(request, SendRequest) or not isinstance(task, Task):
        return
    immediately = bool(request.configuration and request.configuration.return_immediately)
    if not immediately and task.status.state in (State.SUBMITTED, State.WORKING):
        yield Violation("/status/state", f"the task is {short(task.status.state)}")


@RESULTS.rule(
    "RESULT-002",
    ERROR,
    "The history is longer than requested",
    section="1.0 §3.2.4",
    requirement="The server MUST NOT return more messages than historyLength.",
    remedy="Return only the last messages of the history; 0 means no messages.",
    passing=answer(_WITH_HISTORY, asked={"configuration": {"historyLength": 1}}),
    failing=answer(_WITH_HISTORY, asked={"configuration": {"historyLength": 0}}),
)
def too_much_history(facts: ResultFacts) -> Iterator[Violation]:
    match facts.request:
        case SendRequest(configuration=configuration) if configuration and facts.operation is Operation.SEND:
            wanted = configuration.history_length
        case TaskRequest(history_length=wanted):
            pass
        case _:
            return
    if isinstance(facts.answer, Task):
        yield from _excess(wanted, facts.answer)


def _excess(wanted: int | None, task: Task, at: str = "") -> Iterator[Violation]:
    length = len(task.history or ())
    if wanted is not None and length > wanted:
        yield Violation(f"{at}/history", f"found {length} messages, at most {wanted} requested")


@RESULTS.rule(
    "RESULT-003",
    ERROR,
    "A page has more tasks than requested",
    section="1.0 §3.1.4",
    requirement="pageSize is the maximum number of tasks: 50 by default, 100 at most.",
    remedy="Shorten the page and set nextPageToken.",
    passing=_listed(_ONE, asked={"pageSize": 1}),
    failing=_listed(_OTHER, _ONE, asked={"pageSize": 1}),
)
def too_many_tasks(facts: ResultFacts) -> Iterator[Violation]:
    if isinstance(facts.request, ListTasksRequest) and isinstance(facts.answer, TaskList):
        most, count = facts.request.page_size or _MOST_LISTED, len(facts.answer.tasks)
        if count > most:
            yield Violation("/tasks", f"found {count} tasks, at most {most} requested")


@LISTED.rule(
    "RESULT-004",
    ERROR,
    "A listed task has artifacts that were not requested",
    section="1.0 §3.1.4",
    requirement="When includeArtifacts is false, each Task MUST omit the artifacts field.",
    remedy="Remove the member artifacts.",
    passing=_listed({**_ONE, "artifacts": []}, asked={"includeArtifacts": True}),
    failing=_listed({**_ONE, "artifacts": []}),
)
def unwanted_artifacts(listed: ListedFacts) -> Iterator[Violation]:
    if listed.task.artifacts is not None and not listed.request.include_artifacts:
        yield Violation(f"{listed.place}/artifacts", "artifacts is present, but includeArtifacts is not true")


@LISTED.rule(
    "RESULT-005",
    ERROR,
    "A listed task does not match the filter",
    section="1.0 §3.1.4",
    requirement="The list is filtered by context and by the current status state.",
    remedy="Apply contextId and status to the listed tasks.",
    passing=_listed(_ONE, asked={"contextId": "c-1"}),
    failing=_listed(_ONE, asked={"contextId": "c-2"}),
)
def unwanted_task(listed: ListedFacts) -> Iterator[Violation]:
    request, task = listed.request, listed.task
    if request.context_id and task.context_id and task.context_id != request.context_id:
        yield Violation(
            f"{listed.place}/contextId", f"contextId is {task.context_id[:80]!r}, requested {request.context_id[:80]!r}"
        )
    if request.status and task.status.state != request.status:
        yield Violation(
            f"{listed.place}/status/state", f"state is {short(task.status.state)}, requested {short(request.status)}"
        )


@LISTED.rule(
    "RESULT-006",
    ERROR,
    "The list of tasks is not sorted",
    section="1.0 §3.1.4",
    requirement="Tasks MUST be sorted by the timestamp of their status in descending order.",
    remedy="Sort the tasks, the newest status first.",
    passing=_listed(_OTHER, _ONE),
    failing=_listed(_ONE, _OTHER),
)
def unsorted(listed: ListedFacts) -> Iterator[Violation]:
    time = listed.task.status.timestamp or ""
    before = (listed.before and listed.before.status.timestamp) or ""
    # Only timestamps in UTC are compared, to their common precision.
    length = min(len(time), len(before)) - 1
    if time.endswith("Z") and before.endswith("Z") and time[:-1][:length] > before[:-1][:length]:
        yield Violation(f"{listed.place}/status/timestamp", f"{time[:40]} follows {before[:40]}")


@LISTED.add_check("RESULT-002")
def too_much_history_in_a_list(listed: ListedFacts) -> Iterator[Violation]:
    return _excess(listed.request.history_length, listed.task, listed.place)


@RESULTS.rule(
    "RESULT-007",
    ERROR,
    "The push configuration differs from the request",
    section="1.0 §3.1.7, §3.1.8, §3.1.9",
    requirement="The operation MUST return the configuration with the webhook URL, or MUST fail if there is none.",
    remedy="Return the stored configuration of the requested task.",
    passing=answer(_CONFIG, "CreateTaskPushNotificationConfig", asked=_CONFIG),
    failing=answer({**_CONFIG, "taskId": "t-2"}, "CreateTaskPushNotificationConfig", asked=_CONFIG),
)
def other_config(facts: ResultFacts) -> Iterator[Violation]:
    match facts.request, facts.answer:
        case PushConfig() | PushConfigRequest(), PushConfig():
            yield from _config_differences(facts.request, facts.answer)
        case PushConfigRequest(), PushConfigList():
            of_task = PushConfigRequest(task_id=facts.request.task_id)
            for number, config in enumerate(facts.answer.configs):
                yield from _config_differences(of_task, config, f"/configs/{number}")
        case _:
            return


def _config_differences(
    request: PushConfig | PushConfigRequest, config: PushConfig, at: str = ""
) -> Iterator[Violation]:
    """Compare a push configuration with the requested configuration; members that the agent omits are not compared."""
    expected = {
        "taskId": request.task_id,
        "id": request.id,
        "url": request.url if isinstance(request, PushConfig) else "",
    }
    for name, found in (("taskId", config.task_id), ("id", config.id), ("url", config.url)):
        if expected[name] and found and found != expected[name]:
            yield Violation(f"{at}/{name}", f"{name} is {found!r:.80}, expected {expected[name]!r:.80}")
