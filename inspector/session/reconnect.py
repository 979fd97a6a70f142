"""Reconnect to a stream that was disconnected while its task was running, and find the missed changes."""

from __future__ import annotations

from enum import StrEnum

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import Task
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import TaskSnapshot, take_snapshot
from inspector.session.exchanges import ExchangeSummary
from inspector.session.replay.task_diff import TaskDiff, compare_tasks
from inspector.session.replay.translate import canonical
from inspector.session.tasks import TrackedTask
from inspector.wire.client.observations import Ending

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""The seconds to wait before each attempt to subscribe: one number for each attempt."""

_MOST_SEARCHED = 20
"""The number of records after the disconnection that are searched for events of the task."""


@dataclass(frozen=True, slots=True)
class LostStream:
    """A stream that ended before its task: the number of its exchange, its last record, and the task at that record.

    `broken` is whether the connection failed; otherwise the agent ended the stream.
    """

    task_id: str
    exchange: int
    through: int
    events: int
    broken: bool
    task: TaskSnapshot


class NextStep(StrEnum):
    """The next step after a stream was lost."""

    SUBSCRIBE = "subscribe"
    GET = "get"
    """Get the task, because the agent rejected the subscription."""
    NOTHING = "nothing"


def lost_stream(task: TrackedTask, stream: ExchangeSummary | None) -> LostStream | None:
    """Return the last stream of a task if it ended while the task was running; None if it was refused or we stopped it.

    A task that waits for an authorization continues without a message of the client (1.0 section 7.6), one that waits
    for input does not.
    """
    if stream is None or stream.seconds is None or stream.how == Ending.STOPPED or stream.refused:
        return None
    if is_terminal(task.now.state) or task.now.state == State.INPUT_REQUIRED or not task.now.moves:
        return None
    return LostStream(
        task.id, stream.number, stream.last_seq, stream.events, stream.how != Ending.COMPLETE, take_snapshot(task.now)
    )


def next_step(capture: Capture, lost: LostStream, attempts: int) -> NextStep:
    """Return the next step after a number of attempts to subscribe.

    Subscribe until `DELAYS` is used up. If the agent rejects a subscription, get the task once, then do nothing.
    """
    if not is_rejected(capture, lost):
        return NextStep.SUBSCRIBE if attempts < len(DELAYS) else NextStep.NOTHING
    requests = capture.select(kinds=(Kind.REQUEST,), task=lost.task_id, after=lost.through, limit=_MOST_SEARCHED)
    is_asked = any(record.operation == Operation.GET for record in requests)
    return NextStep.NOTHING if is_asked else NextStep.GET


def is_rejected(capture: Capture, lost: LostStream) -> bool:
    """Return whether the agent rejected a subscription since the stream ended."""
    kinds = (Kind.BODY, Kind.TRAILERS), (Kind.FRAME,)  # an agent may send the error as the only event of a stream
    found = (capture.select(kinds=each, task=lost.task_id, after=lost.through, limit=_MOST_SEARCHED) for each in kinds)
    responses = (record for records in found for record in records)
    return any(record.operation == Operation.SUBSCRIBE and record.event == "error" for record in responses)


def missed_changes(capture: Capture, lost: LostStream) -> TaskDiff | None:
    """Return the changes of the task since the stream ended; None until a snapshot of the task is received."""
    for record in _events_since(capture, lost):
        task = canonical(record, capture.get(record.exchange)) if record.event == "task" else None
        if isinstance(task, Task) and task.id == lost.task_id:
            after = lost.task.restore()
            after.apply(task, record.at)
            return compare_tasks(lost.task.restore(), after)
    return None


def has_news(capture: Capture, lost: LostStream) -> bool:
    """Return whether an event or response about the task was received since the stream ended."""
    return any(record.event in ("task", "status", "artifact", "message") for record in _events_since(capture, lost))


def _events_since(capture: Capture, lost: LostStream) -> list[Record]:
    return capture.select(kinds=(Kind.FRAME, Kind.BODY), task=lost.task_id, after=lost.through, limit=_MOST_SEARCHED)
