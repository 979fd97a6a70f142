"""Where a record stands in its exchange: which of how many events it is, and how long after the one before it came."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.capture.records import Kind, Record
from inspector.session.journal import Journal

EVENTS = (Kind.FRAME, Kind.BODY)
"""What counts as an event of an exchange."""

_NEAR = 2_000
"""How far an event may be from either end of a stream for its number to be counted."""

_BACK = 200
"""How many records are looked through for the one before."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """A record within its exchange.

    `number` counts events from 1, 0 for what is none and deep within a stream; `events` is 0 while they still come;
    `gap` are seconds since the record before it in the exchange, None for the first.
    """

    operation: str
    exchange: int
    number: int
    events: int
    gap: float | None

    @property
    def words(self) -> str:
        """Say it in a line."""
        event = f"event {self.number:,}" if self.number else "an event"
        of = f" of {self.events:,}" if self.events else " so far"
        place = f"{event}{of} of " if self.number or self.events else ""
        gap = "" if self.gap is None else f", {self.gap:.3f} s after the one before"
        return f"{place}{self.operation} #{self.exchange}{gap}"


def whereabouts(record: Record, journal: Journal) -> Whereabouts | None:
    """Return where a record stands, None for one that is in no exchange.

    The cost does not grow with the exchange.
    """
    summary = journal.exchanges.get(record.exchange)
    if summary is None:
        return None
    before = _before(record, journal)
    gap = record.at - before.at if before is not None else None
    if record.kind not in EVENTS:
        return Whereabouts(record.operation, record.exchange, 0, 0, gap)
    events = summary.events if summary.seconds is not None else 0
    return Whereabouts(record.operation, record.exchange, _number(record, journal, events), events, gap)


def _before(record: Record, journal: Journal) -> Record | None:
    """Return the record before this one in its exchange, as far as it is not too far off."""
    first = max(record.exchange, record.seq - _BACK)
    near = journal.capture.slice(first, record.seq - 1)
    return next((one for one in reversed(near) if one.exchange == record.exchange), None)


def _number(record: Record, journal: Journal, events: int) -> int:
    """Count from the nearer end; 0 for what is too far from both."""
    capture = journal.capture
    if record.seq - record.exchange <= _NEAR:
        near = capture.slice(record.exchange, record.seq)
        return sum(one.exchange == record.exchange and one.kind in EVENTS for one in near)
    if events:
        behind = capture.select(kinds=EVENTS, exchange=record.exchange, after=record.seq, limit=_NEAR)
        return events - len(behind) if len(behind) < _NEAR else 0
    return 0
