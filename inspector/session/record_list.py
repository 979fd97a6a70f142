"""Lists of rows for views: the numbers of the records that they show, without the records themselves."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding

_SEPARATOR = -1
"""The size of a row that is a separator."""


class Row(NamedTuple):
    """One row: the numbers of its first and last record, the number of records, and their size in bytes.

    A separator between two exchanges has no records; its numbers are those of the record after it.
    """

    first: int
    last: int
    records: int
    size: int


class RecordList:
    """The records that a view shows, as rows; if `folded`, runs of records share a row.

    A run has consecutive chunks of an artifact, or consecutive pushes about a task that were rejected for the same
    reason. Several streams can have a run at the same time. A run has the place of its first record, so that rows
    are in the order in which they began, and keep their place. It ends at another record of the same stream, or another
    push about the same task, and at a record with other findings: a push that arrives during a stream does not part its
    chunks. A row needs 16 bytes, or 32 if `folded`. `accepts` returns whether the view shows a record, `begins` whether
    a separator is above it. `separators` counts them.
    """

    def __init__(
        self,
        accepts: Callable[[Record], bool],
        *,
        folded: bool = False,
        begins: Callable[[Record], bool] = lambda _: False,
    ) -> None:
        self._accepts = accepts
        self._begins = begins
        self._parted = False
        self.separators = 0
        self.folded = folded
        self._runs: dict[Hashable, dict[Hashable, tuple[int, tuple[Finding, ...]]]] = {}
        self._firsts, self._lasts, self._counts, self._sizes = array("q"), array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self._firsts)

    def __getitem__(self, index: int) -> Row:
        first, size = self._firsts[index], self._sizes[index]
        if size == _SEPARATOR:
            return Row(first, first, 0, 0)
        return Row(first, self._lasts[index], self._counts[index], size) if self.folded else Row(first, first, 1, size)

    def offer(self, records: Sequence[Record]) -> None:
        """Add the next records, which are alike (see `Subscriber`), if they are accepted."""
        if not records or not self._accepts(records[0]):
            return
        first = records[0]
        if self._begins(first):
            if self._parted:
                self._add([first.seq], [_SEPARATOR])
                self.separators += 1
            self._parted = True
        run, channel = self._run_of(first) if self.folded else None, _channel_of(first)
        if run is None:
            self._runs.pop(channel, None)
            self._add([record.seq for record in records], [record.size for record in records])
        else:
            index, findings = self._runs.get(channel, {}).get(run, (0, None))
            if findings != first.findings:
                if findings is not None:
                    self._runs.pop(channel)
                index = len(self._firsts)
                self._runs.setdefault(channel, {})[run] = index, first.findings
                self._add([first.seq], [0])
                self._counts[index] = 0
            self._lasts[index] = records[-1].seq
            self._counts[index] += len(records)
            self._sizes[index] += sum([record.size for record in records])

    def _run_of(self, record: Record) -> Hashable | None:
        """Return the run of its channel to which a record belongs, None if it has a row of its own."""
        return run_of(record)

    def extend(self, seqs: Sequence[int]) -> None:
        """Add the results of a search, each in its own row without a size."""
        self._add(seqs, [0] * len(seqs))

    def _add(self, seqs: Sequence[int], sizes: Sequence[int]) -> None:
        self._firsts.extend(seqs)
        self._sizes.extend(sizes)
        if self.folded:
            self._lasts.extend(seqs)
            self._counts.extend([1] * len(seqs))

    def fill(self, records: Iterable[tuple[int, int]]) -> None:
        """Replace the rows by those of records, each with its number and size; the list is not folded."""
        self.clear()
        for seq, size in records:
            self._firsts.append(seq)
            self._sizes.append(size)

    def clear(self) -> None:
        """Remove every row."""
        self._runs.clear()
        self._parted, self.separators = False, 0
        for column in (self._firsts, self._lasts, self._counts, self._sizes):
            del column[:]

    def index_of(self, seq: int) -> int | None:
        """Return the index of the last row that begins at or before a record, None if there is none."""
        index = bisect_right(self._firsts, seq) - 1
        return index if index >= 0 else None


def _channel_of(record: Record) -> Hashable:
    """Return where a record came from: the pushes about its task, or its exchange."""
    return ("push", record.task) if record.kind is Kind.DELIVERY else record.exchange


def run_of(record: Record) -> tuple[Kind, str, str] | None:
    """Return what the chunks of an artifact, or rejected pushes about a task, have in common; None for other records.

    The row of a rejected push shows the reason, not the update.
    """
    if record.kind is Kind.DELIVERY and (reason := record.meta.get("refused")):
        return record.kind, record.task, reason
    is_chunk = record.event == "artifact" and record.kind in (Kind.FRAME, Kind.DELIVERY)
    return (record.kind, record.task, record.label) if is_chunk else None
