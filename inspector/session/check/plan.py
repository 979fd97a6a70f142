"""Select the tests of check files that run."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.lazy_dataclass import dataclass
from inspector.session.check.document.enumerations import Level
from inspector.session.check.document.suites import Suite, Test
from inspector.session.check.reading import CheckFile


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tests run: those whose id or name contains one of `words`, with one of the tags and of the levels."""

    words: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    levels: frozenset[Level] = frozenset()

    def selects(self, suite: Suite, test: Test) -> bool:
        """Return whether a test runs; an empty condition selects every test."""
        text = f"{suite.id} {test.id} {test.name}".lower()
        return (
            (not self.words or any(word.lower() in text for word in self.words))
            and (not self.tags or bool(self.tags & {*suite.tags, *test.tags}))
            and (not self.levels or test.level in self.levels)
        )


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """A test of a file."""

    file: CheckFile
    suite: Suite
    test: Test

    def line(self, step: str = "") -> int:
        """Return the number of the line of a step, or else of the test; 0 if it is unknown."""
        lines = self.file.lines
        return lines.get((self.test.id, step)) or lines.get((self.test.id, ""), 0)

    def place(self, step: str = "") -> str:
        """Return the path of the file with this line: `FILE:LINE`."""
        line = self.line(step)
        return f"{self.file.path}:{line}" if line else str(self.file.path)


def plan(files: Iterable[CheckFile], selection: Selection) -> list[PlannedTest]:
    """Return the selected tests of files, in their order."""
    return [
        PlannedTest(file, suite, test)
        for file in files
        for suite in file.document.suites
        for test in suite.tests
        if selection.selects(suite, test)
    ]
