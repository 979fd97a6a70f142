"""The checks that the receiver runs on the head and the body of a delivery, without I/O."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64encode
from collections.abc import Callable, Container
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote_plus

from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import Unreadable
from inspector.wire.receiver import jwt
from inspector.wire.receiver.checks import CheckResult, KnownResults, Report, Scope, Stage
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, RequestHead
from inspector.wire.receiver.jwt import Jwt
from inspector.wire.receiver.listen_address import ListenAddress
from inspector.wire.receiver.registration import HMAC_SCHEME, Proof, Registration

_TOKEN_HEADERS = ("X-A2A-Notification-Token", "X-OPVS-Notification-Token")
"""The headers that contain the token: that of A2A, and that of OPVS (A2A 1.0 under another name)."""
_KEY_HEADERS = ("X-API-Key", "Api-Key")
_SIGNATURE_HEADERS = (
    "X-A2A-Signature-256",
    "X-A2A-Signature",
    "X-Hub-Signature-256",
    "X-Signature-256",
    "X-Signature",
    "X-Webhook-Signature",
)
"""Headers in which senders put the HMAC of a body; A2A does not define a name."""

_JSON_TYPES = frozenset({"application/json", "application/a2a+json"})
_PLAIN_ENCODINGS = frozenset({"", "identity", "chunked"})
_QUOTED = 100
"""The longest quotation of a header, in characters."""
_LONGEST_CHALLENGE = 1024
_CHALLENGE = "validationToken"
_IS_JSON = CheckResult(True, "JSON")

_PER_DELIVERY = (Proof.JWT, Proof.HMAC)
"""Proofs that differ in each delivery, so that the results for its head are not kept."""


class PushRequest:
    """The head of a request, and the results of the checks that depend on the head only.

    - `used`: the identities of the JWTs that were accepted before.
    - `echo`: the token of an ownership challenge, which is the body of the response; `""` for a delivery.
    - `auth`: the required authentication, None for a challenge and for an unknown path.
    - `jwt`, `bearer`: the JWT if one is required, and the result of reading it.
    - `declared`: the Content-Length, 0 without one.
    - `repeatable`: whether other deliveries may have the same head.
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
        no_jwt: tuple[CheckResult | None, Jwt | None] = None, None
        self.bearer, self.jwt = _read_bearer(head) if signed else no_jwt
        self.repeatable = registration is not None and registration.auth.proof not in _PER_DELIVERY
        self.declared = int(next(iter(head.values("content-length")), "0"))
        self.expects_continue = "100-continue" in (value.lower() for value in head.values("expect"))


class PushBody(NamedTuple):
    """A request with the part of its body that was read; `refused` is True if the head was rejected."""

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
def _path(request: PushRequest) -> CheckResult:
    if request.registration is None:
        return CheckResult(False, "no registration has this path")
    return CheckResult(True, f"registration {request.registration.number}")


@REQUEST.check("token", Scope.HEAD, status=401)
def _token(request: PushRequest) -> CheckResult:
    """Compare the token; reject a delivery without it if it is required, or if there is no Authorization, either."""
    if request.echo:
        return CheckResult(None, "not required for an ownership challenge")
    registration = request.registration
    if registration is None:
        return CheckResult(None, "not checked: no registration has this path")
    result, auth = _compare_token(request.head, registration), registration.auth
    if result.good is not None or (auth.proof in _PER_DELIVERY and not auth.with_token):
        return result
    is_only_proof = auth.with_token or auth.proof is Proof.TOKEN
    if is_only_proof or _compare_authorization(request.head, registration).good is None:
        places = _TOKEN_HEADERS if is_only_proof else (*_TOKEN_HEADERS, "Authorization")
        return CheckResult(False, f"no token received; expected in {', '.join(places)}")
    return result


@REQUEST.check("authorization", Scope.HEAD, status=401)
def _authorization(request: PushRequest) -> CheckResult | None:
    if request.registration is None or request.auth is None:
        return None
    match request.auth.proof:
        case Proof.JWT:
            return request.bearer
        case Proof.HMAC:
            return CheckResult(None, "not required: the body is signed")
        case _:
            result = _compare_authorization(request.head, request.registration)
            return result._replace(good=False) if result.good is None and request.auth.with_token else result


def _has_delivery_proof(request: PushRequest) -> bool:
    return request.auth is not None and request.auth.proof in _PER_DELIVERY


@REQUEST.check("signature", Scope.DELIVERY, status=401, when=_has_delivery_proof)
def _signature(request: PushRequest) -> CheckResult | None:
    """Verify the signature of a JWT; for HMAC, check that a signature was sent."""
    if request.auth is None:
        return None
    if request.auth.proof is Proof.HMAC and not _signatures(request.head):
        return CheckResult(False, f"no signature received; expected in {', '.join(_SIGNATURE_HEADERS)}")
    return jwt.check_signature(request.jwt, request.auth.keys) if request.jwt else None


@REQUEST.check("issuer", Scope.HEAD, status=401)
def _issuer(request: PushRequest) -> CheckResult | None:
    return jwt.check_claim(request.jwt, "iss", request.auth.issuer) if request.jwt and request.auth else None


@REQUEST.check("audience", Scope.HEAD, status=401)
def _audience(request: PushRequest) -> CheckResult | None:
    return jwt.check_claim(request.jwt, "aud", request.auth.audience) if request.jwt and request.auth else None


@REQUEST.check("dates", Scope.DELIVERY, status=401, when=_has_delivery_proof)
def _dates(request: PushRequest) -> CheckResult | None:
    return jwt.check_dates(request.jwt, request.clock()) if request.jwt else None


@REQUEST.check("method", Scope.HEAD, status=405)
def _method(request: PushRequest) -> CheckResult:
    method = request.head.method
    if request.echo:
        return CheckResult(True, f"GET, the ownership challenge of A2A 0.1 ({_CHALLENGE})")
    return CheckResult(method == "POST", f"{_quote(method)}{'' if method == 'POST' else ', expected POST'}")


@REQUEST.check("host", Scope.HEAD, status=421)
def _host(request: PushRequest) -> CheckResult:
    values, address = request.head.values("host"), request.address
    if len(values) != 1:
        return CheckResult(False, "Host was sent more than once" if values else "no Host received")
    host = values[0].lower()
    if host in address.hosts or _is_address(host, address.open_ports):
        return CheckResult(True, _quote(host))
    expected = " or ".join(sorted(address.hosts))
    return CheckResult(False, f"Host is {_quote(host)}, expected {expected} (possible DNS rebinding)")


@REQUEST.check("origin", Scope.HEAD, status=403)
def _origin(request: PushRequest) -> CheckResult:
    values = request.head.values("origin")
    return (
        CheckResult(False, f"sent by a browser: Origin is {_quote(values[0])}")
        if values
        else CheckResult(True, "no Origin")
    )


@REQUEST.check("encoding", Scope.HEAD, status=415)
def _encoding(request: PushRequest) -> CheckResult:
    values = request.head.values("content-encoding") + request.head.values("transfer-encoding")
    names = [name.strip().lower() for value in values for name in value.split(",")]
    odd = [name for name in names if name not in _PLAIN_ENCODINGS]
    if odd:
        return CheckResult(False, f"encodings are not supported: {_quote(', '.join(odd))}")
    return CheckResult(True, "not encoded")


@REQUEST.check("content-type", Scope.HEAD)
def _content_type(request: PushRequest) -> CheckResult | None:
    if request.echo:
        return None
    values = request.head.values("content-type")
    if not values:
        return CheckResult(False, "no Content-Type received")
    good = without_parameters(values[0]) in _JSON_TYPES
    return CheckResult(good, f"{_quote(values[0])}{'' if good else ', expected application/json'}")


@BODY.check("size", Scope.DELIVERY)
def _size(body: PushBody) -> CheckResult | None:
    """Check that the body is complete, unless it was not read because its head was rejected."""
    read = body.read
    if body.request.echo and not read.data:
        return None
    if read.outcome is BodyOutcome.WHOLE:
        return CheckResult(True, f"{len(read.data):,} bytes")
    return CheckResult(None if body.refused and read.outcome is BodyOutcome.CUT else False, read.why)


@BODY.check("json", Scope.DELIVERY)
def _json(body: PushBody) -> CheckResult | None:
    read = body.read
    if body.request.echo and not read.data:
        return None
    if read.outcome is not BodyOutcome.WHOLE:
        return CheckResult(None, "not checked: the body is incomplete")
    return CheckResult(False, read.value.why) if isinstance(read.value, Unreadable) else _IS_JSON


@BODY.check("signature", Scope.DELIVERY, status=401, when=lambda body: _has_delivery_proof(body.request))
def _body_signature(body: PushBody) -> CheckResult | None:
    """Verify the HMAC of a complete body whose head was accepted."""
    request = body.request
    if body.refused or body.read.outcome is not BodyOutcome.WHOLE or request.registration is None:
        return None
    signed = request.auth is not None and request.auth.proof is Proof.HMAC
    return _verify_hmac(request.head, request.registration, body.read.data) if signed else None


@BODY.check("replay", Scope.DELIVERY, status=401, when=lambda body: _has_delivery_proof(body.request))
def _replay(body: PushBody) -> CheckResult | None:
    """Check that a JWT is new, after the body was read: a copy of it may have been accepted meanwhile."""
    request = body.request
    return jwt.check_replay(request.jwt, request.used) if request.jwt else None


@BODY.check("body-hash", Scope.DELIVERY, status=401, when=lambda body: _has_delivery_proof(body.request))
def _body_hash(body: PushBody) -> CheckResult | None:
    token = body.request.jwt
    if body.refused or body.read.outcome is not BodyOutcome.WHOLE or token is None:
        return None
    return jwt.check_body_hash(token, body.read.data)


def _compare_token(head: RequestHead, registration: Registration) -> CheckResult:
    right, wrong = [], []
    for header in _TOKEN_HEADERS:
        values = head.values(header.lower())
        if len(set(values)) > 1:
            wrong.append(f"{header} was sent {len(values)} times with different values")
        elif values and same(values[0], registration.token):
            right.append(header)
        elif values:
            wrong.append(f"{header} does not match the token of registration {registration.number}")
    if wrong:
        also = f", but {' and '.join(right)} matches" if right else ""
        return CheckResult(False, f"{', '.join(wrong)}{also}")
    if right:
        return CheckResult(True, f"matches ({' and '.join(right)})")
    return CheckResult(None, f"none received in {' or '.join(_TOKEN_HEADERS)}")


def _compare_authorization(head: RequestHead, registration: Registration) -> CheckResult:
    """Compare Authorization, or the header with an API key, with the registered credentials."""
    auth, expected = registration.auth, registration.credentials
    values = head.values("authorization")
    if auth.proof is Proof.TOKEN:
        return CheckResult(None, "not required" + (", but received" if values else ""))
    keys = [(name, value) for name in _KEY_HEADERS for value in head.values(name.lower())]
    if auth.proof is Proof.KEY and keys:
        name, value = keys[0]
        good = len({key for _, key in keys}) == 1 and same(value, expected)
        return CheckResult(good, f"the key in {name} {'matches' if good else 'does not match'}")
    if not values:
        return CheckResult(None, f"expected {auth.scheme}, received none")
    if len(set(values)) > 1:
        return CheckResult(False, f"Authorization was sent {len(values)} times with different values")
    if same(values[0], expected):
        known = f"the credentials of registration {registration.number}"
        return CheckResult(False, f"Authorization has {known} without the scheme {auth.scheme}")
    scheme, _, credentials = values[0].partition(" ")
    return _compare_credentials(scheme, credentials.strip(), expected, registration)


def _compare_credentials(scheme: str, credentials: str, expected: str, registration: Registration) -> CheckResult:
    expected_scheme = registration.auth.scheme
    if same(credentials, expected):
        if scheme.lower() == expected_scheme.lower():
            return CheckResult(True, f"{expected_scheme} matches the credentials of registration {registration.number}")
        return CheckResult(False, f"expected the scheme {expected_scheme}, received {_quote(scheme)}")
    if scheme.lower() == "bearer" and isinstance(jwt.read(credentials), jwt.Jwt):
        hint = "to verify JWTs, register the webhook with a JWKS"
        return CheckResult(False, f"expected {expected_scheme} with the registered credentials, received a JWT; {hint}")
    return CheckResult(False, f"Authorization does not match the credentials of registration {registration.number}")


def _read_bearer(head: RequestHead) -> tuple[CheckResult, Jwt | None]:
    """Read the JWT in Authorization."""
    values = head.values("authorization")
    if not values:
        return CheckResult(False, "expected a Bearer JWT, received no Authorization"), None
    if len(set(values)) > 1:
        return CheckResult(False, f"Authorization was sent {len(values)} times with different values"), None
    scheme, _, credentials = values[0].partition(" ")
    if scheme.lower() != "bearer":
        # A value without a scheme is not quoted, because it may be a secret.
        received = f"received {_quote(scheme)}" if credentials else "the value has no scheme"
        return CheckResult(False, f"expected the scheme Bearer, {received}"), None
    read = jwt.read(credentials.strip())
    if isinstance(read, str):
        return CheckResult(False, f"Bearer received, but the value is {read}"), None
    return CheckResult(True, "Bearer with a JWT"), read


def _signatures(head: RequestHead) -> list[tuple[str, str]]:
    """Return the name of the header and the value of each signature of the body."""
    found = [(name, value) for name in _SIGNATURE_HEADERS for value in head.values(name.lower())]
    for value in head.values("authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == HMAC_SCHEME.lower():
            found.append(("Authorization", credentials))
    return found


def _verify_hmac(head: RequestHead, registration: Registration, body: bytes) -> CheckResult:
    """Verify every signature: hexadecimal or base64, with or without a prefix such as `sha256=`."""
    digest = hmac.new(registration.credentials.encode(), body, hashlib.sha256).digest()
    valid = (digest.hex(), digest.hex().upper(), b64encode(digest).decode())
    signatures = [(name, value.strip()) for name, value in _signatures(head)]
    bare = next((name for name, value in signatures if same(value, registration.credentials)), "")
    if bare:
        return CheckResult(False, f"{bare} contains the secret itself, expected a signature made with the secret")
    stripped = [(name, value.removeprefix("sha256=").removeprefix("v1=")) for name, value in signatures]
    wrong = [name for name, value in stripped if not any(same(value, signature) for signature in valid)]
    if wrong:
        return CheckResult(False, f"{', '.join(wrong)} is not the HMAC-SHA256 of this body with the registered secret")
    return CheckResult(True, f"HMAC-SHA256 of the body matches ({', '.join(name for name, _ in stripped)})")


def same(secret: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    # compare_digest does not accept text that is not ASCII.
    return hmac.compare_digest(secret.encode("utf-8"), other.encode("utf-8"))


def _challenge(head: RequestHead) -> str:
    """Return the token of an ownership challenge (A2A 0.1), `""` for other requests; the response repeats it."""
    if head.method != "GET":
        return ""
    pairs = (pair.partition("=") for pair in head.target.partition("?")[2].split("&"))
    value = unquote_plus(next((value for name, _, value in pairs if name == _CHALLENGE), ""))
    plain = value.isascii() and value.isprintable() and len(value) <= _LONGEST_CHALLENGE
    return value if plain else ""


def _is_address(host: str, ports: tuple[str, ...]) -> bool:
    """Return whether a host is an IP address with one of these ports, which DNS rebinding cannot use."""
    port = next((port for port in ports if host.endswith(port)), None)
    if port is None:
        return False
    name = host.removesuffix(port)
    try:
        ip_address(name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name)
    except ValueError:
        return False
    return True


def _quote(value: str) -> str:
    return value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"
