"""Findings: what is wrong, grouped by rule, with the ground and the remedy, each leading to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.findings.finding import Severity
from inspector.findings.rules import RULES
from inspector.tui.places.base import Place
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cells
from inspector.tui.widgets.document import Document
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.session.session import Session

COLUMNS = (
    Column("mark", 1),
    Column("rule", 10),
    Column("title"),
    Column("count", 7, "right"),
    Column("section", 20, min_total_width=80),
)
_ORDER = {severity: number for number, severity in enumerate(Severity)}
_MOST_PLACES = 20
"""How many places of one rule are quoted."""


class FindingRows:
    """One row for each rule that was broken, the worst first."""

    def __init__(self, found: dict[str, list[int]], glyphs: Glyphs) -> None:
        self._found = found
        self._glyphs = glyphs
        self.rules: list[str] = []

    def refresh(self) -> None:
        """Take over the rules that are broken by now."""
        self.rules = sorted(self._found, key=lambda rule: (_ORDER[RULES[rule].severity], rule))

    def __len__(self) -> int:
        return len(self.rules)

    def row(self, index: int) -> Cells:
        """Return the cells of one rule."""
        rule = RULES[self.rules[index]]
        style = {Severity.ERROR: "feed--bad", Severity.WARNING: "feed--warning", Severity.HINT: "feed--muted"}
        return (
            (self._glyphs.severities[rule.severity], style[rule.severity]),
            (rule.id, style[rule.severity]),
            (rule.title, "feed--text"),
            (f"{len(self._found[rule.id]):,}", "feed--text"),
            (rule.section, "feed--muted"),
        )


class FindingsPlace(Place):
    """Rules on the left, what they say and where they were broken on the right."""

    class RecordWanted(Message):
        """The user wants to see a record."""

        def __init__(self, seq: int) -> None:
            super().__init__()
            self.seq = seq

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("findings", glyphs)
        self._rows: FindingRows | None = None
        self._shown = ""

    def compose(self) -> ComposeResult:
        """Make the table and the explanation."""
        yield Static(id="findings-title", classes="pane-title")
        with Horizontal(classes="split"):
            yield Feed(
                COLUMNS, enter_hint="go to the record", id="rules", follow=False, empty="Nothing is wrong so far."
            )
            yield Document(id="finding-text", follow=False, empty="Select a finding to read its ground and remedy.")

    def attach(self, session: Session) -> None:
        """Show another session."""
        super().attach(session)
        self._rows = FindingRows(session.journal.found, self.glyphs)
        self.query_one(Feed).show_rows(self._rows)
        self.query_one(Document).clear()
        self._shown = ""

    def refresh_view(self) -> None:
        """Show what was found by now."""
        if self._rows is None or self.session is None:
            return
        self._rows.refresh()
        self.query_one(Feed).refresh_rows()
        count = sum(map(len, self.session.journal.found.values()))
        self.query_one("#findings-title", Static).update(
            Content.assemble(("FINDINGS", "bold"), (f"   {count:,} of {len(self._rows)} rules", "$text-soft"))
        )
        self._show_rule()

    def _show_rule(self) -> None:
        index = self.query_one(Feed).cursor
        if self._rows is None or self.session is None or not 0 <= index < len(self._rows):
            return
        rule = RULES[self._rows.rules[index]]
        seqs = self.session.journal.found[rule.id]
        key = f"{rule.id} {len(seqs)}"
        if key == self._shown:
            return
        self._shown = key
        lines = [f"{rule.id}  {rule.title}", "", rule.demand, f"({rule.section})", "", rule.remedy, ""]
        for seq in seqs[:_MOST_PLACES]:
            record = self.session.journal.capture.get(seq)
            seen = next((one for one in record.findings if one.rule == rule.id), None)
            where = f" at {seen.pointer}" if seen and seen.pointer else ""
            lines.append(f"#{seq}  {seen.seen if seen else ''}{where}")
        if len(seqs) > _MOST_PLACES:
            lines.append(f"and {len(seqs) - _MOST_PLACES:,} more")
        self.query_one(Document).set_text("\n".join(lines))

    def on_feed_highlighted(self) -> None:
        """Explain the rule under the cursor."""
        self._show_rule()

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go to the first record that breaks the rule."""
        if self._rows is not None and self.session is not None and 0 <= event.index < len(self._rows):
            self.post_message(self.RecordWanted(self.session.journal.found[self._rows.rules[event.index]][0]))

    def selected_text(self) -> str:
        """Return the explanation of the rule under the cursor."""
        return self.query_one(Document).text
