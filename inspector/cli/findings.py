"""Findings as the headless commands print them."""

from __future__ import annotations

from collections import Counter

from inspector.capture.records import Kind, Record
from inspector.cli.debug_log import JournalPrinter
from inspector.cli.output import Output
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.session.exporters.json_lines import finding_json, message
from inspector.session.journal import Journal
from inspector.text.safe_json import dump

WHOLE = "(whole)"
"""How the empty pointer is printed for people."""


def in_words(finding: Finding) -> str:
    """Return a finding on one line, for people; its rule may be one of a newer version, in a capture."""
    if finding.rule not in RULES:
        return f"{finding.severity.value} {finding.rule} {finding.pointer}: {finding.seen}"
    return f"{finding.severity.value} {finding.rule} {finding.pointer or WHOLE}: {message(finding)}"


def count(findings: tuple[Finding, ...]) -> str:
    """Say how many findings there are of each severity; `none` where there are none."""
    counted = Counter(one.severity.value for one in findings)
    said = [f"{number} {name}{'s' if number > 1 else ''}" for name, number in counted.items()]
    return ", ".join(said) or "none"


class FindingsPrinter(JournalPrinter):
    """Prints the findings of every exchange as they are recorded, except those of operations to `skip`.

    In JSON each is a line `{"finding": {...}}` with the operation and `index`, the event of its stream that it is
    about, counted from 0; one about a keep-alive or the end of the stream has that of the event before, one about an
    answer 0.
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
                said = {**finding_json(finding), "operation": record.operation, "index": index}
                self._out.write(self._out.redact(dump({"finding": said})) + "\n")
                self._out.flush()
            else:
                self._out.field("Finding", f"event {index}: {self._out.redact(in_words(finding))}")
