"""The findings about a card, for `card get --validate`."""

from __future__ import annotations

from inspector.cli.findings import count, pieces_of
from inspector.cli.output import Output
from inspector.findings.finding import Finding, Severity
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.exporters.json_lines import finding_json


def print_findings(out: Output, findings: tuple[Finding, ...]) -> None:
    """Print each finding, with `-o json` on stderr."""
    for finding in findings:
        if out.json:
            out.json_to_stderr(finding_json(finding))
        else:
            out.field("Finding", *pieces_of(finding))
    if not findings and not out.json:
        out.field("Findings", "none")


def require_no_error(findings: tuple[Finding, ...]) -> None:
    """Raise `FaultError` if the card violates a rule whose violation is an error."""
    errors = tuple(finding for finding in findings if finding.severity is Severity.ERROR)
    if errors:
        seen = f"The card is not valid: {count(errors)}; the first is {errors[0].rule} ({errors[0].seen})."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, f"Read a2a-inspect rules {errors[0].rule}."))
