"""Rules that compare an answer or an error with the request (1.0 sections 3.1 and 3.2)."""

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
    """An error, the request that it answers, and the pointer to where the payload names the error."""

    version: str
    operation: Operation
    request: Request
    error: ProtocolError
    place: str


class ResultFacts(NamedTuple):
    """A result and the request that it answers; findings point into the object that the result is."""

    version: str
    operation: Operation
    request: Request
    answer: Answer


class ListedFacts(NamedTuple):
    """A task of a page of tasks, the task before it (None for the first), and the pointer to it."""

    version: str
    request: ListTasksRequest
    task: Task
    before: Task | None
    place: str


def of_result(version: str, operation: Operation, request: Request, answer: Answer) -> tuple[Finding, ...]:
    """Judge a result by its request; the findings point into the task or the list that it is."""
    found = RESULTS.judge(ResultFacts(version, operation, request, answer))
    if isinstance(request, ListTasksRequest) and isinstance(answer, TaskList):
        before = None
        for number, task in enumerate(answer.tasks):
            found += LISTED.judge(ListedFacts(version, request, task, before, f"/tasks/{number}"))
            before = task
    return tuple(found)


def of_refusal(
    version: str, operation: Operation, request: Request, error: ProtocolError, place: str
) -> tuple[Finding, ...]:
    """Judge an error by the request; `place` is the pointer to where the payload names the error."""
    return tuple(ERRORS.judge(ErrorFacts(version, operation, request, error, place)))


RULES: list[Rule] = []
ERRORS, RESULTS, LISTED = (
    RuleSet[ErrorFacts](RULES, SINCE_0_2),
    RuleSet[ResultFacts](RULES, V1),
    RuleSet[ListedFacts](RULES, V1),
)
"""In 0.1 the client names the tasks, and the codes are others; before 1.0 nothing limits what a call answers with."""

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
    "The error is about something that was not asked for",
    section="1.0 §3.3.2, §3.1.1; 0.3 §8.2",
    requirement="Each error is returned for a cause of its own.",
    remedy="Answer with the error that says what is wrong with this request; clients act on its code.",
    passing=_refusal("UnsupportedOperationError"),
    failing=_refusal("TaskNotCancelableError"),
)
def unrelated_error(facts: ErrorFacts) -> Iterator[Violation]:
    kind = BY_CODE.get(facts.error.code) if facts.error.code is not None else None
    if kind is not None and (why := _unrelated(kind.name, facts.operation, facts.request)):
        yield Violation(facts.place, f"{facts.error.name}, and {why}")


def _unrelated(name: str, operation: Operation, request: Request) -> str:
    """Return the reason why a request cannot cause an error, `""` if it can."""
    sent = request if isinstance(request, SendRequest) else None
    match name:
        case "TaskNotFoundError" if sent and not (sent.message.task_id or sent.message.reference_task_ids):
            return "no task was named"
        case "TaskNotCancelableError" if operation is not Operation.CANCEL:
            return "nothing was to be canceled"
        case "PushNotificationNotSupportedError" if operation not in PUSH:
            configuration = sent.configuration if sent else None
            asked = configuration and configuration.task_push_notification_config
            return "" if asked else "no push notifications were asked for"
        case "ExtendedAgentCardNotConfiguredError" if operation is not Operation.EXTENDED_CARD:
            return "no card was asked for"
        case _:
            return ""


@RESULTS.rule(
    "RESULT-001",
    ERROR,
    "A call that waits came back before the task was at rest",
    section="1.0 §3.2.2",
    requirement="Blocking: the operation MUST wait until the task reaches a terminal or an interrupted state.",
    remedy="Answer when the task is at rest, unless returnImmediately is true.",
    passing=answer(_DONE),
    failing=answer(task_example()),
)
def not_at_rest(facts: ResultFacts) -> Iterator[Violation]:
    request, task = facts.request, facts.answer
    if facts.operation is not Operation.SEND or not isinstance(request, SendRequest) or not isinstance(task, Task):
        return
    at_once = bool(request.configuration and request.configuration.return_immediately)
    if not at_once and task.status.state in (State.SUBMITTED, State.WORKING):
        yield Violation("/status/state", f"the task is {short(task.status.state)}")


@RESULTS.rule(
    "RESULT-002",
    ERROR,
    "More history than was asked for",
    section="1.0 §3.2.4",
    requirement="The server MUST NOT return more messages than the provided value.",
    remedy="Cut the history to its last messages; 0 asks for none.",
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
        yield Violation(f"{at}/history", f"{length} messages, {wanted} were asked for")


@RESULTS.rule(
    "RESULT-003",
    ERROR,
    "A page with more tasks than were asked for",
    section="1.0 §3.1.4",
    requirement="pageSize: the maximum number of tasks to return, 50 where unspecified, 100 at most.",
    remedy="Cut the page and give a nextPageToken.",
    passing=_listed(_ONE, asked={"pageSize": 1}),
    failing=_listed(_OTHER, _ONE, asked={"pageSize": 1}),
)
def too_many_tasks(facts: ResultFacts) -> Iterator[Violation]:
    if isinstance(facts.request, ListTasksRequest) and isinstance(facts.answer, TaskList):
        most, count = facts.request.page_size or _MOST_LISTED, len(facts.answer.tasks)
        if count > most:
            yield Violation("/tasks", f"{count} tasks, {most} at most were asked for")


@LISTED.rule(
    "RESULT-004",
    ERROR,
    "Artifacts in a list that were not asked for",
    section="1.0 §3.1.4",
    requirement="When includeArtifacts is false, the artifacts field MUST be omitted entirely from each Task.",
    remedy="Leave the member out.",
    passing=_listed({**_ONE, "artifacts": []}, asked={"includeArtifacts": True}),
    failing=_listed({**_ONE, "artifacts": []}),
)
def unwanted_artifacts(listed: ListedFacts) -> Iterator[Violation]:
    if listed.task.artifacts is not None and not listed.request.include_artifacts:
        yield Violation(f"{listed.place}/artifacts", "artifacts, which were not asked for")


@LISTED.rule(
    "RESULT-005",
    ERROR,
    "A listed task that the filter leaves out",
    section="1.0 §3.1.4",
    requirement="Filter tasks by context and by the current status state.",
    remedy="Apply contextId and status to the tasks that are listed.",
    passing=_listed(_ONE, asked={"contextId": "c-1"}),
    failing=_listed(_ONE, asked={"contextId": "c-2"}),
)
def unwanted_task(listed: ListedFacts) -> Iterator[Violation]:
    request, task = listed.request, listed.task
    if request.context_id and task.context_id and task.context_id != request.context_id:
        yield Violation(f"{listed.place}/contextId", f"a task of context {task.context_id[:80]!r}")
    if request.status and task.status.state != request.status:
        yield Violation(f"{listed.place}/status/state", f"a task that is {short(task.status.state)}")


@LISTED.rule(
    "RESULT-006",
    ERROR,
    "A list that is not sorted",
    section="1.0 §3.1.4",
    requirement="Implementations MUST return tasks sorted by their status timestamp time in descending order.",
    remedy="Sort the tasks, the newest status first.",
    passing=_listed(_OTHER, _ONE),
    failing=_listed(_ONE, _OTHER),
)
def unsorted(listed: ListedFacts) -> Iterator[Violation]:
    time = listed.task.status.timestamp or ""
    before = (listed.before and listed.before.status.timestamp) or ""
    # Only times in UTC are compared, to the precision that both have.
    length = min(len(time), len(before)) - 1
    if time.endswith("Z") and before.endswith("Z") and time[:-1][:length] > before[:-1][:length]:
        yield Violation(f"{listed.place}/status/timestamp", f"{time[:40]} after {before[:40]}")


@LISTED.also("RESULT-002")
def too_much_history_in_a_list(listed: ListedFacts) -> Iterator[Violation]:
    return _excess(listed.request.history_length, listed.task, listed.place)


@RESULTS.rule(
    "RESULT-007",
    ERROR,
    "Another push configuration than the one that was asked for",
    section="1.0 §3.1.7, §3.1.8, §3.1.9",
    requirement="The operation MUST return configuration details including webhook URL, or MUST fail if there is none.",
    remedy="Answer with the configuration as it is kept, under the task that it was made for.",
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


def _config_differences(asked: PushConfig | PushConfigRequest, config: PushConfig, at: str = "") -> Iterator[Violation]:
    """Compare a push configuration with the requested one; members that the agent leaves out are not compared."""
    expected = {"taskId": asked.task_id, "id": asked.id, "url": asked.url if isinstance(asked, PushConfig) else ""}
    for name, got in (("taskId", config.task_id), ("id", config.id), ("url", config.url)):
        if expected[name] and got and got != expected[name]:
            yield Violation(f"{at}/{name}", f"{got!r:.80} instead of {expected[name]!r:.80}")
