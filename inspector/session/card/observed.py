"""What an agent was seen to do, beside what its card says that it can do."""

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
    """How one operation fared: calls that were answered and that were not, events of its streams, the last refusal."""

    worked: int = 0
    refused: int = 0
    streams: int = 0
    events: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityResult:
    """A capability: what the card declares (None: nothing), what was seen in words, and whether the two disagree."""

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
    """Folds the records of a capture: how each operation fared, deliveries that were taken, extensions in use.

    `extensions` counts by URI the responses that say that an extension was activated, `asked` the requests for it.
    """

    operations: dict[str, CallCounts] = field(default_factory=dict)
    deliveries: int = 0
    extensions: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    _open: dict[int, _Call] = field(default_factory=dict)
    _last: int = 0

    def catch_up(self, capture: Capture) -> bool:
        """Fold what was recorded since the last time, and say whether a call has ended or a delivery has come.

        The events of streams are counted by their ends alone.
        """
        new = capture.select(kinds=_KINDS, after=self._last)
        for record in new:
            self._take(record, capture)
        self._last = len(capture)
        return any(record.kind in (Kind.END, Kind.DELIVERY) for record in new)

    def tally(self, *operations: Operation) -> CallCounts:
        """Add up how some operations fared."""
        found = [self.operations[one.value] for one in operations if one.value in self.operations]
        return CallCounts(
            sum(one.worked for one in found),
            sum(one.refused for one in found),
            sum(one.streams for one in found),
            sum(one.events for one in found),
            next((one.said for one in found if one.said), ""),
        )

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
    """Return the extensions that a head names."""
    headers: Iterable[tuple[str, str]] = record.meta.get("headers") or ()
    values = (value for name, value in headers if name.lower() in _EXTENSIONS)
    return frozenset(uri.strip() for value in values for uri in value.split(",") if uri.strip())


def compare_capabilities(card: AgentCard, seen: ObservedBehaviour) -> list[CapabilityResult]:
    """Put what the card declares beside what was seen, capability by capability."""
    can = card.capabilities
    return [
        _streaming(can.streaming, seen),
        _push(can.push_notifications, seen),
        _plain("extended card", can.extended_agent_card, seen.tally(Operation.EXTENDED_CARD)),
    ]


def calls_in_words(seen: ObservedBehaviour) -> str:
    """Say which operations were called and how they fared, the card's own fetch left out."""
    said = []
    for operation in Operation:
        tally = seen.operations.get(operation.value)
        if tally is None:
            continue
        counts = [f"{tally.worked:,} answered"] if tally.worked else []
        counts += [f"{tally.refused:,} refused: {tally.said}"] if tally.refused else []
        said.append(f"{operation.value} {', '.join(counts)}")
    return "; ".join(said)


def extension_in_words(uri: str, seen: ObservedBehaviour) -> tuple[str, bool]:
    """Say how an extension was used, and whether the agent did otherwise than it declares."""
    asked, activated = seen.asked[uri], seen.extensions[uri]
    if activated:
        return f"activated in {_times(activated, 'call')}", False
    return (f"asked for in {_times(asked, 'call')}, never activated", True) if asked else ("", False)


def _streaming(declared: bool | None, seen: ObservedBehaviour) -> CapabilityResult:
    tally = seen.tally(Operation.STREAM, Operation.SUBSCRIBE)
    if tally.streams:
        said = f"{_times(tally.streams, 'stream')} with {_times(tally.events, 'event')}"
        return CapabilityResult("streaming", declared, said, declared is False)
    if tally.worked:
        return CapabilityResult("streaming", declared, "answered, but not with a stream", declared is True)
    return _plain("streaming", declared, tally)


def _push(declared: bool | None, seen: ObservedBehaviour) -> CapabilityResult:
    if seen.deliveries:
        came = "delivery came" if seen.deliveries == 1 else "deliveries came"
        return CapabilityResult("push notifications", declared, f"{seen.deliveries:,} {came}", declared is False)
    tally = seen.tally(Operation.SET_PUSH)
    if tally.worked:
        said = f"{_times(tally.worked, 'webhook')} registered, nothing came yet"
        return CapabilityResult("push notifications", declared, said, declared is False)
    return _plain("push notifications", declared, tally)


def _plain(name: str, declared: bool | None, tally: CallCounts) -> CapabilityResult:
    if tally.worked:
        return CapabilityResult(name, declared, f"answered {_times(tally.worked, 'time')}", declared is False)
    if tally.refused:
        return CapabilityResult(name, declared, f"refused: {tally.said}", declared is True)
    return CapabilityResult(name, declared, "")


def _times(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
