"""Reconnect to a stream that was lost while its task continued, and find missed changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.lifecycle import is_interrupted, is_terminal
from inspector.protocol.model import Task
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import TaskSnapshot, take_snapshot
from inspector.session.exchanges import ExchangeSummary
from inspector.session.replay.task_diff import TaskDiff, compare_tasks
from inspector.session.replay.translate import canonical
from inspector.session.tasks import TrackedTask

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each attempt to subscribe; there are no further attempts."""

_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class LostStream:
    """A stream that ended before its task: its exchange, its last record, and the task at that record.

    If not `broken`, the agent ended the stream without a connection error.
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
    ASK = "ask"
    """The agent refused to subscribe, so get the task."""
    NOTHING = "nothing"


def lost_stream(task: TrackedTask, stream: ExchangeSummary | None) -> LostStream | None:
    """Return the last stream of a task if it was lost: not stopped by us, while the task was running."""
    if stream is None or stream.seconds is None or stream.how == "stopped":
        return None
    if is_terminal(task.now.state) or is_interrupted(task.now.state) or not task.now.moves:
        return None
    return LostStream(
        task.id, stream.number, stream.last_seq, stream.events, stream.how != "complete", take_snapshot(task.now)
    )


def next_step(capture: Capture, drop: LostStream, tries: int) -> NextStep:
    """Return the next step after so many attempts: subscribe; get the task once if that is refused; then nothing."""
    answers = capture.select(kinds=(Kind.BODY, Kind.TRAILERS), task=drop.task_id, after=drop.through, limit=_LOOKED_AT)
    if any(one.operation == Operation.GET for one in answers):
        return NextStep.NOTHING
    if any(one.operation == Operation.SUBSCRIBE and one.event == "error" for one in answers):
        return NextStep.ASK
    return NextStep.SUBSCRIBE if tries < len(DELAYS) else NextStep.NOTHING


def missed_changes(capture: Capture, drop: LostStream) -> TaskDiff | None:
    """Return the changes of the task since the stream was lost, None before a snapshot of the task was received."""
    for record in _news(capture, drop):
        task = canonical(record, capture.get(record.exchange)) if record.event == "task" else None
        if isinstance(task, Task) and task.id == drop.task_id:
            after = drop.task.restore()
            after.apply(task, record.at)
            return compare_tasks(drop.task.restore(), after)
    return None


def has_news(capture: Capture, drop: LostStream) -> bool:
    """Return whether a response contained the task since the stream was lost."""
    return any(record.event in ("task", "status", "artifact", "message") for record in _news(capture, drop))


def _news(capture: Capture, drop: LostStream) -> list[Record]:
    return capture.select(kinds=(Kind.FRAME, Kind.BODY), task=drop.task_id, after=drop.through, limit=_LOOKED_AT)
