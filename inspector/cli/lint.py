"""`lint`: check a card from a file, a URL or stdin, even if clients cannot read it, or a catalog with its cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias
from xml.etree import ElementTree

from inspector import PROGRAM, __version__
from inspector.cli.arguments import Invocation
from inspector.cli.catalog_lint import lint_catalog, print_catalog
from inspector.cli.errors import FAILURE, OK
from inspector.cli.findings import ROOT, count, pieces_of
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.stdin import STDIN, read_card
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import Lint
from inspector.findings.lint import lint as lint_bytes
from inspector.findings.rules import RULES
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Json
from inspector.session.card.lint import lint_reference
from inspector.session.catalog_listing import CatalogFoundError
from inspector.session.exporters.json_lines import finding_json, message
from inspector.text.sanitise import clean

Part: TypeAlias = tuple[str, Sequence[Finding]]
"""The URI of a document, and the findings about it."""


def lint(invocation: Invocation, out: Output) -> int:
    """Check a card, or a catalog with its cards, and print the findings.

    The exit code is 1 for an error, with --strict also for a warning, and for a card of a catalog that was not checked.
    """
    severities: set[Severity] = set()
    # Read here and not in the event loop, which would not react to Ctrl-C while it waits for stdin.
    raw = read_card() if invocation.options.reference == STDIN else b""

    async def work(current: RunningCommand) -> None:
        version, form = invocation.given.protocol_version or "", invocation.given.output
        try:
            found, reference = await _lint_card(current, raw, version)
        except CatalogFoundError as error:
            results = await lint_catalog(current, error.listing)
            severities.update(results.severities())
            if form in ("sarif", "junit"):
                _print_report(out, form, results.parts())
            else:
                print_catalog(out, results)
        else:
            severities.update(finding.severity for finding in found.findings)
            _print(out, found, form, reference)

    code = run(invocation, out, work, check=True)
    blocking = {Severity.ERROR, Severity.WARNING} if invocation.given.strict else {Severity.ERROR}
    return code or (FAILURE if severities & blocking else OK)


async def _lint_card(current: RunningCommand, raw: bytes, version: str) -> tuple[Lint, str]:
    """Return the findings about a card, and its reference; raises `CatalogFoundError` for a catalog."""
    reference = current.reference()
    if reference == STDIN:
        await current.session.cards.catalogs.offer_document(reference, raw)
        return lint_bytes(raw, version=version), reference
    try:
        with current.out.progress.waiting(lambda: "waiting for the agent card"):
            return await lint_reference(current.session, reference, version), reference
    except FaultError as error:
        raise current.with_names(error) from error.__cause__


def _print(out: Output, found: Lint, form: str, reference: str) -> None:
    match form:
        case "json":
            out.document([finding_json(finding) for finding in found.findings])
        case "sarif" | "junit":
            _print_report(out, form, [(reference, found.findings)])
        case _:
            for finding in found.findings:
                rule = RULES[finding.rule]
                out.field("Finding", *pieces_of(finding))
                out.field("  Requirement", f"{rule.section}: {rule.requirement}")
                out.field("  Remedy", rule.remedy)
            out.field("Protocol version", found.version or "unknown")
            out.field("Findings", count(found.findings))


def _print_report(out: Output, form: str, parts: Sequence[Part]) -> None:
    """Print the findings about one card, or about a catalog and its cards, as SARIF or JUnit, with masked secrets."""
    mask = out.redact
    parts = [
        (mask(uri), [replace(each, seen=mask(each.seen), pointer=mask(each.pointer)) for each in findings])
        for uri, findings in parts
    ]
    if form == "sarif":
        out.document(sarif(parts))
    else:
        out.write(junit(parts))


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def sarif(parts: Sequence[Part]) -> Json:
    """Return a SARIF log with one run about documents; the location of a finding is a document and a JSON pointer."""
    used = list(dict.fromkeys(finding.rule for _, findings in parts for finding in findings))
    driver = {"name": PROGRAM, "semanticVersion": __version__, "rules": [_sarif_rule(rule) for rule in used]}
    results: list[Json] = []
    for uri, findings in parts:
        file = {"artifactLocation": {"uri": uri}}
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


def junit(parts: Sequence[Part]) -> str:
    """Return a JUnit report with a suite for each document; if there is only one, it is the root.

    Each violated rule is a test case, which fails if the severity of the rule is error. Without findings, a suite has
    one test case, which passes.
    """
    suites = [_suite(name, findings) for name, findings in parts]
    root = suites[0]
    if len(suites) > 1:
        root = ElementTree.Element("testsuites")
        root.extend(suites)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(name: str, findings: Sequence[Finding]) -> ElementTree.Element:
    rules = [RULES[rule] for rule in dict.fromkeys(finding.rule for finding in findings)]
    failed, name = sum(rule.severity is Severity.ERROR for rule in rules), clean(name)
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(rules) or 1), failures=str(failed), errors="0")
    for rule in rules:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=f"{rule.id} {rule.title}")
        found = (finding for finding in findings if finding.rule == rule.id)
        lines = "\n".join(f"{clean(finding.pointer) or ROOT}: {clean(finding.seen)}" for finding in found)
        text = f"{lines}\n{rule.section}: {rule.requirement}\n{rule.remedy}"
        if rule.severity is Severity.ERROR:
            ElementTree.SubElement(case, "failure", message=rule.title, type=rule.id).text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    if not rules:
        ElementTree.SubElement(suite, "testcase", classname=name, name="no findings")
    return suite
