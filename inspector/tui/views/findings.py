"""Findings, grouped by rule, with the requirement, the remedy and the records of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.findings.finding import Finding, Severity
from inspector.session.session import Session
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
_MOST_PLACES = 200
"""How many places are listed for one rule."""


class Spot(NamedTuple):
    """A finding and the number of its record."""

    seq: int
    finding: Finding


class FindingRows:
    """One row for each broken rule, the most severe first; only rules with all of `words`."""

    def __init__(self, found: dict[str, list[int]], glyphs: Glyphs) -> None:
        self._found = found
        self._glyphs = glyphs
        self.words = ""
        self.rules: list[str] = []

    def refresh(self) -> None:
        """Update the list of broken rules."""
        self.rules = sorted(
            filter(self._is_wanted, self._found), key=lambda rule: (_ORDER[rule_of(rule).severity], rule)
        )

    def _is_wanted(self, name: str) -> bool:
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
    """A table of rules, and beside it the explanation and the places of the selected rule."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="findings.filter", tooltip="Leave the rules with these words"),
        Binding("n", "spot(1)", "next place", id="findings.next", tooltip="The next place where the rule is broken"),
        Binding("N", "spot(-1)", "previous place", id="findings.previous", tooltip="The place before", show=False),
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
            enter_hint="go to the record",
            id="rules",
            follow=False,
            empty="Nothing is wrong so far.",
        )
        self._text = Document(id="finding-text", follow=False, empty="Select a finding to read its ground and remedy.")
        self._shown = ""
        self._rule = ""
        self._spot = 0

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
        of_all = f" of {len(found)}" if words else ""
        self._title.update(
            Content.assemble(
                ("FINDINGS", "bold"),
                (f"   {count:,} of {len(self._rows)}{of_all} rules", "$text-soft"),
                (f"   filter: {words}" if words else "", "$accent"),
            )
        )
        self._show_rule()

    def _show_rule(self) -> None:
        index = self._feed.cursor
        if not 0 <= index < len(self._rows):
            return
        rule = rule_of(self._rows.rules[index])
        spots = self._spots(rule.id)
        if rule.id != self._rule:
            self._rule, self._spot = rule.id, 0
        key = f"{rule.id} {len(spots)} {self._spot}"
        if key == self._shown:
            return
        self._shown = key
        lines = [f"{rule.id}  {rule.title}", "", rule.requirement, f"({rule.section})", "", rule.remedy, ""]
        for number, spot in enumerate(spots):
            where = f" at {spot.finding.pointer}" if spot.finding.pointer else ""
            mark = self.glyphs.cursor if number == self._spot else " "
            lines.append(f"{mark} #{spot.seq}  {spot.finding.seen}{where}")
        if len(spots) == _MOST_PLACES:
            lines.append("  and perhaps more")
        self._text.set_text("\n".join(lines))

    def _spots(self, rule: str) -> list[Spot]:
        spots: list[Spot] = []
        for seq in dict.fromkeys(self.session.journal.found[rule]):
            record = self.session.journal.capture.get(seq)
            spots += [Spot(seq, finding) for finding in record.findings if finding.rule == rule]
            if len(spots) >= _MOST_PLACES:
                break
        return spots[:_MOST_PLACES]

    def action_spot(self, step: int) -> None:
        """Go to the next place of the rule (1) or the one before (-1), and from the last to the first."""
        count = len(self._spots(self._rule)) if self._rule else 0
        self._spot = (self._spot + step) % count if count else 0
        self._show_rule()

    def action_filter(self) -> None:
        """Filter the rules by words."""
        self.app.push_screen(SearchScreen(self._filter, self._rows.words))

    def _filter(self, words: str) -> str:
        self._rows.words = words
        self.refresh_view()
        return f"{len(self._rows)} of {len(self.session.journal.found)} rules"

    def show_seq(self, seq: int) -> None:
        """Select the first rule that a record breaks."""
        broken = {finding.rule for finding in self.session.journal.capture.get(seq).findings}
        index = next((index for index, rule in enumerate(self._rows.rules) if rule in broken), None)
        if index is not None:
            self._feed.cursor = index

    def on_feed_highlighted(self) -> None:
        """Explain the rule under the cursor."""
        self._show_rule()

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go to the record of the selected place, or of the first one."""
        if not 0 <= event.index < len(self._rows):
            return
        rule = self._rows.rules[event.index]
        spots = self._spots(rule)
        number = self._spot if rule == self._rule and self._spot < len(spots) else 0
        if spots:
            self.post_message(self.RecordWanted(spots[number].seq))

    def selected_text(self) -> str:
        """Return the explanation of the rule under the cursor."""
        return self._text.text
