"""JWS signatures (RFC 7515) of cards (1.0 section 8.4) and of other content: check their form, and verify them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from inspector.findings.signatures.canonical import payloads, uncovered
from inspector.findings.signatures.keyset import ALGORITHMS, Key, KeySet, base64url
from inspector.findings.url import split
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import brief, parse_strictly, text_in, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import pointer
from inspector.text.host import is_local

_MAX_SIGNATURES = 32
_MAX_KEYS = 16
"""The maximum number of signatures of a card that are verified, and of keys that are tried for each."""

_MAX_NAMES = 5
"""The maximum number of names in a message."""

_SHARED_SECRET_ALGORITHMS = frozenset({"HS256", "HS384", "HS512"})
_DER_SEQUENCE = b"\x30"


class SignatureOutcome(StrEnum):
    """The result of verifying a signature."""

    VALID = "valid"
    """A key verifies the signature of a form of the card."""
    WRONG = "wrong"
    """No key verifies the signature of any form of the card."""
    NO_KEY = "no key"
    """No key for the signature was given."""
    UNUSABLE = "unusable"
    """The signature is malformed, or no form of the card can be signed."""
    REFUSED = "refused"
    """The algorithm or an extension is insecure or not supported."""


class SignatureFlaw(StrEnum):
    """The defects in the form of a signature."""

    ENTRY = "entry"
    """The signature or a required member is missing or has the wrong type."""
    PROTECTED = "protected"
    ALG_MISSING = "alg missing"
    ALG_REFUSED = "alg refused"
    CRIT = "crit"
    KID = "kid"
    TYP = "typ"
    JKU = "jku"
    HEADER = "header"
    SIGNATURE = "signature"
    PAYLOAD = "payload"


_OUTCOMES: Mapping[SignatureFlaw, SignatureOutcome] = {
    SignatureFlaw.ENTRY: SignatureOutcome.UNUSABLE,
    SignatureFlaw.PROTECTED: SignatureOutcome.UNUSABLE,
    SignatureFlaw.ALG_MISSING: SignatureOutcome.UNUSABLE,
    SignatureFlaw.ALG_REFUSED: SignatureOutcome.REFUSED,
    SignatureFlaw.CRIT: SignatureOutcome.REFUSED,
    SignatureFlaw.HEADER: SignatureOutcome.UNUSABLE,
    SignatureFlaw.SIGNATURE: SignatureOutcome.UNUSABLE,
}
"""The flaws that prevent verification, and the outcome of each."""


class Problem(NamedTuple):
    """A flaw of a signature, its JSON pointer within the entry, and a message about it."""

    pointer: str
    sentence: str
    flaw: SignatureFlaw


@dataclass(frozen=True, slots=True)
class SignatureResult:
    """The result of verifying the entry of `signatures` at `index`.

    `reason` is one sentence and may quote the agent; `pointer` is the JSON pointer to what the reason describes.
    `algorithm` and `jku` are from the protected header, `kid` from either header, `""` if missing. If the signature is
    valid, `form` is the name of the signed form, `uncovered` has JSON pointers to members that are not signed.
    """

    index: int
    outcome: SignatureOutcome
    reason: str
    pointer: str
    algorithm: str = ""
    kid: str = ""
    jku: str = ""
    form: str = ""
    uncovered: tuple[str, ...] = ()


def signatures_of(card: Json) -> list[Json]:
    """Return the entries of the `signatures` of a card."""
    listed = card.get("signatures") if isinstance(card, dict) else None
    return listed if isinstance(listed, list) else []


def protected_header(entry: Json) -> dict[str, Json] | Unreadable:
    """Return the protected header of a signature, or the reason why it cannot be read."""
    text = entry.get("protected") if isinstance(entry, dict) else None
    if text is None:
        return Unreadable(text, "The protected header is missing.")
    if not isinstance(text, str):
        return Unreadable(text, f"The protected header is {type_name(text)}, expected a base64url string.")
    raw = base64url(text)
    if raw is None:
        return Unreadable(text, "The protected header is not base64url without padding.")
    header = parse_strictly(raw)
    if isinstance(header, Unreadable):
        return Unreadable(text, f"The protected header is not JSON: {header.why}.")
    if not isinstance(header, dict):
        return Unreadable(text, f"The protected header contains {type_name(header)}, expected an object.")
    return header


def problems_of(entry: Json) -> Iterator[Problem]:
    """Return the problems in the form of a signature, first those that prevent verification."""
    if not isinstance(entry, dict):
        yield Problem("", f"The signature is {type_name(entry)}, expected an object.", SignatureFlaw.ENTRY)
        return
    read = protected_header(entry)
    header = {} if isinstance(read, Unreadable) else read
    if isinstance(read, Unreadable):
        flaw = SignatureFlaw.PROTECTED if isinstance(entry.get("protected"), str) else SignatureFlaw.ENTRY
        yield Problem("/protected", read.why, flaw)
    else:
        yield from _of_algorithm(header)
    yield from _of_unprotected(entry.get("header"), header)
    yield from _of_signature(entry.get("signature"), text_in(header, "alg"))
    if not isinstance(read, Unreadable):
        yield from _of_optional_members(header)
    if "payload" in entry:
        message = "The signature has the member payload; expected none, because the card is the payload."
        yield Problem("/payload", message, SignatureFlaw.PAYLOAD)


def verify(card: Json, keys: KeySet | None, version: str) -> tuple[SignatureResult, ...]:
    """Verify every signature of a card as served (as `parse` reads it); `keys` is None if no keys were given.

    Verification needs about one second for a card of ten megabytes.
    """
    verdicts: dict[int, SignatureResult] = {}
    trials: list[_Trial] = []
    for index, entry in enumerate(signatures_of(card)):
        prepared = _prepare(index, entry, keys)
        if isinstance(prepared, _Trial):
            trials.append(prepared)
        else:
            verdicts[index] = prepared
    failures: list[str] = []
    tried = 0
    for payload in payloads(card, version) if trials else ():
        if payload.why:
            failures.append(payload.why)
            continue
        tried += 1
        encoded = urlsafe_b64encode(payload.raw).rstrip(b"=")
        fitting = {trial: key for trial in trials if (key := trial.key_over(encoded))}
        for trial, key in fitting.items():
            verdicts[trial.verdict.index] = _valid(trial, key, payload.form.name, uncovered(card, payload))
        trials = [trial for trial in trials if trial not in fitting]
        if not trials:
            break
    verdicts |= {trial.verdict.index: _wrong(trial, failures, tried) for trial in trials}
    return tuple(verdicts[index] for index in sorted(verdicts))


def verify_compact(token: str, keys: KeySet | None, payload: bytes | None = None) -> SignatureResult:
    """Verify a JWS in compact serialization; `payload` is what it signs if its own payload is empty (detached)."""
    pieces = token.split(".", 3)
    found = SignatureResult(0, SignatureOutcome.UNUSABLE, "", "")
    if len(pieces) != 3:
        return replace(found, reason="It is not a JWS: expected three parts with dots between them.")
    protected, inside, signature = pieces
    prepared = _prepare(0, {"protected": protected, "signature": signature}, keys)
    if isinstance(prepared, SignatureResult):
        return prepared
    signed = inside if payload is None else urlsafe_b64encode(payload).rstrip(b"=").decode("ascii")
    if base64url(inside) is None:
        return replace(prepared.verdict, outcome=found.outcome, reason="The payload is not base64url without padding.")
    if inside and inside != signed:
        reason = "The payload in the JWS is not the content that it belongs to."
        return replace(prepared.verdict, outcome=SignatureOutcome.WRONG, reason=reason)
    key = prepared.key_over(signed.encode("ascii"))
    if key is not None:
        return replace(prepared.verdict, outcome=SignatureOutcome.VALID, reason=f"Signed with {key.name}.")
    names = " or ".join(key.name for key in prepared.keys)
    reason = f"The signature does not fit {names}: the content was changed, or another key signed it."
    return replace(prepared.verdict, outcome=SignatureOutcome.WRONG, reason=reason)


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A signature that can be verified, and the keys to try."""

    verdict: SignatureResult
    protected: bytes
    signature: bytes
    keys: tuple[Key, ...]

    def key_over(self, payload: bytes) -> Key | None:
        """Return the key that verifies the signature of a payload in base64url, None if there is none."""
        message = self.protected + b"." + payload
        fitting = (key for key in self.keys if key.verifies(self.verdict.algorithm, message, self.signature))
        return next(fitting, None)


def _prepare(index: int, entry: Json, keys: KeySet | None) -> _Trial | SignatureResult:
    """Return the signature with the keys to try, or the result if it cannot be verified."""
    read = protected_header(entry)
    header = {} if isinstance(read, Unreadable) else read
    unprotected = entry.get("header") if isinstance(entry, dict) else None
    kid = text_in(header, "kid") or text_in(unprotected, "kid")
    where = f"/signatures/{index}"
    known = SignatureResult(
        index, SignatureOutcome.NO_KEY, "", where, text_in(header, "alg"), kid, text_in(header, "jku")
    )
    if index >= _MAX_SIGNATURES:
        reason = f"Only the first {_MAX_SIGNATURES} signatures of a card are verified."
        return replace(known, outcome=SignatureOutcome.REFUSED, reason=reason)
    for problem in problems_of(entry):
        if problem.flaw in _OUTCOMES:
            outcome, place = _OUTCOMES[problem.flaw], where + problem.pointer
            return replace(known, outcome=outcome, reason=problem.sentence, pointer=place)
    candidates = keys.named(kid) if keys is not None else ()
    if not candidates:
        return replace(known, reason=_no_key(kid, keys))
    fit = [key for key in candidates if not key.why_not(known.algorithm)]
    if not fit:
        why = candidates[0].why_not(known.algorithm)
        reason = f"{why[:1].upper()}{why[1:]}."
        return replace(known, outcome=SignatureOutcome.REFUSED, reason=reason, pointer=f"{where}/protected")
    signature = base64url(entry["signature"]) or b""
    return _Trial(known, entry["protected"].encode("ascii"), signature, tuple(fit[:_MAX_KEYS]))


def _valid(trial: _Trial, key: Key, form: str, unsigned: tuple[str, ...]) -> SignatureResult:
    unnamed = "" if trial.verdict.kid else "; the signature names no key, so all keys were tried"
    outside = f"; {_outside(len(unsigned))} not signed" if unsigned else ""
    reason = f"Signed with {key.name} over {form}{unnamed}{outside}."
    return replace(trial.verdict, outcome=SignatureOutcome.VALID, reason=reason, form=form, uncovered=unsigned)


def _wrong(trial: _Trial, failures: Sequence[str], tried: int) -> SignatureResult:
    if not tried:
        reason = f"No form of the card can be signed: {failures[0]}."
        return replace(trial.verdict, outcome=SignatureOutcome.UNUSABLE, reason=reason)
    names = " or ".join(key.name for key in trial.keys)
    partly = f" ({failures[0]}, so {len(failures)} forms were not tried)" if failures else ""
    reason = (
        f"The signature matches no form of the card with {names}{partly}: the card changed, or another key signed it."
    )
    return replace(trial.verdict, outcome=SignatureOutcome.WRONG, reason=reason)


def _no_key(kid: str, keys: KeySet | None) -> str:
    if keys is None:
        return "No keys were given to verify the signature."
    if not keys.keys:
        return "The key set contains no usable key."
    return f"The key set has no key {brief(kid)}; it has {', '.join(key.name for key in keys.keys[:_MAX_KEYS])}."


def _outside(count: int) -> str:
    return "1 member of the card is" if count == 1 else f"{count:,} members of the card are"


def _of_algorithm(header: Mapping[str, Json]) -> Iterator[Problem]:
    """Check the algorithm and the critical extensions."""
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or not algorithm:
        yield Problem("/protected", "The protected header names no algorithm (alg).", SignatureFlaw.ALG_MISSING)
    elif algorithm.lower() == "none":
        yield Problem(
            "/protected",
            "The alg is none: nothing is signed, so everyone can forge the signature.",
            SignatureFlaw.ALG_REFUSED,
        )
    elif algorithm in _SHARED_SECRET_ALGORITHMS:
        message = f"The alg is {algorithm}: its key is shared, so everyone who can verify a signature can forge it."
        yield Problem("/protected", message, SignatureFlaw.ALG_REFUSED)
    elif algorithm not in ALGORITHMS:
        message = f"The alg is {brief(algorithm)}, expected one of {', '.join(ALGORITHMS)}."
        yield Problem("/protected", message, SignatureFlaw.ALG_REFUSED)
    if header.get("b64", True) is not True:
        message = "With b64 the payload is not base64url (RFC 7797), which is not supported."
        yield Problem("/protected", message, SignatureFlaw.CRIT)
    if "crit" in header:
        critical = header["crit"]
        names = ", ".join(map(brief, critical[:_MAX_NAMES])) if isinstance(critical, list) else ""
        message = f"The crit requires {names}, which is not supported." if names else "The crit is empty."
        yield Problem("/protected", message, SignatureFlaw.CRIT)


def _of_unprotected(header: Json, protected: Mapping[str, Json]) -> Iterator[Problem]:
    if header is not None and not isinstance(header, dict):
        yield Problem("/header", f"The unprotected header is {type_name(header)}, not an object.", SignatureFlaw.ENTRY)
        return
    for name in header or ():
        if name in protected:
            message = f"Both headers have {brief(name)}; only one of them may have it (RFC 7515 section 7.2.1)."
            yield Problem("/header" + pointer(name), message, SignatureFlaw.HEADER)
        elif name == "crit":
            yield Problem(
                "/header/crit",
                "The crit is not in the protected header (RFC 7515 section 4.1.11).",
                SignatureFlaw.HEADER,
            )


def _of_signature(signature: Json, algorithm: str) -> Iterator[Problem]:
    """Check the bytes of the signature; some algorithms define their number."""
    if not isinstance(signature, str):
        seen = "missing" if signature is None else f"{type_name(signature)}, expected a string"
        yield Problem("/signature", f"The signature is {seen}.", SignatureFlaw.ENTRY)
        return
    raw = base64url(signature)
    sizes = ALGORITHMS[algorithm].sizes if algorithm in ALGORITHMS else ()
    if not signature:
        yield Problem("/signature", "The signature is empty.", SignatureFlaw.SIGNATURE)
    elif raw is None:
        yield Problem("/signature", "The signature is not base64url without padding.", SignatureFlaw.SIGNATURE)
    elif sizes and len(raw) not in sizes:
        der = ": it looks like DER, JOSE requires R followed by S" if raw.startswith(_DER_SEQUENCE) else ""
        message = f"The signature has {len(raw):,} bytes, {algorithm} requires {' or '.join(map(str, sizes))}{der}."
        yield Problem("/signature", message, SignatureFlaw.SIGNATURE)


def _of_optional_members(header: Mapping[str, Json]) -> Iterator[Problem]:
    """Check the members that support verification, but are not required for it."""
    if not text_in(header, "kid"):
        yield Problem("/protected", "The protected header names no key (kid).", SignatureFlaw.KID)
    if header.get("typ") != "JOSE":
        seen = brief(header["typ"]) if "typ" in header else "missing"
        yield Problem("/protected", f"The typ is {seen}, expected JOSE.", SignatureFlaw.TYP)
    if "jku" in header and not _is_safe(text_in(header, "jku")):
        message = f"The jku is {brief(header['jku'])}, expected an https URL."
        yield Problem("/protected", message, SignatureFlaw.JKU)


def _is_safe(url: str) -> bool:
    """Whether a URL uses https, or http on this machine."""
    parts = split(url)
    if parts is None or not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.hostname))
