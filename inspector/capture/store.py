"""The capture: an append-only store of records in one SQLite file, written by a thread."""

from __future__ import annotations

import math
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from inspector.capture import file_format
from inspector.capture.file_format import READ_COLUMNS, Row, fetch, fetch_records, record_of, storable_text
from inspector.capture.private_files import CaptureError, MissingRecordError, hint_of, reason
from inspector.capture.query import Query, RecordTimes
from inspector.capture.records import EMPTY, NOTHING, REQUEST, Common, Kind, Payload, Record
from inspector.capture.scan import SEARCH_FIRST, SEARCH_SECONDS, Page, Scanner, find, next_count
from inspector.capture.writer import Writer
from inspector.findings.finding import Finding

RECENT_COUNT = 2_048
RECENT_BYTES = 32 * 2**20
"""How many of the newest records stay in memory after they are written, and how many bytes of them."""

_TRIMMED_COUNT = RECENT_COUNT + 64
"""From how many records on the oldest are dropped, several at once."""

READ_COUNT = 2_048
READ_BYTES = 16 * 2**20
"""How many records that were read from the file are cached, and how many bytes of them."""

_RECORD_BYTES = 600
"""The approximate memory of a record in bytes, without its payload and its texts."""

_MOST_FOR_ONE_THREAD = 20_000
"""If more records of the file than this have to be searched, several threads search them."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Capture:
    """An append-only sequence of records in a file; the newest are in memory, too.

    `append` never waits for the disk: a thread commits the records within about 0.2 s. All methods must be called from
    the same thread. `get`, `slice` and `select` return committed and uncommitted records, and raise `CaptureError` if
    the file cannot be read. `meta` is stored as JSON, so that tuples become lists.
    """

    def __init__(self, path: Path, reader: sqlite3.Connection, writer: Writer | None, last: int) -> None:
        self.path = path
        self._reader = reader
        self._writer = writer
        self._closed = False
        self._last = last
        self._at = 0.0
        # The newest records, `_floor` to `_last` without a gap; older records are in the file, or lost.
        self._recent: dict[int, Record] = {}
        self._recent_bytes = 0
        self._floor = last + 1
        self._first_at = 0.0  # the time of record 1 after it has left `_recent`, because it may be lost
        self._read: OrderedDict[int, tuple[Record, int]] = OrderedDict()
        self._read_bytes = 0
        self._record_of = record_of
        self._scanner: Scanner | None = None

    @classmethod
    def create(cls, path: Path, *, temporary: bool = False) -> Self:
        """Create a capture at `path` (0600, missing folders 0700) for appending; raises `CaptureError`.

        A `temporary` capture is deleted once it is closed: nothing waits for the disk, and closing writes no records.
        """
        connection = file_format.create(path, temporary=temporary)
        try:
            reader = file_format.read(path)
        except CaptureError:
            connection.close()
            raise
        return cls(path, reader, Writer(connection, path, temporary=temporary), last=0)

    @classmethod
    def open(cls, path: Path, check: Callable[[Record], Record] | None = None) -> Self:
        """Open an existing capture for reading the records that it has now; raises `CaptureError`.

        Each record that is read is passed to `check`, which returns it or another record in its place.
        """
        reader = file_format.read(path)
        try:
            (last,) = reader.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
        except sqlite3.Error as error:
            reader.close()
            raise CaptureError(f"Cannot read the capture {path}: {reason(error)}.", hint_of(error)) from error
        capture = cls(path, reader, None, last)
        if check is not None:
            capture._record_of = lambda row: check(record_of(row))
        return capture

    def append(
        self,
        kind: Kind,
        at: float,
        *,
        payloads: Sequence[Payload] = EMPTY,
        exchange: int = 0,
        operation: str = "",
        event: str = "",
        task: str = "",
        context: str = "",
        state: str = "",
        label: str = "",
        meta: Mapping[str, Any] = NOTHING,
        findings: Sequence[Finding] = (),
    ) -> list[Record]:
        """Append one record for each payload, as `add` does."""
        common = Common(kind, exchange, operation, event, task, context, state, label)
        return self.add(common, at, payloads, meta, findings)

    @property
    def last_at(self) -> float:
        """The time of the last record, 0 for none."""
        return self._at

    def add(
        self,
        common: Common,
        at: float,
        payloads: Sequence[Payload] = EMPTY,
        meta: Mapping[str, Any] = NOTHING,
        findings: Sequence[Finding] = (),
    ) -> list[Record]:
        """Append one record for each payload; the records differ only in `seq`, `size` and `raw`.

        `meta` must not be changed afterwards. If `at` is before the time of the previous record, that time is used. A
        request without an exchange starts a new exchange. Raises `CaptureError` if the capture cannot be written.
        """
        writer = self._writer
        if writer is None or self._closed:
            raise CaptureError(f"The capture {self.path} is {'closed' if self._closed else 'open for reading only'}.")
        if not common.exchange and common.kind is REQUEST:
            common = common._replace(exchange=self._last + 1)
        self._at = at = at if at > self._at else self._at  # in this order, so that NaN is left out
        recent, used, found = self._recent, len(common.label) + _RECORD_BYTES, tuple(findings)
        records: list[Record] = []
        seq = self._last
        for size, raw in payloads:
            seq += 1
            recent[seq] = record = Record(seq, at, *common, size, raw, meta, found)
            records.append(record)
            self._recent_bytes += used + len(raw)
        self._last = seq
        writer.put(records)
        if len(recent) > _TRIMMED_COUNT or self._recent_bytes > RECENT_BYTES:
            self._trim(writer)
        return records

    def __len__(self) -> int:
        """Return how many records were appended, which is the `seq` of the newest."""
        return self._last

    def get(self, seq: int) -> Record:
        """Return the record with this `seq`; raises `MissingRecordError` if it is unknown or lost (see `failure`)."""
        found = self._recent.get(seq)
        if found is None:
            records = self.slice(seq, seq)
            if not records:
                raise MissingRecordError(f"There is no record {seq} in {self.path}.")
            found = records[0]
        return found

    def request_of(self, record: Record) -> Record:
        """Return the request of the exchange of a record, or the record itself outside of an exchange."""
        return self.get(record.exchange) if record.exchange else record

    def slice(self, first: int, last: int) -> list[Record]:
        """Return the existing records from `first` to `last`, both included."""
        self._trim(self._writer)
        first, last = max(first, 1), min(last, self._last)
        return [
            *self._old(first, min(last, self._floor - 1)),
            *(self._recent[seq] for seq in range(max(first, self._floor), last + 1)),
        ]

    def select(
        self,
        *,
        kinds: Collection[Kind] | None = None,
        exchange: int | None = None,
        task: str | None = None,
        after: int = 0,
        through: int | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """Return the first `limit` records from `after` + 1 to `through` that match every filter, in order.

        A filter, a limit or an end that is None does not restrict the records.
        """
        self._trim(self._writer)
        most = math.inf if limit is None else max(limit, 0)
        wanted = frozenset(Kind if kinds is None else kinds)
        end = self._last + 1 if through is None else min(through, self._last) + 1
        found = self._select_old(wanted, exchange, task, after, min(end, self._floor), limit) if most and wanted else []
        for seq in range(max(after + 1, self._floor), end):
            if len(found) >= most:
                break
            record = self._recent[seq]
            if (
                record.kind in wanted
                and (exchange is None or record.exchange == exchange)
                and (task is None or record.task == task)
            ):
                found.append(record)
        return found

    def sizes(self, exchange: int) -> list[tuple[int, int]]:
        """Return the number and the size of each record of an exchange, in order, without reading the records."""
        query = "SELECT seq, size FROM record WHERE exchange = ? AND seq < ? ORDER BY seq"
        return [
            *self._fetch_old(query, exchange),
            *((each.seq, each.size) for each in self._in_memory() if each.exchange == exchange),
        ]

    def exchanges_of(self, task: str) -> list[int]:
        """Return the numbers of the exchanges with records about a task, in order, without reading the records."""
        query = "SELECT DISTINCT exchange FROM record WHERE task = ? AND seq < ?"
        old = {number for (number,) in self._fetch_old(query, storable_text(task))}
        return sorted((old | {each.exchange for each in self._in_memory() if each.task == task}) - {0})

    def _fetch_old(self, query: str, value: int | bytes | str) -> list[Row]:
        """Run a query with a value and the number of the first record in memory."""
        self._trim(self._writer)
        return self._guarded(fetch, self._reader, query, (value, self._floor)) if self._floor > 1 else []

    def _in_memory(self) -> Iterator[Record]:
        return (self._recent[seq] for seq in range(self._floor, self._last + 1))

    def search(self, query: Query, *, after: int = 0) -> Iterator[Page]:
        """Search the records after `after`, page by page, including those that are appended between two pages.

        A page needs about `SEARCH_SECONDS`; it is empty if the searching threads have no result yet.
        """
        if self._floor - 1 - after > _MOST_FOR_ONE_THREAD:
            scanner = self._scanner = self._scanner or Scanner(self.path)
            pages = scanner.pages(query, self._began, after, self._floor - 1)
            while (page := self._guarded(next, pages, None)) is not None:
                yield page
                after = page.through
        count = SEARCH_FIRST
        while after < self._last:
            started = time.perf_counter()
            self._trim(self._writer)
            stored = self._floor - 1
            through = min(after + count, stored if after < stored else self._last)
            search = self._search_old if through <= stored else self._search_recent
            yield Page(search(query, after, through), through)
            after = through
            count = next_count(count, time.perf_counter() - started, SEARCH_SECONDS)

    @property
    def _began(self) -> float:
        return self._first_at or self.get(1).at

    def _search_old(self, query: Query, after: int, through: int) -> list[int]:
        return self._guarded(find, self._reader, query, self._began, after, through).hits

    def _search_recent(self, query: Query, after: int, through: int) -> list[int]:
        began = self._began
        before = next((record.at for record in self.slice(after, after)), None) if after else None
        hits = []
        for record in self.slice(after + 1, through):  # some may have been moved to the file meanwhile
            if query.matches(record, RecordTimes(began, before)):
                hits.append(record.seq)
            before = record.at
        return hits

    @property
    def backlog(self) -> int:
        """Return how many records are not in the file yet; 0 after a failure."""
        writer = self._writer
        return self._last - writer.committed if writer is not None and writer.failure is None else 0

    @property
    def failure(self) -> str | None:
        """Return why the capture is no longer written and which records are lost; None without a failure."""
        writer = self._writer
        if writer is None or writer.failure is None:
            return None
        self._trim(writer)
        written = writer.committed
        sentences = [f"Writing to the capture {self.path} stopped: {writer.failure}."]
        sentences.append(f"Records 1 to {written} were written before." if written else "No record was written before.")
        if self._floor > written + 1:
            sentences.append(f"Records {written + 1} to {self._floor - 1} are lost.")
        if self._last > written:
            first = max(self._floor, written + 1)
            sentences.append(
                f"Records {first} to {self._last} are only in memory and are lost when this program exits."
            )
        return " ".join(sentences)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all records are in the file; return False after `timeout` seconds or if writing failed."""
        done = self._writer is None or self._writer.flush(timeout)
        self._trim(self._writer)
        return done

    def close(self) -> None:
        """Write the waiting records, unless the capture is temporary, and close the file.

        Check `failure` afterwards for lost records.
        """
        if self._closed:
            return
        self._closed = True
        if self._scanner is not None:
            self._scanner.close()
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _trim(self, writer: Writer | None) -> None:
        """Drop the oldest recent records beyond the limits, if they are in the file or writing has failed."""
        recent = self._recent
        while len(recent) > RECENT_COUNT or self._recent_bytes > RECENT_BYTES:
            if writer is None or (self._floor > writer.committed and writer.failure is None):
                return
            record = recent.pop(self._floor)
            if self._floor == 1:
                self._first_at = record.at
            self._recent_bytes -= len(record.raw) + len(record.label) + _RECORD_BYTES
            self._floor += 1

    def _old(self, first: int, last: int) -> list[Record]:
        """Return records that are not among the newest in memory: from the cache of read records, or from the file."""
        found: dict[int, Record] = {}
        missing = []
        for seq in range(first, last + 1):
            if seq in self._read:
                found[seq] = self._read[seq][0]
                self._read.move_to_end(seq)
            else:
                missing.append(seq)
        if missing:
            query = f"SELECT {READ_COLUMNS} FROM record WHERE seq BETWEEN ? AND ?"  # noqa: S608 - constants only
            for row in self._guarded(fetch_records, self._reader, query, [missing[0], missing[-1]]):
                found[row[0]] = self._remember(row)
        return [found[seq] for seq in sorted(found)]

    def _select_old(
        self, kinds: frozenset[Kind], exchange: int | None, task: str | None, after: int, end: int, limit: int | None
    ) -> list[Record]:
        """Select among the records before `end`, which are no longer in memory."""
        if after >= end - 1:
            return []
        index, tests = "", "seq > ? AND seq < ?"
        values: list[int | str | bytes] = [after, end]
        if task is not None:
            index, tests, values = "record_by_task", f"task = ? AND {tests}", [storable_text(task), *values]
        if exchange is not None:
            index, tests, values = "record_by_exchange", f"exchange = ? AND {tests}", [exchange, *values]
        if not index and len(kinds) == len(Kind):
            query = f"SELECT {READ_COLUMNS} FROM record WHERE {tests}"  # noqa: S608 - constants only
        else:
            # Each SELECT returns its rows in the order of `seq`, so SQLite merges the SELECTs without sorting.
            arm = f"SELECT {READ_COLUMNS} FROM record INDEXED BY {index or 'record_by_kind'} WHERE kind = ? AND {tests}"  # noqa: S608
            query = " UNION ALL ".join([arm] * len(kinds))
            values = [value for kind in sorted(kinds) for value in (str(kind), *values)]
        values.append(-1 if limit is None else limit)
        rows = self._guarded(fetch_records, self._reader, f"{query} ORDER BY seq LIMIT ?", values)
        return [self._record_of(row) for row in rows]

    def _guarded(self, read: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
        """Call a function that reads the file; raises `CaptureError` if that fails."""
        if self._closed:
            raise CaptureError(f"The capture {self.path} is closed.")
        try:
            return read(*args, **named)
        except sqlite3.Error as error:
            raise CaptureError(f"Cannot read the capture {self.path}: {reason(error)}.", hint_of(error)) from error

    def _remember(self, row: Row) -> Record:
        """Cache a record that was read, and drop the least recently used records."""
        cache = self._read
        record = self._record_of(row)
        size = _RECORD_BYTES + sum(len(value) for value in row if isinstance(value, str | bytes))
        if record.seq not in cache:
            cache[record.seq] = (record, size)
            self._read_bytes += size
        while len(cache) > 1 and (len(cache) > READ_COUNT or self._read_bytes > READ_BYTES):
            _, (_, freed) = cache.popitem(last=False)
            self._read_bytes -= freed
        return record
