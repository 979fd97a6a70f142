"""AI Catalogs: reading entries of any form, and finding them by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.ai_catalog import CARD_TYPE, MEDIA_TYPE, Catalog, EntryKind, nested_catalog, read_catalog
from inspector.protocol.model import Unreadable


def catalog(*entries: Any, **members: Any) -> Catalog:
    found = read_catalog(json.dumps({"specVersion": "0.9", "entries": list(entries), **members}).encode())
    assert isinstance(found, Catalog)
    return found


def test_an_entry_of_the_specification_is_read():
    entry = {"identifier": "urn:air:a.example:agent:finance", "type": CARD_TYPE, "url": "https://a.example/card.json"}
    found = catalog(entry | {"version": "2.1.0", "description": "d"}, host={"displayName": "Acme"})
    assert (found.spec_version, found.host) == ("0.9", "Acme")
    [read] = found.entries
    assert (read.name, read.kind, read.reference, read.pointer) == ("finance", EntryKind.CARD, "finance", "/entries/0")
    assert (read.version, read.description, read.url) == ("2.1.0", "d", "https://a.example/card.json")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"type": CARD_TYPE}, EntryKind.CARD),
        ({"mediaType": f"{CARD_TYPE}; charset=utf-8"}, EntryKind.CARD),
        ({"data": {"name": "A", "skills": []}}, EntryKind.CARD),
        ({"type": MEDIA_TYPE, "url": "https://a.example/c.json"}, EntryKind.CATALOG),
        ({"data": {"specVersion": "0.9", "entries": []}}, EntryKind.CATALOG),
        ({"type": "application/mcp-server-card+json"}, EntryKind.OTHER),
        ({"type": 5}, EntryKind.CARD),
    ],
)
def test_the_kind_of_an_entry_is_its_type_or_its_content(entry: Any, kind: EntryKind):
    assert catalog(entry).entries[0].kind is kind


def test_references_lead_to_their_entry_only():
    entries = [
        {"identifier": "urn:a:agent:weather"},
        {"identifier": "urn:b:agent:weather"},
        {"identifier": "urn:a:agent:finance", "version": "1.0.0"},
        {"identifier": "urn:a:agent:finance", "version": "2.0.0"},
        {"displayName": "Only a name"},
        {},
        {},
        {"identifier": "urn:c:agent:unique"},
    ]
    found = catalog(*entries)
    assert [entry.reference for entry in found.entries] == [
        "urn:a:agent:weather",
        "urn:b:agent:weather",
        "urn:a:agent:finance@1.0.0",
        "urn:a:agent:finance@2.0.0",
        "Only a name",
        "/entries/5",
        "/entries/6",
        "unique",
    ]
    assert [found.find(entry.reference) for entry in found.entries] == list(found.entries)


def test_of_several_versions_the_latest_is_found():
    versions = ["1.9.0", "1.10.0", "1.2.0", "nightly"]
    found = catalog(*({"identifier": "urn:a:f", "version": version} for version in versions))
    for name in ("urn:a:f", "f"):
        latest = found.find(name)
        assert latest is not None
        assert latest.version == "1.10.0"
    found = catalog({"name": "f", "updatedAt": "2026-01-01"}, {"name": "f", "updatedAt": "2026-03-01"})
    latest = found.find("f")
    assert latest is not None
    assert latest.updated_at == "2026-03-01"


def test_entries_of_a_nested_catalog_have_pointers_into_the_whole_document():
    outer = catalog({"identifier": "a/b~c", "type": MEDIA_TYPE, "data": {"entries": [{"name": "inner"}]}})
    inner = nested_catalog(outer.entries[0])
    assert isinstance(inner, Catalog)
    assert inner.entries[0].pointer == "/entries/0/data/entries/0"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b"[]", "an array instead of an object"),
        (b'{"entries": {}}', "no list of entries"),
        (b'{"name": "A", "skills": []}', "no list of entries"),
        (b"<html>", ""),
        (b"\xff\xfe", ""),
    ],
)
def test_other_documents_are_not_catalogs(raw: bytes, why: str):
    found = read_catalog(raw)
    assert isinstance(found, Unreadable)
    assert why in found.why


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["entries", "identifier", "name", "type", "data", "url", "version"]), inner)
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_read_without_an_exception(value: Any):
    found = read_catalog(json.dumps(value).encode())
    if isinstance(found, Catalog):
        for entry in found.entries:
            assert found.find(entry.reference) is not None
            found.find(entry.identifier)
