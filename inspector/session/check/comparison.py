"""Compare two runs of the same tests: results, findings and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.lazy_dataclass import dataclass
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.result import Failure, RunResult
from inspector.session.check.status import Status
from inspector.session.check.trials import Trials, trials_of
from inspector.text.units import duration

_SLOWER = 1.5
"""From this ratio of the median times on, a difference is reported."""
_NOTICEABLE = 0.05
"""Seconds; smaller differences of times are not reported."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two runs of a test: `aspect` is result, findings or time, the others are texts."""

    test: str
    transport: Transport
    aspect: str
    first: str
    second: str


def differences(first: RunResult, second: RunResult) -> list[Difference]:
    """Return what differs between two runs, test by test; a test that only one run has is left out."""
    others = {_key(group): group for group in trials_of(second.results)}
    return [
        difference
        for group in trials_of(first.results)
        if _key(group) in others
        for difference in _compare(group, others[_key(group)])
    ]


def mark_differences(first: RunResult, found: Iterable[Difference], other: str) -> None:
    """Add differences to the tests of the first run; a test whose result differs becomes a failure.

    `other` is the URL of the agent of the second run.
    """
    by_test: dict[tuple[str, Transport], list[Difference]] = {}
    for difference in found:
        by_test.setdefault((difference.test, difference.transport), []).append(difference)
    for group in trials_of(first.results):
        result = group.first
        for item in by_test.get(_key(group), []):
            message = f"{item.aspect}: {item.first}; with {other}: {item.second}"
            if item.aspect != "result":
                result.differences.append(message)
                continue
            result.failures.append(Failure(message, expected=item.first, actual=item.second))
            result.status = Status.ERROR if result.status is Status.ERROR else Status.FAIL
            result.reason = ""


def _key(group: Trials) -> tuple[str, Transport]:
    return group.first.test.id, group.first.transport


def _compare(first: Trials, second: Trials) -> Iterator[Difference]:
    about = _key(first)
    if _result(first) != _result(second):
        yield Difference(*about, "result", _words(first), _words(second))
    rules, other_rules = _rules(first), _rules(second)
    if rules != other_rules:
        only, other_only = sorted(rules - other_rules), sorted(other_rules - rules)
        yield Difference(*about, "findings", ", ".join(only) or "none", ", ".join(other_only) or "none")
    times = first.percentile(0.5), second.percentile(0.5)
    both_passed = first.first.status is second.first.status is Status.PASS
    if both_passed and max(times) >= _SLOWER * min(times) and max(times) - min(times) >= _NOTICEABLE:
        yield Difference(*about, "time", duration(times[0]), duration(times[1]))


def _result(trials: Trials) -> tuple[Status, int]:
    """Return what is compared: the result, and how many trials passed."""
    return trials.first.status, trials.passed


def _words(trials: Trials) -> str:
    result = trials.first
    reason = result.reason or (result.failures[0].message if result.failures else "")
    share = f" {trials.passed} of {trials.count}" if len(trials.results) > 1 else ""
    return f"{result.status}{share}{f': {reason}' if reason else ''}"


def _rules(trials: Trials) -> set[str]:
    return {rule for result in trials.results for rule in result.rules}
