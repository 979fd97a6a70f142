"""A test of a check file as lines: its failures with expected and actual values, its steps, and its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from rich.cells import cell_len

from inspector.session.check.checked_tests import CheckedTest, SuiteTests
from inspector.session.check.status import Status
from inspector.text.sanitise import clean_line
from inspector.text.units import duration
from inspector.tui.render.check_rows import sign_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import (
    BLANK,
    ItemLines,
    Line,
    Paragraph,
    Piece,
    WrappedText,
    hang,
    labelled,
    without_head,
    wrap_pieces,
)

if TYPE_CHECKING:
    from inspector.session.check.document.steps import Step
    from inspector.session.check.result import Failure, StepResult

_LABEL = 13
_SIDE_BY_SIDE = 64
"""The cells that two values need beside each other."""
_BETWEEN = " │ "
_INDENT = "  "
_LONGEST_VALUE = 4000
_LONGEST_STEP_ID = 20
_MOST_FAILURES = 50
"""The most failures that are listed for a test or a suite."""
_STYLES = {
    Status.PASS: "line--good",
    Status.FAIL: "line--bad",
    Status.ERROR: "line--bad",
    Status.SKIP: "line--soft",
}

_Numbered: TypeAlias = tuple[Line, int | None]


class CheckLines(ItemLines[int]):
    """The lines about a test; those of a failure or a step have the number of its request. A `LineSource`.

    `redact` masks the secrets in values of the agent. `request` is the number of the selected request.
    """

    def __init__(self, test: CheckedTest, redact: Callable[[str], str], glyphs: Glyphs, request: int) -> None:
        super().__init__()
        self._test = test
        self._redact = redact
        self._glyphs = glyphs
        self._request = request

    def _build(self, width: int) -> Iterator[_Numbered]:
        test = self._test.planned.test
        yield from _plain([without_head(test.name, "line--strong"), BLANK], width)
        result = self._test.result
        if result is not None and result.reason:
            yield from _plain([labelled("Skipped", result.reason, _LABEL), BLANK], width)
        failures, status = (result.failures, result.status) if result is not None else ([], Status.NOT_RUN)
        values = [self._values(failure) for failure in failures[:_MOST_FAILURES]]
        left = left_column([pair for pair in values if any(pair)], width)
        for failure, pair in zip(failures, values, strict=False):
            yield from self._failure(failure, status, pair, left, width)
        if len(failures) > _MOST_FAILURES:
            yield [(f"… and {len(failures) - _MOST_FAILURES:,} more failures", "line--note")], None
        if test.description.strip():
            yield from _plain([without_head(test.description.strip(), "line--soft"), BLANK], width)
        yield from self._steps(width)
        yield from _plain([BLANK, *self._facts()], width)

    def _values(self, failure: Failure) -> tuple[str, str]:
        """Return the expected and the actual value of a failure."""
        return self._redact(failure.expected), self._redact(failure.actual)

    def _failure(
        self, failure: Failure, status: Status, values: tuple[str, str], left: int, width: int
    ) -> Iterator[_Numbered]:
        """Return a failure: where it is, and what was expected and seen."""
        number = failure.exchange or None
        where = ": ".join(filter(None, (failure.step, failure.path))) or "the test"
        head: list[Piece] = [
            (f"{where}  ", "line--strong"),
            *self._requests((failure.exchange,) if number else ()),
        ]
        if line := self._test.planned.line(failure.step):
            head.append((f"{'  ' if number else ''}line {line}", "line--soft"))
        sign = (f"{sign_of(status, self._glyphs)} ", "line--bad")
        yield from ((line, number) for line in wrap_pieces(head, width, first=[sign], rest=[("  ", "line--bad")]))
        if any(values):
            yield from ((line, number) for line in compared(*values, left, width))
        else:
            text = Paragraph(("  ", "line--text"), self._redact(failure.message), "line--text")
            yield from ((line, number) for line in hang(text, width))
        yield [("", "line--text")], None

    def _requests(self, numbers: Sequence[int]) -> Iterator[Piece]:
        """Return the numbers of requests; the selected request is highlighted."""
        if not numbers:
            return
        yield "request" if len(numbers) == 1 else "requests", "line--soft"
        shown = numbers if len(numbers) <= 4 else (numbers[0], numbers[-1])
        for number in shown:
            yield f" #{number}", "line--strong" if number == self._request else "line--soft"
        if len(numbers) > len(shown):
            yield f" ({len(numbers):,})", "line--soft"

    def _steps(self, width: int) -> Iterator[_Numbered]:
        """Return the steps with their results, those that were not performed with the sign for it."""
        steps = self._test.planned.test.steps
        results = self._test.result.steps if self._test.result is not None else []
        column = max(cell_len(clean_line(step.id, _LONGEST_STEP_ID)) for step in steps)
        yield [("Steps", "line--strong")], None
        for index, (step, result) in enumerate(zip_longest(steps, results[: len(steps)])):
            running = index == len(results) and self._test.status is Status.RUNNING
            status = Status.RUNNING if running else result.status if result else Status.NOT_RUN
            yield from self._step(step, result, status, column, width)

    def _step(
        self, step: Step, result: StepResult | None, status: Status, column: int, width: int
    ) -> Iterator[_Numbered]:
        name = clean_line(step.id, column)
        space = " " * (column - cell_len(name) + 2)
        style = _STYLES.get(status, "line--quiet")
        pieces: list[Piece] = [(f"{name}{space}", "line--text"), (f"{step.summary}  ", "line--text")]
        if result is not None:
            pieces += [(f"{duration(result.seconds)}  ", "line--soft"), *self._requests(result.exchanges)]
        number = result.exchanges[-1] if result is not None and result.exchanges else None
        first, rest = (f"{sign_of(status, self._glyphs)} ", style), ("  ", style)
        yield from ((line, number) for line in wrap_pieces(pieces, width, first=[first], rest=[rest]))
        if step.description.strip():
            words = Paragraph((" " * (column + 4), "line--soft"), step.description.strip(), "line--soft")
            yield from ((line, number) for line in hang(words, width))

    def _facts(self) -> Iterator[Paragraph]:
        planned = self._test.planned
        test, suite = planned.test, planned.suite
        result = self._test.result
        over = result.transport if result is not None and result.exchange else ""
        facts = (
            ("Level", test.level.upper()),
            ("Requirement", test.spec_ref),
            ("Transport", f"ran over {over}" if over else ", ".join(test.transport)),
            ("Tags", ", ".join(test.tags)),
            ("Suite", f"{suite.id}  {suite.name}"),
            ("File", planned.place()),
        )
        yield from (labelled(label, text, _LABEL, "line--soft") for label, text in facts if text)


def left_column(pairs: Sequence[tuple[str, str]], width: int) -> int:
    """Return the width of the column of expected values beside the actual values, 0 if there is no room for both."""
    room = width - len(_INDENT) - len(_BETWEEN)
    if width < _SIDE_BY_SIDE or not pairs:
        return 0
    expected = max(_longest_line("Expected", expected) for expected, _ in pairs)
    actual = max(_longest_line("Actual", actual) for _, actual in pairs)
    return max(min(expected, room // 2), min(expected, room - actual))


def _longest_line(*texts: str) -> int:
    return max(cell_len(line) for text in texts for line in text[:_LONGEST_VALUE].splitlines())


def compared(expected: str, actual: str, left: int, width: int) -> Iterator[Line]:
    """Return two values beside each other, the first in `left` cells, or for 0 one below the other."""
    if not left:
        for label, value in (("Expected  ", expected), ("Actual    ", actual)):
            yield from hang(Paragraph((_INDENT + label, "line--soft"), value, "line--text"), width)
        return
    columns = (
        [("Expected", "line--soft"), *_wrapped(expected, left)],
        [("Actual", "line--soft"), *_wrapped(actual, width - len(_INDENT) - len(_BETWEEN) - left)],
    )
    for first, second in zip_longest(*columns, fillvalue=("", "line--text")):
        space = " " * (left - cell_len(first[0]))
        yield [(_INDENT, "line--text"), first, (space + _BETWEEN, "line--quiet"), second]


def _wrapped(text: str, width: int) -> list[Piece]:
    rows = WrappedText(text[:_LONGEST_VALUE], style="line--text")
    rows.layout(width, 0)
    return [(rows.row(number).rstrip(" \n"), "line--text") for number in range(len(rows))]


def _plain(paragraphs: Iterable[Paragraph], width: int) -> Iterator[_Numbered]:
    return ((line, None) for paragraph in paragraphs for line in hang(paragraph, width))


def suite_lines(suite: SuiteTests, counts: str, redact: Callable[[str], str], glyphs: Glyphs) -> list[Paragraph]:
    """Return a suite: its description, how many of its tests passed (`counts`), and those that failed."""
    lines = [without_head(suite.suite.name, "line--strong"), BLANK]
    if suite.suite.description.strip():
        lines += [without_head(suite.suite.description.strip(), "line--soft"), BLANK]
    facts = (("Results", counts), ("Tags", ", ".join(suite.suite.tags)), ("File", str(suite.file.path)))
    lines += [labelled(label, text, _LABEL, "line--soft") for label, text in facts if text]
    failed = [test.result for test in suite.tests if test.result is not None and test.result.failures]
    if failed:
        lines += [BLANK, without_head("Failures", "line--strong")]
    for result in failed[:_MOST_FAILURES]:
        sign = f"{sign_of(result.status, glyphs)} "
        text = f"{result.test.id}  {redact(result.failures[0].message)}"
        lines.append(Paragraph((sign, "line--bad"), text, "line--text"))
    if len(failed) > _MOST_FAILURES:
        lines.append(without_head(f"… and {len(failed) - _MOST_FAILURES:,} more", "line--note"))
    return lines


def problem_lines(problems: Sequence[tuple[str, int, int, str]]) -> list[Paragraph]:
    """Return the problems of files, each a file, a line, a column and a message, below the names of their files."""
    lines: list[Paragraph] = []
    for name in dict.fromkeys(problem[0] for problem in problems):
        lines += [BLANK] if lines else []
        lines.append(without_head(name, "line--strong"))
        for _, line, column, message in sorted(problem for problem in problems if problem[0] == name):
            place = f"{line}:{column}" if line else "-"
            lines.append(Paragraph((f"{place:>9}  ", "line--bad"), message, "line--text"))
    return lines
