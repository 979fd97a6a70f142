"""The tests of check files in a list, each with its state; loads neither PyYAML nor the models of check files."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass
from inspector.session.check.status import Status

if TYPE_CHECKING:
    from inspector.session.check.document.suites import Suite
    from inspector.session.check.plan import PlannedTest
    from inspector.session.check.reading import CheckFile
    from inspector.session.check.result import TestResult


@dataclass(slots=True, eq=False)
class CheckedTest:
    """A test and its latest result; while it runs, `result` has the steps so far, and `began` is a monotonic time."""

    planned: PlannedTest
    status: Status = Status.NOT_RUN
    result: TestResult | None = None
    began: float = 0.0

    @property
    def id(self) -> str:
        """The id of the test."""
        return self.planned.test.id

    @property
    def seconds(self) -> float | None:
        """How long the test has been running, or lasted; None for a test that did not run."""
        if self.status is Status.RUNNING:
            return time.monotonic() - self.began
        return self.result.seconds if self.result is not None and self.status is not Status.SKIP else None

    @property
    def requests(self) -> list[int]:
        """The numbers of the requests of the test in the capture."""
        if self.result is None:
            return []
        sent = [number for step in self.result.steps for number in step.exchanges]
        failed = [failure.exchange for failure in self.result.failures if failure.exchange]
        return list(dict.fromkeys([*sent, *failed]))

    @property
    def text(self) -> str:
        """What a filter searches."""
        test, suite = self.planned.test, self.planned.suite
        words = (self.status, test.id, test.name, test.level, test.spec_ref, *test.tags, suite.id, suite.name)
        return "\n".join(words).casefold()

    def start(self, result: TestResult) -> None:
        """Show the result of a test that runs now."""
        self.status, self.result, self.began = Status.RUNNING, result, time.monotonic()

    def finish(self, result: TestResult) -> None:
        """Show the result of a test that has ended."""
        self.status, self.result = result.status, result

    def reset(self, status: Status = Status.NOT_RUN) -> None:
        """Remove the result."""
        self.status, self.result = status, None


@dataclass(slots=True, eq=False)
class SuiteTests:
    """The tests of a suite."""

    suite: Suite
    file: CheckFile
    tests: list[CheckedTest] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the suite."""
        return self.suite.id

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many tests have each state."""
        return counts_of(self.tests)


def counts_of(tests: Sequence[CheckedTest]) -> Mapping[Status, int]:
    """Return how many tests have each state, without the states that no test has."""
    found = dict.fromkeys(Status, 0)
    for test in tests:
        found[test.status] += 1
    return {status: count for status, count in found.items() if count}


def in_words(counts: Mapping[Status, int]) -> str:
    """Return how many tests have each state, as text."""
    errors = "error" if counts.get(Status.ERROR) == 1 else "errors"
    words = {Status.PASS: "passed", Status.FAIL: "failed", Status.ERROR: errors, Status.SKIP: "skipped"}
    rest = sum(count for status, count in counts.items() if status not in words)
    found = [f"{counts[status]:,} {word}" for status, word in words.items() if counts.get(status)]
    return ", ".join([*found, f"{rest:,} not run"] if rest else found)
