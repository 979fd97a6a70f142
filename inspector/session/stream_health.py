"""Measurements of a stream: first byte, rate, gaps, size, end, and whether a proxy buffered it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import parse
from inspector.session.exchanges import ArrivalHistogram, ExchangeSummary
from inspector.session.payload import payload_json
from inspector.text.units import counted, duration
from inspector.wire.client.observations import Ending

_FEW = 3
"""The smallest number of events in a burst that suggests buffering."""
_SILENCE = 1.0
"""The shortest silence before a burst that suggests buffering, in seconds."""
_BURST = 0.05
"""The longest burst that suggests buffering, as a fraction of the duration of the stream."""
_MOST_SEARCHED = 50
"""The number of events at either end of a stream that are searched for timestamps."""


class StreamStatus(StrEnum):
    """Whether a stream is open, or how it ended; only `DONE` is a regular end."""

    OPEN = "open"
    DONE = "ended"
    BROKEN = "disconnected"
    STOPPED = "stopped by us"
    LIMIT = "stopped at a limit"
    UNKNOWN = "the capture ends"


_ENDS: dict[str, StreamStatus] = {
    Ending.COMPLETE: StreamStatus.DONE,
    Ending.BROKEN: StreamStatus.BROKEN,
    Ending.STOPPED: StreamStatus.STOPPED,
    Ending.LIMIT: StreamStatus.LIMIT,
}


@dataclass(frozen=True, slots=True)
class StreamHealth:
    """The measurements of a stream; times are in seconds, `size` in bytes, `rate` in events per second.

    `first_byte` and `first_event` are the times from the request to the response head and to the first event, None if
    there is none. `gap` is the longest time without an event, which ended `gap_ended` seconds after the request. `idle`
    is the time since the last event, `silence` that since the last event or keep-alive; both are 0 after the end.
    `arrivals` counts the events in slices of `slice_seconds` seconds each. `buffered` is the reason to suspect
    buffering, `""` for none; `proven` is whether the timestamps of the events prove it.
    """

    number: int
    end: StreamStatus
    events: int
    keepalives: int
    size: int
    first_byte: float | None
    first_event: float | None
    total: float
    idle: float
    silence: float
    rate: float
    gap: float
    gap_ended: float
    arrivals: Sequence[int]
    slice_seconds: float
    buffered: str = ""
    proven: bool = False

    @property
    def lost(self) -> bool:
        """Return whether the connection failed or a limit was reached."""
        return self.end in (StreamStatus.BROKEN, StreamStatus.LIMIT)

    @property
    def words(self) -> str:
        """Return the number of events; after an irregular end, also how it ended: `disconnected after 3 events`."""
        events = counted(self.events, "event")
        return events if self.end in (StreamStatus.OPEN, StreamStatus.DONE) else f"{self.end} after {events}"


def health(
    summary: ExchangeSummary, now: float, span: float | None = None, *, recorded: bool = False
) -> StreamHealth | None:
    """Return the measurements of a stream, None for an exchange without a stream.

    `now` is in seconds since 1970, `span` the result of `dated_span`; `recorded` is whether this is an opened capture.
    """
    pulse = summary.pulse
    if pulse is None:
        return None
    ended = summary.seconds is not None or recorded
    if summary.seconds is not None:
        end, end_at = _ENDS.get(summary.how, StreamStatus.BROKEN), pulse.began + summary.seconds
    elif recorded:
        end, end_at = StreamStatus.UNKNOWN, summary.last_at
    else:
        end, end_at = StreamStatus.OPEN, max(now, summary.last_at)
    total = max(0.0, end_at - pulse.began)
    streaming = pulse.last - pulse.first
    rate = (sum(pulse.slices) - 1) / streaming if streaming > 0 else 0.0
    arrivals = pulse.until(end_at)
    buffered, proven = _buffered(summary, pulse, total, span) if ended else ("", False)
    return StreamHealth(
        summary.number,
        end,
        summary.events,
        summary.keepalives,
        summary.received,
        summary.headed - pulse.began if summary.headed else None,
        pulse.first - pulse.began if pulse.first else None,
        total,
        0.0 if ended else max(0.0, now - max(pulse.last, summary.headed or pulse.began)),
        0.0 if ended else max(0.0, now - max(summary.last_at, pulse.began)),
        rate,
        pulse.gap,
        pulse.gap_ended - pulse.began if pulse.gap else 0.0,
        arrivals,
        total / len(arrivals) if arrivals else 0.0,
        buffered,
        proven,
    )


def looks_buffered(summary: ExchangeSummary) -> bool:
    """Return whether all events arrived in a burst after a long silence; only their timestamps can prove buffering."""
    pulse, seconds = summary.pulse, summary.seconds
    if pulse is None or seconds is None or summary.events < _FEW:
        return False
    return pulse.first - pulse.began >= _SILENCE and pulse.last - pulse.first <= _BURST * seconds


def _buffered(summary: ExchangeSummary, pulse: ArrivalHistogram, total: float, span: float | None) -> tuple[str, bool]:
    """Return the reason to suspect buffering, `""` for none, and whether the timestamps of the events prove it."""
    if not looks_buffered(summary):
        return "", False
    burst = pulse.last - pulse.first
    silence = f"nothing for {duration(pulse.first - pulse.began)}"
    arrived = f"{silence}, then {summary.events:,} events within {duration(burst)}"
    if span is None:
        return f"perhaps buffered: {arrived}", False
    if span > max(4 * burst, total / 4):
        return f"buffered: {arrived}, with timestamps {duration(span)} apart", True
    return "", False


def dated_span(capture: Capture, summary: ExchangeSummary) -> float | None:
    """Return the seconds between the earliest and the latest timestamp of the events, None for fewer than two.

    Events in the middle of a long stream are not searched.
    """
    first = capture.select(kinds=(Kind.FRAME,), exchange=summary.number, limit=_MOST_SEARCHED)
    around = capture.slice(max(summary.number, summary.last_seq - _MOST_SEARCHED), summary.last_seq)
    last = [record for record in around if record.exchange == summary.number and record.kind is Kind.FRAME]
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
    nested = (_timestamp(member, depth - 1) for member in value.values())
    return next((found for found in nested if found is not None), None)
