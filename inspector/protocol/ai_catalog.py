"""AI Catalogs: JSON documents that list agents and other artifacts (AI Catalog 0.9, ai-catalog.io/spec).

Drafts before 0.9 spelled some members in other ways (`mediaType` instead of `type`, `name`, `id`); they are read, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.jsonvalue import parse, text_in, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import pointer, steps_of

WELL_KNOWN = "/.well-known/ai-catalog.json"
MEDIA_TYPE = "application/ai-catalog+json"
CARD_TYPE = "application/a2a-agent-card+json"

_NUMBERS = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)")
"""A version that can be compared, without its suffix."""


class EntryKind(Enum):
    """What an entry refers to; one without a type may be a card."""

    CARD = "agent card"
    CATALOG = "catalog"
    OTHER = "other artifact"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a catalog; members that are missing or have the wrong type are `""`, and None for `data`.

    `pointer` is a JSON pointer into the document. `reference` names the entry after `#`: it is unique in its catalog.
    `trust_manifests` have their pointers into the entry.
    """

    pointer: str
    identifier: str
    name: str
    kind: EntryKind
    type: str
    version: str
    updated_at: str
    description: str
    url: str
    data: Json
    aliases: tuple[str, ...] = ()
    reference: str = ""
    trust_manifests: tuple[tuple[str, Json], ...] = ()
    digest: Json = None

    @property
    def digests(self) -> tuple[tuple[str, Json], ...]:
        """Return the digests of the artifact, each with its JSON pointer into the entry."""
        found = [("/digest", self.digest)] if self.digest is not None else []
        for place, manifest in self.trust_manifests:
            subject = manifest.get("subject") if isinstance(manifest, dict) else None
            if isinstance(subject, dict) and subject.get("digest") is not None:
                found.append((f"{place}/subject/digest", subject["digest"]))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog: the version of its specification, the name of its operator, and its entries."""

    spec_version: str
    host: str
    entries: tuple[Entry, ...]

    def cards(self) -> list[Entry]:
        """Return the entries that are or may be agent cards."""
        return [entry for entry in self.entries if entry.kind is EntryKind.CARD]

    def find(self, name: str) -> Entry | None:
        """Return the entry with a name; of several versions, the latest.

        A name is a JSON pointer, the identifier (also with `@version`), a name, or the last part of the identifier.
        """
        for entry in self.entries:
            if name in (entry.pointer, f"{entry.identifier}@{entry.version}"):
                return entry
        named = [entry for entry in self.entries if name in entry.aliases]
        named = named or [entry for entry in self.entries if name and name == _last_part(entry.identifier)]
        return max(named, key=_age_of) if named else None


def read_catalog(raw: bytes) -> Catalog | Unreadable:
    """Read the bytes of a catalog; anything else, for example a card, is unreadable."""
    return catalog_of(parse(raw))


def catalog_of(value: Any, inside: Sequence[str] = ()) -> Catalog | Unreadable:
    """Read the value of a catalog; `inside` are the steps to a catalog that is the data of an entry."""
    if isinstance(value, Unreadable):
        return value
    if not isinstance(value, dict):
        return Unreadable(value, f"JSON, but {type_name(value)} instead of an object")
    if not isinstance(value.get("entries"), list):
        return Unreadable(value, "it has no list of entries")
    found = [
        _entry(member, pointer(*inside, "entries", str(number)))
        for number, member in enumerate(value["entries"])
        if isinstance(member, dict)
    ]
    host = value.get("host")
    return Catalog(
        text_in(value, "specVersion"),
        text_in(host, "displayName", "name"),
        tuple(_with_references(found)),
    )


def nested_catalog(entry: Entry) -> Catalog | Unreadable:
    """Read the catalog that is the data of an entry."""
    return catalog_of(entry.data, (*steps_of(entry.pointer), "data"))


def _entry(member: dict[str, Any], place: str) -> Entry:
    identifier, kind = text_in(member, "identifier", "id"), text_in(member, "type", "mediaType")
    data = member.get("data")
    card_name = text_in(data, "name", "displayName")
    name = text_in(member, "displayName", "name") or card_name or _last_part(identifier) or place
    aliases = (text_in(member, each) for each in ("identifier", "id", "name", "displayName"))
    return Entry(
        place,
        identifier,
        name,
        _kind(kind, data),
        kind,
        text_in(member, "version") or text_in(data, "version"),
        text_in(member, "updatedAt"),
        text_in(member, "description") or text_in(data, "description"),
        text_in(member, "url", "cardUrl"),
        data,
        tuple(filter(None, aliases)),
        trust_manifests=tuple(manifests_of(member)),
        digest=member.get("digest"),
    )


def manifests_of(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return each trust manifest of an entry with its JSON pointer into the entry; before 0.9 there was only one."""
    listed = entry.get("trustManifests")
    if isinstance(listed, list):
        yield from ((f"/trustManifests/{number}", manifest) for number, manifest in enumerate(listed))
    elif listed is not None:
        yield "/trustManifests", listed
    if entry.get("trustManifest") is not None:
        yield "/trustManifest", entry["trustManifest"]


def _kind(kind: str, data: Json) -> EntryKind:
    plain = without_parameters(kind)
    if plain in (CARD_TYPE, "application/agent-card+json"):
        return EntryKind.CARD
    if plain == MEDIA_TYPE or (not plain and isinstance(data, dict) and isinstance(data.get("entries"), list)):
        return EntryKind.CATALOG
    return EntryKind.OTHER if plain else EntryKind.CARD


def _last_part(identifier: str) -> str:
    """Return the part of an identifier after its last `:` or `/`, the name of an artifact without another name."""
    return re.split("[:/]", identifier)[-1]


def _with_references(entries: list[Entry]) -> list[Entry]:
    """Add the shortest reference that leads to this entry only."""
    identifiers = Counter(entry.identifier for entry in entries)
    parts = Counter(part for entry in entries for part in {*entry.aliases, _last_part(entry.identifier)})
    versions = Counter(f"{entry.identifier}@{entry.version}" for entry in entries)
    found = []
    for entry in entries:
        part, versioned = _last_part(entry.identifier), f"{entry.identifier}@{entry.version}"
        if part and parts[part] == 1:
            reference = part
        elif entry.identifier and identifiers[entry.identifier] == 1 and parts[entry.identifier] == 1:
            reference = entry.identifier
        elif entry.identifier and entry.version and versions[versioned] == 1:
            reference = versioned
        else:
            named = next((alias for alias in entry.aliases if parts[alias] == 1), "")
            reference = named or entry.pointer
        found.append(replace(entry, reference=reference))
    return found


def _age_of(entry: Entry) -> tuple[bool, tuple[int, ...], str]:
    """Return a key that is larger for later versions; entries without a comparable version come first."""
    numbers = _NUMBERS.match(entry.version)
    parts = tuple(map(int, numbers.group(1).split("."))) if numbers else ()
    return bool(parts), parts, entry.updated_at
