"""Rules about AI Catalogs, and about the agent cards that they list (AI Catalog 0.9)."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from inspector.findings.card.facts import Served
from inspector.findings.finding import Finding, most_severe_first
from inspector.findings.rule_set import ERROR, V1, WARNING, Rule, RuleSet, Violation
from inspector.findings.trust_manifests import (
    digest_flaw,
    flaws_of_shape,
    flaws_of_signature,
    flaws_of_subject,
    flaws_of_time,
)
from inspector.findings.url import flaw
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import CARD_TYPE, MEDIA_TYPE, Entry, catalog_of, manifests_of
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.jsonvalue import brief_or_missing, parse, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import pointer, steps_of

_MAJOR = 1
"""The latest major version of the specification; 0.9 is its release candidate."""
_SPEC_VERSION = re.compile(r"(\d{1,9})\.\d{1,9}")
_FORMER = {
    "mediaType": "type",
    "metadata": "extensions",
    "id": "identifier",
    "name": "displayName",
    "trustManifest": "trustManifests",
}
"""The members of an entry that drafts before 0.9 spelled in another way."""
_LONGEST = 200

_ENTRY: dict[str, Json] = {
    "identifier": "urn:air:example.com:agent:translator",
    "type": CARD_TYPE,
    "url": "https://agent.example.com/.well-known/agent-card.json",
}


def _catalog(*entries: Json, **members: Json) -> Json:
    return {"specVersion": "0.9", "entries": [*entries], **members}


def _changed(**members: Json) -> Json:
    """Return a catalog with one entry, some of whose members are changed; None removes a member."""
    return _catalog({name: value for name, value in {**_ENTRY, **members}.items() if value is not None})


@dataclass(frozen=True, slots=True)
class CatalogFacts:
    """The value of a catalog and how it was served; `inside` are the steps to a catalog in the data of an entry.

    `at` is the time of the check in seconds since 1970, 0 if the times of signatures are not checked.
    """

    value: Any
    served: Served = field(default_factory=Served)
    inside: tuple[str, ...] = ()
    at: float = 0.0
    version: str = V1[0]

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Return each entry with its pointer."""
        entries = self.value.get("entries") if isinstance(self.value, dict) else None
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            yield pointer(*self.inside, "entries", str(number)), entry

    def objects(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return each entry that is an object, with its pointer."""
        return ((place, entry) for place, entry in self.entries() if isinstance(entry, dict))

    def manifests(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Return each trust manifest with its pointer and its entry."""
        for place, entry in self.objects():
            for inner, manifest in manifests_of(entry):
                yield f"{place}{inner}", manifest, entry


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """An entry for an agent card, with the version of the card or the reason for which the card was not read.

    `served` has the bytes that were fetched from its URL.
    """

    entry: Entry
    card_version: str = ""
    why: str = ""
    served: bytes = b""
    version: str = V1[0]


RULES: list[Rule] = []
DOCUMENT = RuleSet[CatalogFacts](RULES, passing=_catalog(_ENTRY, host={"displayName": "Example Ltd"}))
"""The rules about a catalog; their examples are catalogs."""
ENTRY = RuleSet[EntryFacts](RULES)
"""The rules about an entry with its card; their examples are members of `EntryFacts`."""


@DOCUMENT.rule(
    "CATALOG-001",
    ERROR,
    "The document is not an AI Catalog",
    section="AI Catalog 0.9, Top-Level Structure",
    requirement="A catalog is a JSON object that MUST contain entries, an array of objects.",
    remedy="Serve a JSON object with specVersion and entries; each entry is an object.",
    failing={"specVersion": "0.9", "agents": []},
)
def not_a_catalog(facts: CatalogFacts) -> Iterator[Violation]:
    if isinstance(why := catalog_of(facts.value), Unreadable):
        yield Violation(pointer(*facts.inside), why.why)
    for place, entry in facts.entries():
        if not isinstance(entry, dict):
            yield Violation(place, f"expected an object, found {type_name(entry)}")


@DOCUMENT.rule(
    "CATALOG-002",
    ERROR,
    "The version of the catalog's specification is missing or invalid",
    section="AI Catalog 0.9, Top-Level Structure, Version Handling",
    requirement='A catalog MUST contain specVersion, a string such as "0.9" with a major and a minor version.',
    remedy="Set specVersion to the version of the AI Catalog specification that the catalog conforms to.",
    failing={"entries": [_ENTRY]},
    passing={"specVersion": "1.0", "entries": []},
)
def no_spec_version(facts: CatalogFacts) -> Iterator[Violation]:
    if isinstance(facts.value, dict):
        stated = facts.value.get("specVersion")
        if not isinstance(stated, str) or _SPEC_VERSION.fullmatch(stated) is None:
            yield Violation(pointer(*facts.inside, "specVersion"), f"specVersion is {brief_or_missing(stated)}")


@DOCUMENT.rule(
    "CATALOG-003",
    WARNING,
    "The major version of the catalog is unknown",
    section="AI Catalog 0.9, Version Handling",
    requirement="Consumers SHOULD reject a catalog whose major version is higher than those that they support.",
    remedy="Publish the catalog in version 0.9 or 1.x, too, or use a newer client.",
    failing={"specVersion": "2.0", "entries": [_ENTRY]},
)
def unknown_major(facts: CatalogFacts) -> Iterator[Violation]:
    stated = facts.value.get("specVersion") if isinstance(facts.value, dict) else None
    found = _SPEC_VERSION.fullmatch(stated) if isinstance(stated, str) else None
    if found is not None and int(found.group(1)) > _MAJOR:
        yield Violation(
            pointer(*facts.inside, "specVersion"), f"specVersion is {brief_or_missing(stated)}, known: 0.9 and 1.x"
        )


@DOCUMENT.rule(
    "CATALOG-004",
    ERROR,
    "An entry has no identifier or no type",
    section="AI Catalog 0.9, Catalog Entry",
    requirement="An entry MUST contain identifier and type, which are strings.",
    remedy=f"Add the member. The type of an A2A agent card is {CARD_TYPE}.",
    failing=_changed(type=None),
)
def no_identifier(facts: CatalogFacts) -> Iterator[Violation]:
    for place, entry in facts.objects():
        for name, former in (("identifier", "id"), ("type", "mediaType")):
            value = entry.get(name, entry.get(former))
            if not isinstance(value, str) or not value:
                yield Violation(place, f"{name} is {brief_or_missing(value)}")


@DOCUMENT.rule(
    "CATALOG-005",
    ERROR,
    "An entry does not have exactly one of url and data",
    section="AI Catalog 0.9, Catalog Entry",
    requirement="An entry MUST contain exactly one of url, the URL of the artifact, and data, the artifact itself.",
    remedy="Keep url if the artifact can be fetched, else data.",
    failing=_changed(data={"name": "Translator"}),
)
def not_one_content(facts: CatalogFacts) -> Iterator[Violation]:
    for place, entry in facts.objects():
        found = [name for name in ("url", "data") if name in entry]
        if len(found) != 1:
            yield Violation(place, "url and data are present" if found else "neither url nor data is present")


@DOCUMENT.rule(
    "CATALOG-006",
    ERROR,
    "Two entries have the same identifier and version",
    section="AI Catalog 0.9, Multi-Version Entries",
    requirement="The identifier MUST be unique; with a version, the combination of identifier and version MUST be.",
    remedy="Give each version of an artifact its own version, or each artifact its own identifier.",
    failing=_catalog(_ENTRY, _ENTRY),
    passing=_catalog({**_ENTRY, "version": "1.0.0"}, {**_ENTRY, "version": "2.0.0"}),
)
def repeated_identifier(facts: CatalogFacts) -> Iterator[Violation]:
    seen: dict[tuple[str, str], str] = {}
    for place, entry in facts.objects():
        identifier, version = entry.get("identifier", entry.get("id")), entry.get("version")
        if not isinstance(identifier, str):
            continue
        key = identifier, version if isinstance(version, str) else ""
        if key in seen:
            with_version = f" and version {brief_or_missing(version)}" if key[1] else ""
            yield Violation(place, f"identifier {brief_or_missing(identifier)}{with_version} as in {seen[key]}")
        seen.setdefault(key, place)


@DOCUMENT.rule(
    "CATALOG-007",
    WARNING,
    "An entry has the member names of an earlier draft",
    section="AI Catalog 0.9, Catalog Entry",
    requirement="The members are type, extensions, identifier and displayName; drafts before 0.9 had other names.",
    remedy="Rename the member; clients that know only the current names ignore it.",
    failing=_changed(type=None, mediaType=CARD_TYPE),
)
def former_names(facts: CatalogFacts) -> Iterator[Violation]:
    for place, entry in facts.objects():
        for former, name in _FORMER.items():
            if former in entry and name not in entry:
                yield Violation(pointer(*steps_of(place), former), f"{former} instead of {name}")


@DOCUMENT.rule(
    "CATALOG-008",
    WARNING,
    "The url of an entry is not an absolute http URL",
    section="AI Catalog 0.9, Catalog Entry",
    requirement="url is the URL where the artifact can be retrieved.",
    remedy="Write the complete URL, with https.",
    failing=_changed(url="agents/translator.json"),
)
def no_url(facts: CatalogFacts) -> Iterator[Violation]:
    for place, entry in facts.objects():
        if "url" in entry:
            url = entry["url"]
            why = flaw(url) if isinstance(url, str) else f"it is {type_name(url)}"
            if not why and not url.lower().startswith(("http://", "https://")):
                why = "it does not start with http:// or https://"
            if why:
                yield Violation(f"{place}/url", f"url is {brief_or_missing(url)}: {why}")


@DOCUMENT.rule(
    "CATALOG-009",
    WARNING,
    "The catalog is not served as an AI Catalog",
    section="AI Catalog 0.9, Location Independence",
    requirement=f"Over HTTP, a catalog SHOULD be served with the media type {MEDIA_TYPE}.",
    remedy=f"Set Content-Type to {MEDIA_TYPE}.",
    passing={"content-type": MEDIA_TYPE},
    failing={"content-type": "application/json"},
)
def other_media_type(facts: CatalogFacts) -> Iterator[Violation]:
    served = facts.served.headers.get("content-type", "")
    if facts.served.url and without_parameters(served) != MEDIA_TYPE:
        yield Violation("", f"Content-Type is {served[:_LONGEST]}" if served else "Content-Type is missing")


@DOCUMENT.rule(
    "CATALOG-010",
    ERROR,
    "The host of the catalog has no name",
    section="AI Catalog 0.9, Host Info",
    requirement="host MUST contain displayName, a string.",
    remedy="Add displayName, or remove host, which is optional.",
    failing=_catalog(_ENTRY, host={"identifier": "did:web:example.com"}),
)
def no_host_name(facts: CatalogFacts) -> Iterator[Violation]:
    host = facts.value.get("host") if isinstance(facts.value, dict) else None
    if host is not None and (not isinstance(host, dict) or not isinstance(host.get("displayName"), str)):
        yield Violation(pointer(*facts.inside, "host"), "displayName is missing or not a string")


_TRUST: dict[str, Json] = {
    "contributor": "did:web:example.com",
    "provenance": [{"relation": "publishedFrom", "sourceId": "https://git.example.com/translator"}],
}
_SUBJECT: dict[str, Json] = {name: _ENTRY[name] for name in ("identifier", "type", "url")}


def _signature(**members: Json) -> Json:
    header = {"alg": "ES256", "typ": "ai-catalog-trust-manifest+jws", "kid": "did:web:example.com#key-1"}
    protected = urlsafe_b64encode(json.dumps({**header, **members}).encode()).decode().rstrip("=")
    known = {"signer": "did:web:example.com", "profile": "did-web-v1", "issuedAt": "2026-01-31T12:00:00Z"}
    return {**known, "jws": f"{protected}..{'A' * 86}"}


def _trusted(**members: Json) -> Json:
    return _changed(trustManifests=[{**_TRUST, **members}])


_SIGNED = {"subject": _SUBJECT, "signature": _signature()}


@DOCUMENT.rule(
    "CATALOG-013",
    ERROR,
    "A trust manifest is incomplete",
    section="AI Catalog 0.9, Trust Manifest",
    requirement="A trust manifest MUST contain contributor, a URI, and evidence or a signature.",
    remedy="Add the member, or leave out the trust manifest, which is optional.",
    passing=_trusted(),
    failing=_changed(trustManifests=[{"contributor": "did:web:example.com"}]),
)
def incomplete_manifest(facts: CatalogFacts) -> Iterator[Violation]:
    for place, manifest, _ in facts.manifests():
        yield from flaws_of_shape(place, manifest)


@DOCUMENT.rule(
    "CATALOG-014",
    ERROR,
    "A signed trust manifest is not for its entry",
    section="AI Catalog 0.9, Entry Release Coverage",
    requirement="The subject MUST have the identifier, type and version of its entry, and bind the artifact.",
    remedy="Sign a manifest whose subject is this release; one that was copied from another entry is not valid here.",
    passing=_trusted(**_SIGNED),
    failing=_trusted(**_SIGNED | {"subject": {**_SUBJECT, "identifier": "urn:air:example.com:agent:other"}}),
)
def other_subject(facts: CatalogFacts) -> Iterator[Violation]:
    for place, manifest, entry in facts.manifests():
        yield from flaws_of_subject(place, manifest, entry)


@DOCUMENT.rule(
    "CATALOG-015",
    ERROR,
    "The signature of a trust manifest is malformed or insecure",
    section="AI Catalog 0.9, Signature Object, Signature Algorithms",
    requirement="A signature is a detached JWS with an asymmetric algorithm and a key of the contributor.",
    remedy="Sign the canonical JSON (RFC 8785) of the manifest with ES256 and the key that kid names.",
    passing=_trusted(**_SIGNED),
    failing=_trusted(**_SIGNED | {"signature": _signature(alg="none")}),
)
def bad_signature(facts: CatalogFacts) -> Iterator[Violation]:
    for place, manifest, _ in facts.manifests():
        yield from flaws_of_signature(place, manifest)


@DOCUMENT.rule(
    "CATALOG-016",
    WARNING,
    "The signature of a trust manifest is not valid at this time",
    section="AI Catalog 0.9, Signature Acceptance and Time",
    requirement="A signature is valid from issuedAt, and before expiresAt if it has one.",
    remedy="Sign the manifest again.",
    passing=_trusted(**_SIGNED),
    failing=_trusted(**_SIGNED | {"signature": {**_signature(), "expiresAt": "2026-02-01T00:00:00Z"}}),
)
def outdated_signature(facts: CatalogFacts) -> Iterator[Violation]:
    for place, manifest, _ in facts.manifests() if facts.at else ():
        yield from flaws_of_time(place, manifest, facts.at)


_EXAMPLE = {"entry": _ENTRY, "card": {"version": "2.1.0"}}


@ENTRY.rule(
    "CATALOG-011",
    ERROR,
    "An entry for an agent card leads to no card",
    section="AI Catalog 0.9, Catalog Entry",
    requirement="The document at url, or in data, is the artifact that type names.",
    remedy="Correct url or data; lint the URL of the card itself to see what it returns.",
    passing=_EXAMPLE,
    failing={"entry": _ENTRY, "why": "404"},
)
def no_card(facts: EntryFacts) -> Iterator[Violation]:
    if facts.why:
        yield Violation(facts.entry.pointer, facts.why)


@ENTRY.rule(
    "CATALOG-012",
    WARNING,
    "The version of an entry is not that of its card",
    section="AI Catalog 0.9, Resolving an Artifact's Version",
    requirement="The version of an entry SHOULD equal the version that the artifact reports.",
    remedy="Correct the version, or leave it out if the catalog lists one version of the agent only.",
    passing=_EXAMPLE,
    failing={"entry": {**_ENTRY, "version": "2.0.0"}, "card": {"version": "2.1.0"}},
)
def other_version(facts: EntryFacts) -> Iterator[Violation]:
    stated, found = facts.entry.version, facts.card_version
    if stated and found and stated != found:
        seen = f"version is {brief_or_missing(stated)}, but that of the card is {brief_or_missing(found)}"
        yield Violation(f"{facts.entry.pointer}/version", seen)


@ENTRY.rule(
    "CATALOG-017",
    ERROR,
    "The digest of an entry is not that of its card",
    section="AI Catalog 0.9, Digest Format, Verifying Artifact Integrity",
    requirement="digest, and that of a signed subject, MUST be the hash of exactly the bytes that url serves.",
    remedy="Update the digest with each release of the card, and sign again; else the card was replaced.",
    passing=_EXAMPLE,
    failing={"entry": {**_ENTRY, "digest": f"sha256:{'0' * 64}"}, "card": {"version": "2.1.0"}},
)
def other_digest(facts: EntryFacts) -> Iterator[Violation]:
    for inner, digest in facts.entry.digests if facts.served else ():
        if seen := digest_flaw(digest, facts.served):
            yield Violation(f"{facts.entry.pointer}{inner}", seen)


def lint_catalog(raw: bytes, served: Served | None = None, at: float = 0.0) -> tuple[Finding, ...]:
    """Check the bytes of a catalog, without its cards, at a time in seconds since 1970; errors come first."""
    value = parse(raw)
    return most_severe_first(DOCUMENT.judge(CatalogFacts(value, served or Served(), at=at)))


def lint_nested(value: Json, inside: tuple[str, ...], at: float = 0.0) -> tuple[Finding, ...]:
    """Check a catalog that is the data of an entry of another catalog."""
    return most_severe_first(DOCUMENT.judge(CatalogFacts(value, inside=inside, at=at)))


def lint_entry(facts: EntryFacts) -> tuple[Finding, ...]:
    """Check an entry for an agent card."""
    return most_severe_first(ENTRY.judge(facts))
