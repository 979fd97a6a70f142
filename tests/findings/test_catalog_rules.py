"""The rules about AI Catalogs: their examples, and what they report."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from inspector.findings.card.facts import Served
from inspector.findings.catalog import DOCUMENT, ENTRY, EntryFacts, lint_catalog, lint_entry
from inspector.protocol.ai_catalog import CARD_TYPE, MEDIA_TYPE, Catalog, read_catalog

GOOD = {"identifier": "urn:air:a.example:agent:a", "type": CARD_TYPE, "url": "https://a.example/card.json"}


def document(*entries: Any, **members: Any) -> bytes:
    return json.dumps({"specVersion": "0.9", "entries": list(entries), **members}).encode()


def rules_of(raw: bytes, content_type: str = "") -> dict[str, str]:
    served = Served("https://a.example/c.json", {"content-type": content_type}) if content_type else None
    return {finding.rule: finding.pointer for finding in lint_catalog(raw, served)}


def facts(example: Any) -> EntryFacts:
    found = read_catalog(document(example["entry"]))
    assert isinstance(found, Catalog)
    return EntryFacts(found.entries[0], example.get("card", {}).get("version", ""), example.get("why", ""))


@pytest.mark.parametrize("checked", DOCUMENT.rules, ids=lambda checked: checked.rule.id)
def test_the_examples_of_rules_about_catalogs(checked: Any):
    rule = checked.rule
    if rule.id == "CATALOG-009":
        assert rule.id in rules_of(document(GOOD), rule.failing["content-type"])
        assert rules_of(document(GOOD), rule.passing["content-type"]) == {}
        return
    assert set(rules_of(json.dumps(rule.failing).encode())) == {rule.id}
    assert rules_of(json.dumps(rule.passing).encode()) == {}


@pytest.mark.parametrize("checked", ENTRY.rules, ids=lambda checked: checked.rule.id)
def test_the_examples_of_rules_about_entries(checked: Any):
    assert [finding.rule for finding in lint_entry(facts(checked.rule.failing))] == [checked.rule.id]
    assert lint_entry(facts(checked.rule.passing)) == ()


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", {"CATALOG-001": ""}),
        (b"<html>", {"CATALOG-001": ""}),
        (b"[1]", {"CATALOG-001": ""}),
        (document(5, GOOD), {"CATALOG-001": "/entries/0"}),
        (document(GOOD | {"identifier": ""}), {"CATALOG-004": "/entries/0"}),
        (document(GOOD | {"type": ["x"]}), {"CATALOG-004": "/entries/0"}),
        (document(GOOD | {"url": 5}), {"CATALOG-008": "/entries/0/url"}),
        (document(GOOD | {"url": "ftp://a.example/x"}), {"CATALOG-008": "/entries/0/url"}),
        (document(GOOD | {"url": "https://[::1"}), {"CATALOG-008": "/entries/0/url"}),
        (document({"identifier": "urn:a", "type": CARD_TYPE}), {"CATALOG-005": "/entries/0"}),
        (document(GOOD | {"metadata": {}}), {"CATALOG-007": "/entries/0/metadata"}),
        (document(GOOD, host=[]), {"CATALOG-010": "/host"}),
        (document(GOOD, specVersion=1.0), {"CATALOG-002": "/specVersion"}),
        (document(GOOD, specVersion="1"), {"CATALOG-002": "/specVersion"}),
        (document(GOOD, specVersion="1.7"), {}),
        (document(), {}),
    ],
)
def test_what_is_wrong_with_a_catalog_is_found_where_it_is(raw: bytes, found: dict[str, str]):
    assert rules_of(raw) == found


def test_an_unsuitable_media_type_is_a_warning_only_over_http():
    assert rules_of(document(GOOD), "text/html") == {"CATALOG-009": ""}
    assert rules_of(document(GOOD), f"{MEDIA_TYPE}; charset=utf-8") == {}
    assert rules_of(document(GOOD)) == {}


def test_a_rule_reports_at_most_a_hundred_places():
    found = Counter(finding.rule for finding in lint_catalog(document(*({} for _ in range(300)))))
    assert found == {"CATALOG-004": 100, "CATALOG-005": 100}
