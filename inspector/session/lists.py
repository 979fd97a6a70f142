"""Lists of records for those who show them: which records belong, in which row, without keeping the records."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

from inspector.capture.records import Kind, Record


class Row(NamedTuple):
    """One row: the sequence numbers of its first and last record, how many they are and their bytes together."""

    first: int
    last: int
    records: int
    size: int


class RecordList:
    """The records that a view shows, as rows; a run of chunks of one artifact is one row when `folded`.

    Keeps 32 bytes a row whatever the records hold, so that a hundred thousand events stay cheap.
    """

    def __init__(self, accepts: Callable[[Record], bool], *, folded: bool = False) -> None:
        self._accepts = accepts
        self.folded = folded
        self._run: tuple[int, str, str] | None = None
        self._firsts, self._lasts, self._counts, self._sizes = array("q"), array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._firsts)

    def __getitem__(self, index: int) -> Row:
        return Row(self._firsts[index], self._lasts[index], self._counts[index], self._sizes[index])

    def offer(self, record: Record) -> None:
        """Take in a record if it belongs here."""
        if not self._accepts(record):
            return
        run = _run_of(record) if self.folded else None
        if run is not None and run == self._run:
            self._lasts[-1] = record.seq
            self._counts[-1] += 1
            self._sizes[-1] += record.size
            return
        self._run = run
        self._firsts.append(record.seq)
        self._lasts.append(record.seq)
        self._counts.append(1)
        self._sizes.append(record.size)

    def rebuild(self, records: Iterable[Record], *, folded: bool) -> None:
        """Start again from all records, folded or not."""
        self.folded = folded
        self._run = None
        for column in (self._firsts, self._lasts, self._counts, self._sizes):
            del column[:]
        for record in records:
            self.offer(record)

    def index_of(self, seq: int) -> int | None:
        """Return the row that shows a record, or None where none does."""
        low, high = 0, len(self._firsts)
        while low < high:
            middle = (low + high) // 2
            if self._lasts[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self._firsts) and self._firsts[low] <= seq else None


def _run_of(record: Record) -> tuple[int, str, str] | None:
    """Return what consecutive chunks of one artifact have in common; None for any other record.

    A chunk with a finding stands alone, so that folding hides nothing odd.
    """
    if record.kind is Kind.FRAME and record.event == "artifact" and not record.findings:
        return record.exchange, record.task, record.label
    return None
