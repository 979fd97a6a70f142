"""Looking for the hits of a query in the file, several slices of it at once, on connections of their own."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from inspector.capture import format as capture_format
from inspector.capture.format import WITH_NUL
from inspector.capture.query import SOURCE, Looked, Query

_MOST_AT_ONCE = 4
_WITH_NUL = f"SELECT 1 FROM record INDEXED BY record_with_nul WHERE seq > ? AND seq <= ? AND {WITH_NUL} LIMIT 1"  # noqa: S608


class Found(NamedTuple):
    """The hits of a slice, and how many seconds it took to find them."""

    hits: list[int]
    seconds: float


def find(connection: sqlite3.Connection, query: Query, began: float, after: int, through: int) -> Found:
    """Return the hits behind `after` up to `through`; `began` is when the capture began."""
    started = time.perf_counter()
    where, values = query.sql(_look(connection, began, after, through))
    statement = f"SELECT seq FROM {SOURCE} WHERE seq > ? AND seq <= ? AND {where} ORDER BY seq"  # noqa: S608 - constants
    rows = capture_format.fetch(connection, statement, [after, through, *values])
    return Found([seq for (seq,) in rows], time.perf_counter() - started)


def _look(connection: sqlite3.Connection, began: float, after: int, through: int) -> Looked:
    """Find out what makes a search of these records quick."""
    odd = capture_format.fetch(connection, _WITH_NUL, [after, through])
    labels = capture_format.fetch(connection, "SELECT label FROM record WHERE seq = ?", [(after + through + 1) // 2])
    label = labels[0][0] if labels else ""
    return Looked(began, with_nul=bool(odd), label=label if isinstance(label, str) else "")


class Scanner:
    """Searches slices of a capture in threads, for SQLite lets others work while it looks: a thread a core, up to four.

    `at_once` is how many slices it works on at the same time.
    """

    def __init__(self, path: Path) -> None:
        self.at_once = min(_MOST_AT_ONCE, os.cpu_count() or 1)
        self._path = path
        self._threads = ThreadPoolExecutor(self.at_once, "capture-search")
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._opened: list[sqlite3.Connection] = []

    def begin(self, query: Query, began: float, after: int, through: int) -> Future[Found]:
        """Begin to look for the hits behind `after` up to `through`; the result may raise `sqlite3.Error`."""
        if len(self._opened) < self.at_once:
            self._opened.append(capture_format.read_again(self._path))
            self._idle.put(self._opened[-1])
        return self._threads.submit(self._lent, lambda connection: find(connection, query, began, after, through))

    def _lent(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        connection = self._idle.get()
        try:
            return work(connection)
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Give up what is not begun, wait for the rest and let go of the file."""
        self._threads.shutdown(cancel_futures=True)
        for connection in self._opened:
            connection.close()
