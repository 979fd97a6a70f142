"""Parse the JWT of a delivery, verify its signature and check its claims (RFC 7519, RFC 7515)."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import field

from inspector.findings.signatures.keyset import ALGORITHMS, KeySet, base64url
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import brief, is_number, parse
from inspector.protocol.model import Json
from inspector.wire.receiver.checks import CheckResult

LEEWAY = 60.0
"""How many seconds the clocks of sender and receiver may differ."""
_FRESH = 300.0
"""The greatest age of a JWT without `exp`, in seconds, as in the library of A2A 0.1."""
_LATEST = 1e12
"""The largest number that is accepted as a date; it is thirty thousand years away."""
_BODY_HASH = "request_body_sha256"
"""The claim with the hash of the body (A2A 0.1)."""


@dataclass(frozen=True, slots=True)
class Jwt:
    """A parsed JWT; `signed` is the part that the signature covers."""

    header: Mapping[str, Json]
    claims: Mapping[str, Json]
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    @property
    def identity(self) -> str:
        """Return a unique key of this JWT: its issuer and `jti` or, without `jti`, a digest."""
        jti = self.claims.get("jti")
        if isinstance(jti, str):
            return f"jti {self.claims.get('iss')} {jti}"
        return f"sha256 {hashlib.sha256(self.signed).hexdigest()}"


def read(text: str) -> Jwt | str:
    """Parse a JWT in compact form, or return why the text is not a JWT."""
    parts = text.split(".")
    if len(parts) != 3:
        return "not a JWT: expected three parts separated by dots"
    raw = [base64url(part) for part in parts]
    header, claims = (parse(part) if part else None for part in raw[:2])
    if not isinstance(header, dict) or not isinstance(claims, dict) or raw[2] is None:
        return "not a JWT: the header or the claims are not a JSON object in base64url"
    return Jwt(header, claims, ".".join(parts[:2]).encode(), raw[2])


def check_body_hash(jwt: Jwt, body: bytes) -> CheckResult:
    """Compare the hash in the JWT with the hash of the body."""
    claimed = jwt.claims.get(_BODY_HASH)
    if claimed is None:
        return CheckResult(None, f"the JWT has no {_BODY_HASH}, so it is valid for any body")
    if isinstance(claimed, str) and claimed.lower() == hashlib.sha256(body).hexdigest():
        return CheckResult(True, f"{_BODY_HASH} matches the body")
    return CheckResult(False, f"{_BODY_HASH} does not match the body")


def check_signature(jwt: Jwt, keys: KeySet) -> CheckResult:
    """Verify the signature with the keys that the header may refer to; one match is sufficient."""
    name, kid = jwt.header.get("alg"), jwt.header.get("kid")
    if not isinstance(name, str) or name not in ALGORITHMS:
        return CheckResult(False, f"alg {brief(name)} is not accepted, expected an algorithm with a public key")
    if "crit" in jwt.header:
        return CheckResult(False, "the JWT requires extensions (crit) that are not supported")
    if not keys.keys:
        return CheckResult(False, "the registration has no key to verify the JWT: register the webhook with a JWKS")
    tried: list[str] = []
    for key in keys.named(kid if isinstance(kid, str) else ""):
        why = key.why_not(name)
        if not why and key.verifies(name, jwt.signed, jwt.signature):
            return CheckResult(True, f"{name}, verified with {key.name}")
        tried.append(why or f"not valid with {key.name}")
    return CheckResult(False, "; ".join(tried) or f"the JWKS has no key with the kid {brief(kid)}")


def check_claim(jwt: Jwt, name: str, expected: str) -> CheckResult:
    """Compare a claim with the required value, `""` for any; `aud` may be a list."""
    claim = jwt.claims.get(name)
    if not expected:
        return CheckResult(None, f"{name} {brief(claim)}, any value is accepted" if claim else "not required")
    good = expected in (claim if name == "aud" and isinstance(claim, list) else [claim])
    return CheckResult(good, f"{name} {brief(claim)}" + ("" if good else f", expected {brief(expected)}"))


def check_dates(jwt: Jwt, now: float) -> CheckResult:
    """Check `exp`, `nbf` and `iat` against the clock."""
    dates = {name: jwt.claims.get(name) for name in ("exp", "nbf", "iat")}
    invalid = [name for name, value in dates.items() if value is not None and not _is_number(value)]
    if invalid:
        return CheckResult(False, f"{invalid[0]} is {brief(dates[invalid[0]])}, expected a number of seconds")
    ends, starts, issued = dates.values()
    if ends is not None and now > ends + LEEWAY:
        return CheckResult(False, f"expired {now - ends:,.0f} s ago (exp)")
    for name, date in (("nbf", starts), ("iat", issued)):
        if date is not None and date > now + LEEWAY:
            return CheckResult(
                False, f"valid only in {date - now:,.0f} s ({name}): compare the clocks of both machines"
            )
    if ends is not None:
        return CheckResult(True, f"expires in {ends - now:,.0f} s (exp)")
    if issued is None:
        return CheckResult(False, "neither exp nor iat, so a copy would be valid forever")
    age = now - issued
    limit = f", at most {_FRESH:,.0f} s are accepted without exp" if age > _FRESH else ""
    return CheckResult(age <= _FRESH, f"issued {max(age, 0):,.0f} s ago (iat){limit}")


def check_replay(jwt: Jwt, used: Container[str]) -> CheckResult:
    """Check that the JWT was not accepted before."""
    how = "jti" if isinstance(jwt.claims.get("jti"), str) else "JWT"
    if jwt.identity in used:
        return CheckResult(False, f"this {how} was already accepted")
    return CheckResult(True, f"this {how} is new")


def _is_number(value: Json) -> bool:
    return is_number(value) and abs(value) < _LATEST
