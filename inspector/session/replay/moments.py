"""Time travel: a task as it was at each of its events, folded again from what was recorded.

The records are read once, a page at a time, and every so many of them the task is kept as it is then; from the nearest
of these points it is never more than `EVERY` records to any moment, however long the stream is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.protocol.model import Message, Task, TaskArtifactUpdateEvent, TaskList, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation
from inspector.protocol.snapshot import FrozenTask, freeze
from inspector.protocol.sse import Frame
from inspector.session.chunk_run import ChunkRun
from inspector.session.replay.translate import canonical
from inspector.session.tasks import Source, Tasks, TrackedTask, task_of

if TYPE_CHECKING:
    from inspector.session.session import Session

EVERY = 128
"""How many records lie between two points at which the task is kept."""

_PAGE = 500
_KINDS = (Kind.FRAME, Kind.BODY, Kind.DELIVERY, Kind.END)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A task with both of its accounts at one moment."""

    number: int
    first_seen: float
    teller: int
    answered: FrozenTask
    pushed: FrozenTask

    def thaw(self, task_id: str) -> TrackedTask:
        return TrackedTask(task_id, self.number, self.first_seen, self.answered.thaw(), self.pushed.thaw(), self.teller)


class _Fold:
    """Takes in the records of one task as the session did when they came."""

    def __init__(self, session: Session, task_id: str, task: TrackedTask | None = None) -> None:
        self._session = session
        self._task_id = task_id
        self._tasks = Tasks()
        self._runs: dict[int, ChunkRun] = {}
        if task is not None:
            self._tasks.adopt(task)

    @property
    def task(self) -> TrackedTask | None:
        """Return the task as told so far, None before anything was."""
        return self._tasks.get(self._task_id)

    def take(self, record: Record) -> bool:
        """Take in a record and say whether it told something of the task."""
        match record.kind:
            case Kind.END:
                self._tasks.let_go(self._task_id, record.exchange)
                self._runs.pop(record.exchange, None)
                return False
            case Kind.FRAME:
                return self._frame(record)
            case Kind.DELIVERY:
                return bool(record.meta.get("taken")) and self._whole(record, Source.PUSH)
            case _:
                return self._whole(record, Source.ANSWER)

    def _frame(self, record: Record) -> bool:
        run = self._runs.get(record.exchange)
        if run is None:
            run = self._runs[record.exchange] = ChunkRun(Redactor())
        frame = Frame(record.raw, record.raw)  # where the text stands in the bytes is all that a run wants to know
        if run.chunk is not None and (text := run.text_of(frame)):
            self._tasks.go_on(self._task_id, run.artifact_id, text, record.at)
            return True
        return self._whole(record, Source.ANSWER, run, frame)

    def _whole(self, record: Record, source: Source, run: ChunkRun | None = None, frame: Frame | None = None) -> bool:
        """Take in a record that is read in full."""
        said = canonical(record, self._session.request_of(record))
        if isinstance(said, TaskList):
            said = next((one for one in said.tasks if one.id == self._task_id), None)
        if not isinstance(said, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
            return False
        if task_of(said) != self._task_id:
            return False
        stream = record.exchange if run is not None and self._is_about(record.exchange) else 0
        self._tasks.take(said, record.at, source, stream=stream)
        if run is not None and frame is not None:
            told_here = self._tasks.told_by(record.exchange, self._task_id) is not None
            run.learn(frame, said, record, sound=told_here)
        return True

    def _is_about(self, exchange: int) -> bool:
        summary = self._session.journal.exchanges.get(exchange)
        return summary is not None and summary.task == self._task_id


class Moments:
    """The moments of a task, which are its events in the order in which they were recorded.

    Knows of as many as `read` has read; keeps 16 bytes an event, and the text that the task has come to.
    """

    def __init__(self, session: Session, task_id: str) -> None:
        self.task_id = task_id
        self._session = session
        self._fold = _Fold(session, task_id)
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
        return self._through >= len(self._session.journal.capture)

    def read(self) -> bool:
        """Read on by a page, which takes a few milliseconds, and say whether there is more."""
        for record in self._page():
            if len(self._seqs) % EVERY == 0:
                self._kept.append(_keep(self._fold.task))
            if self._fold.take(record):
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
        fold = _Fold(self._session, self.task_id, kept.thaw(self.task_id) if kept else None)
        for record in self._records(self._seqs[start : position + 1]):
            fold.take(record)
        task = fold.task
        if task is None:
            raise LookupError(f"record {self._seqs[position]} tells nothing of task {self.task_id} any more")
        return task

    def _page(self) -> list[Record]:
        """Return the next records about the task, with the lists of tasks that the agent answered among them."""
        capture, after = self._session.journal.capture, self._through
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
        capture = self._session.journal.capture
        if seqs[-1] - seqs[0] < 4 * len(seqs):
            wanted = set(seqs)
            return [record for record in capture.slice(seqs[0], seqs[-1]) if record.seq in wanted]
        return [capture.get(seq) for seq in seqs]


def _keep(task: TrackedTask | None) -> _Kept | None:
    if task is None:
        return None
    return _Kept(task.number, task.first_seen, task.teller, freeze(task.answered), freeze(task.pushed))
