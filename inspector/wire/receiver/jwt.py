"""The JWT of a delivery: parse it, verify its signature and check each of its claims (RFC 7519, RFC 7515)."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from inspector.findings.signatures.keyset import ALGORITHMS, KeySet, base64url
from inspector.protocol.jsonvalue import brief, parse
from inspector.protocol.model import Json
from inspector.wire.receiver.checks import Result

LEEWAY = 60.0
"""By how many seconds two clocks may differ."""
_FRESH = 300.0
"""How old a JWT without `exp` may be, in seconds, as in the 0.1 library."""
_LATEST = 1e12
"""Numbers beyond this are not dates: they are thirty thousand years away."""
_BODY_HASH = "request_body_sha256"
"""The claim of A2A 0.1 that binds a JWT to its body."""


@dataclass(frozen=True, slots=True)
class Jwt:
    """A parsed JWT; `signed` is the part that the signature covers."""

    header: Mapping[str, Json]
    claims: Mapping[str, Json]
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    @property
    def identity(self) -> str:
        """Return a unique key of this JWT: its issuer and `jti`, or a digest if it has no `jti`."""
        jti = self.claims.get("jti")
        if isinstance(jti, str):
            return f"jti {self.claims.get('iss')} {jti}"
        return f"sha256 {hashlib.sha256(self.signed).hexdigest()}"


def read(text: str) -> Jwt | str:
    """Parse a JWT in compact form, or return why the text is not one."""
    pieces = text.split(".")
    if len(pieces) != 3:
        return "it is no JWT: three pieces with dots between are due"
    raw = [base64url(piece) for piece in pieces]
    header, claims = (parse(piece) if piece else None for piece in raw[:2])
    if not isinstance(header, dict) or not isinstance(claims, dict) or raw[2] is None:
        return "it is no JWT: its header or its claims are no JSON object in base64url"
    return Jwt(header, claims, ".".join(pieces[:2]).encode(), raw[2])


def check_body_hash(jwt: Jwt, body: bytes) -> Result:
    """Compare the body hash that the JWT claims with the hash of the body."""
    claimed = jwt.claims.get(_BODY_HASH)
    if claimed is None:
        return Result(None, f"no {_BODY_HASH} in the JWT, so it would do for any body")
    if isinstance(claimed, str) and claimed.lower() == hashlib.sha256(body).hexdigest():
        return Result(True, "the JWT was made for this body")
    return Result(False, f"{_BODY_HASH} is not the hash of this body")


def check_signature(jwt: Jwt, keys: KeySet) -> Result:
    """Verify the signature with every key that the header may refer to; one match is enough."""
    name, kid = jwt.header.get("alg"), jwt.header.get("kid")
    if not isinstance(name, str) or name not in ALGORITHMS:
        return Result(False, f"alg {brief(name)} is not accepted: it has no public key")
    if "crit" in jwt.header:
        return Result(False, "it demands extensions (crit) that are not known here")
    if not keys.keys:
        return Result(False, "there is no key to verify it with: give a JWKS file")
    tried: list[str] = []
    for key in keys.named(kid if isinstance(kid, str) else ""):
        why = key.why_not(name)
        if not why and key.verifies(name, jwt.signed, jwt.signature):
            return Result(True, f"{name}, by {key.name}")
        tried.append(why or f"it is not by {key.name}")
    return Result(False, "; ".join(tried) or f"no key of the set is called {brief(kid)}")


def check_claim(jwt: Jwt, name: str, expected: str) -> Result:
    """Compare `iss` or `aud`, which may be a list, with the required value, `""` for any."""
    claim = jwt.claims.get(name)
    if not expected:
        return Result(None, f"{name} {brief(claim)}, none was asked for" if claim else "none was asked for")
    good = expected in (claim if name == "aud" and isinstance(claim, list) else [claim])
    return Result(good, f"{name} {brief(claim)}" + ("" if good else f", {brief(expected)} is due"))


def check_dates(jwt: Jwt, now: float) -> Result:
    """Check `exp`, `nbf` and `iat` against the clock."""
    dates = {name: jwt.claims.get(name) for name in ("exp", "nbf", "iat")}
    odd = [name for name, value in dates.items() if value is not None and not _is_number(value)]
    if odd:
        return Result(False, f"{odd[0]} is {brief(dates[odd[0]])}, no number of seconds")
    ends, starts, made = dates.values()
    if ends is not None and now > ends + LEEWAY:
        return Result(False, f"it ended {now - ends:,.0f} s ago (exp)")
    for name, date in (("nbf", starts), ("iat", made)):
        if date is not None and date > now + LEEWAY:
            return Result(False, f"it begins in {date - now:,.0f} s ({name}): do the clocks agree?")
    if ends is not None:
        return Result(True, f"ends in {ends - now:,.0f} s (exp)")
    if made is None:
        return Result(False, "neither exp nor iat: a copy of it would be good for ever")
    age = now - made
    limit = f", at most {_FRESH:,.0f} s without an exp" if age > _FRESH else ""
    return Result(age <= _FRESH, f"made {max(age, 0):,.0f} s ago (iat){limit}")


def check_replay(jwt: Jwt, used: Container[str]) -> Result:
    """Check that the JWT is not among those that were accepted before."""
    how = "jti" if isinstance(jwt.claims.get("jti"), str) else "JWT"
    if jwt.identity in used:
        return Result(False, f"this {how} was accepted before")
    return Result(True, f"this {how} is new")


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST
