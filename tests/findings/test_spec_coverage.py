"""The demands of the specification beside the rules: each is judged, or says why it is not."""

from __future__ import annotations

import re

import pytest

from inspector.findings.rules import RULES
from inspector.findings.spec_coverage import REQUIREMENTS, Requirement

SECTIONS = ("3", "4", "9", "10", "11")


def number(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))


def grounds(rule: str) -> set[str]:
    """Return the sections of 1.0 that a rule names as its ground."""
    pieces = re.split(r"[;,]\s*", RULES[rule].section)
    version, found = "1.0", set()
    for piece in pieces:
        if named := re.match(r"(\d+\.\d+(?:\.\d+)?|[A-Z][\w .-]*?)\s*§", piece):
            version = named[1]
        if version == "1.0":
            found |= set(re.findall(r"§(\d+(?:\.\d+)*)", piece))
    return found


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda one: f"{one.section} {one.text[:40]}")
def test_a_demand_has_rules_that_rest_on_its_section_or_a_reason(requirement: Requirement):
    assert requirement.rules or requirement.note
    assert requirement.section.split(".")[0] in SECTIONS
    assert not requirement.note or requirement.note.endswith(".")
    assert not requirement.text.endswith(".")
    section = number(requirement.section)
    for rule in requirement.rules:
        assert any(section[: len(number(one))] == number(one) or number(one)[:1] == section for one in grounds(rule)), (
            f"{rule} rests on {RULES[rule].section}"
        )


def test_the_demands_are_in_the_order_of_the_specification_and_no_two_are_the_same():
    sections = [number(one.section) for one in REQUIREMENTS]
    assert sections == sorted(sections)
    assert len({(one.section, one.text) for one in REQUIREMENTS}) == len(REQUIREMENTS)


def test_every_rule_that_rests_on_a_must_of_these_sections_serves_a_demand():
    served = {rule for one in REQUIREMENTS for rule in one.rules}
    for rule in RULES.values():
        here = any(one.split(".")[0] in SECTIONS and len(one.split(".")) > 1 for one in grounds(rule.id))
        if rule.severity == "error" and here and "MUST" in rule.requirement and not rule.id.startswith("CARD"):
            assert rule.id in served, rule.id
