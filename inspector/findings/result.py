"""Rules that compare a result with its request, and with the state of the task (1.0 sections 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from inspector.findings.error_cause import ERROR_OF_ENDED_TASK
from inspector.findings.examples import TEXT_PART, answer, message
from inspector.findings.examples import task as task_example
from inspector.findings.finding import Finding
from inspector.findings.rule_set import ERROR, HINT, V1, WARNING, Rule, RuleSet, Violation
from inspector.protocol.bindings.base import Answer
from inspector.protocol.circumstances import UNKNOWN, Circumstances
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
from inspector.protocol.operations import Operation

_LISTED_BY_DEFAULT, _MOST_LISTED = 50, 100
_WITH_LISTS = (*V1, "0.3", "0.2")
"""The versions with ListTasks; 0.2 and 0.3 have it over HTTP+JSON only, and do not describe the result."""


class ResultFacts(NamedTuple):
    """A result and its request with its circumstances; findings point into the result."""

    version: str
    operation: Operation
    request: Request
    answer: Answer
    circumstances: Circumstances


class ListedFacts(NamedTuple):
    """A listed task, and the JSON pointer to it (`place`).

    `first` is the index of the first task of the page with the same id, None if it is this task. `page` is the number
    of an earlier page of the list that contains the task, 0 for none.
    """

    version: str
    request: ListTasksRequest
    task: Task
    place: str
    first: int | None
    page: int


def judge_result(
    version: str, operation: Operation, request: Request, answer: Answer, circumstances: Circumstances = UNKNOWN
) -> tuple[Finding, ...]:
    """Check a result, or the first event of a stream, against its request; the findings point into the result."""
    found = RESULTS.judge(ResultFacts(version, operation, request, answer, circumstances))
    if isinstance(request, ListTasksRequest) and isinstance(answer, TaskList):
        indexes: dict[str, int] = {}
        for number, task in enumerate(answer.tasks):
            place = f"/tasks/{number}"
            first = indexes.setdefault(task.id, number)
            page = circumstances.listed.get(task.id, circumstances.page)
            page = page if page < circumstances.page else 0
            found += LISTED.judge(ListedFacts(version, request, task, place, None if first == number else first, page))
    return tuple(found)


RULES: list[Rule] = []
RESULTS, LISTED = RuleSet[ResultFacts](RULES, V1), RuleSet[ListedFacts](RULES, V1)
"""These rules apply since 1.0: older versions do not limit the result of a call."""

_DONE = task_example(status={"state": "TASK_STATE_COMPLETED"})
_WITH_HISTORY = task_example(status={"state": "TASK_STATE_COMPLETED"}, history=[message(TEXT_PART)["message"]])
_CONFIG: dict[str, Json] = {"id": "p-1", "taskId": "t-1", "url": "https://example.com/hook"}


def _at(time: str, task_id: str) -> dict[str, Json]:
    status = {"state": "TASK_STATE_COMPLETED", "timestamp": f"2026-01-31T{time}Z"}
    return {"id": task_id, "contextId": "c-1", "status": status}


def _listed(*tasks: Json, asked: Json = None, total: int = 2, **more: Json) -> Json:
    page = {"tasks": [*tasks], "nextPageToken": "", "pageSize": 50, "totalSize": total}
    return answer(page, "ListTasks", asked=asked or {}, **more)


_SECOND_PAGE: Json = {"pageToken": "2"}
_ONE, _OTHER = _at("12:00:00", "t-1"), _at("12:00:01", "t-2")


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
        asked, count = facts.request.page_size, len(facts.answer.tasks)
        # The size of a later page may be that of the page with its token.
        default = _MOST_LISTED if facts.request.page_token else _LISTED_BY_DEFAULT
        most = min(asked or default, _MOST_LISTED)
        if count > most:
            why = "requested" if asked == most else "allowed" if most == _MOST_LISTED else "by default"
            yield Violation("/tasks", f"found {count} tasks, at most {most} {why}")


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
    if request.status not in (None, "", State.UNSPECIFIED) and task.status.state != request.status:
        yield Violation(
            f"{listed.place}/status/state", f"state is {short(task.status.state)}, requested {short(request.status)}"
        )


@RESULTS.rule(
    "RESULT-006",
    ERROR,
    "The list of tasks is not sorted",
    section="1.0 §3.1.4",
    requirement="Tasks MUST be sorted by the timestamp of their status in descending order.",
    remedy="Sort the tasks, the newest status first.",
    passing=_listed(_OTHER, _ONE),
    failing=_listed(_ONE, _OTHER),
)
def unsorted(facts: ResultFacts) -> Iterator[Violation]:
    if not isinstance(facts.answer, TaskList):
        return
    times = [task.status.timestamp or "" for task in facts.answer.tasks]
    wrong = [number for number, (before, time) in enumerate(pairwise(times), 1) if _is_later(time, before)]
    if wrong:
        first = wrong[0]
        more = f"; {len(wrong)} of {len(times)} tasks are later than the task before" if len(wrong) > 1 else ""
        yield Violation(
            f"/tasks/{first}/status/timestamp", f"{times[first][:40]} follows {times[first - 1][:40]}{more}"
        )


def _is_later(time: str, other: str) -> bool:
    """Return whether a timestamp is later than another; only those in UTC are compared, to their common precision."""
    length = min(len(time), len(other)) - 1
    return time.endswith("Z") and other.endswith("Z") and time[:-1][:length] > other[:-1][:length]


@RESULTS.rule(
    "RESULT-019",
    WARNING,
    "More tasks are listed than totalSize",
    section="1.0 §3.1.4",
    requirement="totalSize is the number of all tasks that match, before they are divided into pages.",
    remedy="Count the tasks that match the filter and that the client may see.",
    passing=_listed(_ONE, asked=_SECOND_PAGE, pageBefore=[_OTHER]),
    failing=_listed(_ONE, asked=_SECOND_PAGE, pageBefore=[_OTHER], total=1),
)
def more_than_the_total(facts: ResultFacts) -> Iterator[Violation]:
    if isinstance(facts.answer, TaskList) and facts.answer.total_size is not None:
        total, page, listed = facts.answer.total_size, facts.circumstances.page, facts.circumstances.listed
        earlier = {task_id for task_id, first in listed.items() if first < page}
        count = len(earlier | {task.id for task in facts.answer.tasks})
        if count > total:
            yield Violation("/totalSize", f"totalSize is {total:,}, but {count:,} tasks were listed so far")


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


@LISTED.rule(
    "RESULT-012",
    ERROR,
    "A task is listed twice",
    section="1.0 §3.1.4; 0.3 §3.5.6; 0.2 §7",
    requirement="A page lists each of the matching tasks once.",
    remedy="List each task once, with its current status.",
    passing=_listed(_OTHER, _ONE),
    failing=_listed(_ONE, _ONE),
    versions=_WITH_LISTS,
)
def listed_twice(listed: ListedFacts) -> Iterator[Violation]:
    if listed.task.id and listed.first is not None:
        yield Violation(f"{listed.place}/id", f"{listed.task.id[:80]!r} is also at index {listed.first}")


@LISTED.rule(
    "RESULT-015",
    WARNING,
    "A task is listed on two pages",
    section="1.0 §3.1.4; 0.3 §3.5.6; 0.2 §7",
    requirement="A page continues the list after the page that contained its token, in the order of the last change.",
    remedy="Continue after the last task of the previous page (a cursor, not an offset); a task that changes between "
    "two requests then belongs before that place.",
    passing=_listed(_ONE, asked=_SECOND_PAGE, pageBefore=[_OTHER]),
    failing=_listed(_ONE, asked=_SECOND_PAGE, pageBefore=[_OTHER, _ONE]),
    versions=_WITH_LISTS,
)
def listed_on_two_pages(listed: ListedFacts) -> Iterator[Violation]:
    if listed.page:
        yield Violation(f"{listed.place}/id", f"{listed.task.id[:80]!r} is also on page {listed.page} of the list")


_REQUIRED_EXTENSION: Json = {"uri": "https://a.example/ext", "required": True}
_CARD: Json = {"capabilities": {"extensions": [_REQUIRED_EXTENSION]}}
_CANCELED = _DONE["task"] | {"status": {"state": "TASK_STATE_CANCELED"}}


@RESULTS.rule(
    "RESULT-013",
    WARNING,
    "An operation on a task that has ended succeeded",
    section="1.0 §3.1.1, §3.1.2, §3.1.5, §3.1.6, §3.3.2",
    requirement="Messages and subscriptions to a task in a terminal state are rejected with UnsupportedOperationError, "
    "its cancellation with TaskNotCancelableError.",
    remedy="Check the state of the task first, and reject the operation: clients rely on the error to learn that the "
    "task has ended.",
    passing=answer(_CANCELED, "CancelTask", asked={"id": "t-1"}, before="TASK_STATE_WORKING"),
    failing=answer(_CANCELED, "CancelTask", asked={"id": "t-1"}, before="TASK_STATE_CANCELED"),
)
def succeeded_after_end(facts: ResultFacts) -> Iterator[Violation]:
    required = ERROR_OF_ENDED_TASK.get(facts.operation, "")
    if required and facts.circumstances.ended:
        state = short(facts.circumstances.state)
        yield Violation("", f"the task was {state} before the request, expected {required}")


@RESULTS.rule(
    "RESULT-014",
    HINT,
    "The agent responded although the request does not activate a required extension",
    section="1.0 §3.3.4, §4.6",
    requirement="If a request needs a required extension that it does not activate, the agent MUST respond with "
    "ExtensionSupportRequiredError.",
    remedy="Respond with ExtensionSupportRequiredError if every request needs the extension; otherwise, do not declare "
    "that it is required.",
    passing=answer(message(TEXT_PART), card=_CARD, headers={"A2A-Extensions": "https://a.example/ext"}),
    failing=answer(message(TEXT_PART), card=_CARD),
)
def extension_not_activated(facts: ResultFacts) -> Iterator[Violation]:
    if facts.operation in (Operation.SEND, Operation.STREAM):
        for uri in facts.circumstances.missing_extensions:
            yield Violation("", f"the card requires {uri[:200]}")
