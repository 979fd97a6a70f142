"""The pane with the tests of check files and their results; without tests, with the introduction or the problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from inspector.session.check.status import Status
from inspector.session.session import Session
from inspector.text.units import counted, duration
from inspector.tui.keys import key_of
from inspector.tui.render.check_introduction import introduction
from inspector.tui.render.check_lines import problem_lines
from inspector.tui.render.check_rows import COLOURS, CheckItem, CheckRows
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import BLANK, Paragraphs, without_head
from inspector.tui.widgets.check_pane import count_chips
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.feed import GAP, Column, Feed, Headings
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.word_filter import WordFilter

if TYPE_CHECKING:  # PyYAML and the models of check files are loaded with the first file
    from inspector.session.check.loaded_checks import LoadedChecks
    from inspector.session.check.source import Problem

_TEST = "TEST"
COLUMNS = (
    Column("RESULT", 10),
    Column(_TEST, len(_TEST)),
    Column("LEVEL", 6, min_total_width=84),
    Column("TIME", 7, "right", min_total_width=50),
    Column("NAME"),
)


class CheckListPane(Pane):
    """Lists the suites and the tests that match the filter, with their results."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Checks", id=id)
        self._session = session
        self._glyphs = glyphs
        self.rows = CheckRows(glyphs)
        self._message: object = None
        self._cursor = 0
        """The row of the cursor when the results were shown."""
        self.words = WordFilter("words in the result, id, name, level, tags or suite")
        self._feed = Feed(COLUMNS, self.rows, id="check-list", follow=False)
        self._text = FactView(id="check-message")
        self._text.enter_hint = "load a file"

    def compose(self) -> ComposeResult:
        """Make the filter, the list and the text that replaces it."""
        yield self.words
        yield Headings(self._feed)
        yield self._feed
        yield self._text

    def on_resize(self) -> None:
        """Fit the columns after the new layout."""
        self.call_after_refresh(self._fit_columns)

    def _fit_columns(self) -> None:
        """Make the column of the ids as wide as the longest id."""
        width = max(len(_TEST), self.rows.id_width(self._feed.line_width - GAP))
        self._feed.set_width(_TEST, width)

    @property
    def message(self) -> str:
        """The text that replaces the list."""
        return self._text.text

    def offer_request(self, *, offered: bool) -> None:
        """Show in the footer that enter opens the request of the selected test, or that there is none."""
        self._feed.enter_hint = "open request" if offered else ""

    # What is listed

    def show(self, checks: LoadedChecks | None, selected: CheckItem | None) -> None:
        """Show the results of the tests, with the cursor on an item if it is listed."""
        self.rows.refresh(checks)
        self._fit_columns()
        empty = "No test failed." if self.rows.only_failed and not self.rows.words else "No test matches the filter."
        self._feed.empty = f"{empty} Press {key_of('back')} to show all tests."
        self._feed.refresh_rows()
        index = self.rows.index_of(selected)
        if index is not None:
            self._feed.cursor = index
        self._cursor = self._feed.cursor

    @property
    def has_moved(self) -> bool:
        """Whether the cursor was moved since the results were shown."""
        return self._feed.cursor != self._cursor

    def show_message(self, problems: Sequence[Problem], recent: Sequence[Path], *, has_tests: bool) -> bool:
        """Show the introduction or the problems of the file, if there are no tests; return whether that changes."""
        connected = self._session.connection is not None
        key = has_tests, problems, connected, tuple(recent)
        if key == self._message:
            return False
        self._message = key
        if not has_tests:
            lines = introduction(recent, connected=connected, recorded=self._session.recorded)
            if problems:
                again = f"Correct the file, and press {key_of('refresh')} to read it again."
                lines = [*problem_lines(problems), BLANK, without_head(again, "line--soft")]
            self._text.show(Paragraphs(lines))
        self.call_after_refresh(self._fit_columns)  # the list has its size after it is shown
        return True

    def show_title(self, checks: LoadedChecks | None, problems: Sequence[Problem]) -> None:
        """Show the files, the filter, the state of the run and the counts of results in the border."""
        if checks is None:
            count = len(problems)
            self.set_title(Chip(counted(count, "problem") if count else "", "$state-bad"))
            return
        shown, known = self.rows.shown, len(checks.tests)
        tests = counted(known, "test")
        levels = checks.levels()
        self.set_title(
            Chip(", ".join(path.name for path in checks.paths)),
            Chip(tests if shown == known else f"{shown:,} of {tests}", "$text-soft"),
            Chip("failed only" if self.rows.only_failed else "", "$bar"),
            Chip(f"filter {self.rows.words}" if self.rows.words else "", "$bar"),
            self._state_of_run(checks),
            note=[chip for level, counts in levels for chip in count_chips(level.upper(), counts, self._glyphs)],
        )

    def _state_of_run(self, checks: LoadedChecks) -> Chip:
        if checks.seconds is not None:
            text = f"running: {checks.done:,} of {len(checks.current):,}, {duration(checks.seconds)}"
            return Chip(text, COLOURS[Status.RUNNING])
        if self._session.connection is None:
            return Chip("no agent" if self._session.recorded else "no agent connected", "$state-warning")
        return Chip("")

    @property
    def selected(self) -> CheckItem | None:
        """The suite or the test under the cursor."""
        return self._feed.item_of(self.rows.items)

    def focus_content(self, *, has_tests: bool) -> None:
        """Focus the list, or without tests the text."""
        self.screen.set_focus(self._feed if has_tests else self._text)

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return self.rows.only_failed or bool(self.words.value)
