"""Measures of a stream: first byte, rate, gaps, size, its end, and whether it was buffered on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.jsonvalue import parse
from inspector.session.exchanges import ArrivalHistogram, ExchangeSummary
from inspector.session.payload import payload_json

_FEW = 3
"""The smallest number of events in a burst that suggests buffering."""
_SILENCE = 1.0
"""The shortest silence before a burst that suggests buffering, in seconds."""
_BURST = 0.05
"""The largest part of the duration of a stream that such a burst lasts."""
_LOOKED_AT = 50
"""The number of events at either end of a stream that are searched for timestamps."""


class StreamEnd(StrEnum):
    """The end of a stream; only `DONE` is a regular end."""

    OPEN = "open"
    DONE = "ended"
    BROKEN = "broken off"
    STOPPED = "stopped by us"
    LIMIT = "cut off at a limit of ours"
    UNKNOWN = "the recording ends"


_ENDS = {"complete": StreamEnd.DONE, "broken": StreamEnd.BROKEN, "stopped": StreamEnd.STOPPED, "limit": StreamEnd.LIMIT}


@dataclass(frozen=True, slots=True)
class StreamHealth:
    """The measures of a stream; times in seconds, `rate` in events per second.

    `first_byte` and `first_event` are the times from the request to the response head and to the first event; `idle`
    is the time since the last event, 0 after the end; `buffered` is the reason to suspect buffering.
    """

    number: int
    end: StreamEnd
    events: int
    keepalives: int
    size: int
    first_byte: float | None
    first_event: float | None
    total: float
    idle: float
    rate: float
    gap: float
    gap_ended: float
    beats: Sequence[int]
    beat_width: float
    buffered: str = ""

    @property
    def lost(self) -> bool:
        """Return whether the stream broke off or reached a limit."""
        return self.end in (StreamEnd.BROKEN, StreamEnd.LIMIT)

    @property
    def words(self) -> str:
        """Return the state and the number of events."""
        events = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return events if self.end in (StreamEnd.OPEN, StreamEnd.DONE) else f"{self.end} after {events}"


def health(
    summary: ExchangeSummary, now: float, span: float | None = None, *, recorded: bool = False
) -> StreamHealth | None:
    """Return the measures of a stream, None for an exchange without a stream; `span` is that of `dated_span`."""
    pulse = summary.pulse
    if pulse is None:
        return None
    over = summary.seconds is not None or recorded
    if summary.seconds is not None:
        end, end_at = _ENDS.get(summary.how, StreamEnd.BROKEN), pulse.began + summary.seconds
    elif recorded:
        end, end_at = StreamEnd.UNKNOWN, summary.last_at
    else:
        end, end_at = StreamEnd.OPEN, max(now, summary.last_at)
    total = max(0.0, end_at - pulse.began)
    flowing = pulse.last - pulse.first
    rate = (sum(pulse.slices) - 1) / flowing if flowing > 0 else 0.0
    beats = pulse.until(end_at)
    return StreamHealth(
        summary.number,
        end,
        summary.events,
        summary.keepalives,
        summary.received,
        summary.headed - pulse.began if summary.headed else None,
        pulse.first - pulse.began if pulse.first else None,
        total,
        0.0 if over else max(0.0, now - max(pulse.last, summary.headed or pulse.began)),
        rate,
        pulse.gap,
        pulse.gap_ended - pulse.began if pulse.gap else 0.0,
        beats,
        total / len(beats) if beats else 0.0,
        _held_back(summary, pulse, total, span) if over else "",
    )


def looks_buffered(summary: ExchangeSummary) -> bool:
    """Return whether all events arrived in a burst after a long silence, which alone proves nothing."""
    pulse, seconds = summary.pulse, summary.seconds
    if pulse is None or seconds is None or summary.events < _FEW:
        return False
    return pulse.first - pulse.began >= _SILENCE and pulse.last - pulse.first <= _BURST * seconds


def _held_back(summary: ExchangeSummary, pulse: ArrivalHistogram, total: float, span: float | None) -> str:
    if not looks_buffered(summary):
        return ""
    burst = pulse.last - pulse.first
    silence = f"nothing for {pulse.first - pulse.began:.1f} s"
    came = f"{silence}, then {summary.events:,} events within {burst * 1000:,.0f} ms"
    if span is None:
        return f"perhaps buffered on the way: {came}"
    if span > max(4 * burst, total / 4):
        return f"buffered on the way: {came}, which the agent dates {span:.1f} s apart"
    return ""


def dated_span(capture: Capture, summary: ExchangeSummary) -> float | None:
    """Return the time between the timestamps of the first and the last event, None for fewer than two."""
    first = capture.select(kinds=(Kind.FRAME,), exchange=summary.number, limit=_LOOKED_AT)
    around = capture.slice(max(summary.number, summary.last_seq - _LOOKED_AT), summary.last_seq)
    last = [one for one in around if one.exchange == summary.number and one.kind is Kind.FRAME]
    request = capture.get(summary.number)
    dated = [at for record in (*first, *last) if (at := _dated(record, request)) is not None]
    return max(dated) - min(dated) if len(dated) > 1 else None


def _dated(record: Record, request: Record) -> float | None:
    """Return the timestamp in the status of an event of any protocol version."""
    found = _timestamp(parse(payload_json(record, request)), 4)
    try:
        return datetime.fromisoformat(found).timestamp() if isinstance(found, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _timestamp(value: object, depth: int) -> object:
    if not isinstance(value, dict) or not depth:
        return None
    status = value.get("status")
    if isinstance(status, dict) and "timestamp" in status:
        return status["timestamp"]
    return next((found for one in value.values() if (found := _timestamp(one, depth - 1)) is not None), None)
