"""Describe the position of a record in its exchange: the number of the event, and the time since the record before."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.session.journal import Journal
from inspector.text.units import duration

EVENT_KINDS = (Kind.FRAME, Kind.BODY)
"""The kinds of records that are events of an exchange."""

_NEAR = 2_000
"""The largest distance from either end of a stream at which events are counted."""


_BACK = 200
"""How many records are searched for the previous record of the exchange."""


def position_of(record: Record, journal: Journal) -> str:
    """Return the position of a record in its exchange, and the time since the record before it.

    For example: `event 2/23, gap 41 ms`. It is empty outside of an exchange, and for the only event of one. Events
    that are far from both ends of a long stream have no number.
    """
    summary = journal.exchanges.get(record.exchange)
    if summary is None:
        return ""
    before = _before(record, journal)
    gap = f"gap {duration(record.at - before.at)}" if before is not None else ""
    if record.kind not in EVENT_KINDS:
        return gap
    events = summary.events if summary.seconds is not None else 0
    if events == 1:
        return ""
    number = _number(record, journal, events)
    event = f"event {number:,}" if number else "an event"
    position = f"{event}{'/' if number else ' of '}{events:,}" if events else f"{event} so far"
    return f"{position}, {gap}" if gap else position


def _before(record: Record, journal: Journal) -> Record | None:
    """Return the previous record of the exchange, if it is near."""
    first = max(record.exchange, record.seq - _BACK)
    near = journal.capture.slice(first, record.seq - 1)
    return next((other for other in reversed(near) if other.exchange == record.exchange), None)


def _number(record: Record, journal: Journal, events: int) -> int:
    """Return the number of an event, counted from the nearer end; 0 if both ends are too far."""
    capture = journal.capture
    if record.seq - record.exchange <= _NEAR:
        near = capture.slice(record.exchange, record.seq)
        return sum(other.exchange == record.exchange and other.kind in EVENT_KINDS for other in near)
    if events:
        later = capture.select(kinds=EVENT_KINDS, exchange=record.exchange, after=record.seq, limit=_NEAR)
        return events - len(later) if len(later) < _NEAR else 0
    return 0
