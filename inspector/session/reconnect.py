"""A stream that was lost while its task went on: how to get back to it, and what came about meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from inspector.capture.records import Kind
from inspector.protocol.lifecycle import is_interrupted, is_terminal
from inspector.protocol.model import Task
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import FrozenTask, freeze
from inspector.session.replay.task_diff import Between, between
from inspector.session.replay.translate import canonical

if TYPE_CHECKING:
    from inspector.session.exchanges import ExchangeSummary
    from inspector.session.session import Session
    from inspector.session.tasks import TrackedTask

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""How long to wait before each try to listen again, in seconds; there are no more tries than these."""

_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Drop:
    """A stream that ended before its task did: its exchange, how far it had come, and the task as it was told by then.

    `broken` says that the connection was lost; else the agent ended the stream, and the task goes on without it.
    """

    task_id: str
    exchange: int
    through: int
    events: int
    broken: bool
    task: FrozenTask


class Next(StrEnum):
    """What to do about a drop."""

    SUBSCRIBE = "subscribe"
    ASK = "ask"
    """The agent does not let us listen again, so ask for the task as it is."""
    NOTHING = "nothing"


def drop_of(task: TrackedTask, stream: ExchangeSummary | None) -> Drop | None:
    """Return how the last stream of a task was lost, None where it was not, or where nothing more is to come.

    A stream that we stopped was not lost, and one that ends because the task waits for its user is in order.
    """
    if stream is None or stream.seconds is None or stream.how == "stopped":
        return None
    if is_terminal(task.now.state) or is_interrupted(task.now.state) or not task.now.moves:
        return None
    return Drop(task.id, stream.number, stream.last_seq, stream.events, stream.how != "complete", freeze(task.now))


def next_step(session: Session, drop: Drop, tries: int) -> Next:
    """Say what to do next after so many tries: listen again, ask once where that is refused, then leave it."""
    answers = session.journal.capture.select(
        kinds=(Kind.BODY, Kind.TRAILERS), task=drop.task_id, after=drop.through, limit=_LOOKED_AT
    )
    if any(one.operation == Operation.GET for one in answers):
        return Next.NOTHING
    if any(one.operation == Operation.SUBSCRIBE and one.event == "error" for one in answers):
        return Next.ASK
    return Next.SUBSCRIBE if tries < len(DELAYS) else Next.NOTHING


def missed(session: Session, drop: Drop) -> Between | None:
    """Return how the task, once it is heard of again, differs from what it was; None while nothing tells that.

    Only a snapshot of the whole task does. What came and went in between cannot be known.
    """
    heard = session.journal.capture.select(
        kinds=(Kind.FRAME, Kind.BODY), task=drop.task_id, after=drop.through, limit=_LOOKED_AT
    )
    for record in heard:
        told = canonical(record, session.request_of(record)) if record.event == "task" else None
        if isinstance(told, Task) and told.id == drop.task_id:
            after = drop.task.thaw()
            after.apply(told, record.at)
            return between(drop.task.thaw(), after)
    return None


def heard_again(session: Session, drop: Drop) -> bool:
    """Say whether anything was heard of the task by an answer since the drop."""
    kinds = (Kind.FRAME, Kind.BODY)
    found = session.journal.capture.select(kinds=kinds, task=drop.task_id, after=drop.through, limit=_LOOKED_AT)
    return any(one.event in ("task", "status", "artifact", "message") for one in found)
