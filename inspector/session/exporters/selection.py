"""The records of a capture that are exported: all, or the exchanges with a record that matches a filter."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator

from inspector.capture.query import Query
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.session.payload import payload_json

_PAGE = 1000


class Selection:
    """The chosen records of a capture, in order.

    If a record matches the filter, its whole exchange is chosen, and a record outside of an exchange alone.
    `requests` has the numbers of the requests of the chosen exchanges, `others` those of the chosen records that do
    not belong to an exchange: deliveries, notes, and records whose request cannot be read.
    """

    def __init__(self, capture: Capture, query: Query | None = None) -> None:
        self.capture = capture
        self.query = query
        self.requests = array("q")
        self.others = array("q")
        self._numbers: dict[int, int] = {}
        self._later: dict[int, float] = {}
        self._is_whole = query is None
        exchanges, singles = _matches(capture, query)
        last, began = 0.0, set[int]()
        for record in _pages(capture):
            if record.kind is Kind.REQUEST and record.exchange == record.seq:
                began.add(record.seq)
            own = record.exchange if record.exchange in began else 0
            if exchanges is not None and record.seq not in singles and record.exchange not in exchanges:
                continue
            if own == record.seq:
                self.requests.append(record.seq)
            elif not own:
                self.others.append(record.seq)
            if exchanges is not None:
                self._numbers[record.seq] = len(self._numbers) + 1
            if record.at < last:
                self._later[record.seq] = last
            last = max(last, record.at)

    def __bool__(self) -> bool:
        return bool(self.requests or self.others)

    def number(self, seq: object) -> int:
        """Return the number of a record among the chosen records, from 1 without gaps; 0 if it was not chosen."""
        if not isinstance(seq, int) or not 0 < seq <= len(self.capture):
            return 0
        return seq if self._is_whole else self._numbers.get(seq, 0)

    def at(self, record: Record) -> float:
        """Return the time of a record, or that of the record before it if the capture is damaged and this is later."""
        return self._later.get(record.seq, record.at)

    def exchange(self, number: int) -> list[Record]:
        """Return the records of an exchange, the request first."""
        return self.capture.select(exchange=number, after=number - 1)

    def in_order(self) -> Iterator[Record]:
        """Yield the chosen records in order."""
        return (record for record in _pages(self.capture) if self.number(record.seq))

    def records(self) -> Iterator[tuple[Record, bytes]]:
        """Yield the chosen records in order, each with its payload as JSON text where it can be read."""
        for record in self.in_order():
            yield record, payload_json(record, self.capture.request_of(record))


def _matches(capture: Capture, query: Query | None) -> tuple[Collection[int] | None, Collection[int]]:
    """Return the numbers of the exchanges that match a filter, None for all, and of the matching other records."""
    if query is None:
        return None, ()
    exchanges, singles = set[int](), set[int]()
    for page in capture.search(query):
        for seq in page.hits:
            exchange = capture.get(seq).exchange
            (exchanges if exchange else singles).add(exchange or seq)
    return exchanges, singles


def _pages(capture: Capture) -> Iterator[Record]:
    for first in range(1, len(capture) + 1, _PAGE):
        yield from capture.slice(first, first + _PAGE - 1)
