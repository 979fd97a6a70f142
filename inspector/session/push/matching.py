"""Match what stream, pushes and GetTask reported of a task.

`RecordMatcher` follows the journal and knows records by their words, as rows do, so that a row can show its counterpart
without reading anything again. `TaskMatcher` reads every event of one task. Both match the n-th time that one source
reports a status with the n-th time that another does. A whole task that repeats the current status is not a new one.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from statistics import median
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent
from inspector.session.replay.translate import canonical
from inspector.session.tasks import task_of, text_of

_PAGE = 500
_STATUS = frozenset({"task", "status"})
_MOST = 20_000
"""How many different contents are remembered of each source, the last ones."""
_Content: TypeAlias = tuple[str, str, str, str]
"""What a record reports: the task, what of it, the state, the words."""


class MatchState(Enum):
    """Whether the other source reported what a record reports."""

    BOTH = auto()
    """It did."""
    WAITING = auto()
    """It may still."""
    ALONE = auto()
    """It reported what came later, or is over."""


class Counterpart(NamedTuple):
    """The match of a record; `seq` is the record of the other source that reports the same, 0 for none."""

    state: MatchState
    seq: int = 0


@dataclass(slots=True)
class _Reported:
    """What one source reported: the records by content, in order; and by task the status, and how far both are.

    `reached` has the last record of this source that the other source reported too, 0 for none.
    """

    records: dict[_Content, array[int]] = field(default_factory=dict)
    status: dict[str, _Content] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    full: bool = False

    def of(self, content: _Content) -> array[int]:
        """Return the records with a content, to be added to; the oldest content is forgotten for a new one."""
        known = self.records.get(content)
        if known is None:
            if len(self.records) >= _MOST:
                self.full = True
                del self.records[next(iter(self.records))]
            known = self.records[content] = array("q")
        return known


class RecordMatcher:
    """Follows a journal and matches pushes with streamed events, at 8 bytes per event beside the last contents.

    `streaming` returns whether a stream reports a task at the moment.
    """

    def __init__(self, streaming: Callable[[str], bool]) -> None:
        self._streaming = streaming
        self._stream, self._push = _Reported(), _Reported()

    def of(self, record: Record) -> Counterpart | None:
        """Return the match of a record; None if it is of neither source, or if only one reports its task."""
        sources = self._sources(record)
        if sources is None:
            return None
        source, other = sources
        task = record.task
        if task not in source.reached or task not in other.reached:
            return None
        content = _content_of(record)
        here, there = source.records.get(content, ()), other.records.get(content, ())
        number = bisect_right(here, record.seq) - 1
        if 0 <= number < len(there):
            return Counterpart(MatchState.BOTH, there[number])
        if not here or (other.full and not there):
            return None  # it is forgotten, or may be
        over = source.reached[task] > record.seq or (source is self._push and not self._streaming(task))
        return Counterpart(MatchState.ALONE if over else MatchState.WAITING)

    def offer(self, records: Sequence[Record]) -> None:
        """Take in the next records, if they are events of a task that came by stream or by push."""
        sources = self._sources(records[0]) if records else None
        if sources is None:
            return
        source, other = sources
        first = records[0]
        source.reached.setdefault(first.task, 0)
        if first.event in _STATUS or first.task in other.reached:
            for record in records:
                self._match(record, source, other)
        else:
            source.of(_content_of(first)).extend(record.seq for record in records)

    def _match(self, record: Record, source: _Reported, other: _Reported) -> None:
        content, task = _content_of(record), record.task
        if record.event in _STATUS:
            if record.event == "task" and source.status.get(task) == content:
                return
            source.status[task] = content
        here = source.of(content)
        here.append(record.seq)
        there = other.records.get(content)
        if there is not None and len(here) <= len(there):
            source.reached[task] = record.seq
            other.reached[task] = max(other.reached[task], there[len(here) - 1])

    def _sources(self, record: Record) -> tuple[_Reported, _Reported] | None:
        """Return the source of a record, and the other one; None for a record of no task."""
        if not record.task:
            return None
        if record.kind is Kind.FRAME:
            return self._stream, self._push
        return (self._push, self._stream) if record.kind is Kind.DELIVERY and record.meta.get("taken") else None


def _content_of(record: Record) -> _Content:
    return record.task, "status" if record.event in _STATUS else record.event, record.state, record.label


class Way(StrEnum):
    """The source of an update."""

    STREAM = "stream"
    PUSH = "push"
    GET = "answer"
    """A response with the whole task: GetTask, a blocking send, CancelTask."""


class Sighting(NamedTuple):
    """An event with its source, its time and its record."""

    way: Way
    at: float
    seq: int
    event: Event


@dataclass(slots=True)
class Seen:
    """How one source reported an update: first and last time, first record, number of events, and the content."""

    at: float
    seq: int
    last: float
    times: int = 1
    content: str = field(default="", repr=False)


@dataclass(slots=True)
class Update:
    """One update of the task: a status (`state` and its text), an artifact or a message, as each source has it."""

    what: str
    name: str
    state: str = ""
    seen: dict[Way, Seen] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Describe the update: `working "step 2"`."""
        told = short(self.state) if self.state else self.what
        return f'{told} "{self.name}"' if self.name else told

    @property
    def first(self) -> float:
        """Return when it was first reported."""
        return min(seen.at for seen in self.seen.values())

    @property
    def delay(self) -> float | None:
        """Return by how many seconds the push came after the stream, None if it did not come by both.

        An update of many events is compared by its last ones.
        """
        stream, push = self.seen.get(Way.STREAM), self.seen.get(Way.PUSH)
        return None if stream is None or push is None else push.last - stream.last

    @property
    def differs(self) -> bool:
        """Return whether two sources disagree; a response from before the update was complete does not."""
        told = [seen for way, seen in self.seen.items() if way is not Way.GET]
        latest = max((seen.last for seen in told), default=0.0)
        told += [seen for way, seen in self.seen.items() if way is Way.GET and seen.last >= latest]
        return len({seen.content for seen in told}) > 1


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The updates of a task by source, in the order in which they were first reported.

    `events` counts the events of each source, `ended` has the final state that each reports, `""` for none yet.
    """

    updates: tuple[Update, ...]
    events: dict[Way, int]
    ended: dict[Way, str]

    def alone(self, way: Way, other: Way) -> list[Update]:
        """Return what one source reported and the other did not."""
        return [update for update in self.updates if way in update.seen and other not in update.seen]

    def repeated(self, way: Way, other: Way) -> dict[str, tuple[int, int]]:
        """Return what one source reported more often than the other, which reported it too: how often each."""
        here = Counter(update.words for update in self.updates if way in update.seen)
        there = Counter(update.words for update in self.updates if other in update.seen)
        return {words: (count, there[words]) for words, count in here.items() if count > there[words] > 0}

    @property
    def both(self) -> list[Update]:
        """Return what came by stream and by push."""
        return [update for update in self.updates if update.delay is not None]

    @property
    def overtaken(self) -> int:
        """Return how many pushes came after one that reports something later, by the order of the stream."""
        overtaken, soonest = 0, math.inf
        for update in reversed([update for update in self.both if update.what == "status"]):
            at = update.seen[Way.PUSH].at
            overtaken += at > soonest
            soonest = min(at, soonest)
        return overtaken

    @property
    def words(self) -> list[str]:
        """Return the results as sentences, the most important first."""
        different = [update for update in self.updates if update.differs]
        said = [f"{one.what} {one.name} differs between {' and '.join(sorted(one.seen))}" for one in different]
        ended = {state for state in self.ended.values() if state}
        if len(ended) > 1:
            ways = (f"{way} says {short(state)}" for way, state in self.ended.items() if state)
            said.append(f"the ways disagree how the task ended: {', '.join(ways)}")
        for way, other in ((Way.STREAM, Way.PUSH), (Way.PUSH, Way.STREAM)):
            again = self.repeated(way, other)
            for words, (more, less) in again.items():
                said.append(f"{words} was told {more} times by {way}, {less} by {other}")
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


class TaskMatcher:
    """Folds the events of one task by source, and matches its updates.

    `accounts` has the task as each source reported it, `response` as the responses did from the last one with the
    whole task on, `orders` the status updates of each source.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self.accounts: dict[Way, AssembledTask] = {}
        self.response: AssembledTask | None = None
        self.orders: dict[Way, list[tuple[str, str]]] = {}
        self._updates: dict[tuple[str, str, str, int], Update] = {}
        self._counts: Counter[tuple[Way, str, str]] = Counter()
        self._last: dict[Way, tuple[str, str]] = {}

    def take(self, sighting: Sighting) -> None:
        """Take in one event, of this task or of another."""
        way, event = sighting.way, sighting.event
        if task_of(event) != self.task_id:
            return
        self.accounts.setdefault(way, AssembledTask(self.task_id)).apply(event, sighting.at)
        if way is Way.GET:
            if self.response is None or isinstance(event, Task):
                self.response = AssembledTask(self.task_id)
            self.response.apply(event, sighting.at)
        match event:
            case Task():
                self._status(sighting, event.status, snapshot=True)
                for artifact in event.artifacts or ():
                    self._see(sighting, "artifact", artifact.artifact_id)
            case TaskStatusUpdateEvent():
                self._status(sighting, event.status, snapshot=False)
                self.orders.setdefault(way, []).append((event.status.state, text_of(event.status.message)))
            case TaskArtifactUpdateEvent():
                self._see(sighting, "artifact", event.artifact.artifact_id)
            case Message():
                self._see(sighting, "message", text_of(event))

    def result(self) -> Reconciliation:
        """Return the updates so far."""
        for (what, artifact_id, _, _), update in self._updates.items():
            for way, seen in update.seen.items() if what == "artifact" else ():
                artifact = self.accounts[way].artifacts.get(artifact_id)
                if artifact is not None:
                    update.name, seen.content = artifact.name or artifact_id, content_of(artifact)
        ended = {way: told.state if is_terminal(told.state) else "" for way, told in self.accounts.items()}
        events = {way: told.events for way, told in self.accounts.items()}
        updates = tuple(sorted(self._updates.values(), key=lambda update: update.first))
        return Reconciliation(updates, events, ended)

    def _status(self, sighting: Sighting, status: TaskStatus, *, snapshot: bool) -> None:
        """Match by number: the timestamps of agents do not do, because some leave them out of one source."""
        said = text_of(status.message)
        key = (status.state, said)
        if snapshot and self._last.get(sighting.way) == key:
            return
        self._last[sighting.way] = key
        self._counts[sighting.way, *key] += 1
        self._see(sighting, "status", said, status.state, self._counts[sighting.way, *key])

    def _see(self, sighting: Sighting, what: str, name: str, state: str = "", number: int = 0) -> None:
        update = self._updates.setdefault((what, name, state, number), Update(what, name, state))
        seen = update.seen.get(sighting.way)
        if seen is None:
            update.seen[sighting.way] = Seen(sighting.at, sighting.seq, sighting.at)
        else:
            seen.times, seen.last = seen.times + 1, sighting.at


async def match(capture: Capture, task_id: str) -> TaskMatcher:
    """Fold what was recorded of a task, page by page, so that the event loop runs in between."""
    fold, after = TaskMatcher(task_id), 0
    kinds = (Kind.FRAME, Kind.BODY, Kind.DELIVERY)
    while found := capture.select(kinds=kinds, task=task_id, after=after, limit=_PAGE):
        after = found[-1].seq
        for record in found:
            sighting = _sighting(capture, record)
            if sighting is not None:
                fold.take(sighting)
        await asyncio.sleep(0)
    return fold


async def reconcile(capture: Capture, task_id: str) -> Reconciliation:
    """Return the recorded updates of a task by source."""
    return (await match(capture, task_id)).result()


def _sighting(capture: Capture, record: Record) -> Sighting | None:
    """Read the event of a record; None if it carries none or was not accepted."""
    if record.kind is Kind.DELIVERY and not record.meta.get("taken"):
        return None
    way = {Kind.FRAME: Way.STREAM, Kind.DELIVERY: Way.PUSH}.get(record.kind, Way.GET)
    event = canonical(record, capture.get(record.exchange) if record.exchange else record)
    if isinstance(event, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
        return Sighting(way, record.at, record.seq, event)
    return None


def content_of(artifact: AssembledArtifact) -> str:
    """Return the content of an artifact as text, so that two can be compared."""
    others = [dump(part.to_json()).decode("utf-8", "replace") for part in artifact.other_parts]
    return "\n".join([str(artifact.text), *others])


def _beside(delay: float) -> str:
    return f"{abs(delay) * 1000:,.0f} ms {'before' if delay < 0 else 'after'}"
