"""How well a stream flows: first byte, rate, gaps, bytes, how it ended, and whether something on the way held it back.

`Pulse` takes in the moments at which events came and costs the same however many they are; everything else is worked
out from it and from the summary of the exchange when somebody looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from inspector.capture.records import Kind, Record
from inspector.protocol.jsonvalue import parse
from inspector.session.payload_json import payload_json

if TYPE_CHECKING:
    from inspector.session.exchanges import ExchangeSummary
    from inspector.session.session import Session

SLICES = 32
"""Into how many slices of time the life of a stream is divided, at most."""

_NARROWEST = 0.001
"""How long a slice is at first, in seconds."""

_FEW = 3
"""So many events have to come at once before a proxy is suspected of having held them back."""
_SILENCE = 1.0
"""How long nothing may come, in seconds, before what then comes at once is suspicious."""
_BURST = 0.05
"""Of its whole life, the part in which a suspicious stream delivers everything."""
_LOOKED_AT = 50
"""How many events at either end of a stream are asked for the times that the agent gave them."""


@dataclass(slots=True)
class Pulse:
    """When the events of one stream came: the first, the last, the longest gap, and how many in each slice of time.

    A slice is doubled whenever the stream outlives them all. `began` is when the request went out.
    """

    began: float
    first: float = 0.0
    last: float = 0.0
    gap: float = 0.0
    gap_ended: float = 0.0
    width: float = _NARROWEST
    slices: list[int] = field(default_factory=lambda: [0] * SLICES)

    def beat(self, at: float, count: int = 1) -> None:
        """Take in that so many events came at once."""
        if at != self.last:
            if not self.first:
                self.first = at
            elif at - self.last > self.gap:
                self.gap, self.gap_ended = at - self.last, at
            self.last = at
        place = int((at - self.began) / self.width)
        if place >= SLICES:
            self._widen(at)
            place = int((at - self.began) / self.width)
        self.slices[place] += count

    def _widen(self, at: float) -> None:
        self.slices, self.width = self._wide_enough(at)

    def _wide_enough(self, at: float) -> tuple[list[int], float]:
        slices, width = self.slices, self.width
        while (at - self.began) / width >= SLICES:
            pairs = zip(slices[::2], slices[1::2], strict=True)
            slices, width = [one + other for one, other in pairs] + [0] * (SLICES // 2), width * 2
        return slices, width

    def until(self, at: float) -> list[int]:
        """Return the slices up to a moment, the empty ones behind the last event too."""
        if not self.first:
            return []
        slices, width = self._wide_enough(at)
        return slices[: int((at - self.began) / width) + 1]


class End(StrEnum):
    """How a stream stands: under way, or how it ended; only `DONE` is an end as it should be."""

    OPEN = "open"
    DONE = "ended"
    BROKEN = "broken off"
    STOPPED = "stopped by us"
    LIMIT = "cut off at a limit of ours"
    UNKNOWN = "the recording ends"


_ENDS = {"complete": End.DONE, "broken": End.BROKEN, "stopped": End.STOPPED, "limit": End.LIMIT}


@dataclass(frozen=True, slots=True)
class Health:
    """A stream at one moment; times in seconds, `rate` in events a second while there were any.

    `first_byte` is the time from the request to the response's head, `first_event` to the first event, None before
    they came; `idle` is how long nothing has come, 0 once it is over; `buffered` says in a sentence why it looks as
    if something held the events back, `""` where it does not.
    """

    number: int
    end: End
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
        """Say whether the stream ended in another way than it should, and not because we stopped it."""
        return self.end in (End.BROKEN, End.LIMIT)

    @property
    def words(self) -> str:
        """Say how it stands, so that a stream that was lost never reads as one that is done."""
        events = f"{self.events:,} event{'' if self.events == 1 else 's'}"
        return events if self.end in (End.OPEN, End.DONE) else f"{self.end} after {events}"


def health(
    summary: ExchangeSummary, now: float, told_span: float | None = None, *, recorded: bool = False
) -> Health | None:
    """Return how a stream stands at a moment, None for an exchange that is none; one that is `recorded` stands still.

    `told_span` is the time between its first and its last event by the agent's own account, None where it gives none.
    """
    pulse = summary.pulse
    if pulse is None:
        return None
    over = summary.seconds is not None or recorded
    going = summary.last_at if recorded else max(now, summary.last_at)
    end_at = pulse.began + summary.seconds if summary.seconds is not None else going
    end = _ENDS.get(summary.how, End.BROKEN)
    if summary.seconds is None:
        end = End.UNKNOWN if recorded else End.OPEN
    total = max(0.0, end_at - pulse.began)
    flowing = pulse.last - pulse.first
    rate = (sum(pulse.slices) - 1) / flowing if flowing > 0 else 0.0
    beats = pulse.until(end_at)
    return Health(
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
        _held_back(summary, pulse, total, told_span) if over else "",
    )


def looks_held_back(summary: ExchangeSummary) -> bool:
    """Say whether all events came at once at the end of a long silence, which alone proves nothing."""
    pulse = summary.pulse
    if pulse is None or summary.seconds is None or summary.events < _FEW:
        return False
    silence, burst = pulse.first - pulse.began, pulse.last - pulse.first
    return silence >= _SILENCE and burst <= _BURST * summary.seconds


def _held_back(summary: ExchangeSummary, pulse: Pulse, total: float, told_span: float | None) -> str:
    if not looks_held_back(summary):
        return ""
    burst = pulse.last - pulse.first
    came = (
        f"nothing for {pulse.first - pulse.began:.1f} s, then {summary.events:,} events within {burst * 1000:,.0f} ms"
    )
    if told_span is None:
        return f"perhaps buffered on the way: {came}"
    if told_span > max(4 * burst, total / 4):
        return f"buffered on the way: {came}, which the agent dates {told_span:.1f} s apart"
    return ""


def told_span(session: Session, summary: ExchangeSummary) -> float | None:
    """Return the time between the first and the last event of a stream that the agent dates, None for fewer than two.

    Looks at the first and the last few events alone.
    """
    capture = session.journal.capture
    first = capture.select(kinds=(Kind.FRAME,), exchange=summary.number, limit=_LOOKED_AT)
    around = capture.slice(max(summary.number, summary.last_seq - _LOOKED_AT), summary.last_seq)
    last = [one for one in around if one.exchange == summary.number and one.kind is Kind.FRAME]
    request = capture.get(summary.number)
    dated = [at for record in (*first, *last) if (at := _dated(record, request)) is not None]
    return max(dated) - min(dated) if len(dated) > 1 else None


def _dated(record: Record, request: Record) -> float | None:
    """Return the time that an event's status has, wherever its generation puts it."""
    value = parse(payload_json(record, request))
    found = _timestamp(value, 4)
    if not isinstance(found, str):
        return None
    try:
        return datetime.fromisoformat(found).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _timestamp(value: object, depth: int) -> object:
    if not isinstance(value, dict) or not depth:
        return None
    status = value.get("status")
    if isinstance(status, dict) and "timestamp" in status:
        return status["timestamp"]
    return next((found for one in value.values() if (found := _timestamp(one, depth - 1)) is not None), None)
