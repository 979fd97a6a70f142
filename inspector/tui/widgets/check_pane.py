"""The pane about the selected test or suite, and the words about results in the border of a pane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.session.check.checked_tests import CheckedTest, SuiteTests
from inspector.session.check.status import Status
from inspector.tui.render.check_lines import CheckLines, suite_lines
from inspector.tui.render.check_rows import COLOURS, result_in_words, sign_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import LineSource, Paragraphs
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.pane import Chip, NextChip, Pane

_SHOWN_IN_COUNTS = (Status.PASS, Status.FAIL, Status.ERROR, Status.SKIP)


def count_chips(name: str, counts: Mapping[Status, int], glyphs: Glyphs) -> list[Chip]:
    """Return how many tests passed, failed or were skipped, as words for a border after a name."""
    chips = [
        NextChip(f"{sign_of(status, glyphs)} {counts[status]:,}", COLOURS[status])
        for status in _SHOWN_IN_COUNTS
        if counts.get(status)
    ]
    rest = sum(counts.values()) - sum(counts.get(status, 0) for status in _SHOWN_IN_COUNTS)
    others = [NextChip(f"{rest:,} not run", "$text-soft")] if rest else []
    return [Chip(name, "bold $foreground"), *chips, *others]


class CheckPane(Pane):
    """Shows a test with its failures and steps, or a suite; one of the requests of the test is selected."""

    @dataclass
    class Chosen(Message):
        """A line with a request was clicked, `twice` if the request was selected already."""

        request: int
        twice: bool

    def __init__(self, redact: Callable[[str], str], glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Test", id=id)
        self._redact = redact
        self._glyphs = glyphs
        self._facts = FactView(id=f"{id}-text")
        self._lines: LineSource = Paragraphs([])
        self._item: CheckedTest | SuiteTests | None = None
        self._request = 0

    def compose(self) -> ComposeResult:
        """Make the text."""
        yield self._facts

    @property
    def text(self) -> str:
        """What is shown, as text."""
        return self._facts.text

    def show_nothing(self) -> None:
        """Show that nothing is selected."""
        self._item = None
        self.set_title()
        self._show(Paragraphs([]), keep=False)

    def show_suite(self, suite: SuiteTests, counts: str) -> None:
        """Show a suite and how many of its tests passed."""
        _, first, *others = count_chips("", suite.counts, self._glyphs)
        self.set_title(Chip(suite.id, "bold $foreground"), Chip(*first), *others, name="Suite")
        self._show(Paragraphs(suite_lines(suite, counts, self._redact, self._glyphs)), keep=self._item is suite)
        self._item = suite

    def show_test(self, test: CheckedTest, requests: Sequence[int], request: int, phase: int) -> None:
        """Show a test, with one of its requests selected (0 without requests)."""
        result = result_in_words(test.status, self._glyphs, phase)
        position = f" ({requests.index(request) + 1} of {len(requests)})" if len(requests) > 1 else ""
        self.set_title(
            Chip(test.id, "bold $foreground"),
            Chip(result, COLOURS[test.status]),
            Chip(f"request #{request}{position}" if request else ""),
        )
        self._request = request
        lines = CheckLines(test, self._redact, self._glyphs, request)
        self._show(lines, keep=self._item is test)
        self._item = test

    def _show(self, lines: LineSource, *, keep: bool) -> None:
        """Show lines, from the line at the top that was shown before if `keep`."""
        self._lines = lines
        (self._facts.show_again if keep else self._facts.show)(lines)

    def on_click(self, event: events.Click) -> None:
        """Report the request of the line that was clicked."""
        offset = event.get_content_offset(self._facts)
        lines = self._lines
        number = lines.item(self._facts.top + offset.y) if offset and isinstance(lines, CheckLines) else None
        if number:
            self.post_message(self.Chosen(number, number == self._request))
        else:
            super().on_click(event)
