"""Rules about the order of events: the first event, the allowed sequences, and repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from inspector.findings.examples import TEXT_PART, chunk, message, status, stream, task
from inspector.findings.rule_set import ERROR, HINT, LEGACY, V1, WARNING, Rule, RuleSet, Violation
from inspector.findings.stream.facts import RUNNING_STATES, VALID_STREAM, EventFacts
from inspector.protocol.assemble import Misfit
from inspector.protocol.dialects.v1_1 import revision_in
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Event, Json, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation

_NEW_ARTIFACTS = 3
"""From this number on, artifacts with one name and different ids are reported as chunks of one artifact."""
_OLD_VERSIONS = tuple(reversed(LEGACY))
_TASK, _WORKING, _DONE = task(), status("WORKING"), status("COMPLETED")
_TIMED = status("WORKING", "2026-01-31T12:00:00Z")
_ERROR: dict[str, Json] = {"code": -32603, "message": "Internal error"}

RULES: list[Rule] = []
TASK_ORDER, EVENTS, MIXTURE = (RuleSet[EventFacts[Event]](RULES, passing=VALID_STREAM) for _ in range(3))
STATUSES = RuleSet[EventFacts[TaskStatusUpdateEvent]](RULES)
ARTIFACTS = RuleSet[EventFacts[TaskArtifactUpdateEvent]](RULES)


def _old(state: str, *, final: bool = False) -> Json:
    update = {"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "status": {"state": state}}
    return {**update, "final": final}


_OLD_VALID = stream(_old("working"), _old("completed", final=True))


@TASK_ORDER.rule(
    "STREAM-002",
    ERROR,
    "A task state cannot follow the previous state",
    section="1.0 §4.1.3, §3.5.2",
    requirement="Task states follow the task lifecycle.",
    remedy="Correct the order of states; submitted can only be the first state.",
    passing=stream(_TASK, status("INPUT_REQUIRED"), _WORKING, _DONE),
    failing=stream(_TASK, status("SUBMITTED"), _DONE),
)
def illegal_move(facts: EventFacts[Event]) -> Iterator[Violation]:
    if Misfit.ILLEGAL_MOVE in facts.misfits:
        yield Violation("/status/state", facts.label)


@TASK_ORDER.rule(
    "STREAM-003",
    ERROR,
    "An update was sent after the task ended",
    section="1.0 §3.1.2, §3.1.6",
    requirement="The stream MUST close when the task reaches a terminal state.",
    remedy="Send every update of the task before its terminal status, and none after it.",
    failing=stream(_TASK, _DONE, chunk()),
)
def after_terminal(facts: EventFacts[Event]) -> Iterator[Violation]:
    if Misfit.AFTER_TERMINAL in facts.misfits:
        yield Violation("", facts.label)


@TASK_ORDER.rule(
    "STREAM-004",
    ERROR,
    "A chunk was appended to an artifact that was not started",
    section="1.0 §4.2.2",
    requirement="append: true adds to an artifact with the same id that was sent before.",
    remedy="Send the first chunk of an artifact without append.",
    failing=stream(_TASK, chunk(append=True), _DONE),
)
def append_before_create(facts: EventFacts[Event]) -> Iterator[Violation]:
    if Misfit.APPEND_BEFORE_CREATE in facts.misfits:
        yield Violation(facts.place("/append"), facts.label)


@TASK_ORDER.rule(
    "STREAM-005",
    ERROR,
    "A chunk was appended after the last chunk",
    section="1.0 §4.2.2",
    requirement="lastChunk: true marks the final chunk of the artifact.",
    remedy="Set lastChunk on the final chunk only.",
    failing=stream(_TASK, chunk(lastChunk=True), chunk(append=True), _DONE),
)
def chunk_after_last(facts: EventFacts[Event]) -> Iterator[Violation]:
    if Misfit.CHUNK_AFTER_LAST in facts.misfits:
        yield Violation(facts.place("/append"), facts.label)


@EVENTS.rule(
    "STREAM-024",
    WARNING,
    "An event was sent after an error",
    section="1.0 §3.1.2, §3.3.2; JSON-RPC 2.0 §5",
    requirement="The response to a call is a result or an error.",
    remedy="Close the stream after an error. If the task failed, send a status update instead of an error.",
    passing=stream(_TASK, {"error": _ERROR}),
    failing=stream(_TASK, {"error": _ERROR}, _DONE),
)
def after_error(facts: EventFacts[Event]) -> Iterable[Violation]:
    if facts.stream.streaming and facts.stream.failed:
        return [Violation("", "the stream continued after an error")]
    return ()


def _missing_task(facts: EventFacts[Event], *, known: bool) -> Iterable[Violation]:
    """Report a stream that begins with an update; `known` selects requests that name the task."""
    sent = facts.stream
    if not sent.streaming or sent.started or isinstance(facts.event, Task | Message):
        return ()
    if known is (bool(sent.call.task_id) or sent.call.operation is Operation.SUBSCRIBE):
        what = "a status update" if isinstance(facts.event, TaskStatusUpdateEvent) else "an artifact update"
        return [Violation("", f"the first event is {what}")]
    return ()


@EVENTS.rule(
    "STREAM-011",
    ERROR,
    "The stream does not begin with the task",
    section="1.0 §3.1.2",
    requirement="The stream MUST begin with a Task, or consist of one Message.",
    remedy="Send the task first, then its updates: clients read its ids and history from it.",
    versions=V1,
    failing=stream(_WORKING, _DONE),
)
def begins_without_task(facts: EventFacts[Event]) -> Iterable[Violation]:
    return _missing_task(facts, known=False)


@EVENTS.rule(
    "STREAM-013",
    WARNING,
    "The stream of an existing task does not begin with the task",
    section="1.0 §3.1.2, §3.1.6",
    requirement="The operation MUST return a Task as the first event of the stream.",
    remedy="Send the current task first: it closes the gap between GetTask and the subscription.",
    versions=V1,
    passing=stream(_TASK, _DONE, operation="SubscribeToTask", asked={"id": "t-1"}),
    failing=stream(_WORKING, _DONE, operation="SubscribeToTask", asked={"id": "t-1"}),
)
def begins_without_known_task(facts: EventFacts[Event]) -> Iterable[Violation]:
    return _missing_task(facts, known=True)


@EVENTS.rule(
    "STREAM-014",
    ERROR,
    "An update was sent after the final update",
    section="0.3 §7.2.2",
    requirement="final: true marks the final event of the interaction.",
    remedy="Set final: true on the last update only; clients stop reading there.",
    versions=_OLD_VERSIONS,
    passing=_OLD_VALID,
    failing=stream(_old("input-required", final=True), _old("completed", final=True)),
)
def after_final(facts: EventFacts[Event]) -> Iterable[Violation]:
    update = isinstance(facts.event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent)
    if facts.stream.streaming and facts.stream.final and update:
        return [Violation("", "an earlier update has final: true")]
    return ()


@STATUSES.rule(
    "STREAM-015",
    ERROR,
    "The last update of an ended task is not final",
    section="0.3 §7.2.2, 0.1 §7.2",
    requirement="The server sets final: true on the update that ends the stream.",
    remedy="Set final: true on the last update: clients wait for it.",
    versions=_OLD_VERSIONS,
    passing=_OLD_VALID,
    failing=stream(_old("working"), _old("completed")),
)
def not_final(facts: EventFacts[TaskStatusUpdateEvent]) -> Iterable[Violation]:
    final, state = facts.value.get("final"), facts.event.status.state
    # 0.1 (without `kind`) allows final to be missing; later versions require it (DATA-001).
    ended = facts.stream.streaming and is_terminal(state)
    if ended and final is not True and (final is not None or "kind" not in facts.value):
        return [Violation("/final", f"state is {short(state)}, final is not true")]
    return ()


@STATUSES.rule(
    "STREAM-016",
    WARNING,
    "An update is final although the task is running",
    section="0.3 §7.2.2",
    requirement="final: true marks the final event of the interaction.",
    remedy="Set final: true only when the task has ended or waits for the user.",
    versions=_OLD_VERSIONS,
    passing=stream(_old("working"), _old("input-required", final=True)),
    failing=stream(_old("working", final=True), _old("completed", final=True)),
)
def final_too_early(facts: EventFacts[TaskStatusUpdateEvent]) -> Iterable[Violation]:
    state = facts.event.status.state
    if facts.stream.streaming and facts.value.get("final") is True and state in RUNNING_STATES:
        return [Violation("/final", f"final is true, state is {short(state)}")]
    return ()


def _counted(revisions: str) -> Json:
    """Return a stream of 1.1 whose events have these revisions, one digit each."""
    events = (_TASK, *[_WORKING] * (len(revisions) - 2), _DONE)
    counted = [
        {name: {**event, "generation": revision} for name, event in wrapped.items()}
        for wrapped, revision in zip(events, revisions, strict=True)
    ]
    return stream(*counted)


@EVENTS.rule(
    "STREAM-030",
    ERROR,
    "The revision of the task did not increase by one",
    section="1.1 (draft) §3.2.7",
    requirement="Each mutation adds exactly 1 to generation and maps to exactly one event.",
    remedy="Count every event once. If an event was lost, request the task again for its current state.",
    versions=("1.1",),
    passing=_counted("1234"),
    failing=_counted("124"),
)
def revision_gap(facts: EventFacts[Event]) -> Iterable[Violation]:
    if facts.stream.blind or isinstance(facts.event, Task | Message):
        return ()  # an unreadable event may have a revision, and a task may be sent again
    before, revision = revision_in(facts.stream.last), revision_in(facts.value)
    if before and revision and revision != before + 1:
        lost = f": {revision - before - 1:,} missing" if revision > before else ""
        return [Violation("/generation", f"revision {revision} follows {before}{lost}")]
    return ()


def _repetition(facts: EventFacts[TaskStatusUpdateEvent], *, timed: bool) -> Iterable[Violation]:
    """Report a status update that equals the event before it; `timed` selects updates with a timestamp."""
    status = facts.event.status
    if bool(status.timestamp) is timed and facts.value == facts.stream.last:
        return [Violation("", f"{short(status.state)} is repeated")]
    return ()


@STATUSES.rule(
    "STREAM-019",
    WARNING,
    "A status update was sent twice",
    section="1.0 §3.5.2",
    requirement="Each stream MUST receive the same events in the same order.",
    remedy="Send each event once: clients process every event.",
    passing=stream(_TASK, _TIMED, chunk(), _TIMED, _DONE),
    failing=stream(_TASK, _TIMED, _TIMED, _DONE),
)
def repeated_status(facts: EventFacts[TaskStatusUpdateEvent]) -> Iterable[Violation]:
    return _repetition(facts, timed=True)


@STATUSES.rule(
    "STREAM-026",
    HINT,
    "A status update contains no change",
    section="1.0 §3.1.2, §4.2.1",
    requirement="A status update reports a change of the task's status.",
    remedy="Add a timestamp, or send a comment line to keep the connection open: clients process every event.",
    passing=stream(_TASK, _TIMED, _DONE),
    failing=stream(_TASK, _WORKING, _WORKING, _DONE),
)
def status_without_news(facts: EventFacts[TaskStatusUpdateEvent]) -> Iterable[Violation]:
    return _repetition(facts, timed=False)


@STATUSES.rule(
    "STREAM-018",
    WARNING,
    "The timestamps are not in order",
    section="1.0 §3.5.2",
    requirement="Events MUST be delivered in the order in which they were generated.",
    remedy="Send the events in order, and take all timestamps from one clock.",
    passing=stream(_TASK, status("WORKING", "2026-01-31T12:00:00Z"), status("COMPLETED", "2026-01-31T12:00:00.500Z")),
    failing=stream(_TASK, status("WORKING", "2026-01-31T12:00:01Z"), status("COMPLETED", "2026-01-31T12:00:00Z")),
)
def backwards(facts: EventFacts[TaskStatusUpdateEvent]) -> Iterable[Violation]:
    time, before = facts.event.status.timestamp, facts.stream.time
    if time and before and _is_before(time, before):
        return [Violation("/status/timestamp", f"{time[:40]} follows {before[:40]}")]
    return ()


def _is_before(first: str, second: str) -> bool:
    try:
        earlier, later = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (first, second))
        return earlier < later
    except (ValueError, TypeError):  # not a timestamp, or only one of them has a time zone
        return False


@ARTIFACTS.rule(
    "STREAM-020",
    WARNING,
    "Every chunk has a different artifactId",
    section="1.0 §4.2.2",
    requirement="append: true adds to the artifact with the same id.",
    remedy="Keep the artifactId of the first chunk, and set append on the other chunks.",
    passing=stream(
        _TASK, *(chunk(artifact={"artifactId": name, "name": name}, lastChunk=True) for name in "abc"), _DONE
    ),
    failing=stream(_TASK, *(chunk(artifact={"artifactId": name, "name": "report"}) for name in "abc"), _DONE),
)
def new_artifact_each(facts: EventFacts[TaskArtifactUpdateEvent]) -> Iterable[Violation]:
    event = facts.event
    if event.append or event.last_chunk:
        return ()
    name, own = event.artifact.name, event.artifact.artifact_id
    if name and own and len(facts.stream.unfinished.get(name, set()) | {own}) == _NEW_ARTIFACTS:
        seen = f"{_NEW_ARTIFACTS} artifacts named {name[:80]!r}, none has a lastChunk"
        return [Violation("/artifact/artifactId", seen)]
    return ()


@MIXTURE.rule(
    "STREAM-010",
    ERROR,
    "A message is mixed with other events",
    section="1.0 §3.1.2",
    requirement="A stream contains either one message only, or a task and its updates.",
    remedy="Send the text in the message of a status update, or send the message as the only event.",
    passing=stream(message(TEXT_PART)),
    failing=stream(_TASK, message(TEXT_PART), _DONE),
    versions=V1,
)
def message_among_events(facts: EventFacts[Event]) -> Iterable[Violation]:
    sent = facts.stream
    if not facts.framed or not sent.event_count or (sent.message_count and sent.event_count > 1):
        return ()  # the first event, or already reported
    if sent.message_count or isinstance(facts.event, Message):
        return [Violation("", f"a message in a stream of {sent.event_count + 1:,} events")]
    return ()
