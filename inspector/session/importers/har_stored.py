"""Restore the records that `export --format har` wrote."""

from __future__ import annotations

from itertools import pairwise

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.errors import usage_error
from inspector.protocol.model import Json
from inspector.session.exporters.har_records import InvalidRecordError, StoredRecord, renumbered
from inspector.session.importers.har_file import RECORDS, Har, invalid, read_entry
from inspector.session.replay.validation import problem_of


def stored_records(har: Har) -> list[StoredRecord]:
    """Return the exported records of a file in their order; raises `FaultError` if one of them is not valid."""
    found: list[StoredRecord] = []
    for number, entry in enumerate(har.entries, 1):
        if isinstance(entry, dict) and RECORDS in entry:
            found += _of_entry(entry_name(number), entry)
    for number, value in enumerate(har.loose, 1):
        found.append(_read(f"log.{RECORDS}, record {number}", value))
    found.sort(key=lambda record: record.seq)
    for before, record in pairwise(found):
        if before.seq == record.seq:
            raise usage_error(f"The number {record.seq} belongs to two records of the file.", "Export it again.")
    return found


def entry_name(number: int) -> str:
    """Return the name of an entry in messages."""
    return f"Entry {number}"


def _of_entry(name: str, entry: dict[str, Json]) -> list[StoredRecord]:
    """Return the records of an entry with their bytes, which are slices of its bodies."""
    values = entry[RECORDS]
    if not isinstance(values, list) or not values:
        raise invalid(name, f"its {RECORDS} is not an array of records")
    records = [_read(name, value) for value in values]
    first, *others = records
    if first.common.kind not in (Kind.REQUEST, Kind.DELIVERY) or (others and first.common.kind is Kind.DELIVERY):
        raise invalid(name, "its first record is not a request, or a single delivery")
    read = read_entry(name, entry)  # also checks the members that the records do not need
    body, content = read.body, read.content or b""
    if first.length != len(body) or sum(record.length for record in others) != len(content):
        raise invalid(name, f"its {RECORDS} do not fit its bodies; a body was changed")
    first.raw = body
    position = 0
    for record in others:
        record.raw = content[position : position + record.length]
        position += record.length
    for record in records if first.common.kind is Kind.REQUEST else ():
        record.exchange = first.seq
    return records


def _read(name: str, value: Json) -> StoredRecord:
    try:
        return StoredRecord(value)
    except InvalidRecordError as error:
        raise invalid(name, str(error)) from None


class StoredWriter:
    """Appends exported records to a capture with new numbers, in their order."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._numbers: dict[int, int] = {}

    def append(self, stored: StoredRecord) -> None:
        """Append a record; raises `FaultError` if it lacks a member that its readers need."""
        number = self._numbers[stored.seq] = len(self._capture) + 1
        common = stored.common._replace(exchange=self._number(stored.exchange))
        meta = renumbered(common.kind, stored.meta, self._number)
        problem = problem_of(Record(number, stored.at, *common, stored.size, stored.raw, meta, stored.findings))
        if problem:
            raise invalid(f"Record {stored.seq} of the file", problem)
        self._capture.add(common, stored.at, [(stored.size, stored.raw)], meta, stored.findings)

    def _number(self, seq: object) -> int:
        return self._numbers.get(seq, 0) if isinstance(seq, int) else 0
