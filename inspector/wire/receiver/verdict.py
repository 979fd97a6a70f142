"""The checks of the receiver: they judge the head and the body of a delivery, without I/O."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64encode
from collections.abc import Callable, Container
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote_plus

from inspector.protocol.model import Unreadable
from inspector.wire.receiver import jwt
from inspector.wire.receiver.checks import KnownResults, Report, Result, Scope, Stage
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, RequestHead
from inspector.wire.receiver.jwt import Jwt
from inspector.wire.receiver.listen_address import ListenAddress
from inspector.wire.receiver.registration import HMAC_SCHEME, Proof, Registration

_TOKEN_HEADERS = ("X-A2A-Notification-Token", "X-OPVS-Notification-Token")
"""The headers that carry the token: that of the versions until 1.0.0, and that of OPVS."""
_KEY_HEADERS = ("X-API-Key", "Api-Key")
_SIGNATURE_HEADERS = (
    "X-A2A-Signature-256",
    "X-A2A-Signature",
    "X-Hub-Signature-256",
    "X-Signature-256",
    "X-Signature",
    "X-Webhook-Signature",
)
"""Headers in which senders put the HMAC of a body; no version of the protocol names one."""

_JSON_TYPES = frozenset({"application/json", "application/a2a+json"})
_PLAIN_ENCODINGS = frozenset({"", "identity", "chunked"})
_QUOTED = 100
"""How many characters of a header a sentence quotes."""
_LONGEST_CHALLENGE = 1024
_CHALLENGE = "validationToken"
_IS_JSON = Result(True, "JSON")

_ONE_DELIVERY = (Proof.JWT, Proof.HMAC)
"""Proofs that are made for one delivery, so that no head comes twice."""


class PushRequest:
    """A request as far as its head describes it, with the results of the checks that depend on the head only.

    `used` has the identities of the JWTs that were accepted before. `echo` is the token of an ownership challenge, `""`
    for a delivery. `auth` is the required proof, None for a challenge and for an unknown path; `jwt` is the required
    JWT, `bearer` the result of reading it. `declared` is the Content-Length. `repeatable` says that other deliveries
    may have the same head.
    """

    def __init__(
        self,
        head: RequestHead,
        registration: Registration | None,
        address: ListenAddress,
        *,
        used: Container[str] = frozenset(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.head = head
        self.registration = registration
        self.address = address
        self.used = used
        self.clock = clock
        self.known = KnownResults()
        self.echo = _challenge(head)
        self.auth = None if self.echo or registration is None else registration.auth
        signed = self.auth is not None and self.auth.proof is Proof.JWT
        no_jwt: tuple[Result | None, Jwt | None] = None, None
        self.bearer, self.jwt = _read_bearer(head) if signed else no_jwt
        self.repeatable = registration is not None and registration.auth.proof not in _ONE_DELIVERY
        self.declared = int(next(iter(head.values("content-length")), "0"))
        self.expects_continue = "100-continue" in (value.lower() for value in head.values("expect"))


class PushBody(NamedTuple):
    """A request with its body as far as it was read; `refused` if the head was refused."""

    request: PushRequest
    read: BodyRead
    refused: bool = False


REQUEST: Stage[PushRequest] = Stage()
"""The checks that run before the body is read."""
BODY: Stage[PushBody] = Stage()
"""The checks that need the body."""


def check_head(request: PushRequest) -> Report:
    """Run the checks of the head."""
    return REQUEST.run(request, request.known)


def check_body(body: PushBody) -> Report:
    """Run the checks of the body."""
    return BODY.run(body, body.request.known)


@REQUEST.check("path", Scope.HEAD, status=404)
def _path(request: PushRequest) -> Result:
    if request.registration is None:
        return Result(False, "no registration has this path")
    return Result(True, f"registration {request.registration.number}")


@REQUEST.check("token", Scope.HEAD, status=401)
def _token(request: PushRequest) -> Result:
    """Compare the token; it is bad if neither token nor Authorization came."""
    if request.echo:
        return Result(None, "a challenge carries none")
    registration = request.registration
    if registration is None:
        return Result(None, "no registration, no token to compare")
    result, proof = _compare_token(request.head, registration), registration.auth.proof
    if result.good is not None or proof in _ONE_DELIVERY:
        return result
    if _compare_authorization(request.head, registration).good is None:
        places = (*_TOKEN_HEADERS, "Authorization") if proof is not Proof.TOKEN else _TOKEN_HEADERS
        return Result(False, f"no token came in {', '.join(places)}")
    return result


@REQUEST.check("authorization", Scope.HEAD, status=401)
def _authorization(request: PushRequest) -> Result | None:
    if request.registration is None or request.auth is None:
        return None
    match request.auth.proof:
        case Proof.JWT:
            return request.bearer
        case Proof.HMAC:
            return Result(None, "the body is signed instead")
        case _:
            return _compare_authorization(request.head, request.registration)


def _is_proven(request: PushRequest) -> bool:
    return request.auth is not None and request.auth.proof in _ONE_DELIVERY


@REQUEST.check("signature", Scope.DELIVERY, status=401, when=_is_proven)
def _signature(request: PushRequest) -> Result | None:
    """Verify the signature of a JWT, or check that there is one of the body."""
    if request.auth is None:
        return None
    if request.auth.proof is Proof.HMAC and not _signatures(request.head):
        return Result(False, f"no signature came in {', '.join(_SIGNATURE_HEADERS)}")
    return jwt.check_signature(request.jwt, request.auth.keys) if request.jwt else None


@REQUEST.check("issuer", Scope.HEAD, status=401)
def _issuer(request: PushRequest) -> Result | None:
    return jwt.check_claim(request.jwt, "iss", request.auth.issuer) if request.jwt and request.auth else None


@REQUEST.check("audience", Scope.HEAD, status=401)
def _audience(request: PushRequest) -> Result | None:
    return jwt.check_claim(request.jwt, "aud", request.auth.audience) if request.jwt and request.auth else None


@REQUEST.check("dates", Scope.DELIVERY, status=401, when=_is_proven)
def _dates(request: PushRequest) -> Result | None:
    return jwt.check_dates(request.jwt, request.clock()) if request.jwt else None


@REQUEST.check("replay", Scope.DELIVERY, status=401, when=_is_proven)
def _replay(request: PushRequest) -> Result | None:
    return jwt.check_replay(request.jwt, request.used) if request.jwt else None


@REQUEST.check("method", Scope.HEAD, status=405)
def _method(request: PushRequest) -> Result:
    method = request.head.method
    if request.echo:
        return Result(True, f"GET, the ownership challenge of A2A 0.1 ({_CHALLENGE})")
    return Result(method == "POST", f"{_quote(method)}{'' if method == 'POST' else ' is not POST'}")


@REQUEST.check("host", Scope.HEAD, status=421)
def _host(request: PushRequest) -> Result:
    values, address = request.head.values("host"), request.address
    if len(values) != 1:
        return Result(False, "Host came more than once" if values else "no Host came")
    host = values[0].lower()
    if host in address.hosts or _is_address(host, address.open_port):
        return Result(True, f"host {_quote(host)}")
    ours = " or ".join(sorted(address.hosts))
    return Result(False, f"Host is {_quote(host)}, not {ours} (DNS rebinding looks like this)")


@REQUEST.check("origin", Scope.HEAD, status=403)
def _origin(request: PushRequest) -> Result:
    values = request.head.values("origin")
    return Result(False, f"a browser sent this, Origin is {_quote(values[0])}") if values else Result(True, "no Origin")


@REQUEST.check("encoding", Scope.HEAD, status=415)
def _encoding(request: PushRequest) -> Result:
    values = request.head.values("content-encoding") + request.head.values("transfer-encoding")
    names = [name.strip().lower() for value in values for name in value.split(",")]
    odd = [name for name in names if name not in _PLAIN_ENCODINGS]
    if odd:
        return Result(False, f"the body is encoded ({_quote(', '.join(odd))}), which is not decoded here")
    return Result(True, "not encoded")


@REQUEST.check("content-type", Scope.HEAD)
def _content_type(request: PushRequest) -> Result | None:
    if request.echo:
        return None
    values = request.head.values("content-type")
    if not values:
        return Result(False, "no Content-Type came")
    good = values[0].partition(";")[0].strip().lower() in _JSON_TYPES
    return Result(good, f"{_quote(values[0])}{'' if good else ' is not JSON'}")


@BODY.check("size", Scope.DELIVERY)
def _size(body: PushBody) -> Result | None:
    """Check that the body is complete, unless it was cut because its head was refused."""
    read = body.read
    if body.request.echo and not read.data:
        return None
    if read.outcome is BodyOutcome.WHOLE:
        return Result(True, f"{len(read.data):,} bytes")
    return Result(None if body.refused and read.outcome is BodyOutcome.CUT else False, read.why)


@BODY.check("json", Scope.DELIVERY)
def _json(body: PushBody) -> Result | None:
    read = body.read
    if body.request.echo and not read.data:
        return None
    if read.outcome is not BodyOutcome.WHOLE:
        return Result(None, "the body did not come whole")
    return Result(False, f"the body: {read.value.why}") if isinstance(read.value, Unreadable) else _IS_JSON


@BODY.check("signature", Scope.DELIVERY, status=401, when=lambda body: _is_proven(body.request))
def _body_signature(body: PushBody) -> Result | None:
    """Verify the HMAC of a complete body with an accepted head."""
    request = body.request
    if body.refused or body.read.outcome is not BodyOutcome.WHOLE or request.registration is None:
        return None
    signed = request.auth is not None and request.auth.proof is Proof.HMAC
    return _verify_hmac(request.head, request.registration, body.read.data) if signed else None


@BODY.check("body-hash", Scope.DELIVERY, status=401, when=lambda body: _is_proven(body.request))
def _body_hash(body: PushBody) -> Result | None:
    token = body.request.jwt
    if body.refused or body.read.outcome is not BodyOutcome.WHOLE or token is None:
        return None
    return jwt.check_body_hash(token, body.read.data)


def _compare_token(head: RequestHead, registration: Registration) -> Result:
    right, wrong = [], []
    for place in _TOKEN_HEADERS:
        values = head.values(place.lower())
        if len(set(values)) > 1:
            wrong.append(f"{place} came {len(values)} times with differing values")
        elif values and same(values[0], registration.token):
            right.append(place)
        elif values:
            wrong.append(f"{place} does not carry the token of registration {registration.number}")
    if wrong:
        also = f", while {' and '.join(right)} did" if right else ""
        return Result(False, f"{', '.join(wrong)}{also}")
    if right:
        return Result(True, f"equal in {' and '.join(right)}")
    return Result(None, f"none came in {' or '.join(_TOKEN_HEADERS)}")


def _compare_authorization(head: RequestHead, registration: Registration) -> Result:
    """Compare Authorization, or the header of an API key, with the registered credentials."""
    auth, due = registration.auth, registration.credentials
    values = head.values("authorization")
    if auth.proof is Proof.TOKEN:
        return Result(None, "none was asked for" + (", one came" if values else ""))
    keys = [(name, value) for name in _KEY_HEADERS for value in head.values(name.lower())]
    if auth.proof is Proof.KEY and keys:
        name, value = keys[0]
        good = len({one for _, one in keys}) == 1 and same(value, due)
        return Result(good, f"the key is {'' if good else 'not '}equal in {name}")
    if not values:
        return Result(None, f"{auth.scheme} was asked for, none came")
    if len(set(values)) > 1:
        return Result(False, f"Authorization came {len(values)} times with differing values")
    scheme, _, credentials = values[0].partition(" ")
    return _compare_credentials(scheme, credentials.strip(), due, registration)


def _compare_credentials(scheme: str, credentials: str, due: str, registration: Registration) -> Result:
    asked = registration.auth.scheme
    if same(credentials, due):
        if scheme.lower() == asked.lower():
            return Result(True, f"{asked} with the credentials of registration {registration.number}")
        return Result(False, f"the scheme is {_quote(scheme)}, {asked} was asked for")
    if scheme.lower() == "bearer" and isinstance(jwt.read(credentials), jwt.Jwt):
        said = f"it is a JWT, where {asked} with given credentials was asked for: ask for a JWT, with a JWKS file"
        return Result(False, said)
    return Result(False, f"Authorization does not carry the credentials of registration {registration.number}")


def _read_bearer(head: RequestHead) -> tuple[Result, Jwt | None]:
    """Read the JWT in Authorization."""
    values = head.values("authorization")
    if not values:
        return Result(False, "a Bearer JWT was asked for, no Authorization came"), None
    if len(set(values)) > 1:
        return Result(False, f"Authorization came {len(values)} times with differing values"), None
    scheme, _, credentials = values[0].partition(" ")
    if scheme.lower() != "bearer":
        what = f"the scheme is {_quote(scheme)}" if credentials else "it has no scheme"  # alone it may be a secret
        return Result(False, f"{what}, Bearer was asked for"), None
    read = jwt.read(credentials.strip())
    if isinstance(read, str):
        return Result(False, f"Bearer, but {read}"), None
    return Result(True, "Bearer with a JWT"), read


def _signatures(head: RequestHead) -> list[tuple[str, str]]:
    """Return the signatures of the body, each with the name of its header."""
    found = [(name, value) for name in _SIGNATURE_HEADERS for value in head.values(name.lower())]
    for value in head.values("authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == HMAC_SCHEME.lower():
            found.append(("Authorization", credentials))
    return found


def _verify_hmac(head: RequestHead, registration: Registration, body: bytes) -> Result:
    """Verify every signature, in hexadecimal or in base64, with or without a prefix for the hash."""
    digest = hmac.new(registration.credentials.encode(), body, hashlib.sha256).digest()
    valid = (digest.hex(), digest.hex().upper(), b64encode(digest).decode())
    signatures = [(name, value.strip()) for name, value in _signatures(head)]
    bare = next((name for name, value in signatures if same(value, registration.credentials)), "")
    if bare:
        return Result(False, f"{bare} carries the secret itself, where a signature made with it is due")
    given = [(name, value.removeprefix("sha256=").removeprefix("v1=")) for name, value in signatures]
    wrong = [name for name, value in given if not any(same(value, one) for one in valid)]
    if wrong:
        return Result(False, f"{', '.join(wrong)} is not the HMAC-SHA256 of this body under the secret")
    return Result(True, f"HMAC-SHA256 of this body in {', '.join(name for name, _ in given)}")


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    # compare_digest does not accept text that is not ASCII.
    return hmac.compare_digest(one.encode("utf-8"), other.encode("utf-8"))


def _challenge(head: RequestHead) -> str:
    """Return the token that an ownership challenge of A2A 0.1 expects in the response, `""` for other requests."""
    if head.method != "GET":
        return ""
    pairs = (pair.partition("=") for pair in head.target.partition("?")[2].split("&"))
    value = unquote_plus(next((value for name, _, value in pairs if name == _CHALLENGE), ""))
    plain = value.isascii() and value.isprintable() and len(value) <= _LONGEST_CHALLENGE
    return value if plain else ""


def _is_address(host: str, port: int | None) -> bool:
    """Return whether a host is a literal IP address with the port: DNS rebinding needs a name."""
    name, _, digits = host.rpartition(":")
    if port is None or digits != str(port):
        return False
    try:
        ip_address(name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name)
    except ValueError:
        return False
    return True


def _quote(value: str) -> str:
    return value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"
