"""The position of a record in its exchange: its number among the events, and the time since the previous record."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.session.journal import Journal

EVENTS = (Kind.FRAME, Kind.BODY)
"""The kinds of records that are events of an exchange."""

_NEAR = 2_000
"""The largest distance from either end of a stream at which events are counted."""

_BACK = 200
"""How many records are searched for the previous one."""


def position_of(record: Record, journal: Journal) -> str:
    """Return the position of a record in words, `""` outside of an exchange; events deep in a stream have no number."""
    summary = journal.exchanges.get(record.exchange)
    if summary is None:
        return ""
    before = _before(record, journal)
    gap = f", {record.at - before.at:.3f} s after the one before" if before is not None else ""
    events = summary.events if summary.seconds is not None and record.kind in EVENTS else 0
    number = _number(record, journal, events) if record.kind in EVENTS else 0
    event = f"event {number:,}" if number else "an event"
    of = f" of {events:,}" if events else " so far"
    place = f"{event}{of} of " if number or events else ""
    return f"{place}{record.operation} #{record.exchange}{gap}"


def _before(record: Record, journal: Journal) -> Record | None:
    """Return the previous record of the exchange, if it is near."""
    first = max(record.exchange, record.seq - _BACK)
    near = journal.capture.slice(first, record.seq - 1)
    return next((it for it in reversed(near) if it.exchange == record.exchange), None)


def _number(record: Record, journal: Journal, events: int) -> int:
    """Count from the nearer end; return 0 where both are too far."""
    capture = journal.capture
    if record.seq - record.exchange <= _NEAR:
        near = capture.slice(record.exchange, record.seq)
        return sum(it.exchange == record.exchange and it.kind in EVENTS for it in near)
    if events:
        behind = capture.select(kinds=EVENTS, exchange=record.exchange, after=record.seq, limit=_NEAR)
        return events - len(behind) if len(behind) < _NEAR else 0
    return 0
