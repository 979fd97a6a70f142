"""The requirements of the specification: each has rules, or a note with the reason."""

from __future__ import annotations

import re

import pytest

from inspector.findings.rules import RULES
from inspector.findings.spec_coverage import REQUIREMENTS, Requirement

SECTIONS = ("3", "4", "9", "10", "11")


def number(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))


def sections_of(rule: str) -> set[str]:
    """Return the sections of 1.0 that a rule names."""
    pieces = re.split(r"[;,]\s*", RULES[rule].section)
    version, found = "1.0", set()
    for piece in pieces:
        if named := re.match(r"(\d+\.\d+(?:\.\d+)?|[A-Z][\w .-]*?)\s*§", piece):
            version = named[1]
        if version == "1.0":
            found |= set(re.findall(r"§(\d+(?:\.\d+)*)", piece))
    return found


@pytest.mark.parametrize(
    "requirement", REQUIREMENTS, ids=lambda requirement: f"{requirement.section} {requirement.text[:40]}"
)
def test_a_requirement_has_rules_that_name_its_section_or_a_note(requirement: Requirement):
    assert requirement.rules or requirement.note
    assert requirement.section.split(".")[0] in SECTIONS
    assert not requirement.note or requirement.note.endswith(".")
    assert not requirement.text.endswith(".")
    section = number(requirement.section)
    for rule in requirement.rules:
        assert any(
            section[: len(named)] == named or named[:1] == section for named in map(number, sections_of(rule))
        ), f"{rule} names {RULES[rule].section}"


def test_requirements_are_unique_and_in_the_order_of_the_specification():
    sections = [number(requirement.section) for requirement in REQUIREMENTS]
    assert sections == sorted(sections)
    assert len({(requirement.section, requirement.text) for requirement in REQUIREMENTS}) == len(REQUIREMENTS)


def test_every_rule_for_a_must_of_these_sections_has_a_requirement():
    covered = {rule for requirement in REQUIREMENTS for rule in requirement.rules}
    for rule in RULES.values():
        here = any(
            section.split(".")[0] in SECTIONS and len(section.split(".")) > 1 for section in sections_of(rule.id)
        )
        if rule.severity == "error" and here and "MUST" in rule.requirement and not rule.id.startswith("CARD"):
            assert rule.id in covered, rule.id
