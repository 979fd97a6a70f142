"""The rules about cards: each by its own examples, and all of them by cards that are sound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.findings.card import document, serving
from inspector.findings.card.facts import Served
from inspector.findings.card.valid_examples import VALID_CARDS, patched
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import CARD_RULES, check, lint
from inspector.findings.rules import RULES
from inspector.protocol.jsonvalue import dump
from inspector.protocol.pointer import at

URL = "https://agent.example.com/.well-known/agent-card.json"
SERVING = {one.rule.id for one in serving.RULE_SET.rules}
OF_CARDS = [one.rule for one in CARD_RULES if one.rule.id not in SERVING]
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.json"))


def judged(card: dict[str, Any], version: str) -> tuple[Finding, ...]:
    """Check a card that came from its agent's host in order."""
    return check(card, version, Served(URL, serving.VALID_HEADERS), len(dump(card)))


def rules_of(found: tuple[Finding, ...]) -> set[str]:
    return {one.rule for one in found}


@pytest.mark.parametrize("version", list(VALID_CARDS))
def test_a_sound_card_of_every_version_breaks_no_rule(version: str):
    assert judged(VALID_CARDS[version], version) == ()
    assert lint(dump(VALID_CARDS[version])) == (("1.0" if version == "opvs" else version), ())


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_failing_example_of_a_rule_breaks_it_where_its_finding_points(rule: Any):
    card = patched(VALID_CARDS[rule.versions[0]], rule.failing)
    found = [one for one in judged(card, rule.versions[0]) if one.rule == rule.id]
    assert found
    for one in found:
        assert one.severity is rule.severity
        assert one.seen
        holder = one.pointer.rpartition("/")[0]
        assert at(card, one.pointer) is not None or isinstance(at(card, holder), dict | list)


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_passing_example_of_a_rule_does_not_break_it(rule: Any):
    card = patched(VALID_CARDS[rule.versions[0]], rule.passing)
    assert rule.id not in rules_of(judged(card, rule.versions[0]))


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_failing_example_breaks_no_unrelated_rule_as_badly(rule: Any):
    """One defect is one error: what else is found of it is at the same place or milder."""
    card = patched(VALID_CARDS[rule.versions[0]], rule.failing)
    found = judged(card, rule.versions[0])
    places = [one.pointer for one in found if one.rule == rule.id]
    for one in found:
        near = any(one.pointer.startswith(place) or place.startswith(one.pointer) for place in places)
        assert near or one.severity is not Severity.ERROR or rule.severity is Severity.ERROR, one


@pytest.mark.parametrize("rule", [one.rule for one in serving.RULE_SET.rules], ids=lambda rule: rule.id)
def test_how_a_card_is_served_is_judged_by_its_headers_and_place(rule: Any):
    version = rule.versions[0]

    def served(patch: dict[str, Any]) -> set[str]:
        headers = patched(serving.VALID_HEADERS, {name: value for name, value in patch.items() if name != "$url"})
        return rules_of(check(VALID_CARDS[version], version, Served(patch.get("$url", URL), headers)))

    assert served(rule.failing) == {rule.id}
    assert rule.id not in served(rule.passing)


@pytest.mark.parametrize("rule", document.RULES, ids=lambda rule: rule.id)
def test_bytes_are_judged_before_the_card_in_them(rule: Any):
    encoding, text = rule.failing
    assert rule.id in rules_of(lint(text.encode(encoding)).findings)
    encoding, text = rule.passing
    assert rule.id not in rules_of(lint(text.encode(encoding)).findings)


def test_a_card_behind_a_slip_of_encoding_is_judged_all_the_same():
    card = patched(VALID_CARDS["1.0"], {"name": None})
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
        found = lint(json.dumps(card).encode(encoding)).findings
        assert ("CARD-001", "/name") in {(one.rule, one.pointer) for one in found}
        assert rules_of(found) & {"CARD-007", "CARD-008"}


def test_what_is_odd_in_json_is_named_where_it_stands():
    text = json.dumps(VALID_CARDS["1.0"])[:-1]
    odd = text + ', "x-a": {"b": 1, "b": 2}, "x-c": [0, NaN], "x-d": "\\ud800", "x-a": {"b": 1, "b": 2}}'
    found = {(one.rule, one.pointer) for one in lint(odd.encode()).findings}
    assert {("CARD-009", "/x-a/b"), ("CARD-009", "/x-a"), ("CARD-095", "/x-c/1"), ("CARD-096", "/x-d")} <= found


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_the_sample_cards_of_the_specifications_break_nothing_but_what_they_contradict(sample: Path):
    version, found = lint(sample.read_bytes())
    assert sample.stem.startswith(version)
    assert {one.severity for one in found} <= {Severity.HINT}


def test_there_are_sample_cards():
    assert len(SAMPLES) >= 6


def test_every_rule_about_cards_is_in_the_table():
    ids = [one.rule.id for one in CARD_RULES]
    assert len(ids) == len(set(ids))
    assert len([rule for rule in RULES if rule.startswith("CARD-")]) >= 60
    assert set(ids) <= set(RULES)
