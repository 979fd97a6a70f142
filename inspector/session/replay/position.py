"""The position of a record in its exchange: its number among the events, and the time since the previous record."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.capture.records import Kind, Record
from inspector.session.journal import Journal

EVENTS = (Kind.FRAME, Kind.BODY)
"""What counts as an event of an exchange."""

_NEAR = 2_000
"""The largest distance from either end of a stream at which an event is counted."""

_BACK = 200
"""How many records are searched for the previous one."""


@dataclass(frozen=True, slots=True)
class RecordPosition:
    """The position of a record in its exchange.

    `number` counts events from 1; it is 0 for other records and deep within a stream. `events` is 0 while the stream
    runs; `gap` is the time since the previous record of the exchange in seconds, None for the first.
    """

    operation: str
    exchange: int
    number: int
    events: int
    gap: float | None

    @property
    def words(self) -> str:
        """Return the position in one line."""
        event = f"event {self.number:,}" if self.number else "an event"
        of = f" of {self.events:,}" if self.events else " so far"
        place = f"{event}{of} of " if self.number or self.events else ""
        gap = "" if self.gap is None else f", {self.gap:.3f} s after the one before"
        return f"{place}{self.operation} #{self.exchange}{gap}"


def position_of(record: Record, journal: Journal) -> RecordPosition | None:
    """Return the position of a record, None outside of an exchange; the cost does not grow with the exchange."""
    summary = journal.exchanges.get(record.exchange)
    if summary is None:
        return None
    before = _before(record, journal)
    gap = record.at - before.at if before is not None else None
    if record.kind not in EVENTS:
        return RecordPosition(record.operation, record.exchange, 0, 0, gap)
    events = summary.events if summary.seconds is not None else 0
    return RecordPosition(record.operation, record.exchange, _number(record, journal, events), events, gap)


def _before(record: Record, journal: Journal) -> Record | None:
    """Return the previous record of the exchange, if it is near."""
    first = max(record.exchange, record.seq - _BACK)
    near = journal.capture.slice(first, record.seq - 1)
    return next((one for one in reversed(near) if one.exchange == record.exchange), None)


def _number(record: Record, journal: Journal, events: int) -> int:
    """Count from the nearer end; return 0 where both are too far."""
    capture = journal.capture
    if record.seq - record.exchange <= _NEAR:
        near = capture.slice(record.exchange, record.seq)
        return sum(one.exchange == record.exchange and one.kind in EVENTS for one in near)
    if events:
        behind = capture.select(kinds=EVENTS, exchange=record.exchange, after=record.seq, limit=_NEAR)
        return events - len(behind) if len(behind) < _NEAR else 0
    return 0
