"""A webhook delivery and the verdict on it: what came, what is right and wrong about it. Nothing here does I/O."""

from __future__ import annotations

import hmac
import time
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_address
from urllib.parse import urlsplit

from inspector.protocol import jsonvalue
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import Unreadable

_TOKEN_PLACES = ("X-A2A-Notification-Token", "X-OPVS-Notification-Token", "Authorization")
"""Where a generation may carry the token (protocol 1.7): the token headers until 1.0.0, Authorization since 1.0."""

_JSON_TYPES = frozenset({"application/json", "application/a2a+json"})
_PLAIN_ENCODINGS = frozenset({"", "identity", "chunked"})
_QUOTED = 100
"""How many characters of a header a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Registration:
    """One address that an agent may post to, with a secret path and a token of its own; its repr shows neither."""

    number: int
    path: str = field(repr=False)
    token: str = field(repr=False)
    url: str = field(repr=False)
    made_at: float


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at in a delivery; `good` is None where there was nothing to compare.

    `name` is one of `path`, `token`, `method`, `host`, `origin`, `encoding`, `content-type`, `size` and `json`.
    `said` is a fragment for one line: it may quote the sender (hostile text), but never a token or a credential.
    """

    name: str
    good: bool | None
    said: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request at the receiver, refused or not.

    `at` is when its first byte arrived, in seconds since 1970, and `seconds` how long it took to take in; `target` is
    the path and query as they came; `headers` keeps order and duplicates; `body` is what came, or the beginning of it
    where the delivery was refused; `refused` is a sentence that says why, "" for a delivery that was accepted;
    `status` is the answer given, 0 where none could be. A request that is no HTTP has no checks. Headers, target and
    body hold secrets, so the repr leaves them out.
    """

    at: float
    registration: Registration | None
    peer: str
    method: str
    target: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    checks: tuple[Check, ...]
    refused: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The request line and the headers as text; what is not UTF-8 is read as Latin-1."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Return every value of a header, in order; `name` is in lower case."""
        return [value for key, value in self.headers if key.lower() == name]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a receiver listens, what agents are told, and what it therefore takes for its own name.

    `base_url` has no slash at its end and `prefix` is its path, "" without one; `hosts` are the good values of `Host`,
    and `open_port` is the port with which any IP address is good too, for a receiver that is bound to all of them.
    """

    host: str
    port: int
    base_url: str
    prefix: str
    hosts: frozenset[str]
    open_port: int | None

    @classmethod
    def at(cls, host: str, port: int, public_url: str | None = None) -> Place:
        """Return the place of a bound address; raises `FaultError` for a public url that nobody could post to."""
        address = ip_address(host)
        everywhere = address.is_unspecified
        reachable = ("127.0.0.1" if address.version == 4 else "::1") if everywhere else host
        own = authority(reachable, port)
        base_url, prefix, names = _read_public(public_url) if public_url else (f"http://{own}", "", frozenset[str]())
        hosts = names | {own, own.removesuffix(":80")}
        return cls(host, port, base_url, prefix, hosts, port if everywhere else None)


def authority(host: str, port: int) -> str:
    """Return an address and a port as a url and `Host` spell them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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
        body: bytes,
        *,
        status: int,
        refused: str,
        registration: Registration | None = None,
        checks: tuple[Check, ...] = (),
    ) -> Delivery:
        """Return the delivery that this has become by now; `refused` is in words and becomes a sentence."""
        return Delivery(
            at=self._at,
            registration=registration,
            peer=self._peer,
            method=head.method,
            target=head.target,
            headers=head.headers,
            body=body,
            checks=checks,
            refused=f"{refused[:1].upper()}{refused[1:]}." if refused else "",
            status=status,
            seconds=time.monotonic() - self._started,
        )

    def unreadable(self, status: int, refused: str) -> Delivery:
        """Return the delivery of a head that is no HTTP, or that never came whole."""
        head, rest = read_head(bytes(self.seen))
        return self.delivery(head, rest, status=status, refused=refused)


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
    """A body as far as it was read: how that ended, and in words why not well."""

    data: bytes
    outcome: Outcome
    why: str = ""


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


def examine(head: RequestHead, registration: Registration | None, place: Place) -> tuple[Check, ...]:
    """Return every check that a head allows."""
    return (
        _check_path(registration),
        _check_token(head, registration),
        _check_method(head),
        _check_host(head, place),
        _check_origin(head),
        _check_encoding(head),
        _check_type(head),
    )


_REFUSALS = {"host": 421, "origin": 403, "path": 404, "method": 405, "encoding": 415, "token": 401}
"""The checks that refuse a delivery, in the order in which they speak, with the status of each."""


def refusal(checks: tuple[Check, ...]) -> tuple[int, str]:
    """Return the status and the words that the checks of a head refuse with, or `(204, "")`."""
    bad = {check.name: check.said for check in checks if check.good is False}
    return next(((status, bad[name]) for name, status in _REFUSALS.items() if name in bad), (204, ""))


def weigh(intake: Intake, refused: bool) -> tuple[Check, Check]:
    """Return the checks of size and JSON; a body that is cut because its head was refused is not to blame for it."""
    if intake.outcome is Outcome.WHOLE:
        return Check("size", True, f"{len(intake.data):,} bytes"), _check_json(intake.data)
    size = Check("size", None if refused and intake.outcome is Outcome.CUT else False, intake.why)
    return size, Check("json", None, "the body did not come whole")


def _check_path(registration: Registration | None) -> Check:
    if registration is None:
        return Check("path", False, "no registration has this path")
    return Check("path", True, f"registration {registration.number}")


def _check_token(head: RequestHead, registration: Registration | None) -> Check:
    if registration is None:
        return Check("token", None, "no registration, no token to compare")
    right, wrong = [], []
    for place in _TOKEN_PLACES:
        values = head.values(place.lower())
        if len(set(values)) > 1:
            wrong.append(f"{place} came {len(values)} times with differing values")
        elif values and _carries(place, values[0], registration.token):
            right.append(place)
        elif values:
            wrong.append(f"{place} does not carry the token of registration {registration.number}")
    if wrong:
        also = f", while {' and '.join(right)} did" if right else ""
        return Check("token", False, f"{', '.join(wrong)}{also}")
    if right:
        return Check("token", True, f"token equal in {' and '.join(right)}")
    return Check("token", False, "no token came in " + ", ".join(_TOKEN_PLACES))


def _carries(place: str, value: str, token: str) -> bool:
    # Bytes, because compare_digest refuses text that is not ASCII, and the sender may send just that.
    given = value.partition(" ")[2].strip() if place == "Authorization" else value
    return hmac.compare_digest(given.encode("utf-8"), token.encode("utf-8"))


def _check_method(head: RequestHead) -> Check:
    if head.method == "POST":
        return Check("method", True, "POST")
    challenge = head.method == "GET" and "validationToken=" in head.target.partition("?")[2]
    hint = ", but the ownership challenge of A2A 0.1" if challenge else ""
    return Check("method", False, f"{_quote(head.method)} is not POST{hint}")


def _check_host(head: RequestHead, place: Place) -> Check:
    values = head.values("host")
    if len(values) != 1:
        return Check("host", False, "Host came more than once" if values else "no Host came")
    host = values[0].lower()
    if host in place.hosts or _is_address(host, place.open_port):
        return Check("host", True, f"host {_quote(host)}")
    ours = " or ".join(sorted(place.hosts))
    return Check("host", False, f"Host is {_quote(host)}, not {ours} (DNS rebinding looks like this)")


def _is_address(host: str, port: int | None) -> bool:
    """Tell whether a host is a literal IP address with the port: rebinding needs a name, an address cannot lie."""
    name, _, digits = host.rpartition(":")
    if port is None or digits != str(port):
        return False
    try:
        ip_address(name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name)
    except ValueError:
        return False
    return True


def _check_origin(head: RequestHead) -> Check:
    values = head.values("origin")
    if values:
        return Check("origin", False, f"a browser sent this, Origin is {_quote(values[0])}")
    return Check("origin", True, "no Origin")


def _check_encoding(head: RequestHead) -> Check:
    values = head.values("content-encoding") + head.values("transfer-encoding")
    names = [name.strip().lower() for value in values for name in value.split(",")]
    odd = [name for name in names if name not in _PLAIN_ENCODINGS]
    if odd:
        return Check("encoding", False, f"the body is encoded ({_quote(', '.join(odd))}), which is not decoded here")
    return Check("encoding", True, "not encoded")


def _check_type(head: RequestHead) -> Check:
    values = head.values("content-type")
    if not values:
        return Check("content-type", False, "no Content-Type came")
    good = values[0].partition(";")[0].strip().lower() in _JSON_TYPES
    return Check("content-type", good, f"{_quote(values[0])}{'' if good else ' is not JSON'}")


def _check_json(data: bytes) -> Check:
    value = jsonvalue.parse(data)
    if isinstance(value, Unreadable):
        return Check("json", False, f"the body: {value.why}")
    return Check("json", True, "JSON")


def _quote(value: str) -> str:
    return value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"


def _read_public(url: str) -> tuple[str, str, frozenset[str]]:
    """Return a public url without a slash at its end, its path, and what `Host` may be behind it."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError as error:
        raise _unusable(f"The public url is no url: {error}.") from error
    if parts.scheme not in ("http", "https") or not name or parts.query or parts.fragment or "@" in parts.netloc:
        raise _unusable("The public url is not of the form http(s)://host/path.")
    host = f"[{name}]" if ":" in name else name
    usual = 443 if parts.scheme == "https" else 80
    names = {f"{host}:{port or usual}"} | ({host} if port in (None, usual) else set())
    prefix = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{prefix}", prefix, frozenset(names)


def _unusable(seen: str) -> FaultError:
    hint = "Give the address under which agents reach this machine, such as https://abc.example.org."
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
