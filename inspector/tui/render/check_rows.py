"""The rows of the Checks view: a row for each suite and for each of its tests, and the words of their states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len

from inspector.protocol.lifecycle import State
from inspector.session.check.checked_tests import CheckedTest, SuiteTests
from inspector.session.check.status import BUSY, FAILED, Status
from inspector.text.sanitise import clean_line
from inspector.text.units import duration
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cell, Cells

if TYPE_CHECKING:  # PyYAML and the models of check files are loaded when a file is opened
    from inspector.session.check.loaded_checks import LoadedChecks

CheckItem: TypeAlias = SuiteTests | CheckedTest

STYLES: Mapping[Status, str] = {
    Status.NOT_RUN: "feed--quiet",
    Status.WAITING: "feed--quiet",
    Status.RUNNING: "feed--received",
    Status.PASS: "feed--good",
    Status.FAIL: "feed--bad",
    Status.SKIP: "feed--muted",
    Status.ERROR: "feed--bad",
}
"""The component class of each state in a row."""
COLOURS: Mapping[Status, str] = {
    Status.NOT_RUN: "$text-soft",
    Status.WAITING: "$text-soft",
    Status.RUNNING: "$wire-received",
    Status.PASS: "$state-good",
    Status.FAIL: "$state-bad",
    Status.SKIP: "$text-soft",
    Status.ERROR: "$state-bad",
}
"""The variable of the colour of each state, for borders."""
_ID_SHARE = 2 / 5
"""The part of the width that the ids of tests get at most."""


def sign_of(status: Status, glyphs: Glyphs, phase: int = 0) -> str:
    """Return the sign of a state; the sign of a running test has phases."""
    signs = {
        Status.WAITING: glyphs.states[State.SUBMITTED],
        Status.RUNNING: glyphs.moving[phase % len(glyphs.moving)],
        Status.PASS: glyphs.check,
        Status.FAIL: glyphs.cross,
        Status.ERROR: "!",
    }
    return signs.get(status, glyphs.quiet)


def result_in_words(status: Status, glyphs: Glyphs, phase: int = 0) -> str:
    """Return a state with its sign."""
    return f"{sign_of(status, glyphs, phase)} {status}"


class CheckRows:
    """The suites and the tests whose text contains all of `words`; with `only_failed`, those that failed or run now."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self.words = ""
        self.only_failed = False
        self.phase = 0
        self.items: list[CheckItem] = []
        self._widths: dict[int, int] = {}
        self.shown = 0
        """How many tests are shown."""

    def refresh(self, checks: LoadedChecks | None) -> None:
        """Update the list of rows."""
        before, self.items, self.shown = self.items, [], 0
        for suite in checks.suites if checks is not None else ():
            found = [test for test in suite.tests if self._matches(test)]
            if found:
                self.items += [suite, *found]
                self.shown += len(found)
        if self.items != before:
            self._widths.clear()

    def _matches(self, test: CheckedTest) -> bool:
        if self.only_failed and test.status not in FAILED | BUSY:
            return False
        return not self.words or all(word in test.text for word in self.words.casefold().split())

    def index_of(self, item: CheckItem | None) -> int | None:
        """Return the row of a suite or a test, None if it is not shown."""
        return next((index for index, other in enumerate(self.items) if other is item), None)

    def id_width(self, free: int) -> int:
        """Return the width of the longest id, at most a part of `free` cells."""
        most = int(free * _ID_SHARE)
        if most not in self._widths:
            self._widths[most] = max((cell_len(clean_line(item.id, most)) for item in self.items), default=0)
        return self._widths[most]

    def __len__(self) -> int:
        return len(self.items)

    def row(self, index: int) -> Cells:
        """Return the cells of a suite or a test."""
        item = self.items[index]
        if isinstance(item, SuiteTests):
            return (self._progress(item), (item.id, "feed--strong"), *_BLANK, (item.suite.name, "feed--strong"))
        test, seconds = item.planned.test, item.seconds
        return (
            (result_in_words(item.status, self._glyphs, self.phase), STYLES[item.status]),
            (test.id, "feed--text"),
            (test.level, "feed--muted"),
            (duration(seconds) if seconds is not None else "", "feed--muted"),
            (test.name, "feed--text"),
        )

    def _progress(self, suite: SuiteTests) -> Cell:
        """Return how many tests of a suite passed, in the style of the worst result."""
        counts = suite.counts
        style = next((STYLES[status] for status in _WORST_FIRST if counts.get(status)), "feed--muted")
        return f"{counts.get(Status.PASS, 0):,} of {len(suite.tests):,}", style


_BLANK: Cells = (("", "feed--text"), ("", "feed--text"))
_WORST_FIRST = (Status.ERROR, Status.FAIL, Status.RUNNING, Status.PASS)
