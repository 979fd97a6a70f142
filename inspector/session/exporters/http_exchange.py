"""The request and the response of a recorded exchange, as HTTP text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from operator import attrgetter
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM
from inspector.protocol.http_fields import header

MOST_EVENTS = 500
"""The most events of a stream that are part of the text of a response."""
_HEADS = frozenset({Kind.REQUEST, Kind.NOTE, Kind.RESPONSE, Kind.TRAILERS, Kind.END})
_BODIES = frozenset({Kind.BODY, Kind.FRAME})
Payload = Callable[[Record], bytes]
"""Returns the payload of a record, as JSON text where it can be read."""


@dataclass(slots=True)
class HttpExchange:
    """The records of an exchange by their role; None for a part that was not received (yet).

    `bodies` has the first events of a stream, or the body of the response; `omitted` is whether there are more.
    """

    request: Record
    response: Record | None = None
    trailers: Record | None = None
    end: Record | None = None
    bodies: list[Record] = field(default_factory=list)
    omitted: bool = False

    @classmethod
    def read(cls, capture: Capture, number: int) -> HttpExchange:
        """Read an exchange; of a long stream, only the events that are shown."""
        heads = capture.select(kinds=_HEADS, exchange=number, after=number - 1)
        bodies = capture.select(kinds=_BODIES, exchange=number, after=number - 1, limit=MOST_EVENTS + 1)
        return cls.of(sorted([*heads, *bodies], key=attrgetter("seq")))

    @classmethod
    def of(cls, records: Iterable[Record]) -> HttpExchange:
        """Read the records of one exchange, the request first."""
        rest = iter(records)
        exchange = cls(next(rest))
        for record in rest:
            match record.kind:
                case Kind.RESPONSE:
                    exchange.response = record
                case Kind.TRAILERS:
                    exchange.trailers = record
                case Kind.END:
                    exchange.end = record
                case Kind.BODY | Kind.FRAME if len(exchange.bodies) < MOST_EVENTS:
                    exchange.bodies.append(record)
                case Kind.BODY | Kind.FRAME:
                    exchange.omitted = True
                case _:
                    pass
        return exchange

    @property
    def newest(self) -> Record:
        """Return the record that represents the response: its body, or else its end, its head or the request."""
        return self.bodies[-1] if self.bodies else self.end or self.response or self.request

    @property
    def streamed(self) -> bool:
        """Return whether the body of the response is a stream of events."""
        return bool(self.bodies) and self.bodies[0].kind is Kind.FRAME

    @property
    def response_findings(self) -> list[Record]:
        """Return the records of the response that have findings or failed."""
        parts = (self.response, *self.bodies, self.trailers, self.end)
        return [record for record in parts if record and (record.findings or "seen" in record.meta)]

    def request_head(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the first line and the headers of the request; of one that cannot be read, the reason."""
        meta = self.request.meta
        if self.request.kind is not Kind.REQUEST:
            return self.request.label, []
        return f"{meta['method']} {meta['url']}", _headers(meta)

    def response_head(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the first line and the headers of the response, `""` before it was received."""
        if self.response is None:
            return "", []
        meta = self.response.meta
        return " ".join(filter(None, (str(meta.get("http", "")), self.response.label))), _headers(meta)

    def response_body(self, payload: Payload) -> bytes:
        """Return the body of the response as it was received: JSON, or the first events of a stream."""
        if not self.streamed:
            return b"".join(payload(record) for record in self.bodies)
        if EVENT_STREAM in header(self.response_head()[1], "content-type"):
            return b"".join(record.raw for record in self.bodies)
        return b"\n".join(payload(record) for record in self.bodies)

    def request_text(self, payload: Payload) -> str:
        """Return the request as HTTP text."""
        return _text(*self.request_head(), payload(self.request))

    def response_text(self, payload: Payload) -> str:
        """Return the response as HTTP text, `""` without a response."""
        return _text(*self.response_head(), self.response_body(payload)) if self.response else ""


def _headers(meta: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in meta.get("headers") or ()]


def _text(first: str, headers: list[tuple[str, str]], body: bytes) -> str:
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    return "\n".join(lines) + "\n\n" + body.decode("utf-8", "replace")
