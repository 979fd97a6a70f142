"""Verify a compact JWS with the keys that are known: trusted keys, or the key or certificate in its own header."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from inspector.findings.signatures.keyset import ALGORITHMS, Key, KeySet, base64url, read_key, read_pem
from inspector.findings.signatures.verify import SignatureOutcome, SignatureResult, verify_compact
from inspector.protocol.jsonvalue import brief, parse_strictly, text_in
from inspector.protocol.model import Json
from inspector.text.any_base64 import decode_any_base64

_LONGEST = 1_000_000
_LONGEST_CERTIFICATE = 100_000
"""The most characters of a token that is verified, and of a certificate that is read."""


class Outcome(StrEnum):
    """Whether something that was verified is valid."""

    VALID = "valid"
    INVALID = "not valid"
    UNKNOWN = "not verified"
    """It could not be verified, for example because no key is known: this is not an error."""


class Verdict(NamedTuple):
    """The outcome of verifying a signature, and the reason.

    `fits_not` is true if the signature is well-formed, but is for other content or of another key.
    """

    outcome: Outcome
    reason: str
    fits_not: bool = False


def verify_token(token: str, trusted: KeySet | None, payload: bytes | None = None) -> Verdict:
    """Verify a JWS of an unknown signer: with trusted keys, or with the key in its header, which proves no identity.

    `payload` is what the JWS signs if it is detached.
    """
    if set(token) == {"*"}:
        return Verdict(Outcome.UNKNOWN, "the token is masked")
    if len(token) > _LONGEST:
        return _too_long(token)
    header = _header_of(token)
    kid = text_in(header, "kid")
    candidates = trusted.named(kid) if trusted is not None else ()
    if candidates:
        result = verify_compact(token, KeySet(candidates), payload)
        is_named = bool(kid) and candidates[0].kid == kid
        if is_named or result.outcome not in (SignatureOutcome.WRONG, SignatureOutcome.REFUSED):
            return _verdict_of(result, f"{_part_of_sentence(result.reason)}, which is trusted")
    own, source = _own_key(header)
    result = verify_compact(token, KeySet((own,)) if isinstance(own, Key) else None, payload)
    if result.outcome is SignatureOutcome.VALID:
        return Verdict(Outcome.UNKNOWN, f"the signature fits {source}, which does not prove who signed")
    if result.outcome is not SignatureOutcome.NO_KEY:
        return _verdict_of(result)
    if isinstance(own, str) and own:
        return Verdict(Outcome.UNKNOWN, f"{source} cannot be used: {own}")
    return Verdict(Outcome.UNKNOWN, f"the key {brief(kid)} is not known" if kid else "it names no key")


def verify_with(token: str, jwk: Any, owner: str) -> Verdict:
    """Verify a JWS with a key that another token names; `owner` is what it is called."""
    if len(token) > _LONGEST:
        return _too_long(token)
    name = f"the key of {owner}"
    key = read_key(
        {each: value for each, value in jwk.items() if each != "kid"} if isinstance(jwk, dict) else jwk, name
    )
    if isinstance(key, str):
        return Verdict(Outcome.UNKNOWN, f"{name} cannot be used: {key}")
    return _verdict_of(verify_compact(token, KeySet((key,))))


def _too_long(token: str) -> Verdict:
    return Verdict(Outcome.UNKNOWN, f"the token has {len(token):,} characters, at most {_LONGEST:,} are verified")


def _verdict_of(result: SignatureResult, valid: str = "") -> Verdict:
    """Return a result in words; an algorithm that is only unknown here is not an error."""
    reason = _part_of_sentence(result.reason)
    if result.outcome is SignatureOutcome.VALID:
        return Verdict(Outcome.VALID, valid or reason)
    unknown = result.algorithm and result.algorithm not in ALGORITHMS
    insecure = result.algorithm.lower() == "none" or result.algorithm.startswith("HS")
    if result.outcome is SignatureOutcome.NO_KEY or (unknown and not insecure):
        return Verdict(Outcome.UNKNOWN, reason)
    return Verdict(Outcome.INVALID, reason, fits_not=result.outcome is SignatureOutcome.WRONG)


def _header_of(token: str) -> Mapping[str, Json]:
    raw = base64url(token.partition(".")[0])
    header = parse_strictly(raw) if raw else None
    return header if isinstance(header, dict) else {}


def _own_key(header: Mapping[str, Json]) -> tuple[Key | str, str]:
    """Return the key in the header of a JWS (`""` for none, or why it is unusable), and what it is."""
    certificates = header.get("x5c")
    if isinstance(certificates, list) and certificates:
        return _certificate_key(certificates[0]), "the certificate in its header (x5c)"
    if "jwk" in header:
        return read_key(header["jwk"], "the key in its header"), "the key in its header (jwk)"
    return "", ""


def _certificate_key(encoded: Json) -> Key | str:
    """Read the key of a certificate in DER and base64 (RFC 7515 section 4.1.6); some wallets write it as base64url."""
    if not isinstance(encoded, str) or len(encoded) > _LONGEST_CERTIFICATE:
        return "it is not a certificate in base64"
    der = decode_any_base64(encoded)
    if der is None:
        return "it is not a certificate in base64"
    lines = base64.encodebytes(der)
    found = read_pem(b"-----BEGIN CERTIFICATE-----\n" + lines + b"-----END CERTIFICATE-----\n")
    return found.keys[0] if found.keys else "it is not a certificate with a supported key"


def _part_of_sentence(sentence: str) -> str:
    """Return a sentence as a part of another: without its full stop, and its capital unless it is of a name."""
    first = sentence.partition(" ")[0]
    is_word = first.isalpha() and first[1:] == first[1:].lower()
    return (f"{sentence[:1].lower()}{sentence[1:]}" if is_word else sentence).removesuffix(".")
