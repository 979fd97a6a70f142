"""Signatures of cards: check their form, and verify them (1.0 section 8.4, RFC 7515)."""

from __future__ import annotations

import ipaddress
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from inspector.findings.signatures.canonical import payloads, uncovered
from inspector.findings.signatures.keyset import ALGORITHMS, Key, KeySet, base64url
from inspector.protocol.jsonvalue import brief, parse, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import pointer

_MOST_SIGNATURES = 32
_MOST_KEYS = 16
"""The most signatures of a card that are verified, and the most keys that are tried for each."""

_MOST_NAMES = 5
"""The most names that a sentence quotes."""

_SHARED = frozenset({"HS256", "HS384", "HS512"})
_DER_SEQUENCE = b"\x30"


class Outcome(StrEnum):
    """The result of verifying a signature."""

    VALID = "valid"
    """A key signed a form of the card."""
    WRONG = "wrong"
    """None of the keys signed any form of the card."""
    NO_KEY = "no key"
    """There is no key."""
    UNUSABLE = "unusable"
    """It is malformed, or the card has no form that can be signed."""
    REFUSED = "refused"
    """It uses an algorithm or an extension that is insecure or not supported."""


class Flaw(StrEnum):
    """What can be wrong with the form of a signature."""

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


_DECISIVE: Mapping[Flaw, Outcome] = {
    Flaw.ENTRY: Outcome.UNUSABLE,
    Flaw.PROTECTED: Outcome.UNUSABLE,
    Flaw.ALG_MISSING: Outcome.UNUSABLE,
    Flaw.ALG_REFUSED: Outcome.REFUSED,
    Flaw.CRIT: Outcome.REFUSED,
    Flaw.HEADER: Outcome.UNUSABLE,
    Flaw.SIGNATURE: Outcome.UNUSABLE,
}
"""The flaws that prevent verification, with its result."""


class Problem(NamedTuple):
    """A flaw of a signature, its pointer within the entry, and a sentence about it."""

    pointer: str
    sentence: str
    flaw: Flaw


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for the entry of `signatures` at `index`.

    `reason` is one sentence and may quote the agent; `pointer` leads to its subject. `algorithm` and `jku` are from the
    protected header, `kid` from either header, `""` if there is none. For a valid signature, `form` names the canonical
    form that was signed, and `uncovered` has pointers to the members of the card that it does not contain.
    """

    index: int
    outcome: Outcome
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
    """Return the protected header of a signature, or why it cannot be read."""
    text = entry.get("protected") if isinstance(entry, dict) else None
    if text is None:
        return Unreadable(text, "The protected header is missing.")
    if not isinstance(text, str):
        return Unreadable(text, f"The protected header is {type_name(text)} where a text in base64url is due.")
    raw = base64url(text)
    if raw is None:
        return Unreadable(text, "The protected header is not in base64url, which has no padding.")
    header = parse(raw)
    if isinstance(header, Unreadable):
        return Unreadable(text, f"The protected header holds no JSON: {header.why}.")
    if not isinstance(header, dict):
        return Unreadable(text, f"The protected header holds {type_name(header)} where an object is due.")
    return header


def problems_of(entry: Json) -> Iterator[Problem]:
    """Return what is wrong with the form of a signature, first the flaws that prevent verification."""
    if not isinstance(entry, dict):
        yield Problem("", f"The signature is {type_name(entry)} where an object is due.", Flaw.ENTRY)
        return
    read = protected_header(entry)
    header = {} if isinstance(read, Unreadable) else read
    if isinstance(read, Unreadable):
        flaw = Flaw.PROTECTED if isinstance(entry.get("protected"), str) else Flaw.ENTRY
        yield Problem("/protected", read.why, flaw)
    else:
        yield from _of_algorithm(header)
    yield from _of_unprotected(entry.get("header"), header)
    yield from _of_signature(entry.get("signature"), _text(header, "alg"))
    if not isinstance(read, Unreadable):
        yield from _of_hints(header)
    if "payload" in entry:
        said = "The signature brings a payload of its own, where the card is what is signed."
        yield Problem("/payload", said, Flaw.PAYLOAD)


def verify(card: Json, keys: KeySet | None, version: str) -> tuple[Verdict, ...]:
    """Verify every signature of a card as served (as `parse` reads it); `keys` is None if no keys were given.

    This takes about a second for each ten megabytes of card.
    """
    verdicts: dict[int, Verdict] = {}
    trials: list[_Trial] = []
    for index, entry in enumerate(signatures_of(card)):
        prepared = _prepare(index, entry, keys)
        if isinstance(prepared, _Trial):
            trials.append(prepared)
        else:
            verdicts[index] = prepared
    unmade: list[str] = []
    made = 0
    for payload in payloads(card, version) if trials else ():
        if payload.why:
            unmade.append(payload.why)
            continue
        made += 1
        encoded = urlsafe_b64encode(payload.raw).rstrip(b"=")
        fitting = {trial: key for trial in trials if (key := trial.key_over(encoded))}
        for trial, key in fitting.items():
            verdicts[trial.verdict.index] = _valid(trial, key, payload.form.name, uncovered(card, payload))
        trials = [trial for trial in trials if trial not in fitting]
        if not trials:
            break
    verdicts |= {trial.verdict.index: _wrong(trial, unmade, made) for trial in trials}
    return tuple(verdicts[index] for index in sorted(verdicts))


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A signature that can be verified, and the keys to try."""

    verdict: Verdict
    protected: bytes
    signature: bytes
    keys: tuple[Key, ...]

    def key_over(self, payload: bytes) -> Key | None:
        """Return the key whose signature this is over a payload in base64url."""
        message = self.protected + b"." + payload
        fitting = (key for key in self.keys if key.verifies(self.verdict.algorithm, message, self.signature))
        return next(fitting, None)


def _prepare(index: int, entry: Json, keys: KeySet | None) -> _Trial | Verdict:
    """Find the keys for a signature, or return why it cannot be verified."""
    read = protected_header(entry)
    header = {} if isinstance(read, Unreadable) else read
    unprotected = entry.get("header") if isinstance(entry, dict) else None
    kid = _text(header, "kid") or _text(unprotected, "kid")
    where = f"/signatures/{index}"
    known = Verdict(index, Outcome.NO_KEY, "", where, _text(header, "alg"), kid, _text(header, "jku"))
    if index >= _MOST_SIGNATURES:
        reason = f"Only the first {_MOST_SIGNATURES} signatures of a card are verified."
        return replace(known, outcome=Outcome.REFUSED, reason=reason)
    for problem in problems_of(entry):
        if problem.flaw in _DECISIVE:
            outcome, place = _DECISIVE[problem.flaw], where + problem.pointer
            return replace(known, outcome=outcome, reason=problem.sentence, pointer=place)
    named = keys.named(kid) if keys is not None else ()
    if not named:
        return replace(known, reason=_no_key(kid, keys))
    fit = [key for key in named if not key.why_not(known.algorithm)]
    if not fit:
        why = named[0].why_not(known.algorithm)
        reason = f"{why[:1].upper()}{why[1:]}."
        return replace(known, outcome=Outcome.REFUSED, reason=reason, pointer=f"{where}/protected")
    signature = base64url(entry["signature"]) or b""
    return _Trial(known, entry["protected"].encode("ascii"), signature, tuple(fit[:_MOST_KEYS]))


def _valid(trial: _Trial, key: Key, form: str, beyond: tuple[str, ...]) -> Verdict:
    unnamed = "" if trial.verdict.kid else "; it does not say which key, so every one was tried"
    outside = f"; {_outside(len(beyond))} outside of that and not signed" if beyond else ""
    reason = f"Signed with {key.name} over {form}{unnamed}{outside}."
    return replace(trial.verdict, outcome=Outcome.VALID, reason=reason, form=form, uncovered=beyond)


def _wrong(trial: _Trial, unmade: Sequence[str], made: int) -> Verdict:
    if not made:
        reason = f"The card has no form that could be signed: {unmade[0]}."
        return replace(trial.verdict, outcome=Outcome.UNUSABLE, reason=reason)
    names = " or ".join(key.name for key in trial.keys)
    partly = f" ({unmade[0]}, so that {len(unmade)} forms could not be tried)" if unmade else ""
    reason = f"It fits no form of the card with {names}{partly}: the card was changed since, or another key signed it."
    return replace(trial.verdict, outcome=Outcome.WRONG, reason=reason)


def _no_key(kid: str, keys: KeySet | None) -> str:
    if keys is None:
        return "No keys were given to verify it with."
    if not keys.keys:
        return "The key set has no key to verify with."
    return f"The key set has no key {brief(kid)}, it has {', '.join(key.name for key in keys.keys[:_MOST_KEYS])}."


def _outside(count: int) -> str:
    return "1 member of the card is" if count == 1 else f"{count:,} members of the card are"


def _of_algorithm(header: Mapping[str, Json]) -> Iterator[Problem]:
    """Check the algorithm and the critical extensions."""
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or not algorithm:
        yield Problem("/protected", "The protected header names no algorithm (alg).", Flaw.ALG_MISSING)
    elif algorithm.lower() == "none":
        yield Problem("/protected", "The alg is none: nothing is signed, anybody can write this.", Flaw.ALG_REFUSED)
    elif algorithm in _SHARED:
        said = f"The alg is {algorithm}: its key is shared, so whoever can verify it can forge it."
        yield Problem("/protected", said, Flaw.ALG_REFUSED)
    elif algorithm not in ALGORITHMS:
        said = f"The alg is {brief(algorithm)}, which is none of {', '.join(ALGORITHMS)}."
        yield Problem("/protected", said, Flaw.ALG_REFUSED)
    if header.get("b64", True) is not True:
        said = "By b64 the payload is not in base64url (RFC 7797), where A2A signs it so."
        yield Problem("/protected", said, Flaw.CRIT)
    if "crit" in header:
        critical = header["crit"]
        names = ", ".join(map(brief, critical[:_MOST_NAMES])) if isinstance(critical, list) else ""
        said = f"By crit it is void where {names} is not understood, as here." if names else "The crit names nothing."
        yield Problem("/protected", said, Flaw.CRIT)


def _of_unprotected(header: Json, protected: Mapping[str, Json]) -> Iterator[Problem]:
    if header is not None and not isinstance(header, dict):
        yield Problem("/header", f"The unprotected header is {type_name(header)}, not an object.", Flaw.ENTRY)
        return
    for name in header or ():
        if name in protected:
            said = f"Both headers have {brief(name)}, where one alone may have it (RFC 7515 section 7.2.1)."
            yield Problem("/header" + pointer(name), said, Flaw.HEADER)
        elif name == "crit":
            yield Problem("/header/crit", "The crit is not protected (RFC 7515 section 4.1.11).", Flaw.HEADER)


def _of_signature(signature: Json, algorithm: str) -> Iterator[Problem]:
    """Check the bytes of the signature; the algorithm may define their number."""
    if not isinstance(signature, str):
        seen = "missing" if signature is None else f"{type_name(signature)}, not a text"
        yield Problem("/signature", f"The signature is {seen}.", Flaw.ENTRY)
        return
    raw = base64url(signature)
    sizes = ALGORITHMS[algorithm].sizes if algorithm in ALGORITHMS else ()
    if not signature:
        yield Problem("/signature", "The signature is empty.", Flaw.SIGNATURE)
    elif raw is None:
        yield Problem("/signature", "The signature is not in base64url, which has no padding.", Flaw.SIGNATURE)
    elif sizes and len(raw) not in sizes:
        der = ": it looks like DER, where JOSE has R and S in a row" if raw.startswith(_DER_SEQUENCE) else ""
        said = f"The signature has {len(raw):,} bytes, {algorithm} has {' or '.join(map(str, sizes))}{der}."
        yield Problem("/signature", said, Flaw.SIGNATURE)


def _of_hints(header: Mapping[str, Json]) -> Iterator[Problem]:
    """Check the members that help to verify, and do not prevent it."""
    if not _text(header, "kid"):
        yield Problem("/protected", "The protected header names no key (kid).", Flaw.KID)
    if header.get("typ") != "JOSE":
        seen = brief(header["typ"]) if "typ" in header else "missing"
        yield Problem("/protected", f"The typ is {seen}, JOSE is due.", Flaw.TYP)
    if "jku" in header and not _is_safe(_text(header, "jku")):
        said = f"The jku is {brief(header['jku'])}, where an https url is due."
        yield Problem("/protected", said, Flaw.JKU)


def _is_safe(url: str) -> bool:
    """Whether a URL is https, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _text(value: Json, name: str) -> str:
    held = value.get(name) if isinstance(value, dict) else None
    return held if isinstance(held, str) else ""
