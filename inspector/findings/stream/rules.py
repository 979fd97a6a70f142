"""The rules about streams: how they begin, what follows on what, how they end."""

from __future__ import annotations

import json

from inspector.findings.examples import stream
from inspector.findings.finding import Severity
from inspector.findings.payload.valid_examples import TEXT_PART, chunk, message, status, task, update
from inspector.findings.rule import LEGACY, NEWEST_FIRST, SINCE_0_2, V1, Rule
from inspector.protocol.model import Json

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_TASK, _WORKING, _DONE = task(), status("WORKING"), status("COMPLETED")
_TIMED = status("WORKING", "2026-01-31T12:00:00Z")
_BROKEN: dict[str, Json] = {"code": -32603, "message": "Internal error"}
_OLDER = tuple(reversed(LEGACY))


def _saying(text: str, message_id: str) -> Json:
    """Return a sound status update with a message in it."""
    said = message({"text": text}, messageId=message_id)["message"]
    return update(status={"state": "TASK_STATE_WORKING", "message": said})


def _old(state: str, *, final: bool = False) -> Json:
    said = {"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "status": {"state": state}}
    return {**said, "final": final}


_SOUND = stream(_TASK, _WORKING, chunk(), chunk(append=True, lastChunk=True), _DONE)
_WRITTEN = "".join(
    f"data: {json.dumps({'jsonrpc': '2.0', 'id': 'the-id', 'result': event})}\n\n" for event in (_TASK, _DONE)
)
_ASKED: dict[str, Json] = {"message": {"messageId": "m-0", "role": "ROLE_USER", "parts": [TEXT_PART]}}
_OLD_SOUND = stream(_old("working"), _old("completed", final=True))

RULES = (
    Rule(
        "STREAM-001",
        _ERROR,
        "The stream ended before the task did",
        "1.0 §3.1.2",
        "The stream MUST stay open until the task is in a terminal or interrupted state.",
        "Send the final status update before closing, or check what cut the connection.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, _WORKING),
    ),
    Rule(
        "STREAM-002",
        _ERROR,
        "The task moved to a state that cannot follow the one before",
        "1.0 §4.1.3, §3.5.2",
        "Task states follow the lifecycle of a task.",
        "Check the agent's state handling; submitted is only ever the first state.",
        NEWEST_FIRST,
        passing=stream(_TASK, status("INPUT_REQUIRED"), _WORKING, _DONE),
        failing=stream(_TASK, status("SUBMITTED"), _DONE),
    ),
    Rule(
        "STREAM-003",
        _ERROR,
        "An update came after the task had ended",
        "1.0 §3.1.2, §3.1.6",
        "The stream MUST close when the task reaches a terminal state.",
        "Send every artifact before the terminal status.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, _DONE, chunk()),
    ),
    Rule(
        "STREAM-004",
        _ERROR,
        "A chunk was appended to an artifact that was never begun",
        "1.0 §4.2.2",
        "append: true adds to an artifact with the same id that was sent before.",
        "Send the first chunk without append.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, chunk(append=True), _DONE),
    ),
    Rule(
        "STREAM-005",
        _ERROR,
        "A chunk was appended after the last one",
        "1.0 §4.2.2",
        "lastChunk: true says that this is the final chunk of the artifact.",
        "Set lastChunk on the final chunk only.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, chunk(lastChunk=True), chunk(append=True), _DONE),
    ),
    Rule(
        "STREAM-006",
        _ERROR,
        "An event belongs to another task or context than the stream",
        "1.0 §3.3.2, §3.4.2, §3.4.3, §4.2",
        "The taskId and contextId of an event name the task that it is about.",
        "Do not make new ids within one task.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, update(contextId="c-2"), _DONE),
    ),
    Rule(
        "STREAM-007",
        _ERROR,
        "An event cannot be read",
        "1.0 §3.2.3",
        "Each event holds exactly one of task, message, statusUpdate and artifactUpdate.",
        "Compare the raw bytes with the section; the reason stands beside the event.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, sse="data: <p>Oops</p>\n\n"),
    ),
    Rule(
        "STREAM-008",
        _ERROR,
        "The stream broke off",
        "1.0 §3.1.2, §3.5.2",
        "A stream ends by closing the response in order.",
        "Look at the agent's log at this time; SubscribeToTask may pick the task up again.",
        NEWEST_FIRST,
        passing=_SOUND,
        failing=stream(_TASK, _WORKING, end="cut"),
    ),
    Rule(
        "STREAM-010",
        _ERROR,
        "A message came in one stream with other events",
        "1.0 §3.1.2",
        "A stream is one message and nothing else, or a task and its updates.",
        "Say it in the message of a status update, or answer with the message alone.",
        NEWEST_FIRST,
        passing=stream(message(TEXT_PART)),
        failing=stream(_TASK, message(TEXT_PART), _DONE),
    ),
    Rule(
        "STREAM-011",
        _ERROR,
        "A stream does not begin with the task",
        "1.0 §3.1.2",
        "The stream MUST begin with the Task object, or be one Message.",
        "Send the task first, then its updates: clients learn its ids and history from it.",
        V1,
        passing=_SOUND,
        failing=stream(_WORKING, _DONE),
    ),
    Rule(
        "STREAM-013",
        _WARNING,
        "A stream about a known task does not begin with it",
        "1.0 §3.1.2, §3.1.6",
        "The operation MUST return a Task object as the first event in the stream.",
        "Send the task as it is now first: it closes the gap between GetTask and the subscription.",
        V1,
        passing=stream(_TASK, _DONE, operation="SubscribeToTask", asked={"id": "t-1"}),
        failing=stream(_WORKING, _DONE, operation="SubscribeToTask", asked={"id": "t-1"}),
    ),
    Rule(
        "STREAM-014",
        _ERROR,
        "An update came after the final one",
        "0.3 §7.2.2",
        "final: true says that this is the final event of the interaction.",
        "Say final on the last update alone; clients stop reading there.",
        _OLDER,
        passing=_OLD_SOUND,
        failing=stream(_old("input-required", final=True), _old("completed", final=True)),
    ),
    Rule(
        "STREAM-015",
        _ERROR,
        "The task is over, and the update is not final",
        "0.3 §7.2.2, 0.1 §7.2",
        "The server sets final: true on the update that ends the stream.",
        "Set final: true on the last update: clients wait for it.",
        _OLDER,
        passing=_OLD_SOUND,
        failing=stream(_old("working"), _old("completed")),
    ),
    Rule(
        "STREAM-016",
        _WARNING,
        "An update is final, and the task goes on",
        "0.3 §7.2.2",
        "final: true says that this is the final event of the interaction.",
        "Say final when the task is over or waits for the user.",
        _OLDER,
        passing=stream(_old("working"), _old("input-required", final=True)),
        failing=stream(_old("working", final=True), _old("completed", final=True)),
    ),
    Rule(
        "STREAM-017",
        _ERROR,
        "The answer is in another context than the request",
        "1.0 §3.4.1, §3.4.3",
        "An agent that cannot accept the contextId MUST reject it, and MUST NOT generate a new one.",
        "Keep the context of the request, or answer with an error.",
        NEWEST_FIRST,
        passing=stream(_TASK, _DONE, asked={"message": {"contextId": "c-1"}}),
        failing=stream(_TASK, _DONE, asked={"message": {"contextId": "c-9"}}),
    ),
    Rule(
        "STREAM-018",
        _WARNING,
        "Timestamps run backwards",
        "1.0 §3.5.2",
        "Events MUST be delivered in the order in which they were generated.",
        "Send the events in order, and take the times of one clock.",
        NEWEST_FIRST,
        passing=stream(
            _TASK, status("WORKING", "2026-01-31T12:00:00Z"), status("COMPLETED", "2026-01-31T12:00:00.500Z")
        ),
        failing=stream(_TASK, status("WORKING", "2026-01-31T12:00:01Z"), status("COMPLETED", "2026-01-31T12:00:00Z")),
    ),
    Rule(
        "STREAM-019",
        _WARNING,
        "A status update came twice",
        "1.0 §3.5.2",
        "Each stream MUST receive the same events in the same order.",
        "Send each event once: clients act on every one.",
        NEWEST_FIRST,
        passing=stream(_TASK, _TIMED, chunk(), _TIMED, _DONE),
        failing=stream(_TASK, _TIMED, _TIMED, _DONE),
    ),
    Rule(
        "STREAM-020",
        _WARNING,
        "Every chunk has an artifactId of its own",
        "1.0 §4.2.2",
        "append: true adds to the artifact with the same id.",
        "Keep the artifactId of the first chunk, and set append on the others.",
        NEWEST_FIRST,
        passing=stream(
            _TASK, *(chunk(artifact={"artifactId": one, "name": one}, lastChunk=True) for one in "abc"), _DONE
        ),
        failing=stream(_TASK, *(chunk(artifact={"artifactId": one, "name": "report"}) for one in "abc"), _DONE),
    ),
    Rule(
        "STREAM-021",
        Severity.HINT,
        "The official Python client reads this part of the stream otherwise",
        "HTML Living Standard §9.2.6",
        "A leading byte order mark is ignored.",
        "Send no byte order mark: httpx-sse loses the first event behind it.",
        NEWEST_FIRST,
        passing=stream(sse=_WRITTEN),
        failing=stream(sse=f"\ufeff{_WRITTEN}"),
    ),
    Rule(
        "STREAM-022",
        _ERROR,
        "The stream stayed open after the task had ended",
        "1.0 §3.1.2, §3.1.6; 0.3 §7.2.2",
        "The stream MUST close when the task reaches a terminal state.",
        "End the response after the last event: clients wait for its end.",
        NEWEST_FIRST,
        passing=stream(_TASK, _WORKING, end=30),
        failing=stream(_TASK, _DONE, end=30),
    ),
    Rule(
        "STREAM-023",
        _ERROR,
        "The context of a task is named by its updates alone",
        "1.0 §3.4.1",
        "If an agent generates a new contextId, it MUST be included in the response.",
        "Set the contextId of the task: clients keep the conversation under it.",
        V1,
        passing=_SOUND,
        failing=stream({"task": {"id": "t-1", "status": {"state": "TASK_STATE_WORKING"}}}, _WORKING, _DONE),
    ),
    Rule(
        "STREAM-024",
        _WARNING,
        "An event came after an error",
        "1.0 §3.1.2, §3.3.2; JSON-RPC 2.0 §5",
        "A call is answered with a result or with an error.",
        "Close the stream after an error; a task that failed says so in its status.",
        NEWEST_FIRST,
        passing=stream(_TASK, {"error": _BROKEN}),
        failing=stream(_TASK, {"error": _BROKEN}, _DONE),
    ),
    Rule(
        "STREAM-025",
        Severity.HINT,
        "The official Python client may take this for an event",
        "HTML Living Standard §9.2.6",
        "A block without data is no event.",
        "Send an id only with data, and no keep-alive after one: httpx-sse hands both on as events, and a client "
        "that parses their empty data breaks off (a2a-sdk 0.2 does).",
        NEWEST_FIRST,
        passing=stream(_TASK, _DONE, sse=": ping\n\n"),
        failing=stream(_TASK, _DONE, sse="id: 7\n\n"),
    ),
    Rule(
        "STREAM-026",
        Severity.HINT,
        "A status update that says nothing new",
        "1.0 §3.1.2, §4.2.1",
        "An update tells a change in the task's status.",
        "Give the update a timestamp, or keep the connection awake with a comment line: clients act on every event.",
        NEWEST_FIRST,
        passing=stream(_TASK, _TIMED, _DONE),
        failing=stream(_TASK, _WORKING, _WORKING, _DONE),
    ),
    Rule(
        "STREAM-027",
        _WARNING,
        "Two messages have one id",
        "1.0 §4.1.4; 0.3 §6.4",
        "messageId is the unique identifier of the message.",
        "Make an id for each message: clients take the second for the first one told again, and drop it.",
        SINCE_0_2,
        passing=stream(_TASK, _saying("one", "m-1"), _saying("two", "m-2"), _DONE),
        failing=stream(_TASK, _saying("one", "m-1"), _saying("two", "m-1"), _DONE),
    ),
    Rule(
        "STREAM-028",
        _WARNING,
        "The agent's message has the id of ours",
        "1.0 §4.1.4; 0.3 §6.4",
        "messageId is the unique identifier of the message, made by its creator.",
        "Make an id for the answer.",
        SINCE_0_2,
        passing=stream(_TASK, _saying("one", "m-1"), _DONE, asked=_ASKED),
        failing=stream(_TASK, _saying("one", "m-0"), _DONE, asked=_ASKED),
    ),
    Rule(
        "STREAM-029",
        _WARNING,
        "A line of the stream is lost to every client",
        "1.0 §9.4.2, §11.7; 0.3 §3.3.1; HTML Living Standard §9.2.6",
        "An event stands in lines that begin with data: in just these letters; other fields are ignored.",
        "Write each line of the event as data: and what belongs to it.",
        NEWEST_FIRST,
        passing=stream(_TASK, _DONE, sse=": ping\n\n"),
        failing=stream(_TASK, _DONE, sse='Data: {"jsonrpc": "2.0"}\n\n'),
    ),
)
