"""Search a capture file for records that match a query; ranges of records (slices) are searched in parallel."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from inspector.capture import file_format
from inspector.capture.file_format import WITH_NUL
from inspector.capture.query import SOURCE, Query, SearchFacts

SEARCH_SECONDS = 0.008
"""The target duration of a page of a search in seconds, so that the caller stays responsive."""
SEARCH_FIRST = 1_000
"""How many records the first page of a search covers."""
_SLICE_SECONDS = 0.015
"""The target duration of searching a slice in seconds; with shorter slices, starting would last longest."""
_MOST_THREADS = 4
_WITH_NUL = f"SELECT 1 FROM record INDEXED BY record_with_nul WHERE seq > ? AND seq <= ? AND {WITH_NUL} LIMIT 1"  # noqa: S608


class Page(NamedTuple):
    """The hits of a search among the next records, up to and including the record `through`."""

    hits: list[int]
    through: int


class Found(NamedTuple):
    """The hits of a slice, and the duration of the search in seconds."""

    hits: list[int]
    seconds: float


def find(connection: sqlite3.Connection, query: Query, began: float, after: int, through: int) -> Found:
    """Return the matching records after `after` up to `through`; `began` is the time of the file's first record."""
    started = time.perf_counter()
    where, values = query.sql(_search_facts(connection, began, after, through))
    statement = f"SELECT seq FROM {SOURCE} WHERE seq > ? AND seq <= ? AND {where} ORDER BY seq"  # noqa: S608 - constants
    rows = file_format.fetch(connection, statement, [after, through, *values])
    return Found([seq for (seq,) in rows], time.perf_counter() - started)


def _search_facts(connection: sqlite3.Connection, began: float, after: int, through: int) -> SearchFacts:
    """Find out which checks a search of these records can leave out."""
    odd = file_format.fetch(connection, _WITH_NUL, [after, through])
    labels = file_format.fetch(connection, "SELECT label FROM record WHERE seq = ?", [(after + through + 1) // 2])
    label = labels[0][0] if labels else ""
    return SearchFacts(began, with_nul=bool(odd), label=label if isinstance(label, str) else "")


class Scanner:
    """Searches slices of a capture in up to four threads, one for each core; SQLite releases the GIL while searching.

    `at_once` is the number of slices that are searched at the same time.
    """

    def __init__(self, path: Path) -> None:
        self.at_once = min(_MOST_THREADS, os.cpu_count() or 1)
        self._path = path
        self._threads = ThreadPoolExecutor(self.at_once, "capture-search")
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._opened: list[sqlite3.Connection] = []

    def pages(self, query: Query, began: float, after: int, last: int) -> Iterator[Page]:
        """Search the records after `after` up to `last`, and yield the hits page by page.

        Slices are searched in advance, while the caller processes a page. If the next slice is not finished in time,
        the page is empty, and its `through` is that of the page before. Raises `sqlite3.Error`.
        """
        waiting: deque[tuple[int, Future[Found]]] = deque()
        count, done = SEARCH_FIRST, after
        try:
            while after < last or waiting:
                while after < last and len(waiting) <= self.at_once:
                    through = min(after + count, last)
                    waiting.append((through, self._begin(query, began, after, through)))
                    after = through
                through, found = waiting[0]
                if wait([found], SEARCH_SECONDS).not_done:
                    yield Page([], done)
                    continue
                waiting.popleft()
                hits, seconds = found.result()
                done = through
                yield Page(hits, through)
                count = next_count(count, seconds, _SLICE_SECONDS)
        finally:
            for _, found in waiting:
                found.cancel()

    def _begin(self, query: Query, began: float, after: int, through: int) -> Future[Found]:
        if len(self._opened) < self.at_once:
            self._opened.append(file_format.reopen(self._path))
            self._idle.put(self._opened[-1])
        search = partial(find, query=query, began=began, after=after, through=through)
        return self._threads.submit(self._with_connection, search)

    def _with_connection(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        connection = self._idle.get()
        try:
            return work(connection)
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Cancel the slices that have not started, wait for the others and close the file."""
        self._threads.shutdown(cancel_futures=True)
        for connection in self._opened:
            connection.close()


def next_count(count: int, seconds: float, wanted: float) -> int:
    """Return how many records can be searched in `wanted` seconds, if `count` records took `seconds`."""
    return max(1, min(count * 2, int(count * wanted / max(seconds, 1e-6))))
