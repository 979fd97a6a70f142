"""A session that is over, as its capture tells it: read in slices, and told to the views as if it happened now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskList, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.protocol.sse import Frame
from inspector.session.chunk_run import ChunkRun
from inspector.session.connection import Connection
from inspector.session.journal import Journal
from inspector.session.push.service import PushDesk
from inspector.session.replay.translate import canonical
from inspector.session.replay.validation import checked
from inspector.session.session import Session
from inspector.session.tasks import Source, Tasks

RECORDING = Fault(
    Whose.YOURS,
    FaultCode.USAGE,
    "This is a recording: nothing can be sent from it.",
    "Connect to the agent to talk to it: ctrl+p, Connect.",
)

SLICE = 0.006
"""Seconds that one step of reading takes, about, so that keys are answered between two of them."""

_PAGE = 200


class Recording(Session):
    """A capture without an agent: everything can be looked at, and whatever would add to it raises `FaultError`.

    `read` tells the journal and the tasks of its records, a slice at a time; what they know before is nothing.
    """

    recorded = True

    def __init__(self, path: Path) -> None:
        """Open a capture; raises `CaptureError` with the sentence for the user."""
        super().__init__(path)
        self.journal.exchanges.over = True
        self.push = _ClosedDesk(self.journal, self.tasks, host="127.0.0.1", port=0, public_url=None)
        self._fold = _Fold(self.journal, self.tasks)

    @staticmethod
    def _capture(path: Path) -> Capture:
        return Capture.open(path, checked)

    @property
    def part_read(self) -> float:
        """Return how much of it is read by now, from 0 to 1."""
        count = len(self.journal.capture)
        return self.journal.told / count if count else 1.0

    def read(self) -> Iterator[None]:
        """Tell of the records from the first to the last, with a pause after every `SLICE` seconds.

        Raises `CaptureError` where the file cannot be read on.
        """
        journal, began = self.journal, time.perf_counter()
        while journal.told < len(journal.capture):
            records = journal.capture.select(after=journal.told, limit=_PAGE)
            journal.replay(records)
            for record in records:
                self._fold.take(record)
            if time.perf_counter() - began >= SLICE:
                journal.touch()
                yield
                began = time.perf_counter()
        journal.touch()

    @property
    def choice(self) -> Choice:
        """Refuse: there is nobody to talk to."""
        raise FaultError(RECORDING)

    async def connect(self, reference: str) -> Connection:  # noqa: ARG002 - as that of a session
        """Refuse: a recording stays without an agent."""
        raise FaultError(RECORDING)

    async def refresh(self) -> Connection:
        """Refuse: a recording stays without an agent."""
        raise FaultError(RECORDING)

    def why_not(self, operation: Operation) -> str:  # noqa: ARG002 - as that of a session
        """Say why no operation is possible."""
        return "this is a recording"

    def note(self, text: str, event: str = "") -> NoReturn:  # noqa: ARG002 - as that of a session
        """Refuse: nothing is added to a recording."""
        raise FaultError(RECORDING)


class _ClosedDesk(PushDesk):
    async def listen(self) -> None:
        """Refuse: what came in could not be recorded."""
        raise FaultError(RECORDING)


class _Fold:
    """Folds records into their tasks as the session did when they came."""

    def __init__(self, journal: Journal, tasks: Tasks) -> None:
        self._journal = journal
        self._tasks = tasks
        self._runs: dict[int, ChunkRun] = {}

    def take(self, record: Record) -> None:
        match record.kind:
            case Kind.FRAME:
                self._frame(record)
            case Kind.BODY:
                self._whole(record, Source.ANSWER)
            case Kind.DELIVERY if record.meta.get("taken"):
                self._whole(record, Source.PUSH)
            case Kind.END:
                self._tasks.let_go(self._task_of(record.exchange), record.exchange)
                self._runs.pop(record.exchange, None)
            case _:
                pass

    def _frame(self, record: Record) -> None:
        run = self._runs.get(record.exchange)
        if run is None:
            run = self._runs[record.exchange] = ChunkRun(Redactor())
        frame = Frame(record.raw, record.raw)  # where the text stands in the bytes is all that a run wants to know
        if run.chunk is not None and (text := run.text_of(frame)):
            self._tasks.go_on(run.chunk.task, run.artifact_id, text, record.at)
            return
        task_id = self._task_of(record.exchange)
        said = self._whole(record, Source.ANSWER, stream=record.exchange if record.task == task_id else 0)
        if said is not None:
            told_here = self._tasks.told_by(record.exchange, record.task) is not None
            run.learn(frame, said, record, sound=told_here)

    def _whole(self, record: Record, source: Source, *, stream: int = 0) -> Event | None:
        """Take in a record that is read in full, and return the event that it carries, if it does."""
        request = self._journal.capture.get(record.exchange) if record.exchange else record
        # Without it nobody knows what is spoken there, and to find that out again and again costs most of all.
        known = record.kind is Kind.DELIVERY or "binding" in request.meta
        said = canonical(record, request) if known else None
        if isinstance(said, TaskList):
            for listed in said.tasks:
                self._tasks.take(listed, record.at, source)
        if not isinstance(said, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
            return None
        self._tasks.take(said, record.at, source, stream=stream)
        return said

    def _task_of(self, exchange: int) -> str:
        summary = self._journal.exchanges.get(exchange)
        return summary.task if summary is not None else ""
