"""The demands of the specification beside the rules: each is judged, or says why it is not."""

from __future__ import annotations

import re

import pytest

from inspector.findings.rules import RULES
from inspector.findings.spec_coverage import DEMANDS, Demand

SECTIONS = ("3", "4", "9", "10", "11")


def number(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))


def grounds(rule: str) -> set[str]:
    """Return the sections of 1.0 that a rule names as its ground."""
    pieces = re.split(r"[;,]\s*", RULES[rule].section)
    generation, found = "1.0", set()
    for piece in pieces:
        if named := re.match(r"(\d+\.\d+(?:\.\d+)?|[A-Z][\w .-]*?)\s*§", piece):
            generation = named[1]
        if generation == "1.0":
            found |= set(re.findall(r"§(\d+(?:\.\d+)*)", piece))
    return found


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda one: f"{one.section} {one.words[:40]}")
def test_a_demand_has_rules_that_rest_on_its_section_or_a_reason(demand: Demand):
    assert demand.rules or demand.why
    assert demand.section.split(".")[0] in SECTIONS
    assert not demand.why or demand.why.endswith(".")
    assert not demand.words.endswith(".")
    for rule in demand.rules:
        assert any(
            number(demand.section)[: len(number(one))] == number(one) or number(one)[:1] == number(demand.section)
            for one in grounds(rule)
        ), f"{rule} rests on {RULES[rule].section}"


def test_the_demands_are_in_the_order_of_the_specification_and_no_two_are_the_same():
    sections = [number(one.section) for one in DEMANDS]
    assert sections == sorted(sections)
    assert len({(one.section, one.words) for one in DEMANDS}) == len(DEMANDS)


def test_every_rule_that_rests_on_a_must_of_these_sections_serves_a_demand():
    served = {rule for one in DEMANDS for rule in one.rules}
    for rule in RULES.values():
        here = any(one.split(".")[0] in SECTIONS and len(one.split(".")) > 1 for one in grounds(rule.id))
        if rule.severity == "error" and here and "MUST" in rule.demand and not rule.id.startswith("CARD"):
            assert rule.id in served, rule.id
