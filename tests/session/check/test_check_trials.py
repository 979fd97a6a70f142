"""Repeated runs: their share of passes, its lower bound, and their times."""

from __future__ import annotations

import pytest
from check_files import planned

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.result import RunResult
from inspector.session.check.result import TestResult as Outcome
from inspector.session.check.status import Status
from inspector.session.check.trials import Trials, representatives, trials_of, wilson_lower_bound


@pytest.mark.parametrize(
    ("passed", "count", "bound"),
    [
        (0, 0, 0.0),
        (0, 10, 0.0),
        (1, 1, 0.2065),
        (10, 10, 0.7225),
        (19, 20, 0.7639),
        (50, 100, 0.4038),
        (95, 100, 0.8882),
        (100, 100, 0.9630),
        (1000, 1000, 0.9962),
    ],
)
def test_the_lower_bound_is_that_of_the_wilson_score_interval(passed: int, count: int, bound: float):
    assert wilson_lower_bound(passed, count) == pytest.approx(bound, abs=0.00005)


def results(*each: tuple[Status, float], transport: Transport = Transport.JSONRPC) -> list[Outcome]:
    return [Outcome(planned(), transport, result, seconds=seconds) for result, seconds in each]


def test_runs_that_were_skipped_do_not_count():
    trials = Trials(tuple(results((Status.PASS, 1), (Status.SKIP, 9), (Status.FAIL, 2), (Status.PASS, 3))))
    assert (trials.count, trials.passed) == (3, 2)
    assert trials.lower_bound == wilson_lower_bound(2, 3)
    assert trials.first.status is Status.FAIL
    assert [trials.percentile(share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 2, 3, 3]


def test_percentiles_are_the_nearest_rank():
    trials = Trials(tuple(results(*((Status.PASS, float(number)) for number in range(1, 101)))))
    assert [trials.percentile(share) for share in (0.5, 0.95, 0.99)] == [50, 95, 99]
    assert Trials(tuple(results((Status.SKIP, 1)))).percentile(0.5) == 0


def test_each_transport_has_its_own_group():
    first, second = results((Status.PASS, 1), (Status.ERROR, 2)), results((Status.PASS, 3), transport=Transport.GRPC)
    assert [len(group.results) for group in trials_of([first[0], second[0], first[1]])] == [2, 1]
    assert [result.status for result in representatives([*first, *second])] == [Status.ERROR, Status.PASS]


def test_a_run_counts_results_by_level():
    run = RunResult("1.0", "a", "1", 0, results((Status.PASS, 1), (Status.SKIP, 1), (Status.ERROR, 1)))
    assert run.counts.words == "1 passed, 1 error, 1 skipped"
    assert not run.passed
    assert RunResult("1.0", "a", "1", 0).counts.words == "nothing to run"
    assert not RunResult("1.0", "a", "1", 0, interrupted=True).passed
