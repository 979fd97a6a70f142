"""Match the events that stream, pushes and responses (GetTask) reported about a task.

`RecordMatcher` follows the journal and compares the indexed members of records, so that a row can show its counterpart
without decoding anything. `TaskMatcher` decodes every event of one task. Both match the n-th report of a status by one
source with the n-th report by another. A whole task that repeats the current status is not a new report.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from enum import Enum, StrEnum, auto
from statistics import median
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Kind, Record, arrival
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.content import EVENT_TYPES
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent
from inspector.session.message_label import text_of
from inspector.session.replay.task_diff import part_lines
from inspector.session.replay.translate import canonical
from inspector.session.tasks import task_of

_PAGE = 500
_STATUS = frozenset({"task", "status"})
_MOST = 20_000
"""How many different contents are remembered for each source; the oldest are forgotten."""
_Content: TypeAlias = tuple[str, str, str, str]
"""The content of a record: task, kind of event, state and label."""


class MatchState(Enum):
    """Whether the other source reported the same update as a record."""

    BOTH = auto()
    """The other source reported it."""
    WAITING = auto()
    """The other source may still report it."""
    ALONE = auto()
    """The other source reported a later update, or ended, without this update."""


class Counterpart(NamedTuple):
    """The match of a record; `seq` is the record of the other source with the same update, 0 for none."""

    state: MatchState
    seq: int = 0


@dataclass(slots=True)
class _Reported:
    """The reports of one source: the records of each content in order, and the last status of each task.

    `reached` has the last matched record of each task, 0 for none: the other source reported its
    update, too. `full` is whether contents were forgotten.
    """

    records: dict[_Content, array[int]] = field(default_factory=dict)
    status: dict[str, _Content] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    full: bool = False

    def of(self, content: _Content) -> array[int]:
        """Return the list of the records with a content, to which callers append; the oldest content may be dropped."""
        known = self.records.get(content)
        if known is None:
            if len(self.records) >= _MOST:
                self.full = True
                del self.records[next(iter(self.records))]
            known = self.records[content] = array("q")
        return known


class RecordMatcher:
    """Follows a journal and matches pushes with streamed events; stores 8 bytes for each event, plus the last contents.

    `streaming` returns whether a task is being streamed at the moment.
    """

    def __init__(self, streaming: Callable[[str], bool]) -> None:
        self._streaming = streaming
        self._stream, self._push = _Reported(), _Reported()

    def of(self, record: Record) -> Counterpart | None:
        """Return the match of a record; None if it is from neither source, or if only one source reports its task."""
        sources = self._sources(record)
        if sources is None:
            return None
        source, other = sources
        task = record.task
        if task not in source.reached or task not in other.reached:
            return None
        content = _content_of(record)
        own, others = source.records.get(content, ()), other.records.get(content, ())
        number = bisect_right(own, record.seq) - 1
        if 0 <= number < len(others):
            return Counterpart(MatchState.BOTH, others[number])
        if not own or (other.full and not others):
            return None  # the content was forgotten, or may have been
        passed = source.reached[task] > record.seq or (source is self._push and not self._streaming(task))
        return Counterpart(MatchState.ALONE if passed else MatchState.WAITING)

    def offer(self, records: Sequence[Record]) -> None:
        """Add the next records, which are alike (see `Subscriber`), if they are events of a task by stream or push."""
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
        own = source.of(content)
        own.append(record.seq)
        others = other.records.get(content)
        if others is not None and len(own) <= len(others):
            source.reached[task] = record.seq
            other.reached[task] = max(other.reached[task], others[len(own) - 1])

    def _sources(self, record: Record) -> tuple[_Reported, _Reported] | None:
        """Return the source of a record and the other source; None for a record without a task or a source."""
        if not record.task:
            return None
        if record.kind is Kind.FRAME:
            return self._stream, self._push
        return (self._push, self._stream) if record.kind is Kind.DELIVERY and record.meta.get("taken") else None


def _content_of(record: Record) -> _Content:
    return record.task, "status" if record.event in _STATUS else record.event, record.state, record.label


class Source(StrEnum):
    """The source of an update: a stream, a push or a response."""

    STREAM = "stream"
    PUSH = "push"
    RESPONSE = "response"
    """A response with the whole task: of GetTask, CancelTask, or a message sent without streaming."""


class SourcedEvent(NamedTuple):
    """An event with its source, its time in seconds since 1970 and its record."""

    source: Source
    at: float
    seq: int
    event: Event


@dataclass(slots=True)
class SourceReport:
    """How one source reported an update: first and last time, first record, number of events, and the content.

    `content` is that of an artifact, `""` for other updates.
    """

    at: float
    seq: int
    last: float
    times: int = 1
    content: str = field(default="", repr=False)


@dataclass(slots=True)
class Update:
    """One update of the task with its reports by source: a status (`state` and its text), an artifact or a message.

    `what` is `status`, `artifact` or `message`; `name` is the text of a status or message, or the artifact's name.
    """

    what: str
    name: str
    state: str = ""
    reports: dict[Source, SourceReport] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Describe the update: `working "step 2"`."""
        label = short(self.state) if self.state else self.what
        return f'{label} "{self.name}"' if self.name else label

    @property
    def first(self) -> float:
        """Return when it was first reported."""
        return min(report.at for report in self.reports.values())

    @property
    def delay(self) -> float | None:
        """Return by how many seconds the push came after the stream, None unless both reported it.

        If an update has several events, the last events are compared.
        """
        stream, push = self.reports.get(Source.STREAM), self.reports.get(Source.PUSH)
        return None if stream is None or push is None else push.last - stream.last

    @property
    def differs(self) -> bool:
        """Return whether two sources disagree; responses that came before the update was complete are ignored."""
        compared = [report for source, report in self.reports.items() if source is not Source.RESPONSE]
        latest = max((report.last for report in compared), default=0.0)
        response = self.reports.get(Source.RESPONSE)
        if response is not None and response.last >= latest:
            compared.append(response)
        return len({report.content for report in compared}) > 1


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The updates of a task by source, in the order in which they were first reported.

    `events` counts the events of each source, `ended` has the final state that each reports, `""` for none yet.
    """

    updates: tuple[Update, ...]
    events: dict[Source, int]
    ended: dict[Source, str]

    def only_by(self, source: Source, other: Source) -> list[Update]:
        """Return the updates that `source` reported and `other` did not."""
        return [update for update in self.updates if source in update.reports and other not in update.reports]

    def repeated(self, source: Source, other: Source) -> dict[str, tuple[int, int]]:
        """Return how often each source reported an update that `source` reported more often than `other`.

        Updates that `other` did not report are left out.
        """
        own = Counter(update.words for update in self.updates if source in update.reports)
        others = Counter(update.words for update in self.updates if other in update.reports)
        return {words: (count, others[words]) for words, count in own.items() if count > others[words] > 0}

    @property
    def both(self) -> list[Update]:
        """Return the updates that both stream and push reported."""
        return [update for update in self.updates if update.delay is not None]

    @property
    def overtaken(self) -> int:
        """Return how many pushes were late: the push of a later update, in the order of the stream, came first."""
        overtaken, earliest = 0, math.inf
        statuses = [update for update in self.both if update.what == "status"]
        for update in sorted(statuses, key=lambda update: update.reports[Source.STREAM].seq, reverse=True):
            at = update.reports[Source.PUSH].at
            overtaken += at > earliest
            earliest = min(at, earliest)
        return overtaken

    @property
    def words(self) -> list[str]:
        """Return the results as sentences, the most important first."""
        sentences = [
            f"{update.what} {update.name} differs between {' and '.join(sorted(update.reports))}"
            for update in self.updates
            if update.differs
        ]
        if len({state for state in self.ended.values() if state}) > 1:
            states = (f"{source} reports {short(state)}" for source, state in self.ended.items() if state)
            sentences.append(f"the sources disagree about the final state: {', '.join(states)}")
        for source, other in ((Source.STREAM, Source.PUSH), (Source.PUSH, Source.STREAM)):
            repeated = self.repeated(source, other)
            for words, (more, less) in repeated.items():
                sentences.append(f"{words} was reported {more} times by {source}, {less} by {other}")
            missing = [update for update in self.only_by(source, other) if update.words not in repeated]
            if missing and self.events.get(other):
                sentences.append(f"{len(missing)} of {len(self.updates)} updates came by {source} but not by {other}")
        if self.overtaken:
            sentences.append(f"{self.overtaken} pushes were overtaken by later pushes")
        delays = sorted(update.delay for update in self.both if update.delay is not None)
        if delays:
            middle, slowest = _delay_words(median(delays)), _delay_words(delays[-1])
            sentences.append(f"pushes came {middle} the stream (median), the slowest {slowest}")
        return sentences


class TaskMatcher:
    """Folds the events of one task by source, and matches its updates.

    `accounts` has the task as each source reported it. `response` has the task as reported by the last response that
    contains the whole task and by the responses after it. `orders` has the status updates of each source, as state and
    text.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self.accounts: dict[Source, AssembledTask] = {}
        self.response: AssembledTask | None = None
        self.orders: dict[Source, list[tuple[str, str]]] = {}
        self._updates: dict[tuple[str, str, str, int], Update] = {}
        self._counts: Counter[tuple[Source, str, str]] = Counter()
        self._last: dict[Source, tuple[str, str]] = {}

    def take(self, sourced: SourcedEvent) -> None:
        """Add an event; events of other tasks are ignored."""
        source, event = sourced.source, sourced.event
        if task_of(event) != self.task_id:
            return
        self.accounts.setdefault(source, AssembledTask(self.task_id)).apply(event, sourced.at)
        if source is Source.RESPONSE:
            if self.response is None or isinstance(event, Task):
                self.response = AssembledTask(self.task_id)
            self.response.apply(event, sourced.at)
        match event:
            case Task():
                self._add_status(sourced, event.status, snapshot=True)
                for artifact in event.artifacts or ():
                    self._add(sourced, "artifact", artifact.artifact_id)
            case TaskStatusUpdateEvent():
                self._add_status(sourced, event.status, snapshot=False)
                self.orders.setdefault(source, []).append((event.status.state, text_of(event.status.message)))
            case TaskArtifactUpdateEvent():
                self._add(sourced, "artifact", event.artifact.artifact_id)
            case Message():
                self._add(sourced, "message", text_of(event))

    def result(self) -> Reconciliation:
        """Return the updates so far."""
        for (what, artifact_id, _, _), update in self._updates.items():
            for source, report in update.reports.items() if what == "artifact" else ():
                artifact = self.accounts[source].artifacts.get(artifact_id)
                if artifact is not None:
                    update.name, report.content = artifact.name or artifact_id, content_of(artifact)
        ended = {source: task.state if is_terminal(task.state) else "" for source, task in self.accounts.items()}
        events = {source: task.events for source, task in self.accounts.items()}
        updates = tuple(sorted(self._updates.values(), key=lambda update: update.first))
        return Reconciliation(updates, events, ended)

    def _add_status(self, sourced: SourcedEvent, status: TaskStatus, *, snapshot: bool) -> None:
        """Add a numbered report of a status; timestamps are not compared: some agents send them by one source only."""
        text = text_of(status.message)
        key = (status.state, text)
        if snapshot and self._last.get(sourced.source) == key:
            return
        self._last[sourced.source] = key
        self._counts[sourced.source, *key] += 1
        self._add(sourced, "status", text, status.state, self._counts[sourced.source, *key])

    def _add(self, sourced: SourcedEvent, what: str, name: str, state: str = "", number: int = 0) -> None:
        update = self._updates.setdefault((what, name, state, number), Update(what, name, state))
        report = update.reports.get(sourced.source)
        if report is None:
            update.reports[sourced.source] = SourceReport(sourced.at, sourced.seq, sourced.at)
        else:
            report.times, report.last = report.times + 1, sourced.at


async def match(capture: Capture, task_id: str) -> TaskMatcher:
    """Fold the recorded events of a task, page by page, so that the event loop runs in between."""
    matcher, after = TaskMatcher(task_id), 0
    kinds = (Kind.FRAME, Kind.BODY, Kind.DELIVERY)
    while found := capture.select(kinds=kinds, task=task_id, after=after, limit=_PAGE):
        after = found[-1].seq
        for record in found:
            sourced = _sourced_event(capture, record)
            if sourced is not None:
                matcher.take(sourced)
        await asyncio.sleep(0)
    return matcher


async def reconcile(capture: Capture, task_id: str) -> Reconciliation:
    """Return the recorded updates of a task by source."""
    return (await match(capture, task_id)).result()


def _sourced_event(capture: Capture, record: Record) -> SourcedEvent | None:
    """Read the event of a record; None if it has no event or is a delivery that was not accepted."""
    if record.kind is Kind.DELIVERY and not record.meta.get("taken"):
        return None
    source = {Kind.FRAME: Source.STREAM, Kind.DELIVERY: Source.PUSH}.get(record.kind, Source.RESPONSE)
    event = canonical(record, capture.request_of(record))
    if isinstance(event, EVENT_TYPES):
        return SourcedEvent(source, arrival(record), record.seq, event)
    return None


def content_of(artifact: AssembledArtifact) -> str:
    """Return the content of an artifact as text, so that two artifacts can be compared."""
    return "\n".join([str(artifact.text), *part_lines(artifact)])


def _delay_words(delay: float) -> str:
    return f"{abs(delay) * 1000:,.0f} ms {'before' if delay < 0 else 'after'}"
