"""Repeated runs of a test: how many passed, how reliable this share is, and how long they took."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from inspector.lazy_dataclass import dataclass
from inspector.session.check.result import TestResult
from inspector.session.check.status import Status

_Z = 1.959963984540054
"""The quantile of the normal distribution for a confidence of 95 %."""


@dataclass(frozen=True, slots=True)
class Trials:
    """All runs of one test over one transport, in order."""

    results: tuple[TestResult, ...]

    @property
    def first(self) -> TestResult:
        """Return the result that represents all runs: the first failure, or else the first run."""
        failed = (result for result in self.results if result.has_failed)
        return next(failed, self.results[0])

    @property
    def count(self) -> int:
        """Return how many runs were not skipped."""
        return sum(result.status is not Status.SKIP for result in self.results)

    @property
    def passed(self) -> int:
        """Return how many runs passed."""
        return sum(result.status is Status.PASS for result in self.results)

    @property
    def lower_bound(self) -> float:
        """Return the lower bound of the share of passes: the Wilson score interval with a confidence of 95 %."""
        return wilson_lower_bound(self.passed, self.count)

    def percentile(self, share: float) -> float:
        """Return the time in seconds that this share of the runs did not exceed (nearest rank), 0 without a run."""
        times = sorted(result.seconds for result in self.results if result.status is not Status.SKIP)
        return times[max(0, math.ceil(share * len(times)) - 1)] if times else 0.0


def trials_of(results: Iterable[TestResult]) -> list[Trials]:
    """Group results by test and transport, in the order of their first runs."""
    groups: dict[tuple[str, str], list[TestResult]] = {}
    for result in results:
        groups.setdefault((result.test.id, result.transport.value), []).append(result)
    return [Trials(tuple(group)) for group in groups.values()]


def representatives(results: Sequence[TestResult]) -> list[TestResult]:
    """Return one result for each test and transport."""
    return [trials.first for trials in trials_of(results)]


def wilson_lower_bound(passed: int, count: int) -> float:
    """Return the lower bound of the Wilson score interval (95 %), 0 without a run."""
    if count == 0:
        return 0.0
    share, squared = passed / count, _Z * _Z
    center = share + squared / (2 * count)
    margin = _Z * math.sqrt((share * (1 - share) + squared / (4 * count)) / count)
    return max(0.0, (center - margin) / (1 + squared / count))
