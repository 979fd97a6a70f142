"""The thread that writes a capture: it commits records in batches."""

from __future__ import annotations

import atexit
import contextlib
import sqlite3
import sys
import threading
from collections import deque
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from inspector.capture.file_format import COLUMN_COUNT, Row, row_of, storable
from inspector.capture.private_files import CaptureError, reason
from inspector.capture.records import Record

BATCH = 2_000
"""The maximum number of rows in one commit."""
SWITCH = 0.0005
"""The interpreter's switch interval in seconds. With Python's default of 5 ms, the event loop waits longer for the GIL
after each socket call while the writer runs, and receives a tenth fewer webhook deliveries per second."""
LINGER = 0.1
"""How many seconds a batch is collected after its first record, to save commits."""

_ROW = f"({','.join('?' * COLUMN_COUNT)})"
_CLOSING_PATIENCE_MS = 100


class Writer:
    """Commits the records of `put` in order, until the first failure.

    All methods have to be called by one thread (the event loop's); until `close` only the writing thread uses the
    connection. If the capture is `temporary`, `close` does not write the waiting records.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, *, temporary: bool = False) -> None:
        self.committed = 0
        """The `seq` of the newest record that is in the file."""
        self.failure: str | None = None
        """Why nothing is written any more, in a few words."""
        self._connection = connection
        self._path = path
        self._temporary = temporary
        self._identity = _identity(path)
        self._waiting: deque[Record] = deque()
        self._newest = 0
        self._work = threading.Event()
        self._hurry = threading.Event()
        self._closing = False
        self._progress = threading.Condition()
        limit = connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        self._rows_per_statement = min(BATCH, limit // COLUMN_COUNT)
        # A daemon, so that a program can end without calling `close`; `atexit` then writes the waiting records.
        self._thread = threading.Thread(target=self._run, name="capture-writer", daemon=True)
        sys.setswitchinterval(min(SWITCH, sys.getswitchinterval()))
        self._thread.start()
        atexit.register(self.close)

    def put(self, records: Sequence[Record]) -> None:
        """Queue one or more records, without waiting."""
        if self.failure is not None:
            return
        self._newest = records[-1].seq
        self._waiting.extend(records)
        if not self._work.is_set():
            self._work.set()
        elif len(self._waiting) >= BATCH and not self._hurry.is_set():
            self._hurry.set()

    def flush(self, timeout: float | None) -> bool:
        """Wait until all records are in the file; return False after a timeout or a failure."""
        newest = self._newest
        self._hurry.set()
        self._work.set()
        with self._progress:
            self._progress.wait_for(lambda: self.committed >= newest or self.failure is not None, timeout)
        return self.failure is None and self.committed >= newest

    def close(self) -> None:
        """Write the waiting records, end the thread and leave a single file; a temporary file stays as it is."""
        atexit.unregister(self.close)
        if self._closing:
            return
        self._closing = True
        self._hurry.set()
        self._work.set()
        self._thread.join()
        if self.failure is None and not self._temporary:
            # Remove the write-ahead log: SQLite cannot read a capture with a log in a read-only folder. While another
            # process reads the capture, the log cannot be removed, and stays beside the capture.
            with contextlib.suppress(sqlite3.OperationalError):
                self._connection.execute(f"PRAGMA busy_timeout={_CLOSING_PATIENCE_MS}")
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()

    def _run(self) -> None:
        try:
            while not self._closing or (self._waiting and not self._temporary):
                self._work.wait()
                self._hurry.wait(LINGER)
                # Both flags are cleared before the queue is emptied, so that a later record sets them again.
                self._work.clear()
                if not self._closing:
                    self._hurry.clear()
                self._drain()
            self._check_file()
        except Exception as error:  # noqa: BLE001 - every error that ends this thread is shown
            self._fail(error)

    def _drain(self) -> None:
        # Records that are queued during these commits wait for the next call; otherwise many commits would be small.
        left = len(self._waiting)
        while left and not (self._closing and self._temporary):
            rows = [row_of(self._waiting.popleft()) for _ in range(min(BATCH, left))]
            left -= len(rows)
            try:
                self._commit(rows)
            except UnicodeEncodeError:
                self._connection.execute("ROLLBACK")
                self._commit([storable(row) for row in rows])
            self._check_file()
            with self._progress:
                self.committed = rows[-1][0]
                self._progress.notify_all()

    def _commit(self, rows: list[Row]) -> None:
        # One statement for many rows: `executemany` releases the GIL for every row, and has to wait to get it back.
        self._connection.execute("BEGIN IMMEDIATE")
        for start in range(0, len(rows), self._rows_per_statement):
            part = rows[start : start + self._rows_per_statement]
            values = list(chain.from_iterable(part))
            self._connection.execute(f"INSERT INTO record VALUES {','.join([_ROW] * len(part))}", values)  # noqa: S608
        self._connection.execute("COMMIT")

    def _check_file(self) -> None:
        """Raise `CaptureError` if the file was deleted or replaced, which SQLite does not notice."""
        if _identity(self._path) != self._identity:
            raise CaptureError("the file was deleted or replaced, including the records in it")

    def _fail(self, error: Exception) -> None:
        with self._progress:
            self.failure = str(error) if isinstance(error, CaptureError) else reason(error)
            self._waiting.clear()
            self._progress.notify_all()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        there = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return there.st_dev, there.st_ino
