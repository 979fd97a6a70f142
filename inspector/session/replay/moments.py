"""Time travel: reconstruct a task as it was after any of its events.

The records of the task are folded again, from a snapshot at most `EVERY` records before the event.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import TaskList
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import TaskSnapshot, take_snapshot
from inspector.session.journal import Journal
from inspector.session.replay.record_reader import RecordReader
from inspector.session.tasks import EVENT_CLASSES, TaskFold, TrackedTask, task_of

EVERY = 128
"""The number of records between two snapshots."""

_PAGE = 500
_KINDS = (Kind.FRAME, Kind.BODY, Kind.DELIVERY, Kind.END)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The state of a task at one of its records."""

    number: int
    first_seen: float
    stream: int
    answered: TaskSnapshot
    pushed: TaskSnapshot

    def restore(self, task_id: str) -> TrackedTask:
        return TrackedTask(
            task_id, self.number, self.first_seen, self.answered.restore(), self.pushed.restore(), self.stream
        )


class _TaskReader:
    """Folds the records of one task again, from the first record or from a snapshot."""

    def __init__(self, journal: Journal, task_id: str, snapshot: _Snapshot | None = None) -> None:
        self._task_id = task_id
        self._reader = RecordReader(journal)
        self._fold = TaskFold(journal.exchanges)
        if snapshot is not None:
            self._fold.adopt(snapshot.restore(task_id))

    @property
    def task(self) -> TrackedTask | None:
        """Return the task after the records so far, None before its first event."""
        return self._fold.get(self._task_id)

    def take(self, record: Record) -> bool:
        """Fold a record and return whether it contains an event of the task."""
        event = self._reader.read(record)
        if isinstance(event, TaskList):
            event = next((task for task in event.tasks if task.id == self._task_id), None)
        is_own = isinstance(event, EVENT_CLASSES) and task_of(event) == self._task_id
        if is_own or record.kind is Kind.END:
            self._fold.take((record,), event)
        return is_own and (record.kind is not Kind.DELIVERY or bool(record.meta.get("taken")))


class Moments:
    """The events of a task in the order of their records, as far as `read` has read the capture.

    An index counts the events from 0. `through` is the number of the last record that was read.
    """

    def __init__(self, journal: Journal, task_id: str) -> None:
        self.task_id = task_id
        self._journal = journal
        self._reader = _TaskReader(journal, task_id)
        self.through = 0
        self._seqs = array("q")
        self._events = array("q")
        self._event_seqs = array("q")
        self._snapshots: list[_Snapshot | None] = []

    def __len__(self) -> int:
        return len(self._events)

    @property
    def complete(self) -> bool:
        """Return whether the whole capture has been read."""
        return self.through >= len(self._journal.capture)

    def read(self) -> bool:
        """Read the next page of records, for a few milliseconds, and return whether there are more."""
        for record in self._page():
            if len(self._seqs) % EVERY == 0:
                self._snapshots.append(_snapshot(self._reader.task))
            if self._reader.take(record):
                self._events.append(len(self._seqs))
                self._event_seqs.append(record.seq)
            self._seqs.append(record.seq)
        return not self.complete

    def seq(self, index: int) -> int:
        """Return the number of the record of an event."""
        return self._event_seqs[index]

    def index_of(self, seq: int) -> int:
        """Return the index of the last event at or before a record, else 0; -1 if there are no events."""
        return max(bisect_right(self._event_seqs, seq) - 1, min(0, len(self) - 1))

    def at(self, index: int) -> TrackedTask:
        """Return the task after an event.

        Raises `IndexError` if the event was not read, `CaptureError` if its records cannot be read any more.
        """
        position = self._events[range(len(self))[index]]
        start = position - position % EVERY
        reader = _TaskReader(self._journal, self.task_id, self._snapshots[start // EVERY])
        for record in self._records(self._seqs[start : position + 1]):
            reader.take(record)
        task = reader.task
        if task is None:
            raise CaptureError(f"Record {self._seqs[position]} no longer contains an event of task {self.task_id}.")
        return task

    def _page(self) -> list[Record]:
        """Return the next records about the task, and the responses that list tasks."""
        capture, after = self._journal.capture, self.through
        found = capture.select(kinds=_KINDS, task=self.task_id, after=after, limit=_PAGE)
        self.through = found[-1].seq if len(found) == _PAGE else len(capture)
        listed = (
            record
            for record in capture.select(kinds=(Kind.BODY,), task="", after=after, through=self.through)
            if record.operation == Operation.LIST
        )
        return sorted((*found, *listed), key=lambda record: record.seq)

    def _records(self, seqs: array[int]) -> list[Record]:
        """Read records, in one query if they are close to each other."""
        capture = self._journal.capture
        if seqs[-1] - seqs[0] < 4 * len(seqs):
            wanted = set(seqs)
            return [record for record in capture.slice(seqs[0], seqs[-1]) if record.seq in wanted]
        return [capture.get(seq) for seq in seqs]


def _snapshot(task: TrackedTask | None) -> _Snapshot | None:
    if task is None:
        return None
    return _Snapshot(
        task.number, task.first_seen, task.stream, take_snapshot(task.answered), take_snapshot(task.pushed)
    )
