"""Verify the mandates of AP2 and the passports in a payload, and the rules about them.

Verified when a payload is received, because captures mask some tokens: the signatures whose keys are known, the hashes
that bind a token to its content, and the times. Constraints of open mandates are not evaluated.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from inspector.findings.extensions import MandateFlaw as Flaw
from inspector.findings.signatures.canonical import canonical_json
from inspector.findings.signatures.key_sources import Outcome, Verdict, verify_token, verify_with
from inspector.findings.signatures.keyset import KeySet
from inspector.protocol.extensions import ap2
from inspector.protocol.extensions.known import PASSPORT, Use
from inspector.protocol.extensions.outline import items, members, text
from inspector.protocol.extensions.sd_jwt import SdJwt, digest_of, read_chain
from inspector.protocol.jsonvalue import is_number
from inspector.protocol.model import Json
from inspector.protocol.unverified_jwt import jwt_parts

_SKEW = 300
"""The seconds by which clocks may differ, as in the SDK of AP2."""
_MOST_TOKENS = 8
_MOST_RESULTS = 50
"""The most tokens of a chain that are verified, and the most results of a payload."""
_LAST = frozenset({"kb+sd-jwt", "kb-sd-jwt"})
_INNER = frozenset({"kb+sd-jwt+kb", "kb-sd-jwt+kb"})
"""The types of the last token, and of those between the first and the last (Delegate SD-JWT)."""


class Verified(NamedTuple):
    """A result: the mandate and what of it was verified, the outcome with its reason, and the flaw if it has one."""

    name: str
    what: str
    outcome: Outcome
    reason: str
    flaw: Flaw | None = None


def verify_use(use: Use, at: float, trusted: KeySet | None) -> list[Verified]:
    """Verify the mandates or the passport in the data of an extension; `at` is the time in seconds since 1970."""
    if use.extension.uri == PASSPORT:
        return list(_passport(members(use.value), trusted))
    found: list[Verified] = []
    checkouts: set[str] = set()
    transactions: list[tuple[str, str]] = []
    for key, content in members(use.value).items():
        if key.startswith(ap2.PREFIX):
            verifier = _Verifier(ap2.name_of(key), at, trusted)
            found += verifier.of_tokens(content) if isinstance(content, str) else verifier.of_object(members(content))
            checkouts |= verifier.checkouts
            transactions += verifier.transactions
    found += _transactions(checkouts, transactions)
    return found[:_MOST_RESULTS]


def _transactions(checkouts: set[str], transactions: list[tuple[str, str]]) -> Iterator[Verified]:
    """Compare the transaction of payment mandates with the checkouts beside them (AP2 0.2, Payment Mandate)."""
    for name, transaction in transactions if checkouts else ():
        if transaction.rstrip("=") in checkouts:
            yield Verified(name, "transaction_id", Outcome.VALID, "it is the hash of the checkout beside it")
        else:
            reason = "it is not the hash of the checkout beside it"
            yield Verified(name, "transaction_id", Outcome.INVALID, reason, Flaw.HASH)


class _Verifier:
    """Verifies one mandate; `name` is what it is called.

    `checkouts` are the hashes of the checkouts in it, `transactions` the checkouts that it pays for, with its name.
    """

    def __init__(self, name: str, at: float, trusted: KeySet | None) -> None:
        self._name, self._at, self._trusted = name, at, trusted
        self.checkouts: set[str] = set()
        self.transactions: list[tuple[str, str]] = []

    def of_object(self, mandate: Mapping[str, Any]) -> Iterator[Verified]:
        """Verify a mandate of AP2 0.1, whose signature is beside its contents, or claims of 0.2 without a token."""
        contents = members(mandate.get("contents"))
        yield from self._moment("cart_expiry", contents.get("cart_expiry"))
        yield from self._moment("intent_expiry", mandate.get("intent_expiry"))
        token = mandate.get("merchant_authorization", mandate.get("merchant_signature"))
        if isinstance(token, str) and token:
            yield self._signature("merchant signature", verify_token(token, self._trusted))
            parts = jwt_parts(token)
            if parts is not None:
                yield from self._times("merchant signature", parts[1])
                yield self._content_hash("cart_hash", parts[1].get("cart_hash"), mandate.get("contents"))
        token = mandate.get("user_authorization")
        if isinstance(token, str) and token:
            yield from self.of_tokens(token, mandate.get("payment_mandate_contents"))
        yield from self._times("mandate", mandate)
        yield from self._checkout(mandate, "sha-256")

    def of_tokens(self, content: str, signed: Json = None) -> Iterator[Verified]:
        """Verify a chain of SD-JWTs, a receipt in a JWT, or a credential with key binding over `signed` (0.1)."""
        if set(content) == {"*"}:
            yield Verified(self._name, "signature", Outcome.UNKNOWN, "the token is masked")
            return
        tokens = read_chain(content)
        before: SdJwt | None = None
        for number, token in enumerate(tokens[:_MOST_TOKENS], 1):
            place = f"token {number} of {len(tokens)}" if len(tokens) > 1 else "token"
            if token is None:
                yield self._broken(Flaw.CHAIN, place, "it is not an SD-JWT")
                return
            if before is None:
                yield self._signature(f"{place}, signature", verify_token(token.jwt, self._trusted))
            else:
                yield from self._hop(place, token, before, f"token {number - 1} (cnf)")
            yield from self._of_token(place, token, signed)
            before = token
        if not tokens:
            yield self._broken(Flaw.CHAIN, "token", "it is not an SD-JWT")
        elif len(tokens) > _MOST_TOKENS:
            more = f"there are {len(tokens):,} tokens, the first {_MOST_TOKENS} are verified"
            yield Verified(self._name, "other tokens", Outcome.UNKNOWN, more)

    def _of_token(self, place: str, token: SdJwt, signed: Json) -> Iterator[Verified]:
        """Verify what a token binds: its disclosures, its key binding, its checkout and its times."""
        if token.strangers:
            noun = "disclosure does" if token.strangers == 1 else "disclosures do"
            yield self._broken(
                Flaw.HASH, f"{place}, disclosures", f"{token.strangers:,} {noun} not belong to the token"
            )
        elif token.disclosures:
            yield Verified(self._name, f"{place}, disclosures", Outcome.VALID, "their hashes are in the token")
        if token.binding:
            yield from self._key_binding(f"{place}, key binding", token, signed)
        for claims in (token.claims, token.bound, token.delegated):
            yield from self._times(place, claims)
        yield from self._checkout(token.mandate, token.hash_name)

    def _hop(self, place: str, token: SdJwt, before: SdJwt, owner: str) -> Iterator[Verified]:
        """Verify a token after the first: signed with the key of the token before, and bound to it by a hash."""
        if before.key is None:
            yield self._broken(Flaw.CHAIN, f"{place}, signature", f"{owner} names no key that could sign it")
        else:
            yield self._signature(f"{place}, signature", verify_with(token.jwt, before.key, owner))
        kind = token.header.get("typ")
        if kind not in _LAST | _INNER:
            expected = "kb+sd-jwt, or kb+sd-jwt+kb before other tokens"
            yield self._broken(Flaw.CHAIN, f"{place}, typ", f"it is {text(kind) or 'missing'}, expected {expected}")
        elif (kind in _INNER) is not (token.key is not None):
            names = "names a key" if token.key is not None else "names no key"
            yield self._broken(Flaw.CHAIN, f"{place}, cnf", f"the token {names}, which its type {text(kind)} forbids")
        bindings = {
            "sd_hash": before.hash_of(before.with_disclosures),
            "issuer_jwt_hash": before.hash_of(before.jwt),
        }
        found = [name for name in bindings if name in token.claims]
        if len(found) != 1:
            seen = "has both sd_hash and issuer_jwt_hash" if found else "has neither sd_hash nor issuer_jwt_hash"
            yield self._broken(Flaw.CHAIN, f"{place}, hash", f"it {seen}, expected one of them")
        else:
            yield self._hash(f"{place}, {found[0]}", token.claims[found[0]], bindings[found[0]], "the token before it")

    def _key_binding(self, place: str, token: SdJwt, signed: Json) -> Iterator[Verified]:
        """Verify a key binding JWT (RFC 9901 section 4.3): signed with the key of its token, and bound to it."""
        jwk = members(token.claims.get("cnf")).get("jwk")
        if jwk is None:
            yield self._broken(Flaw.CHAIN, f"{place}, signature", "the token names no key that could sign it")
        else:
            yield self._signature(f"{place}, signature", verify_with(token.binding, jwk, "the token (cnf)"))
        bound = token.bound
        yield self._hash(f"{place}, sd_hash", bound.get("sd_hash"), token.hash_of(token.with_disclosures), "the token")
        hashes = [each for each in items(bound.get("transaction_data")) if isinstance(each, str)]
        if signed is not None and hashes:
            possible = hashes_of(signed)
            right = any(each.rstrip("=") in possible for each in hashes)
            reason = "contains the hash of the contents" if right else "does not contain the hash of the contents"
            outcome, flaw = (Outcome.VALID, None) if right else (Outcome.INVALID, Flaw.HASH)
            yield Verified(self._name, f"{place}, transaction_data", outcome, reason, flaw)

    def _checkout(self, mandate: Mapping[str, Any], hash_name: str) -> Iterator[Verified]:
        """Verify the checkout in a checkout mandate: the signature of the merchant, and the hash (AP2 0.2)."""
        checkout, stated = mandate.get("checkout_jwt"), mandate.get("checkout_hash")
        if isinstance(transaction := mandate.get("transaction_id"), str):
            self.transactions.append((self._name, transaction))
        if isinstance(checkout, str):
            self.checkouts.add(digest_of(checkout, hash_name) or "")
            yield self._signature("checkout, merchant signature", verify_token(checkout, self._trusted))
            yield self._hash("checkout_hash", stated, digest_of(checkout, hash_name), "the checkout")

    def _content_hash(self, what: str, stated: Any, content: Json) -> Verified:
        if not isinstance(stated, str):
            return self._broken(Flaw.HASH, what, "it is missing, so that the signature is for no particular content")
        if stated.rstrip("=") in hashes_of(content):
            return Verified(self._name, what, Outcome.VALID, "it is the hash of the contents")
        return self._broken(Flaw.HASH, what, "it is not a SHA-2 hash of the contents in canonical JSON (RFC 8785)")

    def _hash(self, what: str, stated: Any, expected: str | None, of: str) -> Verified:
        if expected is None:
            return Verified(self._name, what, Outcome.UNKNOWN, "the hash function (_sd_alg) is not known")
        if not isinstance(stated, str):
            return self._broken(Flaw.HASH, what, "it is missing")
        if stated.rstrip("=") == expected:
            return Verified(self._name, what, Outcome.VALID, f"it is the hash of {of}")
        return self._broken(Flaw.HASH, what, f"it is not the hash of {of}")

    def _times(self, place: str, claims: Mapping[str, Any]) -> Iterator[Verified]:
        """Verify `exp`, `nbf` and `iat` (RFC 7519 section 4.1), with a tolerance for clocks that differ."""
        for claim, is_late in (("exp", True), ("nbf", False), ("iat", False)):
            value = claims.get(claim)
            if not is_number(value):
                if claim in claims:
                    yield self._broken(Flaw.TIME, f"{place}, {claim}", "it is not a number of seconds since 1970")
                continue
            yield from self._time(f"{place}, {claim}", value, is_end=is_late)

    def _moment(self, what: str, value: Any) -> Iterator[Verified]:
        """Verify the expiry of a mandate of AP2 0.1, a time of ISO 8601."""
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            return
        yield from self._time(what, moment.replace(tzinfo=moment.tzinfo or UTC).timestamp(), is_end=True)

    def _time(self, what: str, value: float, *, is_end: bool) -> Iterator[Verified]:
        shown = ap2.time_of(value)
        if is_end and self._at > value + _SKEW:
            yield self._broken(Flaw.TIME, what, f"expired at {shown}")
        elif is_end:
            yield Verified(self._name, what, Outcome.VALID, f"until {shown}")
        elif value > self._at + _SKEW:
            yield self._broken(Flaw.TIME, what, f"{shown} is in the future")

    def _signature(self, what: str, verdict: Verdict) -> Verified:
        return _verified_signature(self._name, what, verdict)

    def _broken(self, flaw: Flaw, what: str, reason: str) -> Verified:
        return Verified(self._name, what, Outcome.INVALID, reason, flaw)


def _verified_signature(name: str, what: str, verdict: Verdict) -> Verified:
    flaw = Flaw.SIGNATURE if verdict.outcome is Outcome.INVALID else None
    return Verified(name, what, verdict.outcome, verdict.reason, flaw)


def _passport(passport: Mapping[str, Any], trusted: KeySet | None) -> Iterator[Verified]:
    """Verify the signature of a passport over its state; its specification defines neither a format nor a key."""
    signature = passport.get("signature")
    if not isinstance(signature, str) or not signature:
        return
    canonical = canonical_json(passport.get("state"))
    if signature.count(".") != 2 or canonical is None:
        reason = "it is not a JWS, and the specification of Secure Passport defines no other format"
        yield Verified("passport", "signature", Outcome.UNKNOWN, reason)
        return
    verdict = verify_token(signature, trusted, canonical)
    if verdict.fits_not:  # another form may have been signed: the specification does not define which
        verdict = Verdict(Outcome.UNKNOWN, f"{verdict.reason}; tried for the state in canonical JSON (RFC 8785)")
    yield _verified_signature("passport", "signature", verdict)


def hashes_of(value: Json) -> set[str]:
    """Return the SHA-2 hashes of a value in canonical JSON, in base64url and in hex.

    AP2 0.1 names neither the canonical form nor the encoding; besides RFC 8785, that of Python's `json` is tried.
    """
    forms = [form for form in (canonical_json(value), _as_python_writes(value)) if form is not None]
    found: set[str] = set()
    for form in forms:
        for digest in (hashlib.sha256(form), hashlib.sha384(form), hashlib.sha512(form)):
            found |= {digest.hexdigest(), base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode("ascii")}
    return found


def _as_python_writes(value: Json) -> bytes | None:
    try:
        return json.dumps(value, sort_keys=True).encode()
    except (ValueError, RecursionError):
        return None
