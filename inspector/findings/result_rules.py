"""The rules about answers as answers to what was asked."""

from __future__ import annotations

from inspector.findings.examples import answer, response
from inspector.findings.finding import Severity
from inspector.findings.payload.valid_examples import TEXT_PART, message, task
from inspector.findings.rule import SINCE_0_2, V1, Rule
from inspector.protocol.errors import BY_NAME
from inspector.protocol.model import Json

_ERROR = Severity.ERROR
_DONE = task(status={"state": "TASK_STATE_COMPLETED"})
_TOLD = task(status={"state": "TASK_STATE_COMPLETED"}, history=[message(TEXT_PART)["message"]])
_CONFIG: dict[str, Json] = {"id": "p-1", "taskId": "t-1", "url": "https://example.com/hook"}


def _at(time: str, task_id: str) -> dict[str, Json]:
    status = {"state": "TASK_STATE_COMPLETED", "timestamp": f"2026-01-31T{time}Z"}
    return {"id": task_id, "contextId": "c-1", "status": status}


def _refusal(name: str) -> Json:
    kind = BY_NAME[name]
    error = {"code": kind.code, "message": kind.meaning, "data": [kind.info()]}
    return response({"jsonrpc": "2.0", "id": "the-id", "error": error})


_ONE, _OTHER = _at("12:00:00", "t-1"), _at("12:00:01", "t-2")


def _listed(*tasks: Json, asked: Json = None) -> Json:
    page = {"tasks": [*tasks], "nextPageToken": "", "pageSize": 50, "totalSize": len(tasks)}
    return answer(page, "ListTasks", asked=asked or {})


RULES = (
    Rule(
        "RESULT-008",
        Severity.WARNING,
        "The error is about something that was not asked for",
        "1.0 §3.3.2, §3.1.1; 0.3 §8.2",
        "Each error is returned for a cause of its own.",
        "Answer with the error that says what is wrong with this request; clients act on its code.",
        SINCE_0_2,
        passing=_refusal("UnsupportedOperationError"),
        failing=_refusal("TaskNotCancelableError"),
    ),
    Rule(
        "RESULT-001",
        _ERROR,
        "A call that waits came back before the task was at rest",
        "1.0 §3.2.2",
        "Blocking: the operation MUST wait until the task reaches a terminal or an interrupted state.",
        "Answer when the task is at rest, unless returnImmediately is true.",
        V1,
        passing=answer(_DONE),
        failing=answer(task()),
    ),
    Rule(
        "RESULT-002",
        _ERROR,
        "More history than was asked for",
        "1.0 §3.2.4",
        "The server MUST NOT return more messages than the provided value.",
        "Cut the history to its last messages; 0 asks for none.",
        V1,
        passing=answer(_TOLD, asked={"configuration": {"historyLength": 1}}),
        failing=answer(_TOLD, asked={"configuration": {"historyLength": 0}}),
    ),
    Rule(
        "RESULT-003",
        _ERROR,
        "A page with more tasks than were asked for",
        "1.0 §3.1.4",
        "pageSize: the maximum number of tasks to return, 50 where unspecified, 100 at most.",
        "Cut the page and give a nextPageToken.",
        V1,
        passing=_listed(_ONE, asked={"pageSize": 1}),
        failing=_listed(_OTHER, _ONE, asked={"pageSize": 1}),
    ),
    Rule(
        "RESULT-004",
        _ERROR,
        "Artifacts in a list that were not asked for",
        "1.0 §3.1.4",
        "When includeArtifacts is false, the artifacts field MUST be omitted entirely from each Task.",
        "Leave the member out.",
        V1,
        passing=_listed({**_ONE, "artifacts": []}, asked={"includeArtifacts": True}),
        failing=_listed({**_ONE, "artifacts": []}),
    ),
    Rule(
        "RESULT-005",
        _ERROR,
        "A listed task that the filter leaves out",
        "1.0 §3.1.4",
        "Filter tasks by context and by the current status state.",
        "Apply contextId and status to the tasks that are listed.",
        V1,
        passing=_listed(_ONE, asked={"contextId": "c-1"}),
        failing=_listed(_ONE, asked={"contextId": "c-2"}),
    ),
    Rule(
        "RESULT-006",
        _ERROR,
        "A list that is not sorted",
        "1.0 §3.1.4",
        "Implementations MUST return tasks sorted by their status timestamp time in descending order.",
        "Sort the tasks, the newest status first.",
        V1,
        passing=_listed(_OTHER, _ONE),
        failing=_listed(_ONE, _OTHER),
    ),
    Rule(
        "RESULT-007",
        _ERROR,
        "Another push configuration than the one that was asked for",
        "1.0 §3.1.7, §3.1.8, §3.1.9",
        "The operation MUST return configuration details including webhook URL, or MUST fail if there is none.",
        "Answer with the configuration as it is kept, under the task that it was made for.",
        V1,
        passing=answer(_CONFIG, "CreateTaskPushNotificationConfig", asked=_CONFIG),
        failing=answer({**_CONFIG, "taskId": "t-2"}, "CreateTaskPushNotificationConfig", asked=_CONFIG),
    ),
)
