"""Findings in the output of headless commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from inspector.capture.records import Kind, Record
from inspector.cli.debug_log import JournalPrinter
from inspector.cli.output import Output
from inspector.cli.styles import Piece, severity
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.session.exporters.json_lines import finding_json, message
from inspector.session.journal import Journal
from inspector.text.safe_json import dump
from inspector.text.units import counted

ROOT = "(whole)"
"""What text output shows as the JSON pointer to the whole document."""


def in_words(finding: Finding) -> str:
    """Return a finding as a line of text. Its rule may be unknown if a newer a2a-inspect wrote the capture."""
    if finding.rule not in RULES:
        return f"{finding.severity.value} {finding.rule} {finding.pointer}: {finding.seen}"
    return f"{finding.severity.value} {finding.rule} {finding.pointer or ROOT}: {message(finding)}"


def pieces_of(finding: Finding, redact: Callable[[str], str] = str) -> tuple[Piece, Piece]:
    """Return a finding as a line of text whose first word, the severity, has a role."""
    word = finding.severity.value
    return severity(word), redact(in_words(finding)).removeprefix(word)


def count(findings: tuple[Finding, ...]) -> str:
    """Return the number of findings of each severity as text, `none` without findings."""
    counts = Counter(finding.severity.value for finding in findings)
    return ", ".join(counted(number, name) for name, number in counts.items()) or "none"


class FindingsPrinter(JournalPrinter):
    """Prints the findings of every exchange when they are recorded, but not those of the operations in `skip`.

    In JSON, each finding is a line `{"finding": {...}}`. It contains the operation and the `index` of the event,
    counted from 0. A keep-alive and the end of a stream have the index of the event before them.
    """

    def __init__(self, journal: Journal, out: Output, *, skip: frozenset[str]) -> None:
        super().__init__(journal, out)
        self._skip = skip
        self._events: Counter[int] = Counter()

    def _print(self, record: Record) -> None:
        if record.kind in (Kind.FRAME, Kind.BODY):
            self._events[record.exchange] += 1
        index = max(self._events[record.exchange] - 1, 0)
        for finding in record.findings if record.operation not in self._skip else ():
            if self._out.json:
                line = {"finding": {**finding_json(finding), "operation": record.operation, "index": index}}
                self._out.write(self._out.redact(dump(line)) + "\n")
                self._out.flush()
            else:
                self._out.field("Finding", f"event {index}: ", *pieces_of(finding, self._out.redact))
