"""Time travel: a task as it was at each of its events, folded again from what was recorded.

The records are read once, a page at a time, and every so many of them the task is kept as it is then; from the nearest
of these points it is never more than `EVERY` records to any moment, however long the stream is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass

from inspector.capture.records import Kind, Record
from inspector.protocol.model import TaskList
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import FrozenTask, freeze
from inspector.session.journal import Journal
from inspector.session.replay.record_reader import RecordReader
from inspector.session.tasks import EVENTS, TaskFold, TrackedTask, task_of

EVERY = 128
"""How many records lie between two points at which the task is kept."""

_PAGE = 500
_KINDS = (Kind.FRAME, Kind.BODY, Kind.DELIVERY, Kind.END)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A task with both of its accounts at one moment."""

    number: int
    first_seen: float
    stream: int
    answered: FrozenTask
    pushed: FrozenTask

    def thaw(self, task_id: str) -> TrackedTask:
        return TrackedTask(task_id, self.number, self.first_seen, self.answered.thaw(), self.pushed.thaw(), self.stream)


class _TaskReader:
    """Folds the records of one task again, from its first one or from a moment at which the task was kept."""

    def __init__(self, journal: Journal, task_id: str, kept: _Kept | None = None) -> None:
        self._task_id = task_id
        self._reader = RecordReader(journal)
        self._fold = TaskFold(journal.exchanges)
        if kept is not None:
            self._fold.adopt(kept.thaw(task_id))

    @property
    def task(self) -> TrackedTask | None:
        """Return the task as it is by now, None before any event was about it."""
        return self._fold.get(self._task_id)

    def take(self, record: Record) -> bool:
        """Take in a record and say whether it carries an event about the task."""
        said = self._reader.read(record)
        if isinstance(said, TaskList):
            said = next((one for one in said.tasks if one.id == self._task_id), None)
        mine = isinstance(said, EVENTS) and task_of(said) == self._task_id
        if mine or record.kind is Kind.END:
            self._fold.take((record,), said)
        return mine and (record.kind is not Kind.DELIVERY or bool(record.meta.get("taken")))


class Moments:
    """The moments of a task, which are its events in the order in which they were recorded.

    Knows of as many as `read` has read; keeps 16 bytes an event, and the text that the task has come to.
    """

    def __init__(self, journal: Journal, task_id: str) -> None:
        self.task_id = task_id
        self._journal = journal
        self._reader = _TaskReader(journal, task_id)
        self._through = 0
        self._seqs = array("q")
        self._events = array("q")
        self._event_seqs = array("q")
        self._kept: list[_Kept | None] = []

    def __len__(self) -> int:
        return len(self._events)

    @property
    def through(self) -> int:
        """Return the sequence number up to which the capture has been read."""
        return self._through

    @property
    def complete(self) -> bool:
        """Say whether all that is recorded by now has been read."""
        return self._through >= len(self._journal.capture)

    def read(self) -> bool:
        """Read on by a page, which takes a few milliseconds, and say whether there is more."""
        for record in self._page():
            if len(self._seqs) % EVERY == 0:
                self._kept.append(_keep(self._reader.task))
            if self._reader.take(record):
                self._events.append(len(self._seqs))
                self._event_seqs.append(record.seq)
            self._seqs.append(record.seq)
        return not self.complete

    def seq(self, index: int) -> int:
        """Return the record of a moment."""
        return self._event_seqs[index]

    def index_of(self, seq: int) -> int:
        """Return the last moment at or before a record, the first one where there is none; -1 without any moment."""
        return max(bisect_right(self._event_seqs, seq) - 1, min(0, len(self) - 1))

    def at(self, index: int) -> TrackedTask:
        """Return the task as it was when it had taken in the event of a moment.

        Raises `IndexError` for a moment that there is not (yet).
        """
        position = self._events[range(len(self))[index]]
        start = position - position % EVERY
        kept = self._kept[start // EVERY]
        reader = _TaskReader(self._journal, self.task_id, kept)
        for record in self._records(self._seqs[start : position + 1]):
            reader.take(record)
        task = reader.task
        if task is None:
            raise LookupError(f"record {self._seqs[position]} tells nothing of task {self.task_id} any more")
        return task

    def _page(self) -> list[Record]:
        """Return the next records about the task, with the lists of tasks that the agent answered among them."""
        capture, after = self._journal.capture, self._through
        found = capture.select(kinds=_KINDS, task=self.task_id, after=after, limit=_PAGE)
        self._through = found[-1].seq if len(found) == _PAGE else len(capture)
        listed = (
            record
            for record in capture.select(kinds=(Kind.BODY,), task="", after=after)
            if record.operation == Operation.LIST and record.seq <= self._through
        )
        return sorted((*found, *listed), key=lambda record: record.seq)

    def _records(self, seqs: array[int]) -> list[Record]:
        """Read records, at one go where little else stands between them."""
        capture = self._journal.capture
        if seqs[-1] - seqs[0] < 4 * len(seqs):
            wanted = set(seqs)
            return [record for record in capture.slice(seqs[0], seqs[-1]) if record.seq in wanted]
        return [capture.get(seq) for seq in seqs]


def _keep(task: TrackedTask | None) -> _Kept | None:
    if task is None:
        return None
    return _Kept(task.number, task.first_seen, task.stream, freeze(task.answered), freeze(task.pushed))
