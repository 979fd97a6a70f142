"""The JWT of a delivery: taken apart, its signature verified, its claims judged one by one (RFC 7519, RFC 7515)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from inspector.findings.signatures.keyset import ALGORITHMS, KeySet, base64url
from inspector.protocol.jsonvalue import brief, parse
from inspector.protocol.model import Json
from inspector.wire.receiver.check import Check
from inspector.wire.receiver.registration import Demand

LEEWAY = 60.0
"""By how many seconds two clocks may differ."""
_FRESH = 300.0
"""How old a JWT without an end may be, in seconds: what the 0.1 library allows."""
_LATEST = 1e12
"""Dates beyond this are no dates: they are thirty thousand years away."""
_BODY_HASH = "request_body_sha256"
"""The claim of A2A 0.1 that binds a JWT to its body."""


@dataclass(frozen=True, slots=True)
class Jwt:
    """A JWT taken apart; `signed` is what the signature is over."""

    header: Mapping[str, Json]
    claims: Mapping[str, Json]
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    @property
    def identity(self) -> str:
        """Return what tells this JWT from every other: its issuer and `jti`, or a digest of it where it has none."""
        jti = self.claims.get("jti")
        if isinstance(jti, str):
            return f"jti {self.claims.get('iss')} {jti}"
        return f"sha256 {hashlib.sha256(self.signed).hexdigest()}"


def read(text: str) -> Jwt | str:
    """Take a JWT in compact form apart, or say why it is none."""
    pieces = text.split(".")
    if len(pieces) != 3:
        return "it is no JWT: three pieces with dots between are due"
    raw = [base64url(piece) for piece in pieces]
    header, claims = (parse(piece) if piece else None for piece in raw[:2])
    if not isinstance(header, dict) or not isinstance(claims, dict) or raw[2] is None:
        return "it is no JWT: its header or its claims are no JSON object in base64url"
    return Jwt(header, claims, ".".join(pieces[:2]).encode(), raw[2])


def judge(jwt: Jwt, demand: Demand, now: float, used: Container[str]) -> tuple[Check, ...]:
    """Judge everything about a JWT but its body; `used` has the identities of those that were accepted before."""
    return (
        _signature(jwt, demand.keys),
        _issuer(jwt, demand.issuer),
        _audience(jwt, demand.audience),
        _dates(jwt, now),
        _replay(jwt, used),
    )


def judge_body(jwt: Jwt, body: bytes) -> Check:
    """Compare the hash that a JWT claims for its body with that of the body."""
    claimed = jwt.claims.get(_BODY_HASH)
    if claimed is None:
        return Check("body-hash", None, f"no {_BODY_HASH} in the JWT, so it would do for any body")
    if isinstance(claimed, str) and _equal(claimed.lower(), hashlib.sha256(body).hexdigest()):
        return Check("body-hash", True, "the JWT was made for this body")
    return Check("body-hash", False, f"{_BODY_HASH} is not the hash of this body")


def _signature(jwt: Jwt, keys: KeySet) -> Check:
    """Verify with every key that may be meant; one that fits is enough."""
    name, kid = jwt.header.get("alg"), jwt.header.get("kid")
    if not isinstance(name, str) or name not in ALGORITHMS:
        return Check("signature", False, f"alg {brief(name)} is not accepted: it has no public key")
    if "crit" in jwt.header:
        return Check("signature", False, "it demands extensions (crit) that are not known here")
    if not keys.keys:
        return Check("signature", False, "there is no key to verify it with: give a JWKS file")
    tried: list[str] = []
    for key in keys.named(kid if isinstance(kid, str) else ""):
        why = key.why_not(name)
        if not why and key.verifies(name, jwt.signed, jwt.signature):
            return Check("signature", True, f"{name}, by {key.name}")
        tried.append(why or f"it is not by {key.name}")
    return Check("signature", False, "; ".join(tried) or f"no key of the set is called {brief(kid)}")


def _issuer(jwt: Jwt, due: str) -> Check:
    issuer = jwt.claims.get("iss")
    if not due:
        return Check("issuer", None, f"iss {brief(issuer)}, none was asked for" if issuer else "none was asked for")
    return Check("issuer", issuer == due, f"iss {brief(issuer)}" + ("" if issuer == due else f", {brief(due)} is due"))


def _audience(jwt: Jwt, due: str) -> Check:
    audience = jwt.claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if not due:
        return Check(
            "audience", None, f"aud {brief(audience)}, none was asked for" if audience else "none was asked for"
        )
    good = due in named
    return Check("audience", good, f"aud {brief(audience)}" + ("" if good else f", {brief(due)} is due"))


def _dates(jwt: Jwt, now: float) -> Check:
    dates = {name: jwt.claims.get(name) for name in ("exp", "nbf", "iat")}
    odd = [name for name, value in dates.items() if value is not None and not _is_number(value)]
    if odd:
        return Check("dates", False, f"{odd[0]} is {brief(dates[odd[0]])}, no number of seconds")
    ends, starts, made = dates.values()
    if ends is not None and now > ends + LEEWAY:
        return Check("dates", False, f"it ended {now - ends:,.0f} s ago (exp)")
    for name, date in (("nbf", starts), ("iat", made)):
        if date is not None and date > now + LEEWAY:
            return Check("dates", False, f"it begins in {date - now:,.0f} s ({name}): do the clocks agree?")
    if ends is not None:
        return Check("dates", True, f"ends in {ends - now:,.0f} s (exp)")
    if made is None:
        return Check("dates", False, "neither exp nor iat: a copy of it would be good for ever")
    age = now - made
    return Check("dates", age <= _FRESH, f"made {max(age, 0):,.0f} s ago (iat){_too_old(age)}")


def _too_old(age: float) -> str:
    return f", at most {_FRESH:,.0f} s without an exp" if age > _FRESH else ""


def _replay(jwt: Jwt, used: Container[str]) -> Check:
    how = "jti" if isinstance(jwt.claims.get("jti"), str) else "JWT"
    if jwt.identity in used:
        return Check("replay", False, f"this {how} was accepted before")
    return Check("replay", True, f"this {how} is new")


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
