"""A card as it was served: how it came above, the bytes as JSON, and what is wrong at the line under the cursor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from inspector.findings.finding import Finding
from inspector.tui.render.card_source import finding_note, findings_here
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.detail_pane import FactView
from inspector.tui.widgets.json_view import JsonView

_MOST_NOTED = 1000
"""How many findings are marked in the JSON."""


class RawCard(Vertical):
    """Shows bytes as JSON between what is known of them and the findings at the cursor."""

    DEFAULT_CSS = """
    RawCard {
        & > FactView { height: auto; }
        & > .facts { border-bottom: solid $rule; }
        & > .here { border-top: solid $rule; }
        & > JsonView { height: 1fr; }
    }
    """

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._glyphs = glyphs
        self._facts: Sequence[Paragraph] = ()
        self._found: dict[str, list[Finding]] = {}

    def compose(self) -> ComposeResult:
        """Make the three parts."""
        yield FactView(classes="facts")
        yield JsonView(id="card-json", empty="No bytes.")
        yield FactView(classes="here")

    @property
    def json(self) -> JsonView:
        """The JSON."""
        return self.query_one(JsonView)

    def show(self, raw: bytes, facts: Sequence[Paragraph], findings: Sequence[Finding] = ()) -> None:
        """Show bytes."""
        self._facts = facts
        self._found = {}
        self.json.show_bytes(raw)
        by_pointer: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in findings[:_MOST_NOTED]:
            by_pointer[self.json.nearest(finding.pointer)].append(finding)
        self._found = dict(by_pointer)
        self.json.note({pointer: finding_note(found, self._glyphs) for pointer, found in self._found.items()})
        self._show_facts()
        self._show_here()

    def show_facts(self, facts: Sequence[Paragraph]) -> None:
        """Show that something else is known of the same bytes now."""
        self._facts = facts
        self._show_facts()

    def on_json_view_highlighted(self) -> None:
        """Say what is wrong at the cursor."""
        self._show_here()

    def on_resize(self) -> None:
        """Fit the texts to the new width."""
        self._show_facts()
        self._show_here()

    def _show_facts(self) -> None:
        self._fill(".facts", self._facts)

    def _show_here(self) -> None:
        self._fill(".here", findings_here(self._found.get(self.json.pointer, ()), self._glyphs))

    def _fill(self, part: str, paragraphs: Sequence[Paragraph]) -> None:
        view = self.query_one(part, FactView)
        lines = Paragraphs(paragraphs)
        lines.layout(self.content_size.width - 1, 0)
        view.display = bool(len(lines))
        view.styles.height = min(len(lines), max(2, self.size.height // 3)) + 1
        view.show(lines)
