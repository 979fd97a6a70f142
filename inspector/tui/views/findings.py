"""The Findings view: the findings grouped by rule, with requirement, remedy and occurrences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.findings.finding import Finding, Severity
from inspector.session.session import Session
from inspector.tui.keys import bind
from inspector.tui.render.finding_lines import rule_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cells
from inspector.tui.screens.search import SearchScreen
from inspector.tui.views.base import View
from inspector.tui.widgets.document import Document
from inspector.tui.widgets.feed import Column, Feed

COLUMNS = (
    Column("mark", 1),
    Column("rule", 10),
    Column("title"),
    Column("count", 7, "right"),
    Column("section", 20, min_total_width=80),
)
_ORDER = {severity: number for number, severity in enumerate(Severity)}
_MAX_OCCURRENCES = 200
"""The maximum number of occurrences that are listed for one rule."""


class Occurrence(NamedTuple):
    """A finding and the sequence number of its record."""

    seq: int
    finding: Finding


class FindingRows:
    """One row for each violated rule whose text contains all of `words`, the most severe rule first."""

    def __init__(self, found: dict[str, list[int]], glyphs: Glyphs) -> None:
        self._found = found
        self._glyphs = glyphs
        self.words = ""
        self.rules: list[str] = []

    def refresh(self) -> None:
        """Update the list of violated rules."""
        self.rules = sorted(filter(self._matches, self._found), key=lambda rule: (_ORDER[rule_of(rule).severity], rule))

    def _matches(self, name: str) -> bool:
        rule = rule_of(name)
        text = f"{name} {rule.severity.value} {rule.title} {rule.section}".lower()
        return all(word in text for word in self.words.lower().split())

    def __len__(self) -> int:
        return len(self.rules)

    def row(self, index: int) -> Cells:
        """Return the cells of one rule."""
        rule = rule_of(self.rules[index])
        style = {Severity.ERROR: "feed--bad", Severity.WARNING: "feed--warning", Severity.HINT: "feed--muted"}
        return (
            (self._glyphs.severities[rule.severity], style[rule.severity]),
            (rule.id, style[rule.severity]),
            (rule.title, "feed--text"),
            (f"{len(self._found[rule.id]):,}", "feed--text"),
            (rule.section, "feed--muted"),
        )


class FindingsView(View):
    """Shows the violated rules, and the explanation and the occurrences of the selected rule."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("filter", "filter", "", "Filter the rules by words"),
        bind("next-match", "occurrence(1)", "next occurrence", "Go to the next occurrence"),
        bind("previous-match", "occurrence(-1)", "previous occurrence", "Go to the previous occurrence", show=False),
    ]

    @dataclass
    class RecordWanted(Message):
        """The user wants to see a record."""

        seq: int

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self._rows = FindingRows(session.journal.found, glyphs)
        self._title = Static(id="findings-title", classes="pane-title")
        self._feed = Feed(
            COLUMNS,
            self._rows,
            enter_hint="open record",
            id="rules",
            follow=False,
            empty="No findings.",
        )
        self._text = Document(
            id="finding-text", follow=False, empty="Select a finding to see its requirement and remedy."
        )
        self._shown = ""
        self._rule = ""
        self._current = 0

    def compose(self) -> ComposeResult:
        """Make the table and the explanation."""
        yield self._title
        with Horizontal(classes="split"):
            yield self._feed
            yield self._text

    def refresh_view(self) -> None:
        """Update the table and the explanation."""
        self._rows.refresh()
        self._feed.refresh_rows()
        found, words = self.session.journal.found, self._rows.words
        count = sum(len(found[rule]) for rule in self._rows.rules)
        findings = f"{count:,} finding{'' if count == 1 else 's'}"
        rules = f"{len(self._rows)}{f' of {len(found)}' if words else ''} rule{'' if len(found) == 1 else 's'}"
        self._title.update(
            Content.assemble(
                ("FINDINGS", "bold"),
                (f"   {findings}, {rules}", "$text-soft"),
                (f"   filter: {words}" if words else "", "$accent"),
            )
        )
        self._show_rule()

    def _show_rule(self) -> None:
        index = self._feed.cursor
        if not 0 <= index < len(self._rows):
            return
        rule = rule_of(self._rows.rules[index])
        occurrences = self._occurrences(rule.id)
        if rule.id != self._rule:
            self._rule, self._current = rule.id, 0
        key = f"{rule.id} {len(occurrences)} {self._current}"
        if key == self._shown:
            return
        self._shown = key
        lines = [f"{rule.id}  {rule.title}", "", rule.requirement, f"({rule.section})", "", rule.remedy, ""]
        for number, occurrence in enumerate(occurrences):
            where = f" at {occurrence.finding.pointer}" if occurrence.finding.pointer else ""
            mark = self.glyphs.cursor if number == self._current else " "
            lines.append(f"{mark} #{occurrence.seq}  {occurrence.finding.seen}{where}")
        if len(occurrences) == _MAX_OCCURRENCES:
            lines.append(f"  The first {_MAX_OCCURRENCES} occurrences are listed.")
        self._text.set_text("\n".join(lines))

    def _occurrences(self, rule: str) -> list[Occurrence]:
        occurrences: list[Occurrence] = []
        for seq in dict.fromkeys(self.session.journal.found[rule]):
            record = self.session.journal.capture.get(seq)
            occurrences += [Occurrence(seq, finding) for finding in record.findings if finding.rule == rule]
            if len(occurrences) >= _MAX_OCCURRENCES:
                break
        return occurrences[:_MAX_OCCURRENCES]

    def action_occurrence(self, step: int) -> None:
        """Go to the next (1) or previous (-1) occurrence of the rule, and from the last to the first."""
        count = len(self._occurrences(self._rule)) if self._rule else 0
        self._current = (self._current + step) % count if count else 0
        self._show_rule()

    def action_filter(self) -> None:
        """Filter the rules by words."""
        self.app.push_screen(SearchScreen(self._filter, self._rows.words))

    def _filter(self, words: str) -> str:
        self._rows.words = words
        self.refresh_view()
        return f"{len(self._rows)} of {len(self.session.journal.found)} rules"

    def show_seq(self, seq: int) -> None:
        """Select the first rule that a record violates."""
        broken = {finding.rule for finding in self.session.journal.capture.get(seq).findings}
        index = next((index for index, rule in enumerate(self._rows.rules) if rule in broken), None)
        if index is not None:
            self._feed.cursor = index

    def on_feed_highlighted(self) -> None:
        """Explain the rule under the cursor."""
        self._show_rule()

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Show the record of the selected occurrence, by default of the first."""
        if not 0 <= event.index < len(self._rows):
            return
        rule = self._rows.rules[event.index]
        occurrences = self._occurrences(rule)
        number = self._current if rule == self._rule and self._current < len(occurrences) else 0
        if occurrences:
            self.post_message(self.RecordWanted(occurrences[number].seq))

    def selected_text(self) -> str:
        """Return the explanation of the rule under the cursor."""
        return self._text.text
