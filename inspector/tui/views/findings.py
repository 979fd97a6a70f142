"""The Findings view: the findings grouped by rule, with requirement, remedy and occurrences."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from inspector.findings.rules import RULES
from inspector.session.session import Session
from inspector.text.units import counted
from inspector.tui.keys import bind, key_of
from inspector.tui.render.finding_lines import rule_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import SEVERITY_STYLES, Cells
from inspector.tui.screens.search import SearchScreen
from inspector.tui.views.base import RecordWanted, View
from inspector.tui.widgets.feed import Column, Feed, Headings
from inspector.tui.widgets.finding_pane import FindingPane, Occurrence
from inspector.tui.widgets.pane import Chip, Pane

COLUMNS = (
    Column("SEVERITY", 9),
    Column("ID", 10),
    Column("TITLE"),
    Column("COUNT", 7, "right", shrinks=True),
)
_NO_FINDINGS = "No findings so far."
_CHECKED = f"a2a-inspect checks cards, responses, events and push notifications against {len(RULES)} rules."
_NO_RULE = "No violated rule contains {!r}. Press {} to change the filter."
_ROOMY = 150
"""The cells that the table with whole titles and the explanation need beside each other."""
_MAX_OCCURRENCES = 200
"""The maximum number of occurrences that are listed for one rule."""


class FindingRows:
    """One row for each violated rule whose text contains all of `words`, the most severe rule first."""

    def __init__(self, found: dict[str, list[int]], glyphs: Glyphs) -> None:
        self._found = found
        self._glyphs = glyphs
        self.words = ""
        self.rules: list[str] = []

    def refresh(self) -> None:
        """Update the list of violated rules."""
        self.rules = sorted(filter(self._matches, self._found), key=lambda rule: (rule_of(rule).severity.rank, rule))

    def _matches(self, name: str) -> bool:
        rule = rule_of(name)
        text = f"{name} {rule.severity.value} {rule.title} {rule.section}".lower()
        return all(word in text for word in self.words.lower().split())

    def __len__(self) -> int:
        return len(self.rules)

    def row(self, index: int) -> Cells:
        """Return the cells of one rule."""
        rule = rule_of(self.rules[index])
        style = SEVERITY_STYLES[rule.severity]
        return (
            (f"{self._glyphs.severities[rule.severity]} {rule.severity.value}", style),
            (rule.id, style),
            (rule.title, "feed--text"),
            (f"{len(self._found[rule.id]):,}", "feed--text"),
        )


class FindingsView(View):
    """Shows the violated rules, and the explanation and the occurrences of the selected rule."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("filter", "filter", "", "Filter the rules by words"),
        bind("next-match", "occurrence(1)", "next occurrence", "Go to the next occurrence"),
        bind("previous-match", "occurrence(-1)", "previous occurrence", "Go to the previous occurrence", show=False),
    ]

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self._rows = FindingRows(session.journal.found, glyphs)
        self._pane = Pane("Findings", id="rules-pane")
        self._feed = Feed(COLUMNS, self._rows, enter_hint="open record", id="rules", follow=False, empty=_NO_FINDINGS)
        self._explanation = FindingPane(glyphs, id="finding")
        self._shown: tuple[str, int, int, str] | None = None
        self._rule = ""
        self._current = 0

    def compose(self) -> ComposeResult:
        """Make the table and the explanation."""
        with Horizontal(classes="split"):
            with self._pane:
                yield Headings(self._feed)
                yield self._feed
            yield self._explanation

    def on_resize(self) -> None:
        """Show the explanation below the table if there is no room for the titles beside it."""
        self.set_class(self.size.width < _ROOMY, "-stacked")

    def refresh_view(self) -> None:
        """Update the table and the explanation; the cursor stays on its rule when another is sorted before it."""
        selected = self._rule_at_cursor()
        self._rows.refresh()
        words, found = self._rows.words, self.session.journal.found
        self._feed.empty = _NO_RULE.format(words, key_of("filter")) if words else _NO_FINDINGS
        self._feed.refresh_rows()
        if selected in self._rows.rules:
            self._feed.cursor = self._rows.rules.index(selected)
        count = sum(len(found[rule]) for rule in self._rows.rules)
        occurrences = counted(count, "occurrence")
        rules = f"{len(self._rows):,}{f' of {len(found):,}' if words else ''} rule{'' if len(found) == 1 else 's'}"
        self._pane.set_title(
            Chip(f"{rules}, {occurrences}" if found else "", "$text-soft"),
            Chip(f"filter: {words}" if words else "", "$bar"),
        )
        self._show_rule()

    def _rule_at_cursor(self) -> str:
        return self._feed.item_of(self._rows.rules) or ""

    def _show_rule(self) -> None:
        name = self._rule_at_cursor()
        if name != self._rule:
            self._rule, self._current = name, 0
        count = len(self.session.journal.found.get(name, ()))
        key = name, count, self._current, self._rows.words
        if key == self._shown:
            return
        self._shown = key
        if not name:
            self._explanation.show_nothing("" if self._rows.words else _CHECKED)
            return
        occurrences = self._occurrences(name)
        self._explanation.show(rule_of(name), occurrences, self._current, max(count, len(occurrences)))

    def _occurrences(self, rule: str) -> list[Occurrence]:
        occurrences: list[Occurrence] = []
        for seq in dict.fromkeys(self.session.journal.found[rule]):
            record = self.session.journal.capture.get(seq)
            occurrences += [Occurrence(record, finding) for finding in record.findings if finding.rule == rule]
            if len(occurrences) >= _MAX_OCCURRENCES:
                break
        return occurrences[:_MAX_OCCURRENCES]

    def on_finding_pane_chosen(self, event: FindingPane.Chosen) -> None:
        """Go to the occurrence that was clicked, or open its record."""
        self._current = event.number
        self._show_rule()
        if event.twice:
            self._open(self._rule)

    def action_occurrence(self, step: int) -> None:
        """Go to the next (1) or previous (-1) occurrence of the rule, and from the last to the first."""
        self._show_rule()  # the message about the last move of the cursor may not be handled yet
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
        """Select the first rule that a record violates; remove a filter that hides it."""
        broken = {finding.rule for finding in self.session.journal.capture.get(seq).findings}
        if broken and broken.isdisjoint(self._rows.rules):
            self._filter("")
        index = next((index for index, rule in enumerate(self._rows.rules) if rule in broken), None)
        if index is not None:
            self._feed.cursor = index

    def on_feed_highlighted(self) -> None:
        """Explain the rule under the cursor."""
        self._show_rule()

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Show the record of the selected occurrence, by default of the first."""
        if 0 <= event.index < len(self._rows):
            self._open(self._rows.rules[event.index])

    def _open(self, rule: str) -> None:
        occurrences = self._occurrences(rule)
        number = self._current if rule == self._rule and self._current < len(occurrences) else 0
        if occurrences:
            self.post_message(RecordWanted(occurrences[number].record.seq))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys for occurrences if there are none."""
        if action == "occurrence":
            return bool(len(self._rows)) or None
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:
        """Return why there is no other occurrence."""
        if command in ("next-match", "previous-match"):
            return "no finding is shown"
        return super().disabled_reason(command)

    @property
    def selection_title(self) -> str:
        """The rule under the cursor."""
        return self._rule or super().selection_title

    def selected_text(self) -> str:
        """Return the explanation of the rule under the cursor."""
        return self._explanation.text
