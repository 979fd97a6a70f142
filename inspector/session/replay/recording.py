"""A session that reads an existing capture, step by step, and passes its records to the views."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from inspector.capture.store import Capture
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.connection import Connection
from inspector.session.push.service import PushService
from inspector.session.replay.record_reader import RecordReader
from inspector.session.replay.validation import validated
from inspector.session.session import Session

RECORDING = Fault(
    Whose.YOURS,
    FaultCode.USAGE,
    "This is an opened capture, without an agent: nothing can be sent.",
    "To send requests, connect to an agent.",
)

SLICE = 0.006
"""The duration of one step of reading in seconds; keys are handled between steps."""

_PAGE = 200


class Recording(Session):
    """An opened capture, without an agent; operations that would add records raise `FaultError`.

    The journal and the tasks are empty until `read` passes them the records.
    """

    recorded = True

    def __init__(self, path: Path) -> None:
        """Open a capture; raises `CaptureError`."""
        super().__init__(path, capture=lambda path: Capture.open(path, validated))
        self.journal.exchanges.recorded = True
        self._reader = RecordReader(self.journal)

    @cached_property
    def push(self) -> PushService:
        """Return a push service that receives nothing."""
        return _ClosedService(self.journal, self.tasks, host="127.0.0.1", port=0, public_url=None)

    @property
    def part_read(self) -> float:
        """Return the fraction of the capture that has been read, from 0 to 1."""
        count = len(self.journal.capture)
        return self.journal.last_seq / count if count else 1.0

    def read(self) -> Iterator[None]:
        """Read the records in order, and yield after every `SLICE` seconds; raises `CaptureError`."""
        journal, began = self.journal, time.perf_counter()
        while journal.last_seq < len(journal.capture):
            records = journal.capture.select(after=journal.last_seq, limit=_PAGE)
            journal.replay(records)
            for record in records:
                self.tasks.take((record,), self._reader.read(record))
            if time.perf_counter() - began >= SLICE:
                journal.notify()
                yield
                began = time.perf_counter()
        journal.notify()

    @property
    def choice(self) -> Choice:
        """Raise `FaultError`."""
        raise FaultError(RECORDING)

    async def connect(self, reference: str) -> Connection:  # noqa: ARG002 - as that of a session
        """Raise `FaultError`."""
        raise FaultError(RECORDING)

    async def refresh(self) -> Connection:
        """Raise `FaultError`."""
        raise FaultError(RECORDING)

    def unavailable_reason(self, operation: Operation) -> str:  # noqa: ARG002 - as that of a session
        """Return the reason why no operation is available."""
        return "this is an opened capture, without an agent"

    def note(self, text: str, event: str = "") -> NoReturn:  # noqa: ARG002 - as that of a session
        """Raise `FaultError`."""
        raise FaultError(RECORDING)


class _ClosedService(PushService):
    async def listen(self) -> None:
        """Raise `FaultError`."""
        raise FaultError(RECORDING)
