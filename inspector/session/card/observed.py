"""Compare the capabilities on a card with the observed behaviour of the agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field

from inspector.capture.records import HTTP_ERROR, Kind, Record, is_login, is_probe
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard, AgentExtension
from inspector.protocol.circumstances import named_extensions
from inspector.protocol.operations import Operation
from inspector.session.exchanges import DENIED
from inspector.text.units import counted
from inspector.wire.client.observations import Ending

_KINDS = frozenset({Kind.REQUEST, Kind.RESPONSE, Kind.BODY, Kind.TRAILERS, Kind.END, Kind.DELIVERY})
_EXTENSIONS = frozenset({"a2a-extensions", "x-a2a-extensions"})
_OPERATIONS = frozenset(operation.value for operation in Operation)
_FAILED = frozenset({"error", "unreadable", HTTP_ERROR})
_MOST_SEARCHED = 20
"""The number of events at the beginning of a stream that are searched for one that can be read."""
ENDED_EARLY = "STREAM-001"
"""The rule that a stream ends when the task does."""


@dataclass(slots=True)
class CallCounts:
    """The results of an operation: the numbers of calls, streams and events, and the last error.

    `denied` of the `failed` calls were refused for lack of credentials.
    """

    succeeded: int = 0
    failed: int = 0
    denied: int = 0
    streams: int = 0
    events: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class CapabilityResult:
    """A capability: its value on the card (None if missing or invalid), the observation, and whether both contradict.

    `member` is its name in `capabilities`. `is_uncertain` is whether some of the calls failed, or all of them were
    refused for lack of credentials.
    """

    name: str
    member: str
    declared: bool | None
    observed: str
    contradicts: bool = False
    is_uncertain: bool = False


@dataclass(frozen=True, slots=True)
class ExtensionStatus:
    """An extension: whether the card declares and requires it, and how often it was requested, activated and used.

    `name` is its name with its version if it is known, else `""`. Only the data of known extensions is counted.
    """

    uri: str
    name: str
    declared: bool
    required: bool = False
    description: str = ""
    requested: int = 0
    activated: int = 0
    used: int = 0

    @property
    def in_words(self) -> str:
        """Return how often the extension was requested, activated and used."""
        counts = [
            f"requested {self.requested:,}" if self.requested else "not requested",
            f"activated {self.activated:,}" if self.activated else "not activated" if self.requested else "",
            f"used {self.used:,}" if self.used else "",
            "" if self.declared else "not on the card",
        ]
        return ", ".join(filter(None, counts))

    @property
    def contradicts(self) -> bool:
        """Return whether the agent did not activate what was requested, or used what it did not activate or declare."""
        ignored = bool(self.requested) and not self.activated
        return ignored or (bool(self.used) and not self.activated) or not self.declared


@dataclass(slots=True)
class _Call:
    operation: str
    asked: frozenset[str]
    status: int = 0
    code: int = 0
    event: str = ""
    label: str = ""


@dataclass(slots=True)
class ObservedBehaviour:
    """What the records of a capture show: the results of each operation, accepted deliveries, and extensions.

    For the URI of each extension, `requested` has the number of requests that asked for the extension, `extensions` the
    number of responses that activated it. `used` has the number of payloads with data of each known extension, by its
    name; the journal counts them. `registered` is the number of webhooks that are registered with messages. The probes
    of the doctor do not count.
    """

    operations: dict[str, CallCounts] = field(default_factory=dict)
    deliveries: int = 0
    extensions: Counter[str] = field(default_factory=Counter)
    requested: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    registered: int = 0
    _open: dict[int, _Call] = field(default_factory=dict)
    _last: int = 0

    def catch_up(self, capture: Capture) -> bool:
        """Read the records since the last call; return whether a call has ended or a delivery has arrived."""
        new = capture.select(kinds=_KINDS, after=self._last)
        for record in new:
            self._take(record, capture)
        self._last = len(capture)
        return any(record.kind in (Kind.END, Kind.DELIVERY) for record in new)

    def tally(self, *operations: Operation) -> CallCounts:
        """Return the sum of the results of some operations."""
        total = CallCounts()
        for counts in (self.operations.get(operation.value, CallCounts()) for operation in operations):
            total.succeeded += counts.succeeded
            total.failed += counts.failed
            total.denied += counts.denied
            total.streams += counts.streams
            total.events += counts.events
            total.last_error = total.last_error or counts.last_error
        return total

    def _take(self, record: Record, capture: Capture) -> None:
        if record.kind is Kind.DELIVERY:
            self.deliveries += not record.meta["refused"]
            return
        if is_probe(record) or is_login(record):
            return
        if record.kind is Kind.REQUEST:
            asked = _named(record)
            self.requested.update(asked if record.operation in _OPERATIONS else ())  # not those for the card
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
            case Kind.TRAILERS if not record.event:
                pass  # the status OK also follows a message that could not be read
            case _:
                call.event, call.label = record.event, record.label
                if record.kind is Kind.TRAILERS:
                    call.code = record.meta["code"]

    def _count(self, call: _Call, end: Record, capture: Capture) -> None:
        events = end.meta["events"]
        if events:  # a stream may consist of the error alone, or of events that cannot be read
            first = capture.select(kinds=(Kind.FRAME,), exchange=end.exchange, limit=_MOST_SEARCHED)
            if first and all(frame.event in _FAILED for frame in first):
                call.event, call.label = first[0].event, first[0].label
        tally = self.operations.setdefault(call.operation, CallCounts())
        if error := _error(call, end):
            is_denied = bool({call.status, call.code} & DENIED)
            if not is_denied or tally.failed == tally.denied:  # a denial does not replace another error
                tally.last_error = error
            tally.failed += 1
            tally.denied += is_denied
            return
        tally.succeeded += 1
        tally.streams += events > 0
        tally.events += events


def _error(call: _Call, end: Record) -> str:
    """Return the error of a call that has ended, `""` if the call succeeded."""
    if call.event in _FAILED:
        return call.label
    if call.status >= 400:
        return str(call.status)
    how = end.meta["how"]
    stopped = how == Ending.STOPPED and end.meta["events"]  # the user stopped a stream that worked
    if not call.status or (how != Ending.COMPLETE and not stopped):
        return end.label.partition(". ")[0].rstrip(".")
    early = (finding for finding in end.findings if finding.rule == ENDED_EARLY)
    return next((f"{finding.rule} {finding.seen}" for finding in early), "")


def _named(record: Record) -> frozenset[str]:
    """Return the extensions in the headers of a record."""
    headers: Iterable[tuple[str, str]] = record.meta.get("headers") or ()
    values = (value for name, value in headers if name.lower() in _EXTENSIONS)
    return named_extensions(*values)


def compare_capabilities(card: AgentCard, seen: ObservedBehaviour) -> list[CapabilityResult]:
    """Compare each capability of the card with the observations."""
    can, streams = card.capabilities, ("streaming", "streaming")
    streaming, push = seen.tally(Operation.STREAM, Operation.SUBSCRIBE), seen.tally(Operation.SET_PUSH)
    if streaming.succeeded and not streaming.streams:
        first = CapabilityResult(*streams, can.streaming, "the response was not a stream", can.streaming is True)
    else:
        first = _result(streams, can.streaming, streaming, _streams_in_words(streaming))
    push.succeeded += seen.registered
    webhooks = f"{counted(push.succeeded, 'webhook')} registered, no delivery yet"
    if seen.deliveries:
        noun = "delivery" if seen.deliveries == 1 else "deliveries"
        push, webhooks = CallCounts(succeeded=1), f"{seen.deliveries:,} {noun} received"
    extended = seen.tally(Operation.EXTENDED_CARD)
    returned = f"returned {counted(extended.succeeded, 'time')}"
    return [
        first,
        _result(("push notifications", "pushNotifications"), can.push_notifications, push, webhooks),
        _result(("extended card", "extendedAgentCard"), can.extended_agent_card, extended, returned),
    ]


def _streams_in_words(counts: CallCounts) -> str:
    """Return how many streams and events there were, and of how many if others failed: the calls name the error."""
    events = counted(counts.events, "event")
    if not counts.failed:
        return f"{counted(counts.streams, 'stream')} with {events}"
    return f"{counts.streams:,} of {counts.streams + counts.failed:,} streams succeeded, with {events}"


def _result(names: tuple[str, str], declared: bool | None, counts: CallCounts, success: str) -> CapabilityResult:
    """Compare a declaration with the results of its operations; `success` describes successful calls."""
    if counts.succeeded:
        return CapabilityResult(*names, declared, success, declared is False, is_uncertain=counts.failed > 0)
    if counts.failed and counts.failed == counts.denied:
        return CapabilityResult(*names, declared, f"not known: {counts.last_error}", is_uncertain=True)
    if counts.failed:
        return CapabilityResult(*names, declared, f"failed: {counts.last_error}", declared is True)
    return CapabilityResult(*names, declared, "")


def calls_in_words(seen: ObservedBehaviour) -> str:
    """Describe the results of each operation, without the requests for the card."""
    lines = []
    for operation in Operation:
        if tally := seen.operations.get(operation.value):
            counts = [f"{tally.succeeded:,} succeeded"] if tally.succeeded else []
            counts += [f"{tally.failed:,} failed: {tally.last_error}"] if tally.failed else []
            lines.append(f"{operation.value} {', '.join(counts)}")
    return "; ".join(lines)


def extension_statuses(card: AgentCard, seen: ObservedBehaviour) -> list[ExtensionStatus]:
    """Return the status of each extension on the card, then of those that were used although the card lacks them."""
    declared = {extension.uri: extension for extension in card.capabilities.extensions or ()}
    others = dict.fromkeys([*seen.requested, *seen.extensions])
    uris = [*declared, *(uri for uri in others if uri not in declared)]
    if not uris and not seen.used:
        return []
    from inspector.protocol.extensions.known import KNOWN, known, title_of  # noqa: PLC0415 - most cards have none

    tables = [known(uri) for uri in uris]
    found = [
        _status(uri, title_of(uri), declared.get(uri), seen, seen.used[of_table.name] if of_table else 0)
        for uri, of_table in zip(uris, tables, strict=True)
    ]
    undeclared = (each for each in KNOWN if each not in tables and seen.used[each.name])
    return [*found, *(_status(each.uri, each.name, None, seen, seen.used[each.name]) for each in undeclared)]


def _status(
    uri: str, name: str, declared: AgentExtension | None, seen: ObservedBehaviour, used: int
) -> ExtensionStatus:
    required, description = bool(declared and declared.required), (declared.description if declared else "") or ""
    counts = seen.requested[uri], seen.extensions[uri], used
    return ExtensionStatus(uri, name, declared is not None, required, description, *counts)
