"""Compare the capabilities that a card declares with what the agent was observed to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.card import AgentCard
from inspector.protocol.operations import Operation
from inspector.wire.client.observations import Ending

_KINDS = frozenset({Kind.REQUEST, Kind.RESPONSE, Kind.BODY, Kind.TRAILERS, Kind.END, Kind.DELIVERY})
_EXTENSIONS = frozenset({"a2a-extensions", "x-a2a-extensions"})
_FAILED = frozenset({"error", "unreadable"})


@dataclass(slots=True)
class CallCounts:
    """The results of an operation: calls that succeeded and failed, its streams and their events, the last error."""

    worked: int = 0
    refused: int = 0
    streams: int = 0
    events: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityResult:
    """A capability: what the card declares, None for nothing, what was observed, and whether the two disagree."""

    name: str
    declared: bool | None
    seen: str
    odd: bool = False


@dataclass(slots=True)
class _Call:
    operation: str
    asked: frozenset[str]
    status: int = 0
    event: str = ""
    said: str = ""


@dataclass(slots=True)
class ObservedBehaviour:
    """Folds the records of a capture: the results of each operation, accepted deliveries, and extensions.

    `extensions` counts the responses that activated an extension by URI, `asked` the requests for it.
    """

    operations: dict[str, CallCounts] = field(default_factory=dict)
    deliveries: int = 0
    extensions: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    _open: dict[int, _Call] = field(default_factory=dict)
    _last: int = 0

    def catch_up(self, capture: Capture) -> bool:
        """Fold the records since the last time, and return whether a call has ended or a delivery has arrived."""
        new = capture.select(kinds=_KINDS, after=self._last)
        for record in new:
            self._take(record, capture)
        self._last = len(capture)
        return any(record.kind in (Kind.END, Kind.DELIVERY) for record in new)

    def tally(self, *operations: Operation) -> CallCounts:
        """Add up the results of some operations."""
        total = CallCounts()
        for counts in (self.operations.get(operation.value, CallCounts()) for operation in operations):
            total.worked += counts.worked
            total.refused += counts.refused
            total.streams += counts.streams
            total.events += counts.events
            total.said = total.said or counts.said
        return total

    def _take(self, record: Record, capture: Capture) -> None:
        if record.kind is Kind.DELIVERY:
            self.deliveries += not record.meta["refused"]
            return
        if record.kind is Kind.REQUEST:
            asked = _named(record)
            self.asked.update(asked)
            self._open[record.seq] = _Call(record.operation, asked)
            return
        call = self._open.get(record.exchange)
        if call is None:
            return
        match record.kind:
            case Kind.RESPONSE:
                call.status = record.meta["status"]
                self.extensions.update(_named(record))
            case Kind.END:
                self._count(call, record, capture)
                del self._open[record.exchange]
            case _:
                call.event, call.said = record.event, record.label

    def _count(self, call: _Call, end: Record, capture: Capture) -> None:
        events = end.meta["events"]
        if events == 1:  # a stream may consist of the error alone
            for frame in capture.select(kinds=(Kind.FRAME,), exchange=end.exchange, limit=1):
                call.event, call.said = frame.event, frame.label
        tally = self.operations.setdefault(call.operation, CallCounts())
        broken = end.meta["how"] != Ending.COMPLETE and not events
        if call.event in _FAILED or call.status >= 400 or not call.status or broken:
            tally.refused += 1
            tally.said = call.said if call.event in _FAILED else str(call.status or end.label)
            return
        tally.worked += 1
        tally.streams += events > 0
        tally.events += events


def _named(record: Record) -> frozenset[str]:
    """Return the extensions in the headers of a record."""
    headers: Iterable[tuple[str, str]] = record.meta.get("headers") or ()
    values = (value for name, value in headers if name.lower() in _EXTENSIONS)
    return frozenset(uri.strip() for value in values for uri in value.split(",") if uri.strip())


def compare_capabilities(card: AgentCard, seen: ObservedBehaviour) -> list[CapabilityResult]:
    """Compare each capability that the card declares with what was observed."""
    can = card.capabilities
    streaming, push = seen.tally(Operation.STREAM, Operation.SUBSCRIBE), seen.tally(Operation.SET_PUSH)
    streams = f"{_times(streaming.streams, 'stream')} with {_times(streaming.events, 'event')}"
    if streaming.worked and not streaming.streams:
        first = CapabilityResult("streaming", can.streaming, "answered, but not with a stream", can.streaming is True)
    else:
        first = _result("streaming", can.streaming, streaming, streams)
    webhooks = f"{_times(push.worked, 'webhook')} registered, nothing came yet"
    if seen.deliveries:
        came = "delivery came" if seen.deliveries == 1 else "deliveries came"
        push, webhooks = CallCounts(worked=1), f"{seen.deliveries:,} {came}"
    extended = seen.tally(Operation.EXTENDED_CARD)
    return [
        first,
        _result("push notifications", can.push_notifications, push, webhooks),
        _result("extended card", can.extended_agent_card, extended, f"answered {_times(extended.worked, 'time')}"),
    ]


def _result(name: str, declared: bool | None, counts: CallCounts, success: str) -> CapabilityResult:
    """Compare a declaration with the results of its operations; `success` describes successful calls."""
    if counts.worked:
        return CapabilityResult(name, declared, success, declared is False)
    if counts.refused:
        return CapabilityResult(name, declared, f"refused: {counts.said}", declared is True)
    return CapabilityResult(name, declared, "")


def calls_in_words(seen: ObservedBehaviour) -> str:
    """Return the results of each operation in words, without the fetch of the card."""
    said = []
    for operation in Operation:
        if tally := seen.operations.get(operation.value):
            counts = [f"{tally.worked:,} answered"] if tally.worked else []
            counts += [f"{tally.refused:,} refused: {tally.said}"] if tally.refused else []
            said.append(f"{operation.value} {', '.join(counts)}")
    return "; ".join(said)


def extension_in_words(uri: str, seen: ObservedBehaviour) -> tuple[str, bool]:
    """Return how an extension was used, and whether the agent deviated from its card."""
    asked, activated = seen.asked[uri], seen.extensions[uri]
    if activated:
        return f"activated in {_times(activated, 'call')}", False
    return (f"asked for in {_times(asked, 'call')}, never activated", True) if asked else ("", False)


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
