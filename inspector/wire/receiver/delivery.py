"""A webhook delivery: the request, and how its body was read; without I/O."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum

from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.wire.client.observations import head_text
from inspector.wire.receiver.checks import Check, KnownResults
from inspector.wire.receiver.registration import Registration
from inspector.wire.receiver.response_override import ACCEPT, WebhookResponse

NO_TLS = "TLS"
"""The method of a delivery whose TLS handshake failed."""


@dataclass(slots=True)
class Delivery:
    """One request at the receiver, refused or not.

    `at` is when its first byte arrived, in seconds since 1970, and `seconds` how long reading it took; `target` is the
    unchanged path and query; `headers` keeps order and duplicates; `body` is the body, or the beginning of a refused
    one, and `value` its JSON; `refused` says why it was refused, "" if it was not. `status` is that of the response, 0
    for none. `dialled` describes the response override, "" for none, `delay` is its delay in seconds; `taken` says that
    the sender may assume acceptance. `challenge` marks the ownership challenge of A2A 0.1. A request that is not HTTP
    has no checks. `head_known` is what is known of deliveries with this head.
    The repr leaves out headers, target and body, which contain secrets.
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
    """The request line and the headers as text; what is not UTF-8 is read as Latin-1."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    _values: dict[str, list[str]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.headers:
            self._values.setdefault(name.lower(), []).append(value)

    def values(self, name: str) -> list[str]:
        """Return every value of a header, in order; `name` is in lower case."""
        return self._values.get(name, [])


class IncomingRequest:
    """A request that is being read: when and from where it came, and its first bytes until the head is complete."""

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
        """Return the delivery; `refused` is a fragment and becomes a sentence."""
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
        """Return the delivery of a sender whose TLS handshake at our address and port failed."""
        return self.delivery(RequestHead(NO_TLS, at, ()), BodyRead(b"", BodyOutcome.CUT), status=0, refused=why)

    def unreadable(self, status: int, refused: str) -> Delivery:
        """Return the delivery of a head that is not HTTP, or that never came whole."""
        head, rest = read_head(bytes(self.seen))
        return self.delivery(head, BodyRead(rest, BodyOutcome.CUT), status=status, refused=refused)


class BodyOutcome(Enum):
    """How the reading of a body ended, with the status of the response (0: none is possible)."""

    WHOLE = (204, "")
    CUT = (413, "the body is longer than {most:,} bytes")
    SLOW = (408, "only {size:,} bytes of the body had come after {seconds:g} s")
    BROKEN = (0, "the connection broke off after {size:,} bytes of the body")
    STOPPED = (0, "the receiver was stopped after {size:,} bytes of the body")
    MALFORMED = (400, "the chunks of the body are malformed after {size:,} bytes")
    CROWDED = (503, "too many long bodies came at once")

    def __init__(self, status: int, words: str) -> None:
        self.status = status
        self.words = words


class BodyRead:
    """A body as far as it was read: the JSON in it, how the reading ended, and why it was cut short."""

    __slots__ = ("data", "outcome", "value", "why")

    def __init__(self, data: bytes, outcome: BodyOutcome, why: str = "") -> None:
        self.data = data
        self.outcome = outcome
        self.why = why
        self.value = parse(data)


def read_head(seen: bytes) -> tuple[RequestHead, bytes]:
    """Read a head that is not valid HTTP as far as possible, and return the bytes that follow it too."""
    lines, _, rest = seen.partition(b"\r\n\r\n")
    first, *others = lines.split(b"\r\n")
    method, _, target = first.partition(b" ")
    pairs = (line.partition(b":") for line in others)
    headers = tuple((head_text(name.strip()), head_text(value.strip())) for name, _, value in pairs)
    return RequestHead(head_text(method), head_text(target.rpartition(b" HTTP/")[0] or target), headers), rest
