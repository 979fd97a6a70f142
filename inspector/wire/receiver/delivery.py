"""A webhook delivery as a value: what came, and how the taking in of it went. Nothing here does I/O."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum

from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.wire.receiver.check import Check
from inspector.wire.receiver.registration import Registration
from inspector.wire.receiver.response_override import ACCEPT, Answer

NO_TLS = "TLS"
"""What stands for the method of a sender with whom TLS came to nothing."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request at the receiver, refused or not.

    `at` is when its first byte arrived, in seconds since 1970, and `seconds` how long it took to take in; `target` is
    the path and query as they came; `headers` keeps order and duplicates; `body` is what came, or the beginning of it
    where the delivery was refused, and `value` the JSON in it; `refused` is a sentence that says why, "" for a delivery
    that was accepted;
    `status` is the answer given, 0 where none could be, or none was to be. `dialled` says in words what the user
    dialled in for an answer, "" where nothing was, and `delay` by how many seconds that held the answer back; `taken`
    says that the sender may take it for accepted. `challenge` says that this is no delivery but an agent asking whether
    the webhook is ours (A2A 0.1). A request that is no HTTP has no checks. Headers, target and body hold secrets, so
    the repr leaves them out.
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
    dialled: str = ""
    delay: float = 0.0
    taken: bool = False
    challenge: bool = False


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


class Arrival:
    """The beginning of a request: when and from where it came, and its first bytes until the head is complete."""

    def __init__(self, peer: str) -> None:
        self.seen = bytearray()
        self._peer = peer
        self._at = time.time()
        self._started = time.monotonic()

    def delivery(
        self,
        head: RequestHead,
        intake: Intake,
        *,
        status: int,
        refused: str,
        registration: Registration | None = None,
        checks: tuple[Check, ...] = (),
        answer: Answer = ACCEPT,
        challenge: bool = False,
    ) -> Delivery:
        """Return the delivery that this has become by now; `refused` is in words and becomes a sentence."""
        return Delivery(
            at=self._at,
            registration=registration,
            peer=self._peer,
            method=head.method,
            target=head.target,
            headers=head.headers,
            body=intake.data,
            value=intake.value,
            checks=checks,
            refused=f"{refused[:1].upper()}{refused[1:]}." if refused else "",
            status=status,
            seconds=time.monotonic() - self._started,
            dialled=answer.words if answer is not ACCEPT else "",
            delay=answer.delay,
            taken=not refused and answer.takes,
            challenge=challenge,
        )

    def unshaken(self, at: str, why: str) -> Delivery:
        """Return the delivery of a sender with whom TLS came to nothing, at our address and port."""
        return self.delivery(RequestHead(NO_TLS, at, ()), Intake(b"", Outcome.CUT), status=0, refused=why)

    def unreadable(self, status: int, refused: str) -> Delivery:
        """Return the delivery of a head that is no HTTP, or that never came whole."""
        head, rest = read_head(bytes(self.seen))
        return self.delivery(head, Intake(rest, Outcome.CUT), status=status, refused=refused)


class Outcome(Enum):
    """How the reading of a body ended, with the status that it is answered with (0: no answer is possible)."""

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


@dataclass(frozen=True, slots=True)
class Intake:
    """A body as far as it was read: the JSON in it, how the reading ended, and in words why not well."""

    data: bytes
    outcome: Outcome
    why: str = ""
    value: Json | Unreadable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", parse(self.data))


def text(raw: bytes) -> str:
    """Return bytes of a head as text, never with lone surrogates."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def read_head(seen: bytes) -> tuple[RequestHead, bytes]:
    """Read a head that is no valid HTTP as far as it can be read, and return what follows it beside it."""
    lines, _, rest = seen.partition(b"\r\n\r\n")
    first, *others = lines.split(b"\r\n")
    method, _, target = first.partition(b" ")
    pairs = (line.partition(b":") for line in others)
    headers = tuple((text(name.strip()), text(value.strip())) for name, _, value in pairs)
    return RequestHead(text(method), text(target.rpartition(b" HTTP/")[0] or target), headers), rest
