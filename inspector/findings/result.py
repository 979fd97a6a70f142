"""What is wrong with an answer as an answer to what was asked (1.0 sections 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.finding import Finding
from inspector.findings.rule import V1
from inspector.findings.rules import broken
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.lifecycle import State, short
from inspector.protocol.model import (
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


def of_result(generation: str, operation: Operation, request: Request, answer: Answer) -> tuple[Finding, ...]:
    """Judge an answer by its request; the findings point into the task or the list that it is.

    Before 1.0 nothing says how long a call waits, and how much it answers with.
    """
    if generation not in V1:
        return ()
    match request, answer:
        case SendRequest(), Task() if operation is Operation.SEND:
            wanted = request.configuration.history_length if request.configuration else None
            return (*_at_rest(request, answer), *_history(wanted, answer))
        case TaskRequest(), Task():
            return tuple(_history(request.history_length, answer))
        case ListTasksRequest(), TaskList():
            return tuple(_list(request, answer))
        case PushConfig() | PushConfigRequest(), PushConfig():
            return tuple(_config(request, answer))
        case PushConfigRequest(), PushConfigList():
            of_task = PushConfigRequest(task_id=request.task_id)
            configs = enumerate(answer.configs)
            return tuple(one for place, found in configs for one in _config(of_task, found, f"/configs/{place}"))
        case _:
            return ()


def of_refusal(
    generation: str, operation: Operation, request: Request, error: ProtocolError, place: str
) -> tuple[Finding, ...]:
    """Judge an error by the request: whether it is one that the request can have earned; `place` is where it says so.

    In 0.1 it is the client that names tasks, and the codes are others.
    """
    if generation == "0.1" or error.code is None:
        return ()
    kind = BY_CODE.get(error.code)
    why = _unasked(kind.name if kind else "", operation, request)
    return (broken("RESULT-008", f"{error.name}, and {why}", place),) if why else ()


def _unasked(name: str, operation: Operation, request: Request) -> str:
    """Say in words why an error cannot be about a request, `""` where it can."""
    sent = request if isinstance(request, SendRequest) else None
    match name:
        case "TaskNotFoundError" if sent and not (sent.message.task_id or sent.message.reference_task_ids):
            return "no task was named"
        case "TaskNotCancelableError" if operation is not Operation.CANCEL:
            return "nothing was to be canceled"
        case "PushNotificationNotSupportedError" if operation not in PUSH:
            configuration = sent.configuration if sent else None
            return (
                ""
                if configuration and configuration.task_push_notification_config
                else "no push notifications were asked for"
            )
        case "ExtendedAgentCardNotConfiguredError" if operation is not Operation.EXTENDED_CARD:
            return "no card was asked for"
        case _:
            return ""


def _at_rest(request: SendRequest, task: Task) -> Iterator[Finding]:
    state = task.status.state
    at_once = bool(request.configuration and request.configuration.return_immediately)
    if not at_once and state in (State.SUBMITTED, State.WORKING):
        yield broken("RESULT-001", f"the task is {short(state)}", "/status/state")


def _history(wanted: int | None, task: Task, at: str = "") -> Iterator[Finding]:
    told = len(task.history or ())
    if wanted is not None and told > wanted:
        yield broken("RESULT-002", f"{told} messages, {wanted} were asked for", f"{at}/history")


def _config(asked: PushConfig | PushConfigRequest, config: PushConfig, at: str = "") -> Iterator[Finding]:
    """Compare a push configuration with what was asked for; what an agent leaves out is no other one."""
    due = {"taskId": asked.task_id, "id": asked.id, "url": asked.url if isinstance(asked, PushConfig) else ""}
    for name, got in (("taskId", config.task_id), ("id", config.id), ("url", config.url)):
        if due[name] and got and got != due[name]:
            yield broken("RESULT-007", f"{got!r:.80} instead of {due[name]!r:.80}", f"{at}/{name}")


def _list(request: ListTasksRequest, page: TaskList) -> Iterator[Finding]:
    most = request.page_size or _MOST_LISTED
    if len(page.tasks) > most:
        yield broken("RESULT-003", f"{len(page.tasks)} tasks, {most} at most were asked for", "/tasks")
    times = [task.status.timestamp or "" for task in page.tasks]
    for number, task in enumerate(page.tasks):
        at = f"/tasks/{number}"
        if task.artifacts is not None and not request.include_artifacts:
            yield broken("RESULT-004", "artifacts, which were not asked for", f"{at}/artifacts")
        if request.context_id and task.context_id and task.context_id != request.context_id:
            yield broken("RESULT-005", f"a task of context {task.context_id[:80]!r}", f"{at}/contextId")
        if request.status and task.status.state != request.status:
            yield broken("RESULT-005", f"a task that is {short(task.status.state)}", f"{at}/status/state")
        if number and times[number].endswith("Z") and times[number - 1].endswith("Z") and _later(times, number):
            yield broken("RESULT-006", f"{times[number][:40]} after {times[number - 1][:40]}", f"{at}/status/timestamp")
        yield from _history(request.history_length, task, at)


def _later(times: list[str], number: int) -> bool:
    """Say whether a time is later than the one before it; both are in UTC, and compared as far as both are exact."""
    one, before = times[number][:-1], times[number - 1][:-1]
    length = min(len(one), len(before))
    return one[:length] > before[:length]
