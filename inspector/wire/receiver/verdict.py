"""The verdict on a delivery: what is right and wrong about its head and its body, line by line; no I/O."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64encode
from collections.abc import Container
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote_plus

from inspector.protocol.model import Json, Unreadable
from inspector.wire.receiver import jwt
from inspector.wire.receiver.check import Check
from inspector.wire.receiver.delivery import Intake, Outcome, RequestHead
from inspector.wire.receiver.listen_address import Place
from inspector.wire.receiver.registration import HMAC_SCHEME, Proof, Registration

_TOKEN_HEADERS = ("X-A2A-Notification-Token", "X-OPVS-Notification-Token")
"""Where the token header of a generation is (protocol 1.7): until 1.0.0, and in OPVS."""
_KEY_HEADERS = ("X-API-Key", "Api-Key")
_SIGNATURE_HEADERS = (
    "X-A2A-Signature-256",
    "X-A2A-Signature",
    "X-Hub-Signature-256",
    "X-Signature-256",
    "X-Signature",
    "X-Webhook-Signature",
)
"""Where senders put the HMAC of a body; no generation names a header for it."""

_JSON_TYPES = frozenset({"application/json", "application/a2a+json"})
_PLAIN_ENCODINGS = frozenset({"", "identity", "chunked"})
_QUOTED = 100
"""How many characters of a header a sentence quotes."""
_LONGEST_CHALLENGE = 1024
_CHALLENGE = "validationToken"
_PROOFS = ("token", "authorization", "signature")
_IS_JSON = Check("json", True, "JSON")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a head allows to say: the checks, and the JWT that came where one was asked for.

    `echo` is what an ownership challenge wants to see again, `""` for a delivery.
    """

    checks: tuple[Check, ...]
    jwt: jwt.Jwt | None = field(default=None, repr=False)
    echo: str = field(default="", repr=False)


def examine(
    head: RequestHead,
    registration: Registration | None,
    place: Place,
    *,
    now: float | None = None,
    used: Container[str] = frozenset(),
) -> Verdict:
    """Check what a head allows; `used` has the identities of JWTs that were accepted before."""
    echo = _challenge(head)
    found, read = (_not_asked(), None) if echo else _authenticate(head, registration, now or time.time(), used)
    return Verdict(
        (
            _check_path(registration),
            *found,
            _check_method(head, echo),
            _check_host(head, place),
            _check_origin(head),
            _check_encoding(head),
            *(() if echo else (_check_type(head),)),
        ),
        read,
        echo,
    )


_REFUSALS = {
    "host": 421,
    "origin": 403,
    "path": 404,
    "method": 405,
    "encoding": 415,
    **dict.fromkeys(("token", "authorization", "signature", "issuer", "audience", "dates", "replay", "body-hash"), 401),
}
"""The checks that refuse a delivery, in the order in which they speak, with the status of each."""


def refusal(checks: tuple[Check, ...]) -> tuple[int, str]:
    """Return the status and the words that the checks refuse with, or `(204, "")`."""
    bad = {check.name: check.said for check in checks if check.good is False}
    return next(((status, bad[name]) for name, status in _REFUSALS.items() if name in bad), (204, ""))


def weigh(intake: Intake, refused: bool, *, challenge: bool = False) -> tuple[Check, ...]:
    """Return the checks of size and JSON; a body that is cut because its head was refused is not to blame for it."""
    if challenge and not intake.data:
        return ()
    if intake.outcome is Outcome.WHOLE:
        return Check("size", True, f"{len(intake.data):,} bytes"), _check_json(intake.value)
    size = Check("size", None if refused and intake.outcome is Outcome.CUT else False, intake.why)
    return size, Check("json", None, "the body did not come whole")


def prove(head: RequestHead, registration: Registration | None, verdict: Verdict, body: bytes) -> tuple[Check, ...]:
    """Return the checks that need the whole body: the HMAC of it, and the hash that a JWT claims for it."""
    if registration is None:
        return ()
    if registration.demand.proof is Proof.HMAC:
        return (_check_hmac(head, registration, body),)
    return (jwt.judge_body(verdict.jwt, body),) if verdict.jwt is not None else ()


def _not_asked() -> tuple[Check, ...]:
    return (Check("token", None, "a challenge carries none"),)


def _authenticate(
    head: RequestHead, registration: Registration | None, now: float, used: Container[str]
) -> tuple[tuple[Check, ...], jwt.Jwt | None]:
    """Check token, Authorization and what comes with it; one proof has to be there, and none may be wrong."""
    if registration is None:
        return (Check("token", None, "no registration, no token to compare"),), None
    token = _check_token(head, registration)
    demand = registration.demand
    read: jwt.Jwt | str | None = None
    signed: tuple[Check, ...] = ()
    if demand.proof is Proof.JWT:
        authorization, read = _check_bearer(head)
        if isinstance(read, jwt.Jwt):
            signed = jwt.judge(read, demand, now, used)
    elif demand.proof is Proof.HMAC:
        came = bool(_signatures(head))
        authorization = Check("authorization", None, "the body is signed instead")
        signed = () if came else (Check("signature", False, f"no signature came in {', '.join(_SIGNATURE_HEADERS)}"),)
    else:
        authorization = _check_authorization(head, registration)
    checks = (token, authorization, *signed)
    proven = demand.proof is Proof.HMAC or any(one.good is not None for one in checks if one.name in _PROOFS)
    if not proven:
        places = (*_TOKEN_HEADERS, "Authorization") if demand.proof is not Proof.TOKEN else _TOKEN_HEADERS
        token = Check("token", False, f"no token came in {', '.join(places)}")
    return (token, *checks[1:]), read if isinstance(read, jwt.Jwt) else None


def _check_token(head: RequestHead, registration: Registration) -> Check:
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
        return Check("token", False, f"{', '.join(wrong)}{also}")
    if right:
        return Check("token", True, f"equal in {' and '.join(right)}")
    return Check("token", None, f"none came in {' or '.join(_TOKEN_HEADERS)}")


def _check_authorization(head: RequestHead, registration: Registration) -> Check:
    """Compare what Authorization, or the header of an API key, carries with what the agent was told."""
    demand, due = registration.demand, registration.credentials
    values = head.values("authorization")
    if demand.proof is Proof.TOKEN:
        return Check("authorization", None, "none was asked for" + (", one came" if values else ""))
    keys = [(name, value) for name in _KEY_HEADERS for value in head.values(name.lower())]
    if demand.proof is Proof.KEY and keys:
        name, value = keys[0]
        good = len({one for _, one in keys}) == 1 and same(value, due)
        return Check("authorization", good, f"the key is {'' if good else 'not '}equal in {name}")
    if not values:
        return Check("authorization", None, f"{demand.scheme} was asked for, none came")
    if len(set(values)) > 1:
        return Check("authorization", False, f"Authorization came {len(values)} times with differing values")
    scheme, _, credentials = values[0].partition(" ")
    return _compare(scheme, credentials.strip(), due, registration)


def _compare(scheme: str, credentials: str, due: str, registration: Registration) -> Check:
    asked = registration.demand.scheme
    if same(credentials, due):
        if scheme.lower() == asked.lower():
            return Check("authorization", True, f"{asked} with the credentials of registration {registration.number}")
        return Check("authorization", False, f"the scheme is {_quote(scheme)}, {asked} was asked for")
    if scheme.lower() == "bearer" and isinstance(jwt.read(credentials), jwt.Jwt):
        said = f"it is a JWT, where {asked} with given credentials was asked for: ask for a JWT, with a JWKS file"
        return Check("authorization", False, said)
    said = f"Authorization does not carry the credentials of registration {registration.number}"
    return Check("authorization", False, said)


def _check_bearer(head: RequestHead) -> tuple[Check, jwt.Jwt | str | None]:
    """Take the JWT out of Authorization; the rest of the verdict is about it."""
    values = head.values("authorization")
    if not values:
        return Check("authorization", False, "a Bearer JWT was asked for, no Authorization came"), None
    if len(set(values)) > 1:
        return Check("authorization", False, f"Authorization came {len(values)} times with differing values"), None
    scheme, _, credentials = values[0].partition(" ")
    if scheme.lower() != "bearer":
        what = f"the scheme is {_quote(scheme)}" if credentials else "it has no scheme"  # alone it may be a secret
        return Check("authorization", False, f"{what}, Bearer was asked for"), None
    read = jwt.read(credentials.strip())
    if isinstance(read, str):
        return Check("authorization", False, f"Bearer, but {read}"), read
    return Check("authorization", True, "Bearer with a JWT"), read


def _signatures(head: RequestHead) -> list[tuple[str, str]]:
    """Return the signatures of a body that came, each with its header."""
    found = [(name, value) for name in _SIGNATURE_HEADERS for value in head.values(name.lower())]
    for value in head.values("authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == HMAC_SCHEME.lower():
            found.append(("Authorization", credentials))
    return found


def _check_hmac(head: RequestHead, registration: Registration, body: bytes) -> Check:
    """Verify every signature that came, in hexadecimal or in base64, with or without the name of the hash before it."""
    digest = hmac.new(registration.credentials.encode(), body, hashlib.sha256).digest()
    good = (digest.hex(), b64encode(digest).decode())
    right: list[str] = []
    wrong: list[str] = []
    bare = next((name for name, value in _signatures(head) if same(value.strip(), registration.credentials)), "")
    if bare:
        return Check("signature", False, f"{bare} carries the secret itself, where a signature made with it is due")
    for name, value in _signatures(head):
        given = value.strip().removeprefix("sha256=").removeprefix("v1=")
        fits = any(same(given, one) for one in (*good, good[0].upper()))
        (right if fits else wrong).append(name)
    if wrong:
        return Check("signature", False, f"{', '.join(wrong)} is not the HMAC-SHA256 of this body under the secret")
    return Check("signature", True, f"HMAC-SHA256 of this body in {', '.join(right)}")


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    # Bytes, because compare_digest refuses text that is not ASCII, and the sender may send just that.
    return hmac.compare_digest(one.encode("utf-8"), other.encode("utf-8"))


def _challenge(head: RequestHead) -> str:
    """Return what an ownership challenge of A2A 0.1 wants to see again, `""` where this is none."""
    if head.method != "GET":
        return ""
    query = head.target.partition("?")[2]
    value = next(
        (value for name, _, value in (one.partition("=") for one in query.split("&")) if name == _CHALLENGE), ""
    )
    value = unquote_plus(value)
    plain = value.isascii() and value.isprintable() and len(value) <= _LONGEST_CHALLENGE
    return value if plain else ""


def _check_path(registration: Registration | None) -> Check:
    if registration is None:
        return Check("path", False, "no registration has this path")
    return Check("path", True, f"registration {registration.number}")


def _check_method(head: RequestHead, echo: str) -> Check:
    if echo:
        return Check("method", True, f"GET, the ownership challenge of A2A 0.1 ({_CHALLENGE})")
    return Check(
        "method", head.method == "POST", f"{_quote(head.method)}{'' if head.method == 'POST' else ' is not POST'}"
    )


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


def _check_json(value: Json | Unreadable) -> Check:
    return Check("json", False, f"the body: {value.why}") if isinstance(value, Unreadable) else _IS_JSON


def _quote(value: str) -> str:
    return value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…"
