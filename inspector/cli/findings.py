"""Findings as the headless commands print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inspector.capture.records import Kind, Record
from inspector.cli.output import Output, dump
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.protocol.model import Json
from inspector.session.journal import Journal

WHOLE = "(whole)"
"""How the empty pointer is printed for people."""


def as_json(finding: Finding) -> dict[str, Json]:
    """Return a finding with what its rule says, for programs."""
    rule = RULES[finding.rule]
    return {
        "id": finding.rule,
        "severity": finding.severity.value,
        "pointer": finding.pointer,
        "section": rule.section,
        "message": message(finding),
        "remedy": rule.remedy,
    }


def message(finding: Finding) -> str:
    """Say in one sentence what is wrong and what was there; it may quote the agent."""
    title = RULES[finding.rule].title
    return f"{title}: {finding.seen}" if finding.seen else title


def in_words(finding: Finding) -> str:
    """Return a finding on one line, for people."""
    return f"{finding.severity.value} {finding.rule} {finding.pointer or WHOLE}: {message(finding)}"


def count(findings: tuple[Finding, ...]) -> str:
    """Say how many findings there are of each severity; `none` where there are none."""
    counted = Counter(one.severity.value for one in findings)
    said = [f"{number} {name}{'s' if number > 1 else ''}" for name, number in counted.items()]
    return ", ".join(said) or "none"


class FindingsPrinter:
    """Prints the findings of every exchange as they are recorded, until its `end`, but for operations to `skip`.

    In JSON each is a line `{"finding": {...}}` with the operation and `index`, the event of its stream that it is
    about, counted from 0; one about a keep-alive or the end of the stream has that of the event before, one about an
    answer 0.
    """

    def __init__(self, journal: Journal, out: Output, *, skip: frozenset[str]) -> None:
        self._journal = journal
        self._out = out
        self._skip = skip
        self._last = 0
        self._events: Counter[int] = Counter()
        self._unsubscribe = journal.subscribe(self._news)

    def end(self) -> None:
        """Print what is left, and no more."""
        self._unsubscribe()
        self.show()

    def _news(self, records: Sequence[Record]) -> None:
        if not records:  # what was recorded has been printed, then
            self.show()

    def show(self) -> None:
        """Print what was found since the last time."""
        for record in self._journal.capture.select(after=self._last):
            self._last = record.seq
            if record.kind in (Kind.FRAME, Kind.BODY):
                self._events[record.exchange] += 1
            for finding in record.findings if record.operation not in self._skip else ():
                self._print(finding, record)

    def _print(self, finding: Finding, record: Record) -> None:
        index = max(self._events[record.exchange] - 1, 0)
        if self._out.json:
            said = {**as_json(finding), "operation": record.operation, "index": index}
            self._out.write(self._out.redact(dump({"finding": said})) + "\n")
            self._out.flush()
        else:
            self._out.field("Finding", f"event {index}: {self._out.redact(in_words(finding))}")
