"""The explanation of a rule that was violated: what was seen, the requirement, the remedy, and the occurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from inspector.capture.records import Record
from inspector.findings.finding import Finding
from inspector.findings.rule_set import Rule
from inspector.lazy_dataclass import dataclass
from inspector.tui.render.detail import title
from inspector.tui.render.finding_lines import seen_where
from inspector.tui.render.glyphs import SEVERITY_COLOURS, Glyphs
from inspector.tui.render.text_lines import BLANK, Paragraph, Paragraphs, as_text, labelled, without_head
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.pane import Chip, Pane

_LABEL = 13


class Occurrence(NamedTuple):
    """A finding and its record."""

    record: Record
    finding: Finding


class FindingPane(Pane):
    """Explains one rule, with one of its occurrences."""

    @dataclass
    class Chosen(Message):
        """An occurrence was clicked, `twice` if it was the current occurrence already."""

        number: int
        twice: bool

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Explanation", id=id)
        self._glyphs = glyphs
        self._facts = FactView(id="finding-text")
        self._lines: list[Paragraph] = []
        self._first = 0
        self._current = 0

    def compose(self) -> ComposeResult:
        """Make the text."""
        yield self._facts

    @property
    def text(self) -> str:
        """The explanation as text."""
        return as_text(self._lines)

    def show_nothing(self, sentence: str) -> None:
        """Show why nothing is explained."""
        self._lines = []
        self.set_title()
        self._facts.empty = sentence
        self._facts.show(Paragraphs([]))

    def show(self, rule: Rule, occurrences: Sequence[Occurrence], current: int, count: int) -> None:
        """Explain a rule; `count` is the number of all occurrences, of which `occurrences` are the first."""
        severity = f"{self._glyphs.severities[rule.severity]} {rule.severity.value}"
        position = f"{current + 1:,} of {count:,}" if occurrences else ""
        self.set_title(
            Chip(rule.id, "bold $foreground"), Chip(severity, f"${SEVERITY_COLOURS[rule.severity]}"), Chip(position)
        )
        self._current = current
        self._lines = [without_head(rule.title, "line--strong"), BLANK]
        if occurrences:
            record, finding = occurrences[current]
            where = ", ".join(filter(None, (title(record), record.operation, finding.pointer)))
            self._lines += [labelled("Seen", finding.seen, _LABEL), labelled("At", where, _LABEL, "line--soft"), BLANK]
        if rule.requirement:
            self._lines.append(labelled("Requirement", f"{rule.requirement} ({rule.section})", _LABEL))
        self._lines += [labelled("How to fix", rule.remedy, _LABEL), BLANK]
        self._lines.append(without_head("Occurrences", "line--strong"))
        self._first = len(self._lines)
        self._lines += [self._line(number, occurrence) for number, occurrence in enumerate(occurrences)]
        if count > len(occurrences):
            self._lines.append(without_head(f"… and {count - len(occurrences):,} more", "line--note"))
        self._facts.show_again(Paragraphs(self._lines))

    def _line(self, number: int, occurrence: Occurrence) -> Paragraph:
        chosen = number == self._current
        head = f"{self._glyphs.cursor if chosen else ' '} {title(occurrence.record)}  "
        return Paragraph((head, "line--soft"), seen_where(occurrence.finding), "line--text" if chosen else "line--soft")

    def on_click(self, event: events.Click) -> None:
        """Report the occurrence that was clicked."""
        offset = event.get_content_offset(self._facts)
        line = self._facts.item(self._facts.top + offset.y) if offset is not None else None
        number = next((number for number, other in enumerate(self._lines) if other is line), -1) - self._first
        if number >= 0 and line is not None and line.style != "line--note":
            self.post_message(self.Chosen(number, number == self._current))
        else:
            super().on_click(event)
