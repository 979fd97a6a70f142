"""The trust manifests of entries of AI Catalogs (AI Catalog 0.9): what can be judged without the network.

The key of a signer is in its DID document, which is not fetched; keys that the user trusts verify a signature.
Attestations and provenance are not fetched either. Drafts before 0.9 had one `trustManifest` with `identity`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from inspector.findings.rule_set import Violation
from inspector.findings.signatures.canonical import canonical_json
from inspector.findings.signatures.key_sources import Outcome, Verdict, verify_token
from inspector.findings.signatures.keyset import KeySet, base64url
from inspector.protocol.jsonvalue import brief, brief_or_missing, parse_strictly, type_name
from inspector.protocol.model import Json

_SUBSTANCE = ("attestations", "provenance", "trustSchema", "extensions")
_EVIDENCE = {"attestations": ("type", "uri"), "provenance": ("relation", "sourceId")}
"""The members that each element of these lists must have."""
_SIGNATURE = ("signer", "profile", "issuedAt", "jws")
_TYPE = "ai-catalog-trust-manifest+jws"
_KEY_SOURCES = ("jku", "jwk", "x5u", "x5c")
_DIGESTS = {"sha256": hashlib.sha256, "sha384": hashlib.sha384, "sha512": hashlib.sha512}


def contributor_of(manifest: Any) -> str:
    """Return who contributes a manifest, `""` if it has no name."""
    for name in ("contributor", "identity"):
        if isinstance(manifest, dict) and isinstance(manifest.get(name), str):
            return str(manifest[name])
    return ""


def flaws_of_shape(place: str, manifest: Any) -> Iterator[Violation]:
    """Return what is missing in a manifest, or has the wrong type."""
    if not isinstance(manifest, dict):
        yield Violation(place, f"expected an object, found {type_name(manifest)}")
        return
    if ":" not in contributor_of(manifest):
        yield Violation(place, f"contributor is {brief_or_missing(manifest.get('contributor'))}, expected a URI")
    if not any(manifest.get(name) for name in (*_SUBSTANCE, "signature")):
        yield Violation(place, f"it has none of {', '.join(_SUBSTANCE)} and signature")
    for name, required in _EVIDENCE.items():
        listed = manifest.get(name, [])
        if not isinstance(listed, list):
            yield Violation(f"{place}/{name}", f"expected an array, found {type_name(listed)}")
            continue
        for number, each in enumerate(listed):
            found = each if isinstance(each, dict) else {}
            missing = [member for member in required if not isinstance(found.get(member), str)]
            if missing:
                yield Violation(f"{place}/{name}/{number}", f"{missing[0]} is missing or not a string")


def flaws_of_subject(place: str, manifest: Any, entry: Mapping[str, Any]) -> Iterator[Violation]:
    """Return how the subject of a signed manifest differs from its entry: then the manifest is for something else."""
    if not isinstance(manifest, dict) or manifest.get("signature") is None:
        return
    subject = manifest.get("subject")
    if not isinstance(subject, dict):
        if "contributor" in manifest:
            yield Violation(place, "it is signed, but has no subject: the signature is for no particular artifact")
        return
    place = f"{place}/subject"
    own = {**entry, "type": entry.get("type", entry.get("mediaType"))}
    for name in ("identifier", "type", "version", "url"):
        expected = own.get(name)
        if (name in subject or name in ("identifier", "type", "version")) and subject.get(name) != expected:
            yield Violation(
                f"{place}/{name}",
                f"{name} is {brief_or_missing(subject.get(name))}, in the entry {brief_or_missing(expected)}",
            )
    if "digest" not in subject and "url" not in subject:
        yield Violation(place, "neither digest nor url binds the artifact")
    if "digest" in subject and "digest" in entry and subject["digest"] != entry["digest"]:
        yield Violation(f"{place}/digest", "digest is not that of the entry")
    if "digest" in subject and "data" in entry:
        yield from _flaws_of_digest(f"{place}/digest", subject["digest"], entry["data"], "data")
    extensions = entry.get("extensions")
    selected = subject.get("extensionDigests")
    for name, digest in (selected if isinstance(selected, dict) else {}).items():
        value = extensions.get(name) if isinstance(extensions, dict) else None
        yield from _flaws_of_digest(f"{place}/extensionDigests", digest, value, f"the extension {brief(name)}")


def digest_flaw(stated: Any, raw: bytes) -> str:
    """Return how a stated digest (`sha256:` and hex) differs from that of bytes, `""` if it does not."""
    name, _, value = stated.partition(":") if isinstance(stated, str) else ("", "", "")
    if name not in _DIGESTS:
        return f"digest is {brief_or_missing(stated)}, expected {', '.join(_DIGESTS)} with a colon and the hash in hex"
    return "" if _DIGESTS[name](raw).hexdigest() == value else "digest is not that of what is served"


def flaws_of_signature(place: str, manifest: Any) -> Iterator[Violation]:
    """Return what is wrong with the form of a signature: without its key, and without the network."""
    signature = manifest.get("signature") if isinstance(manifest, dict) else None
    if signature is None:
        return
    place = f"{place}/signature"
    if isinstance(signature, dict):
        missing = [name for name in _SIGNATURE if not isinstance(signature.get(name), str)]
        if missing:
            yield Violation(place, f"{missing[0]} is missing or not a string")
            return
        if signature["signer"] != contributor_of(manifest):
            yield Violation(
                f"{place}/signer", f"signer is {brief_or_missing(signature['signer'])}, not the contributor"
            )
        yield from (Violation(f"{place}/jws", seen) for seen in _flaws_of_header(signature["jws"], signature["signer"]))
    elif not isinstance(signature, str) or "contributor" in manifest:
        yield Violation(place, f"expected an object with signer and jws, found {type_name(signature)}")
        return
    verdict = verify_manifest(manifest, None)
    if verdict is not None and verdict.outcome is Outcome.INVALID:
        yield Violation(place, verdict.reason)


def flaws_of_time(place: str, manifest: Any, at: float) -> Iterator[Violation]:
    """Return whether a signed manifest is not valid at a time, in seconds since 1970."""
    signature = manifest.get("signature") if isinstance(manifest, dict) else None
    members = signature if isinstance(signature, dict) else manifest if signature else {}
    issued, expires = (_seconds(members.get(name)) for name in ("issuedAt", "expiresAt"))
    for name, moment in (("issuedAt", issued), ("expiresAt", expires)):
        if name in members and moment is None:
            yield Violation(
                place, f"{name} is {brief_or_missing(members[name])}, expected a time of RFC 3339 with a time zone"
            )
    if issued is not None and issued > at:
        yield Violation(place, f"issuedAt is {brief_or_missing(members['issuedAt'])}, in the future")
    if expires is not None and expires <= at:
        yield Violation(place, f"expiresAt is {brief_or_missing(members['expiresAt'])}, in the past")


def verify_manifest(manifest: Any, trusted: KeySet | None) -> Verdict | None:
    """Verify the signature of a manifest with trusted keys; None if it has no signature."""
    signature = manifest.get("signature") if isinstance(manifest, dict) else None
    jws = signature.get("jws") if isinstance(signature, dict) else signature
    if not isinstance(jws, str):
        return None
    omitted = {"signature", "additionalSignatures"}
    signed = {name: value for name, value in manifest.items() if name not in omitted}
    if isinstance(signature, dict):
        signed["signature"] = {name: value for name, value in signature.items() if name != "jws"}
    payload = canonical_json(signed)
    if payload is None:
        return Verdict(Outcome.UNKNOWN, "it cannot be written in canonical JSON (RFC 8785)")
    return verify_token(jws, trusted, payload)


def _flaws_of_header(jws: str, signer: str) -> Iterator[str]:
    """Return how the header of a detached JWS differs from what the profile for `did:web` demands."""
    pieces = jws.split(".")
    raw = base64url(pieces[0])
    header = parse_strictly(raw) if raw else None
    if len(pieces) != 3 or not isinstance(header, dict):
        yield "it is not a JWS in compact serialization"
        return
    if pieces[1]:
        yield "the JWS contains a payload, expected none (detached)"
    if header.get("typ") != _TYPE:
        yield f"typ is {brief_or_missing(header.get('typ'))}, expected {_TYPE}"
    kid = header.get("kid")
    if not isinstance(kid, str) or not kid.startswith(f"{signer}#"):
        yield f"kid is {brief_or_missing(kid)}, expected a key of {brief_or_missing(signer)}"
    for name in _KEY_SOURCES:
        if name in header:
            yield f"{name} is in the header: whoever changes the manifest could choose the key"


def _flaws_of_digest(place: str, stated: Any, value: Json, of: str) -> Iterator[Violation]:
    raw = canonical_json(value)
    if raw is not None and (seen := digest_flaw(stated, raw)):
        yield Violation(place, seen.replace("what is served", f"{of} in canonical JSON (RFC 8785)"))


def _seconds(value: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment.timestamp() if moment.tzinfo is not None else None
