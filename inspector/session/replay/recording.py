"""A session that is over, as its capture tells it: read in slices, and told to the views as if it happened now."""

from __future__ import annotations

import time
from collections.abc import Iterator
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
        self.push = _ClosedService(self.journal, self.tasks, host="127.0.0.1", port=0, public_url=None)
        self._reader = RecordReader(self.journal)

    @staticmethod
    def _capture(path: Path) -> Capture:
        return Capture.open(path, validated)

    @property
    def part_read(self) -> float:
        """Return how much of it is read by now, from 0 to 1."""
        count = len(self.journal.capture)
        return self.journal.last_seq / count if count else 1.0

    def read(self) -> Iterator[None]:
        """Tell of the records from the first to the last, with a pause after every `SLICE` seconds.

        Raises `CaptureError` where the file cannot be read on.
        """
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
        """Refuse: there is nobody to talk to."""
        raise FaultError(RECORDING)

    async def connect(self, reference: str) -> Connection:  # noqa: ARG002 - as that of a session
        """Refuse: a recording stays without an agent."""
        raise FaultError(RECORDING)

    async def refresh(self) -> Connection:
        """Refuse: a recording stays without an agent."""
        raise FaultError(RECORDING)

    def unavailable_reason(self, operation: Operation) -> str:  # noqa: ARG002 - as that of a session
        """Say why no operation is possible."""
        return "this is a recording"

    def note(self, text: str, event: str = "") -> NoReturn:  # noqa: ARG002 - as that of a session
        """Refuse: nothing is added to a recording."""
        raise FaultError(RECORDING)


class _ClosedService(PushService):
    async def listen(self) -> None:
        """Refuse: what came in could not be recorded."""
        raise FaultError(RECORDING)
