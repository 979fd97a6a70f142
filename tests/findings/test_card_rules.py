"""The rules about cards: the examples of each rule, and valid cards."""

from __future__ import annotations

import json
from collections import Counter
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
SERVING = {checked.rule.id for checked in serving.RULE_SET.rules}
OF_CARDS = [checked.rule for checked in CARD_RULES if checked.rule.id not in SERVING]
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.json"))


def judged(card: dict[str, Any], version: str) -> tuple[Finding, ...]:
    """Check a card that was served correctly by the host of its agent."""
    return check(card, version, Served(URL, serving.VALID_HEADERS), len(dump(card)))


def rules_of(found: tuple[Finding, ...]) -> set[str]:
    return {finding.rule for finding in found}


@pytest.mark.parametrize("version", list(VALID_CARDS))
def test_a_valid_card_of_every_version_has_no_findings(version: str):
    assert judged(VALID_CARDS[version], version) == ()
    assert lint(dump(VALID_CARDS[version])) == (("1.0" if version == "opvs" else version), ())


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_failing_example_of_a_rule_has_a_finding_at_its_member(rule: Any):
    card = patched(VALID_CARDS[rule.versions[0]], rule.failing)
    found = [finding for finding in judged(card, rule.versions[0]) if finding.rule == rule.id]
    assert found
    for finding in found:
        assert finding.severity is rule.severity
        assert finding.seen
        holder = finding.pointer.rpartition("/")[0]
        assert at(card, finding.pointer) is not None or isinstance(at(card, holder), dict | list)


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_passing_example_of_a_rule_does_not_violate_it(rule: Any):
    card = patched(VALID_CARDS[rule.versions[0]], rule.passing)
    assert rule.id not in rules_of(judged(card, rule.versions[0]))


@pytest.mark.parametrize("rule", OF_CARDS, ids=lambda rule: rule.id)
def test_the_failing_example_violates_no_unrelated_rule_with_an_error(rule: Any):
    """Other findings about the same defect have the same place or a lower severity."""
    card = patched(VALID_CARDS[rule.versions[0]], rule.failing)
    found = judged(card, rule.versions[0])
    places = [finding.pointer for finding in found if finding.rule == rule.id]
    for finding in found:
        near = any(finding.pointer.startswith(place) or place.startswith(finding.pointer) for place in places)
        assert near or finding.severity is not Severity.ERROR or rule.severity is Severity.ERROR, finding


@pytest.mark.parametrize("rule", [checked.rule for checked in serving.RULE_SET.rules], ids=lambda rule: rule.id)
def test_rules_about_serving_check_headers_and_url(rule: Any):
    version = rule.versions[0]

    def served(patch: dict[str, Any]) -> set[str]:
        headers = patched(serving.VALID_HEADERS, {name: value for name, value in patch.items() if name != "$url"})
        return rules_of(check(VALID_CARDS[version], version, Served(patch.get("$url", URL), headers)))

    assert served(rule.failing) == {rule.id}
    assert rule.id not in served(rule.passing)


@pytest.mark.parametrize("rule", document.RULES, ids=lambda rule: rule.id)
def test_the_bytes_of_a_card_are_checked(rule: Any):
    encoding, text = rule.failing
    assert rule.id in rules_of(lint(text.encode(encoding)).findings)
    encoding, text = rule.passing
    assert rule.id not in rules_of(lint(text.encode(encoding)).findings)


def test_a_card_with_a_wrong_encoding_is_checked_like_any_other():
    card = patched(VALID_CARDS["1.0"], {"name": None})
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
        found = lint(json.dumps(card).encode(encoding)).findings
        assert ("CARD-001", "/name") in {(finding.rule, finding.pointer) for finding in found}
        assert rules_of(found) & {"CARD-007", "CARD-008"}


def test_problems_in_json_are_found_at_their_members():
    text = json.dumps(VALID_CARDS["1.0"])[:-1]
    raw = text + ', "x-a": {"b": 1, "b": 2}, "x-c": [0, NaN], "x-d": "\\ud800", "x-a": {"b": 1, "b": 2}}'
    found = {(finding.rule, finding.pointer) for finding in lint(raw.encode()).findings}
    assert {("CARD-009", "/x-a/b"), ("CARD-009", "/x-a"), ("CARD-095", "/x-c/1"), ("CARD-096", "/x-d")} <= found


def test_half_of_a_surrogate_pair_in_a_name_is_found():
    raw = json.dumps(VALID_CARDS["1.0"])[:-1] + ', "x-\\ud83d": {"x-b\\ude00": 1}}'
    found = [finding for finding in lint(raw.encode()).findings if finding.rule == "CARD-096"]
    assert [finding.pointer for finding in found] == ["/x-\ufffd", "/x-\ufffd/x-b\ufffd"]
    assert found[0].seen == "the name is 'x-\\ud83d'"


@pytest.mark.parametrize("levels", [250, 500, 700, 900, 5000])
@pytest.mark.parametrize("around", [("[", "]"), ('{"a":', "}")])
def test_a_deeply_nested_card_with_other_problems_is_checked(levels: int, around: tuple[str, str]):
    before, after = around
    raw = f'{{"x": 1, "x": "\\ud83d", "y": NaN, "d": {before * levels}1{after * levels}}}'
    assert rules_of(lint(raw.encode()).findings) & {"CARD-006", "CARD-009"}


def test_a_transport_that_is_null_is_not_set():
    card = {**VALID_CARDS["0.3"], "preferredTransport": None}
    assert rules_of(judged(card, "0.3")) == {"CARD-030", "CARD-057"}
    elsewhere = [{"url": card["url"], "transport": "GRPC"}]
    assert "CARD-058" in rules_of(judged({**card, "additionalInterfaces": elsewhere}, "0.3"))


def test_wrappers_and_flows_that_are_null_are_not_set():
    bearer = {"apiKeySecurityScheme": None, "httpAuthSecurityScheme": {"scheme": "Bearer"}, "mtlsSecurityScheme": None}
    flow = {"tokenUrl": "https://login.example.com/token", "scopes": {"translate": "Translate texts"}}
    login = {"oauth2SecurityScheme": {"flows": {"clientCredentials": flow, "implicit": None, "password": None}}}
    card = patched(VALID_CARDS["1.0"], {}) | {"securitySchemes": {"bearer": bearer, "login": login}}
    assert rules_of(judged(card, "1.0")) == {"CARD-030"}
    login["oauth2SecurityScheme"]["flows"] = {"clientCredentials": {}}
    assert "CARD-077" not in rules_of(judged(card, "1.0")), "there is a flow, although its members are missing"
    card["securitySchemes"]["bearer"] = dict.fromkeys(bearer)
    assert "CARD-070" in rules_of(judged(card, "1.0"))


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("http://[2606:4700::1111]/a2a", {"CARD-043", "CARD-046"}),
        ("http://[fd00::1]/a2a", {"CARD-004"}),
        ("http://[::1]/a2a", {"CARD-004"}),
        ("http://agent/a2a", {"CARD-004"}),
        ("http://100.64.0.1/a2a", {"CARD-004", "CARD-043"}),
        ("http://0.0.0.0/a2a", {"CARD-045"}),
        ("http://0:8000/a2a", {"CARD-045"}),
    ],
)
def test_the_address_of_an_interface_is_public_private_or_local(url: str, rules: set[str]):
    card = patched(VALID_CARDS["1.0"], {})
    card["supportedInterfaces"] = [{**card["supportedInterfaces"][0], "url": url}]
    assert rules_of(judged(card, "1.0")) == rules
    at_address = check(card, "1.0", Served("http://[2606:4700::2]/card", serving.VALID_HEADERS))
    assert rules_of(at_address) == rules


@pytest.mark.parametrize(
    ("served", "url", "rules"),
    [
        ("http://localhost:8080/card", "http://[::ffff:127.0.0.1]:9999/a2a", set()),
        ("http://localhost:8080/card", "http://agent:9999/a2a", {"CARD-046"}),
        ("http://agent:8080/card", "http://10.0.0.1/a2a", {"CARD-046"}),
        ("http://agent:8080/card", "http://localhost/a2a", {"CARD-004"}),
        ("http://100.64.0.1/card", "http://10.0.0.1/a2a", {"CARD-004"}),
        ("http://10.0.0.1/card", "http://169.254.0.1/a2a", {"CARD-004"}),
    ],
)
def test_an_interface_that_fewer_machines_can_reach_than_the_card_is_reported(served: str, url: str, rules: set[str]):
    card = patched(VALID_CARDS["1.0"], {})
    card["supportedInterfaces"] = [{**card["supportedInterfaces"][0], "url": url}]
    assert rules_of(check(card, "1.0", Served(served, serving.VALID_HEADERS))) == rules


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_the_sample_cards_of_the_specification_have_only_hints(sample: Path):
    version, found = lint(sample.read_bytes())
    assert sample.stem.startswith(version)
    assert {finding.severity for finding in found} <= {Severity.HINT}


def test_there_are_sample_cards():
    assert len(SAMPLES) >= 6


def test_every_rule_about_cards_is_in_the_table():
    ids = [checked.rule.id for checked in CARD_RULES]
    assert len(ids) == len(set(ids))
    assert len([rule for rule in RULES if rule.startswith("CARD-")]) >= 60
    assert set(ids) <= set(RULES)


@pytest.mark.parametrize(("skills", "listed"), [(99, 99), (100, 100), (101, 101), (1_000, 101)])
def test_a_rule_reports_a_hundred_places_of_a_card_and_that_there_are_more(skills: int, listed: int):
    nameless = [{"id": f"s{number}", "name": "", "description": "d", "tags": ["t"]} for number in range(skills)]
    found = judged(patched(VALID_CARDS["1.0"], {"skills": nameless}), "1.0")
    [(rule, count)] = Counter(finding.rule for finding in found).most_common(1)
    assert count == listed
    more = [finding.pointer for finding in found if finding.rule == rule and "more than 100 violations" in finding.seen]
    assert more == ([""] if skills > 100 else [])
