"""Find the exchange for a request and play its response: the recorded bytes, at the recorded times."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from inspector.capture.records import Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.grpc import read
from inspector.protocol.errors import FaultCode
from inspector.protocol.operations import PUSH, Operation

from ..versions import V1_0, Version
from .call_content import CallContent, RawRequest, read_call
from .exchange import Exchange
from .identities import Replacements, with_webhook
from .matching import Match, Matcher
from .pushes import PushReplay
from .recording import Recording
from .rewriting import Addresses, moved_urls, rewrite_card
from .substitution import replace_in_message, replace_members, replace_request_id

_STOPPED = frozenset({"stopped", "limit"})
"""The recorded endings after which the agent could have sent more: only the client knows when it has enough."""
_MOST_QUOTED = 3_000
"""The maximum length of a message about a request that was not recorded."""
_MOST_DIFFERENCES = 4


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that the recording does not contain, and the recorded requests that are nearest."""

    call: CallContent
    nearest: tuple[Match, ...]

    @property
    def described(self) -> list[str]:
        """Return how the request differs from each of the nearest requests."""
        described = []
        for near in self.nearest:
            shown = "; ".join(item.words for item in near.differences[:_MOST_DIFFERENCES])
            more = len(near.differences) - _MOST_DIFFERENCES
            described.append(f"{near.exchange.title}: {shown}{f'; {more} more' if more > 0 else ''}")
        return described

    @property
    def message(self) -> str:
        """Return the error message, with the nearest requests and how they differ."""
        nearest = "".join(f" {near}." for near in self.described)
        title = f"The recording contains no such request: {self.call.title}."
        return f"{title} Nearest recorded requests:{nearest}"[:_MOST_QUOTED]


class Playback:
    """The response of an exchange that is being served for a call."""

    def __init__(
        self, recording: Recording, exchange: Exchange, call: CallContent, pace: float, replacements: Replacements
    ) -> None:
        self.exchange = exchange
        self._recording = recording
        self._call = call
        self._pace = pace
        self._replacements = replacements
        self._started = asyncio.get_running_loop().time()

    async def records(self) -> AsyncIterator[Record]:
        """Yield the records of the response, each at its time."""
        for record in self._recording.records(self.exchange):
            await self._until(record)
            yield record

    async def _until(self, record: Record) -> None:
        wanted = self._started + (record.at - self.exchange.at) * self._pace
        delay = wanted - asyncio.get_running_loop().time()
        if self._pace and delay > 0:
            await asyncio.sleep(delay)

    def content_length(self, head: Record, addresses: Addresses) -> int | None:
        """Return the length of a body, None if the recorded response has no Content-Length or is a stream.

        For an incomplete body, the recorded length is returned.
        """
        lengths = [str(value) for name, value in head.meta["headers"] if str(name).lower() == "content-length"]
        if head.meta.get("streamed") or not lengths:
            return None
        body: bytes = b""
        for record in self._recording.records(self.exchange):
            if record.kind is Kind.BODY:
                body = self.payload(record, addresses)
            elif record.kind is Kind.END and record.meta["how"] != "complete" and lengths[0].isdecimal():
                return int(lengths[0])
        return len(body)

    def payload(self, record: Record, addresses: Addresses) -> bytes:
        """Return the bytes of a record with the ids of the client; a card has the URLs of this server."""
        recorded, raw, replacements = self.exchange.call, record.raw, self._replacements
        operation, dialect = recorded.operation, recorded.version.dialect
        is_card = operation == Operation.EXTENDED_CARD and record.kind is Kind.BODY
        if recorded.binding == "GRPC":
            if not isinstance(operation, Operation):
                return raw
            if is_card:
                replacements = {**replacements, "url": moved_urls(read(dialect, operation, raw), addresses)}
            return replace_in_message(raw, dialect, operation, replacements)
        if recorded.binding == "JSONRPC":
            raw = replace_request_id(raw, recorded.request_id, self._call.request_id)
        raw = replace_members(raw, replacements)
        return rewrite_card(raw, addresses) if is_card else raw


def stays_open(last: Record) -> bool:
    """Return whether the connection stays open after the last record of a response, until the client closes it.

    The inspector closed the recorded connection, the agent sent nothing until a timeout, or the recording ends before
    the response.
    """
    if last.kind is not Kind.END:
        return last.kind is not Kind.BODY
    return str(last.meta["how"]) in _STOPPED or last.meta.get("code") == FaultCode.TIMEOUT


class Player:
    """Finds exchanges for requests. `pace` multiplies the recorded pauses; `log` receives a line for each request."""

    def __init__(self, recording: Recording, pace: float, log: Callable[[str], None], pushes: PushReplay) -> None:
        self.recording = recording
        self.opened: set[str] = set()
        self._matcher = Matcher(recording.exchanges)
        self._pace = pace
        self._log = log
        self._pushes = pushes
        formats = ((exchange.call.binding, exchange.call.version) for exchange in recording.exchanges)
        self._formats: list[tuple[str, Version]] = []
        for binding, version in formats:
            if (binding, version) not in self._formats:
                self._formats.append((binding, version))

    def find(self, raw: RawRequest, bindings: Iterable[str]) -> Playback | Miss:
        """Return the response to a request over one of several bindings, the likeliest first."""
        calls = [read_call(raw, binding, version) for binding, version in self._candidates(bindings)]
        for call in calls:
            match = self._matcher.match(call)
            if match is not None:
                return self._play(match, call)
        call = next((call for call in calls if isinstance(call.operation, Operation)), calls[0])
        miss = Miss(call, tuple(self._matcher.nearest(call)))
        self._log(f"not recorded: {call.title}{''.join(f'; nearest: {near}' for near in miss.described[:1])}")
        return miss

    def _candidates(self, bindings: Iterable[str]) -> list[tuple[str, Version]]:
        """Return the formats in which a request is read."""
        names = list(bindings)
        recorded = [known for name in names for known in self._formats if known[0] == name]
        return [*recorded, *((name, V1_0) for name in names[:1] if not any(known[0] == name for known in recorded))]

    def _play(self, match: Match, call: CallContent) -> Playback:
        exchange = match.exchange
        notes = "".join(f"; {item.words}" for item in match.differences)
        self._log(f"{exchange.call.version.name} {exchange.call.operation}: #{exchange.number}{notes}")
        if exchange.task:
            self.opened.add(exchange.task)
        replacements = self._matcher.ids.replacements()
        self._pushes.serve(exchange, call, replacements)
        webhook = call.webhook or self._pushes.webhook_of(exchange.task or exchange.call.task)
        if exchange.call.operation in PUSH and webhook is not None:
            recorded = exchange.call.webhook or self._pushes.recorded_webhook_of(exchange.task or exchange.call.task)
            if recorded is not None:
                replacements = with_webhook(replacements, recorded, webhook)
        return Playback(self.recording, exchange, call, self._pace, replacements)
