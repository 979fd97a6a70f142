"""Findings in the formats of others: SARIF 2.1.0 for code hosts, JUnit XML for continuous integration."""

from __future__ import annotations

from xml.etree import ElementTree

from inspector import __version__
from inspector.cli.arguments import PROGRAM
from inspector.cli.findings import WHOLE, message
from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import RULES
from inspector.protocol.model import Json
from inspector.text.sanitise import clean

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def sarif(findings: tuple[Finding, ...], uri: str) -> Json:
    """Return a SARIF log with one run about the card at a uri; a finding's place is a JSON pointer."""
    used = list(dict.fromkeys(one.rule for one in findings))
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": PROGRAM,
                        "semanticVersion": __version__,
                        "rules": [_sarif_rule(one) for one in used],
                    }
                },
                "results": [
                    {
                        "ruleId": one.rule,
                        "ruleIndex": used.index(one.rule),
                        "level": _LEVELS[one.severity],
                        "message": {"text": message(one)},
                        "locations": [
                            {
                                "physicalLocation": {"artifactLocation": {"uri": uri}},
                                "logicalLocations": [{"fullyQualifiedName": one.pointer or WHOLE, "kind": "member"}],
                            }
                        ],
                    }
                    for one in findings
                ],
            }
        ],
    }


def _sarif_rule(name: str) -> Json:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.section}: {rule.demand}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def junit(findings: tuple[Finding, ...], name: str) -> str:
    """Return a JUnit report: one test case a rule that was broken, failed by errors alone, or one that passed."""
    rules = list(dict.fromkeys(one.rule for one in findings))
    failed = sum(RULES[rule].severity is Severity.ERROR for rule in rules)
    suite = ElementTree.Element(
        "testsuite", name=clean(name), tests=str(len(rules) or 1), failures=str(failed), errors="0"
    )
    for rule in rules:
        case = ElementTree.SubElement(suite, "testcase", classname=clean(name), name=f"{rule} {RULES[rule].title}")
        lines = "\n".join(f"{one.pointer or WHOLE}: {clean(one.seen)}" for one in findings if one.rule == rule)
        text = f"{lines}\n{RULES[rule].section}: {RULES[rule].demand}\n{RULES[rule].remedy}"
        if RULES[rule].severity is Severity.ERROR:
            ElementTree.SubElement(case, "failure", message=RULES[rule].title, type=rule).text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    if not rules:
        ElementTree.SubElement(suite, "testcase", classname=clean(name), name="the card is sound")
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
