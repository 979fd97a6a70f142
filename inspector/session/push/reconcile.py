"""Stream, pushes and GetTask of one task laid side by side: which update came by which way, when, and do they agree."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import (
    Event,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from inspector.session.replay.translate import canonical
from inspector.session.tasks import task_of, text_of

if TYPE_CHECKING:
    from inspector.session.session import Session

_PAGE = 500


class Way(StrEnum):
    """By which way an update came."""

    STREAM = "stream"
    PUSH = "push"
    GET = "answer"
    """As an answer that has the whole task: GetTask, a blocking send, CancelTask."""


class Sighting(NamedTuple):
    """An event with the way by which it came, when, and in which record."""

    way: Way
    at: float
    seq: int
    event: Event


@dataclass(slots=True)
class Seen:
    """How an update was seen by one way: first and last time and record, in how many events, and what it came to."""

    at: float
    seq: int
    last: float
    times: int = 1
    content: str = field(default="", repr=False)


@dataclass(slots=True)
class Update:
    """One update of the task: a status (`state` and what it says), an artifact or a message, as each way has it."""

    what: str
    name: str
    state: str = ""
    seen: dict[Way, Seen] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Say what was told: `working "step 2"`."""
        told = short(self.state) if self.state else self.what
        return f'{told} "{self.name}"' if self.name else told

    @property
    def first(self) -> float:
        """Return when it was first heard of."""
        return min(one.at for one in self.seen.values())

    @property
    def delay(self) -> float | None:
        """Return by how many seconds the push came after the stream, None where it did not come by both.

        What comes in many events is compared by its last ones.
        """
        stream, push = self.seen.get(Way.STREAM), self.seen.get(Way.PUSH)
        return None if stream is None or push is None else push.last - stream.last

    @property
    def differs(self) -> bool:
        """Tell whether two ways disagree about what it came to; an answer from before it was complete does not."""
        told = [one for way, one in self.seen.items() if way is not Way.GET]
        latest = max((one.last for one in told), default=0.0)
        told += [one for way, one in self.seen.items() if way is Way.GET and one.last >= latest]
        return len({one.content for one in told}) > 1


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What came of laying the ways side by side: the updates, in the order in which they were first heard of.

    `events` counts the events of each way, `ended` has the final state that each tells, `""` for none yet.
    """

    updates: tuple[Update, ...]
    events: dict[Way, int]
    ended: dict[Way, str]

    def alone(self, way: Way, other: Way) -> list[Update]:
        """Return what came by one way and not by the other."""
        return [one for one in self.updates if way in one.seen and other not in one.seen]

    def repeated(self, way: Way, other: Way) -> dict[str, tuple[int, int]]:
        """Return what one way told more often than the other, which told it too: how often each."""
        times = {one: Counter(update.words for update in self.updates if one in update.seen) for one in (way, other)}
        return {
            words: (count, times[other][words])
            for words, count in times[way].items()
            if count > times[other][words] > 0
        }

    @property
    def both(self) -> list[Update]:
        """Return what came by stream and by push."""
        return [one for one in self.updates if one.delay is not None]

    @property
    def overtaken(self) -> int:
        """Return how many pushes came after one that reports something later, by the order of the stream."""
        overtaken, soonest = 0, math.inf
        for update in reversed([one for one in self.both if one.what == "status"]):
            at = update.seen[Way.PUSH].at
            overtaken += at > soonest
            soonest = min(at, soonest)
        return overtaken

    @property
    def words(self) -> list[str]:
        """Say in sentences what there is to know, the most important first."""
        said = [f"{one.what} {one.name} differs between {_and(one.seen)}" for one in self.updates if one.differs]
        ended = {state for state in self.ended.values() if state}
        if len(ended) > 1:
            ways = (f"{way} says {short(state)}" for way, state in self.ended.items() if state)
            said.append(f"the ways disagree how the task ended: {', '.join(ways)}")
        for way, other in ((Way.STREAM, Way.PUSH), (Way.PUSH, Way.STREAM)):
            again = self.repeated(way, other)
            said += [
                f"{words} was told {more} times by {way}, {less} by {other}" for words, (more, less) in again.items()
            ]
            missing = [one for one in self.alone(way, other) if one.words not in again]
            if missing and self.events.get(other):
                said.append(f"{len(missing)} of {len(self.updates)} updates came by {way} and not by {other}")
        if self.overtaken:
            said.append(f"{self.overtaken} pushes were overtaken by later ones")
        delays = sorted(one.delay for one in self.both if one.delay is not None)
        if delays:
            middle, slowest = _beside(median(delays)), _beside(delays[-1])
            said.append(f"pushes came {middle} the stream (median), the slowest {slowest}")
        return said


def _beside(delay: float) -> str:
    return f"{abs(delay) * 1000:,.0f} ms {'before' if delay < 0 else 'after'}"


class Reconciler:
    """Folds the events of one task, whichever way they come."""

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self._accounts: dict[Way, AssembledTask] = {}
        self._updates: dict[tuple[str, str, str, int], Update] = {}
        self._counts: dict[tuple[Way, str, str], int] = {}
        self._last: dict[Way, tuple[str, str]] = {}

    def take(self, sighting: Sighting) -> None:
        """Take in one event of the task."""
        way, event = sighting.way, sighting.event
        if task_of(event) != self.task_id:
            return
        self._account(way).apply(event, sighting.at)
        match event:
            case Task():
                self._status(sighting, event.status, snapshot=True)
                for artifact in event.artifacts or ():
                    self._artifact(sighting, artifact.artifact_id)
            case TaskStatusUpdateEvent():
                self._status(sighting, event.status, snapshot=False)
            case TaskArtifactUpdateEvent():
                self._artifact(sighting, event.artifact.artifact_id)
            case Message():
                self._see(sighting, ("message", text_of(event), "", 0), "message", text_of(event))

    def result(self) -> Reconciliation:
        """Return how the ways compare by now."""
        for (what, artifact_id, _, _), update in self._updates.items():
            for way, seen in update.seen.items():
                artifact = self._accounts[way].artifacts.get(artifact_id) if what == "artifact" else None
                if artifact is not None:
                    update.name, seen.content = artifact.name or artifact_id, _content(artifact)
        ended = {way: told.state if is_terminal(told.state) else "" for way, told in self._accounts.items()}
        events = {way: told.events for way, told in self._accounts.items()}
        return Reconciliation(tuple(sorted(self._updates.values(), key=lambda one: one.first)), events, ended)

    def _account(self, way: Way) -> AssembledTask:
        return self._accounts.setdefault(way, AssembledTask(self.task_id))

    def _status(self, sighting: Sighting, status: TaskStatus, *, snapshot: bool) -> None:
        """Match the n-th time that a status is told by one way with the n-th time by another.

        Times that agents give do not do for it: some leave them out by one way. A snapshot tells the status again
        that it has, which is no new one.
        """
        said = text_of(status.message)
        key = (status.state, said)
        if snapshot and self._last.get(sighting.way) == key:
            return
        self._last[sighting.way] = key
        number = self._counts[sighting.way, *key] = self._counts.get((sighting.way, *key), 0) + 1
        self._see(sighting, ("status", *key, number), "status", said, status.state)

    def _artifact(self, sighting: Sighting, artifact_id: str) -> None:
        self._see(sighting, ("artifact", artifact_id, "", 0), "artifact", artifact_id)

    def _see(self, sighting: Sighting, key: tuple[str, str, str, int], what: str, name: str, state: str = "") -> None:
        update = self._updates.setdefault(key, Update(what, name, state))
        seen = update.seen.get(sighting.way)
        if seen is None:
            update.seen[sighting.way] = Seen(sighting.at, sighting.seq, sighting.at)
        else:
            seen.times, seen.last = seen.times + 1, sighting.at


async def sightings(session: Session, task_id: str) -> AsyncIterator[list[Sighting]]:
    """Read what was recorded of a task page by page, so that others get their turn between."""
    capture, after = session.journal.capture, 0
    kinds = (Kind.FRAME, Kind.BODY, Kind.DELIVERY)
    while found := capture.select(kinds=kinds, task=task_id, after=after, limit=_PAGE):
        after = found[-1].seq
        yield [one for record in found if (one := _sighting(session, record)) is not None]
        await asyncio.sleep(0)


async def reconcile(session: Session, task_id: str) -> Reconciliation:
    """Lay side by side what was recorded of a task."""
    fold = Reconciler(task_id)
    async for page in sightings(session, task_id):
        for sighting in page:
            fold.take(sighting)
    return fold.result()


def _sighting(session: Session, record: Record) -> Sighting | None:
    """Read the event that a record carries, None for one that carries none or was not accepted."""
    if record.kind is Kind.DELIVERY and not record.meta.get("taken"):
        return None
    way = {Kind.FRAME: Way.STREAM, Kind.DELIVERY: Way.PUSH}.get(record.kind, Way.GET)
    event = canonical(record, session.request_of(record))
    if isinstance(event, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
        return Sighting(way, record.at, record.seq, event)
    return None


def _content(artifact: AssembledArtifact) -> str:
    others = "\n".join(dump(part.to_json()).decode() for part in artifact.other_parts)
    return f"{artifact.text}\n{others}" if others else str(artifact.text)


def _and(ways: Iterable[Way]) -> str:
    return " and ".join(sorted(ways))
