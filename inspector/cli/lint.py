"""`lint`: check a card from a file, a URL or stdin, even if clients cannot read it."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

from inspector import __version__
from inspector.cli.arguments import PROGRAM, Invocation
from inspector.cli.catalog_reference import card_reference
from inspector.cli.errors import FAILURE, OK, usage
from inspector.cli.findings import ROOT, count, pieces_of
from inspector.cli.output import Output
from inspector.cli.run_command import Run, run
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import Lint
from inspector.findings.lint import lint as lint_bytes
from inspector.findings.rules import RULES
from inspector.protocol.model import Json
from inspector.session.card.lint import lint_reference
from inspector.session.exporters.json_lines import finding_json, message
from inspector.text.limited_file import read_limited
from inspector.text.sanitise import clean

_STDIN = "-"


def lint(invocation: Invocation, out: Output) -> int:
    """Check a card, and print its findings; the exit code is 1 for an error, with --strict also for a warning."""
    findings: list[Finding] = []
    # Read here and not in the event loop, which would not react to Ctrl-C while it waits for stdin.
    raw = _read_stdin() if invocation.options.reference == _STDIN else b""

    async def work(current: Run) -> None:
        version = invocation.given.protocol_version or ""
        reference = await card_reference(current)
        if reference == _STDIN:
            found = lint_bytes(raw, version=version)
        else:
            with out.progress.waiting(lambda: "waiting for the agent card"):
                found = await lint_reference(current.session, reference, version)
        findings.extend(found.findings)
        _print(out, found, invocation.given.output, reference)

    code = run(invocation, out, work)
    blocking = [Severity.ERROR, Severity.WARNING] if invocation.given.strict else [Severity.ERROR]
    return code or (FAILURE if any(finding.severity in blocking for finding in findings) else OK)


def _read_stdin() -> bytes:
    try:
        return read_limited(sys.stdin.buffer)
    except OSError as error:
        raise usage(f"The card on stdin could not be read: {error.strerror or error}.") from error


def _print(out: Output, found: Lint, form: str, reference: str) -> None:
    match form:
        case "json":
            out.document([finding_json(finding) for finding in found.findings])
        case "sarif":
            out.document(sarif(found.findings, reference))
        case "junit":
            out.write(junit(found.findings, reference))
        case _:
            for finding in found.findings:
                rule = RULES[finding.rule]
                out.field("Finding", *pieces_of(finding))
                out.field("  Requirement", f"{rule.section}: {rule.requirement}")
                out.field("  Remedy", rule.remedy)
            out.field("Protocol version", found.version or "unknown")
            out.field("Findings", count(found.findings))


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def sarif(findings: tuple[Finding, ...], uri: str) -> Json:
    """Return a SARIF log with one run about the card at a uri; the location of a finding is a JSON pointer."""
    used = list(dict.fromkeys(finding.rule for finding in findings))
    driver = {"name": PROGRAM, "semanticVersion": __version__, "rules": [_sarif_rule(rule) for rule in used]}
    file = {"artifactLocation": {"uri": uri}}
    results: list[Json] = []
    for finding in findings:
        members = [{"fullyQualifiedName": finding.pointer or ROOT, "kind": "member"}]
        results.append(
            {
                "ruleId": finding.rule,
                "ruleIndex": used.index(finding.rule),
                "level": _LEVELS[finding.severity],
                "message": {"text": message(finding)},
                "locations": [{"physicalLocation": file, "logicalLocations": members}],
            }
        )
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _sarif_rule(name: str) -> Json:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.section}: {rule.requirement}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def junit(findings: tuple[Finding, ...], name: str) -> str:
    """Return a JUnit report: each violated rule is a test case, which fails if the severity of the rule is error.

    Without findings, the report has one test case, which passes.
    """
    rules = [RULES[rule] for rule in dict.fromkeys(finding.rule for finding in findings)]
    failed, name = sum(rule.severity is Severity.ERROR for rule in rules), clean(name)
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(rules) or 1), failures=str(failed), errors="0")
    for rule in rules:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=f"{rule.id} {rule.title}")
        found = (finding for finding in findings if finding.rule == rule.id)
        lines = "\n".join(f"{finding.pointer or ROOT}: {clean(finding.seen)}" for finding in found)
        text = f"{lines}\n{rule.section}: {rule.requirement}\n{rule.remedy}"
        if rule.severity is Severity.ERROR:
            ElementTree.SubElement(case, "failure", message=rule.title, type=rule.id).text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    if not rules:
        ElementTree.SubElement(suite, "testcase", classname=name, name="no findings")
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
