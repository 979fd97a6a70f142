"""SD-JWTs, JWTs with selectively disclosed claims (RFC 9901), and their chains in AP2; nothing is verified here."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from inspector.protocol.extensions.outline import items, members, text
from inspector.protocol.jsonvalue import parse
from inspector.protocol.unverified_jwt import decoded_base64url, jwt_parts

_DIGESTS: Mapping[str, Callable[..., Any]] = {
    "sha-256": hashlib.sha256,
    "sha-384": hashlib.sha384,
    "sha-512": hashlib.sha512,
}
_CHAIN = "~~"
_DEEPEST = 8


class SdJwt(NamedTuple):
    """An SD-JWT: the JWT of its issuer, its disclosures, and the key binding JWT (`""` for none).

    `claims` are those of the JWT with those that are disclosed, `bound` those of the key binding JWT. `delegated` are
    the claims of the mandate that one of them delegates. `strangers` counts the disclosures that do not belong to it.
    """

    jwt: str
    disclosures: tuple[str, ...]
    binding: str
    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    bound: Mapping[str, Any]
    delegated: Mapping[str, Any]
    strangers: int

    @property
    def mandate(self) -> Mapping[str, Any]:
        """Return the claims of the mandate: those of the token, replaced by those that it delegates."""
        return {**self.claims, **self.delegated}

    @property
    def hash_name(self) -> str:
        """Return the name of the hash function of the token, `""` if it is not known."""
        name = text(self.claims.get("_sd_alg")) or "sha-256"
        return name if name in _DIGESTS else ""

    @property
    def key(self) -> Any:
        """Return the public key that may sign the next token (`cnf.jwk`, RFC 7800), None if there is none."""
        return _confirmed(self.delegated) if "cnf" in self.delegated else _confirmed(self.claims)

    def hash_of(self, what: str) -> str | None:
        """Return the hash of a text with the function of the token, None if that is not known."""
        return digest_of(what, self.hash_name)

    @property
    def with_disclosures(self) -> str:
        """Return what `sd_hash` is the hash of: the JWT and its disclosures, without the key binding JWT."""
        return "~".join((self.jwt, *self.disclosures, ""))


def read_chain(content: str) -> list[SdJwt | None]:
    """Read a chain of SD-JWTs: the last is the mandate, each before it names the key that signs the next.

    None is a token that is not an SD-JWT.
    """
    return [read_sd_jwt(token) for token in content.split(_CHAIN) if token.strip("~")]


def read_sd_jwt(token: str) -> SdJwt | None:
    """Read an SD-JWT, or a JWT without disclosures; return None for another text."""
    jwt, *disclosures = token.split("~")
    parts = jwt_parts(jwt)
    if parts is None:
        return None
    binding = disclosures.pop() if disclosures and "." in disclosures[-1] else ""
    disclosures = [each for each in disclosures if each]
    header, payload = parts
    bound = (jwt_parts(binding) or ({}, {}))[1]
    digest = text(payload.get("_sd_alg")) or "sha-256"
    values = {digest_of(each, digest): parse(decoded_base64url(each)) for each in disclosures}
    used: set[str] = set()
    claims, with_bound = (members(_with_disclosed(each, values, used, 0)) for each in (payload, bound))
    delegated = [
        each
        for source in (with_bound, claims)
        for each in items(source.get("delegate_payload"))
        if isinstance(each, dict)
    ]
    strangers = len(values.keys() - used) if digest in _DIGESTS else 0
    return SdJwt(
        jwt, tuple(disclosures), binding, header, claims, with_bound, delegated[0] if delegated else {}, strangers
    )


def digest_of(what: str, name: str) -> str | None:
    """Return the hash of a text in base64url without padding; None if the hash function is not known."""
    digest = _DIGESTS.get(name)
    if digest is None:
        return None
    hashed = digest(what.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(hashed).rstrip(b"=").decode("ascii")


def _confirmed(claims: Mapping[str, Any]) -> Any:
    return members(claims.get("cnf")).get("jwk")


def _with_disclosed(value: Any, values: Mapping[str | None, Any], used: set[str], depth: int) -> Any:
    """Replace the digests in a value by what they disclose: `[salt, name, value]` or, in a list, `[salt, value]`.

    A digest is used once (RFC 9901 section 7.1). Some wallets write only the digest in `delegate_payload`.
    """
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [inner for each in value if (inner := _element(each, values, used, depth)) is not _HIDDEN]
    if not isinstance(value, dict):
        return value
    result = {key: _with_disclosed(each, values, used, depth + 1) for key, each in value.items() if key != "_sd"}
    for key in items(value.get("_sd")):
        inner = values.get(key) if isinstance(key, str) else None
        if isinstance(inner, list) and len(inner) == 3 and isinstance(inner[1], str) and key not in used:
            used.add(key)
            result[inner[1]] = _with_disclosed(inner[2], values, used, depth + 1)
    return result


_HIDDEN = object()
"""The value of an element of a list that is not disclosed."""


def _element(each: Any, values: Mapping[str | None, Any], used: set[str], depth: int) -> Any:
    key = each.get("...") if isinstance(each, dict) else each
    inner = values.get(key) if isinstance(key, str) and key not in used else None
    if isinstance(key, str) and isinstance(inner, list) and len(inner) in (2, 3):
        used.add(key)
        return _with_disclosed(inner[-1], values, used, depth + 1)
    return _HIDDEN if isinstance(each, dict) and "..." in each else _with_disclosed(each, values, used, depth + 1)
