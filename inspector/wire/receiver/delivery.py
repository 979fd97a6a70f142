"""A webhook delivery: the request, and how its body was read; without I/O."""

from __future__ import annotations

import time
from dataclasses import field
from enum import Enum

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.wire.client.observations import head_text
from inspector.wire.receiver.checks import Check, KnownResults
from inspector.wire.receiver.registration import Registration
from inspector.wire.receiver.response_override import ACCEPT, WebhookResponse

NO_TLS = "TLS"
"""The `method` of a delivery whose TLS handshake failed."""


@dataclass(slots=True)
class Delivery:
    """A request at the receiver, accepted or rejected.

    - `at`: when the first byte arrived, in seconds since 1970; `seconds`: how long reading took.
    - `target`: path and query as sent; `headers`: in order, with duplicates.
    - `body`: the body, or the beginning of a rejected body; `value`: its JSON.
    - `checks`: the results of the checks; empty if the request is not HTTP.
    - `refused`: why the delivery was rejected, "" if it was not.
    - `status`: the status of the response, 0 without a response.
    - `override`: the description of the response override, "" for none; `delay`: its delay in seconds.
    - `accepted`: whether the response reported success to the sender.
    - `challenge`: whether this is an ownership challenge (A2A 0.1).
    - `head_known`: the results that deliveries with an identical head can reuse.

    The repr omits headers, target and body, which contain secrets.
    """

    at: float
    registration: Registration | None
    peer: str
    method: str
    target: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    value: Json | Unreadable = field(repr=False)
    checks: tuple[Check, ...]
    refused: str
    status: int
    seconds: float
    override: str = ""
    delay: float = 0.0
    accepted: bool = False
    challenge: bool = False
    head_known: KnownResults = field(default_factory=KnownResults, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request line and the headers as text; bytes that are not UTF-8 are read as Latin-1."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    _values: dict[str, list[str]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.headers:
            self._values.setdefault(name.lower(), []).append(value)

    def values(self, name: str) -> list[str]:
        """Return the values of a header in order; `name` is in lower case."""
        return self._values.get(name, [])


class IncomingRequest:
    """A request that is being read: its time, its sender, and its bytes until the head is complete."""

    def __init__(self, peer: str) -> None:
        self.seen = bytearray()
        self._peer = peer
        self._at = time.time()
        self._started = time.monotonic()

    def delivery(
        self,
        head: RequestHead,
        read: BodyRead,
        *,
        status: int,
        refused: str,
        registration: Registration | None = None,
        checks: tuple[Check, ...] = (),
        response: WebhookResponse = ACCEPT,
        challenge: bool = False,
        head_known: KnownResults | None = None,
    ) -> Delivery:
        """Return the delivery; `refused` is converted from a phrase to a sentence."""
        return Delivery(
            at=self._at,
            registration=registration,
            peer=self._peer,
            method=head.method,
            target=head.target,
            headers=head.headers,
            body=read.data,
            value=read.value,
            checks=checks,
            refused=f"{refused[:1].upper()}{refused[1:]}." if refused else "",
            status=status,
            seconds=time.monotonic() - self._started,
            override=response.words if response is not ACCEPT else "",
            delay=response.delay,
            accepted=not refused and response.accepts,
            challenge=challenge,
            head_known=head_known or KnownResults(),
        )

    def tls_failed(self, at: str, why: str) -> Delivery:
        """Return the delivery for a failed TLS handshake at our address and port (`at`)."""
        return self.delivery(RequestHead(NO_TLS, at, ()), BodyRead(b"", BodyOutcome.CUT), status=0, refused=why)

    def unreadable(self, status: int, refused: str) -> Delivery:
        """Return the delivery for a head that is not HTTP or is incomplete."""
        head, rest = read_head(bytes(self.seen))
        return self.delivery(head, BodyRead(rest, BodyOutcome.CUT), status=status, refused=refused)


class BodyOutcome(Enum):
    """How reading a body ended: the status of the response (0: no response is possible) and the reason."""

    WHOLE = (204, "")
    CUT = (413, "the body is longer than {most:,} bytes")
    SLOW = (408, "only {size:,} bytes of the body were received within {seconds:g} s")
    BROKEN = (0, "the connection was closed after {size:,} bytes of the body")
    STOPPED = (0, "the receiver was stopped after {size:,} bytes of the body")
    MALFORMED = (400, "the chunked body is malformed after {size:,} bytes")
    CROWDED = (503, "too many long bodies are being received")

    def __init__(self, status: int, words: str) -> None:
        self.status = status
        self.words = words


class BodyRead:
    """The part of a body that was read: its bytes, its JSON, how reading ended, and why it is incomplete."""

    __slots__ = ("data", "outcome", "value", "why")

    def __init__(self, data: bytes, outcome: BodyOutcome, why: str = "") -> None:
        self.data = data
        self.outcome = outcome
        self.why = why
        self.value = parse(data)


def read_head(seen: bytes) -> tuple[RequestHead, bytes]:
    """Read as much as possible of a head that is not valid HTTP; return it with the bytes that follow."""
    lines, _, rest = seen.partition(b"\r\n\r\n")
    first, *others = lines.split(b"\r\n")
    method, _, target = first.partition(b" ")
    pairs = (line.partition(b":") for line in others)
    headers = tuple((head_text(name.strip()), head_text(value.strip())) for name, _, value in pairs)
    return RequestHead(head_text(method), head_text(target.rpartition(b" HTTP/")[0] or target), headers), rest
