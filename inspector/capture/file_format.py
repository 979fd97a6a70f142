"""The format of a capture file: create and open it, and convert between records and rows.

A capture is an SQLite database with the application id `APPLICATION_ID`, the user version `VERSION` and exactly the
tables below, so that only plain rows are read from an untrusted file.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from inspector import __version__
from inspector.capture.private_files import (
    CHECK_PATH,
    COPY_AGAIN,
    CaptureError,
    claim,
    companions,
    hint_of,
    is_busy,
    private_folder,
    reason,
    remove,
)
from inspector.capture.records import NOTHING, Kind, Record
from inspector.findings.finding import Finding, Severity
from inspector.text.file_kind import APPLICATION_ID, har_hint, is_database

_HEAD = 100
"""The bytes of the header of an SQLite database."""
VERSION = 2
"""The format that this program reads and writes."""

COLUMNS = "seq, at, kind, exchange, operation, event, task, context, state, label, size, meta, findings, raw"
COLUMN_COUNT = 14

LARGEST_PAYLOAD = 64 * 1024 * 1024
"""The most bytes of a payload that are read; the records of a2a-inspect have no more, those of a changed file may."""
_READ_LABEL = "CASE WHEN length(CAST(label AS BLOB)) > 100000 THEN substr(label, 1, 100000) ELSE label END"
"""The beginning of a long label. `substr` of a text ends at a NUL, so a short label is read without it."""
READ_COLUMNS = (
    COLUMNS.replace("label", _READ_LABEL).removesuffix("raw")
    + f"CASE WHEN length(raw) > {LARGEST_PAYLOAD} THEN NULL ELSE raw END"
)
"""The columns for reading: SQLite loads a whole value even if only its beginning is selected."""

WITH_NUL = "(instr(raw, x'00') OR instr(CAST(label AS BLOB), x'00'))"
"""The SQL condition for records with a NUL, at which SQLite stops comparing texts; an index lists them."""

# `raw` is the last column, so that a filter does not read its overflow pages. The rows of an index are ordered by its
# columns and then `seq`, so that `Capture.select` can merge the rows of several kinds by `seq`.
_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE record (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, exchange INTEGER NOT NULL, "
    "operation TEXT NOT NULL, event TEXT NOT NULL, task TEXT NOT NULL, context TEXT NOT NULL, state TEXT NOT NULL, "
    "label TEXT NOT NULL, size INTEGER NOT NULL, meta TEXT NOT NULL, findings TEXT NOT NULL, raw BLOB NOT NULL)",
    "CREATE INDEX record_by_kind ON record (kind)",
    "CREATE INDEX record_by_exchange ON record (exchange, kind)",
    "CREATE INDEX record_by_task ON record (task, kind)",
    f"CREATE INDEX record_with_nul ON record (seq) WHERE {WITH_NUL}",
)

PAGE_BYTES = 16 * 1024
"""The size of the file's pages in bytes. With SQLite's default of 4 KiB, a search of a long capture needs a quarter
more time; with larger pages, a capture of a few records would have half a megabyte."""

SYNCHRONOUS = "NORMAL"
"""When SQLite waits for the disk: with NORMAL, a capture can be read after the system crashes."""

_LABEL = COLUMNS.split(", ").index("label")
_STATEMENTS_CACHED = 4
"""How many statements the writing connection caches: few, because a statement that inserts a whole batch is large."""

_TYPES = (int, float, str, int, str, str, str, str, str, str, int, str, str, bytes)
"""The Python types of the values of a row, unless a text is stored as bytes."""
_KINDS = {kind.value: kind for kind in Kind}

Row = tuple[Any, ...]


def create(path: Path, *, temporary: bool = False) -> sqlite3.Connection:
    """Create a capture with mode 0600 and return the connection that writes it, for one thread at a time.

    If it is `temporary`, SQLite never waits for the disk: the file may be unreadable after the system crashes.
    Raises `CaptureError`.
    """
    private_folder(path.parent)
    claim(path)
    try:
        connection = _connect(path, "rw", cached_statements=_STATEMENTS_CACHED)
        try:
            _create_tables(connection, path)
            if not temporary:
                connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        if not is_busy(error):  # busy: another process is creating a capture with this name
            remove(path)
        raise CaptureError(f"Cannot create the capture {path}: {reason(error)}.") from error
    return connection


def read(path: Path) -> sqlite3.Connection:
    """Open a capture for reading, and check that it is a capture in a known format; raises `CaptureError`."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise CaptureError(f"The capture {path} does not exist.", CHECK_PATH) from None
    except OSError as error:
        raise CaptureError(f"Cannot open the capture {path}: {reason(error)}.") from error
    if not stat.S_ISREG(status.st_mode):
        raise CaptureError(f"{path} is not a file.", CHECK_PATH)
    if not status.st_size:
        raise CaptureError(f"{path} is empty: nothing was recorded in it.", COPY_AGAIN)
    if (hint := har_hint(path)) and not _is_database(path):
        raise CaptureError(f"{path} is not a capture of a2a-inspect.", hint)
    try:
        connection = _connect(path, "ro")
        try:
            _check(connection, path)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise CaptureError(f"Cannot open {path}: {reason(error)}.", hint_of(error)) from error
    return connection


def reopen(path: Path) -> sqlite3.Connection:
    """Open another connection for reading to a capture that `read` has checked; raises `sqlite3.Error`."""
    return _connect(path, "ro")


def _connect(path: Path, mode: str, cached_statements: int = 16) -> sqlite3.Connection:
    ignored = "&immutable=1" if mode == "ro" and _has_stale_journal(path) else ""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{ignored}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=cached_statements,
    )
    # The tables of an untrusted file may contain functions, which must not run.
    connection.execute("PRAGMA trusted_schema=OFF")
    if mode == "ro":
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA cell_size_check=ON")
    return connection


def _has_stale_journal(path: Path) -> bool:
    """Return whether a rollback journal is beside a capture, which SQLite would have to apply before it reads.

    Captures are written with a write-ahead log, so the journal belongs to another file of this name, or to a program
    that changed the capture. A capture without a log is then read without regard to the journal.
    """
    log, _, journal = companions(path)
    return journal.exists() and not (log.exists() and log.stat().st_size)


def fetch(connection: sqlite3.Connection, query: str, values: Sequence[int | str | bytes]) -> list[Row]:
    """Run a query and return its rows; text that is not UTF-8 is read with replacement characters."""
    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.OperationalError as error:
        # Python's sqlite3 module raises this error for text that is not UTF-8, without an SQLite error code.
        if hasattr(error, "sqlite_errorcode") or connection.text_factory is not str:
            raise
        connection.text_factory = lambda text: str(text, "utf-8", "replace")
        return connection.execute(query, values).fetchall()


def fetch_records(connection: sqlite3.Connection, query: str, values: Sequence[int | str | bytes]) -> list[Row]:
    """Run a query for `READ_COLUMNS`; a payload that is too large is read in part."""
    return [row if row[-1] is not None else _in_part(connection, row) for row in fetch(connection, query, values)]


def _in_part(connection: sqlite3.Connection, row: Row) -> Row:
    with connection.blobopen("record", "raw", row[0], readonly=True) as blob:
        beginning = blob.read(LARGEST_PAYLOAD)
    label = f"{_as_text(row[_LABEL])} (only the first {LARGEST_PAYLOAD:,} bytes are shown)"
    return (*row[:_LABEL], label, *row[_LABEL + 1 : -1], beginning)


def _create_tables(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")  # no effect after the first write
    connection.execute("PRAGMA synchronous=OFF")  # the capture is empty: waiting for the disk would cost 40 ms
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA temp_store=MEMORY")  # otherwise SQLite writes each batch to a temporary file as well
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_schema").fetchone():  # another process was faster
        raise CaptureError(f"The capture {path} exists already; choose another name.")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={VERSION}")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('written_by', ?)", (f"a2a-inspect {__version__}",))
    connection.execute("COMMIT")


def _is_database(path: Path) -> bool:
    """Return whether a file is an SQLite database, or cannot be read."""
    try:
        with path.open("rb") as file:
            return is_database(file.read(_HEAD))
    except OSError:
        return True  # the error is reported when it is opened


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise CaptureError(f"{path} is not a capture of a2a-inspect.", CHECK_PATH)
    version = _number(connection, "PRAGMA user_version")
    if version > VERSION:
        raise CaptureError(
            f"{path} has capture format {version}; a2a-inspect {__version__} reads up to {VERSION}. "
            "Update a2a-inspect to open it."
        )
    if 0 < version < VERSION:
        raise CaptureError(
            f"{path} has capture format {version}, which an earlier a2a-inspect wrote; {__version__} reads only"
            f" {VERSION}. Open it with the earlier version."
        )
    tables = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    if version < 1 or {sql for (sql,) in tables} != set(_SCHEMA):
        raise CaptureError(f"{path} is not a capture of a2a-inspect: it has other tables.", CHECK_PATH)
    if not connection.execute("SELECT 1 FROM meta WHERE name = 'written_by'").fetchone():
        seen = f"{path} is not a capture of a2a-inspect: the entry written_by is missing in its meta."
        raise CaptureError(seen, CHECK_PATH)
    # SELECT min(seq), max(seq) would scan the table. One statement, because a process may be writing the capture.
    first, last, count = connection.execute(
        "SELECT (SELECT min(seq) FROM record), (SELECT max(seq) FROM record), (SELECT count(*) FROM record)"
    ).fetchone()
    if last is not None and (first != 1 or count != last):
        raise CaptureError(f"{path} is damaged: records are missing from it.", COPY_AGAIN)
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        # SQLite does not notice a truncated last page.
        if path.stat().st_size < _number(connection, "PRAGMA page_count") * _number(connection, "PRAGMA page_size"):
            raise CaptureError(f"{path} is damaged: it is truncated.", COPY_AGAIN)
        # The shared lock of an open read transaction shows other processes that the file is in use (`paths.prune`).
        # With a write-ahead log, SQLite holds that lock in any case.
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM meta").fetchall()


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def row_of(record: Record) -> Row:
    """Return the values of `COLUMNS` for a record; only the last three have another order than in `Record`."""
    seq, at, kind, exchange, operation, event, task, context, state, label, size, raw, meta, found = record
    more = _meta_text(meta) if meta else "", _findings_text(found) if found else "", raw
    return (seq, at, str(kind), exchange, operation, event, task, context, state, label, size, *more)


def storable(row: Row) -> Row:
    """Return a row in which texts that UTF-8 cannot encode (lone surrogates) are bytes, which `record_of` reads."""
    return tuple(storable_text(value) if isinstance(value, str) else value for value in row)


def storable_text(text: str) -> str | bytes:
    """Return a text as it is stored: bytes if UTF-8 cannot encode it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def record_of(row: Row) -> Record:
    """Return the record of a row; a row with invalid values becomes a note with the reason."""
    if tuple(map(type, row)) == _TYPES:  # nearly all rows
        seq, at, kind, exchange, operation, event, task, context, state, label, size, meta, findings, raw = row
        if not meta and not findings and kind in _KINDS:
            kind = _KINDS[kind]
            return Record(seq, at, kind, exchange, operation, event, task, context, state, label, size, raw)
    try:
        seq, at, kind, exchange, *texts, size, meta, findings, raw = row
        operation, event, task, context, state, label = map(_as_text, texts)
        at, kind, exchange, size = float(at), Kind(kind), int(exchange), int(size)
        raw = raw if isinstance(raw, bytes) else str(raw).encode()
        meta, found = _meta_of(meta) if meta else NOTHING, _findings_of(findings) if findings else ()
        return Record(seq, at, kind, exchange, operation, event, task, context, state, label, size, raw, meta, found)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        label = f"This record of the capture file cannot be read: {type(error).__name__}: {error}"[:200]
        return Record(row[0], 0.0, Kind.NOTE, event="unreadable", label=label)


def _meta_text(meta: Mapping[str, Any]) -> str:
    """Return `meta` as JSON; if that fails, JSON with the error, so that the record can still be written."""
    with contextlib.suppress(ValueError):  # lone surrogates, which UTF-8 does not have
        return str(to_json(meta, fallback=_plain), "utf-8")  # a third of the time of `json.dumps`
    try:
        return json.dumps(meta, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"unwritten": f"{type(error).__name__}: {error}"[:200]})


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _meta_of(text: str) -> Mapping[str, Any]:
    try:
        meta = from_json(text)
    except ValueError:  # lone surrogates, an integer with thousands of digits, or deep nesting
        meta = json.loads(text, parse_int=_integer)
    if not isinstance(meta, dict):
        raise TypeError("its meta is not an object")
    return meta


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts
        return digits


def _findings_text(findings: tuple[Finding, ...]) -> str:
    return json.dumps(
        [(found.rule, found.severity, found.pointer, found.seen) for found in findings], separators=(",", ":")
    )


def _findings_of(text: str) -> tuple[Finding, ...]:
    return tuple(
        Finding(str(rule), Severity(severity), str(pointer), str(seen))
        for rule, severity, pointer, seen in json.loads(text)
    )


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value)
