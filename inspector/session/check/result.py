"""The results of checks: of a step, of a test over a transport, and of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field

from inspector.lazy_dataclass import dataclass
from inspector.session.check.document.enumerations import Level, Transport
from inspector.session.check.document.suites import Suite, Test
from inspector.session.check.matching import Mismatch
from inspector.session.check.plan import PlannedTest
from inspector.session.check.status import FAILED, Status

INTERRUPTED = "interrupted"
"""The reason of a test that did not end because the run was stopped."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a test failed: a sentence, the step, what was expected and the actual value (`""` if there are none).

    `exchange` is the number of the request in the capture, 0 for none.
    """

    message: str
    step: str = ""
    expected: str = ""
    actual: str = ""
    path: str = ""
    exchange: int = 0


class StepFailedError(Exception):
    """Raised with the mismatch of a step that has no response to compare."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(str(mismatch))
        self.mismatch = mismatch


class StepError(Exception):
    """Raised if a step cannot be performed: its result is an error of the run, not a failure of the agent."""


class StepSkipped(Exception):  # noqa: N818 - it is not an error
    """Raised if a step cannot be checked with this agent; the test is skipped with this reason."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step; `exchanges` are the numbers of its requests in the capture."""

    id: str
    status: Status
    seconds: float
    failures: tuple[Failure, ...] = ()
    exchanges: tuple[int, ...] = ()


@dataclass(slots=True)
class TestResult:
    """The result of a test over one transport, in one trial.

    `reason` is why it was skipped; `rules` has the rules of its findings above hints. `differences` is what
    differs with another agent besides the result. `denied` is whether a response required credentials or rejected them.
    """

    planned: PlannedTest
    transport: Transport
    status: Status = Status.SKIP
    reason: str = ""
    seconds: float = 0.0
    steps: list[StepResult] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    rules: frozenset[str] = frozenset()
    differences: list[str] = field(default_factory=list)
    denied: bool = False

    @property
    def suite(self) -> Suite:
        """Return the suite of the test."""
        return self.planned.suite

    @property
    def test(self) -> Test:
        """Return the test."""
        return self.planned.test

    @property
    def has_failed(self) -> bool:
        """Return whether the result is a failure or an error."""
        return self.status in FAILED

    @property
    def exchange(self) -> int:
        """Return the number of the exchange to look at: that of the failure, or else the first one; 0 for none."""
        failed = next((failure.exchange for failure in self.failures if failure.exchange), 0)
        return failed or next((number for step in self.steps for number in step.exchanges), 0)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests have each result; reports count those that were interrupted as skipped, too."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    errors: int = 0
    interrupted: int = 0

    @classmethod
    def of(cls, results: Iterable[TestResult]) -> Counts:
        """Count results."""
        every = list(results)
        found = Counter(result.status for result in every)
        interrupted = sum(result.reason == INTERRUPTED for result in every)
        return cls(found[Status.PASS], found[Status.FAIL], found[Status.SKIP], found[Status.ERROR], interrupted)

    @property
    def total(self) -> int:
        """Return the number of tests."""
        return self.passed + self.failed + self.skipped + self.errors

    @property
    def words(self) -> str:
        """Return the counts that are not 0 as text; `nothing to run` without a test."""
        named = {
            "passed": self.passed,
            "failed": self.failed,
            "error" if self.errors == 1 else "errors": self.errors,
            "skipped": self.skipped - self.interrupted,
            "interrupted": self.interrupted,
        }
        return ", ".join(f"{count} {name}" for name, count in named.items() if count) or "nothing to run"

    @property
    def failure_words(self) -> str:
        """Return how many of the tests failed, and how many had an error, as a clause."""
        tests = f"of {self.total} {'test' if self.total == 1 else 'tests'}"
        if not self.errors:
            return f"{self.failed} {tests} failed"
        return (
            f"{self.failed} {tests} failed, {self.errors} had an error"
            if self.failed
            else f"{self.errors} {tests} had an error"
        )


@dataclass(slots=True)
class RunResult:
    """The results of a run in the order of the plan; `interrupted` is whether it was stopped before its end."""

    spec_version: str
    agent: str
    agent_version: str
    started: float
    results: list[TestResult] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def counts(self) -> Counts:
        """Return the counts of all results."""
        return Counts.of(self.results)

    def counts_of(self, level: Level) -> Counts:
        """Return the counts of the tests of one level."""
        return Counts.of(result for result in self.results if result.test.level is level)

    @property
    def transports(self) -> list[Transport]:
        """Return the transports that were used, in their order."""
        return list(dict.fromkeys(result.transport for result in self.results))

    @property
    def failed(self) -> list[TestResult]:
        """Return the results that are a failure or an error."""
        return [result for result in self.results if result.has_failed]

    @property
    def passed(self) -> bool:
        """Return whether no test failed and the run was complete."""
        counts = self.counts
        return not (counts.failed or counts.errors or self.interrupted)


def failures_of(
    mismatches: Iterable[Mismatch],
    step: str = "",
    exchange: int = 0,
    mask: Callable[[str], str] = str,
) -> tuple[Failure, ...]:
    """Return a failure for each mismatch; `mask` masks secrets."""
    shown = (mismatch.shown(mask) for mismatch in mismatches)
    return tuple(
        Failure(str(mismatch), step, mismatch.expected, mismatch.actual, mismatch.path, exchange) for mismatch in shown
    )
