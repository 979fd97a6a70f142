"""The list of tests with their latest results, and runs of parts of it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from check_files import file_of, send, test_of
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.protocol.errors import FaultError
from inspector.session.check.checked_tests import in_words
from inspector.session.check.loaded_checks import LoadedChecks, read_checks
from inspector.session.check.status import Status

PASSES = test_of(send("report 2"), id="PASSES")
FAILS = test_of(send("report 2", expect={"task": {"status": {"state": "TASK_STATE_FAILED"}}}), id="FAILS", level="may")
WAITS = test_of(send("report 2", delay_ms=60_000), id="WAITS", level="should")


def written(path: Path, *tests: object) -> LoadedChecks:
    """Write a check file, and read it."""
    path.write_text(file_of(*tests), encoding="utf-8")
    return read_checks([path], {})


def statuses(checks: LoadedChecks) -> list[str]:
    return [test.status for test in checks.tests]


async def test_a_part_of_the_tests_runs_and_the_results_are_counted_by_level(
    open_session: OpenSession, mock: MockAgent, tmp_path: Path
):
    checks = written(tmp_path / "a.json", PASSES, FAILS, WAITS)
    session = await open_session(mock.url)
    assert not checks.has_results
    await checks.run(session, checks.tests[:2])
    assert statuses(checks) == ["pass", "fail", "not run"]
    assert {level.value: dict(counts) for level, counts in checks.levels()} == {
        "must": {Status.PASS: 1},
        "should": {Status.NOT_RUN: 1},
        "may": {Status.FAIL: 1},
    }
    assert checks.failed == [checks.tests[1]]
    assert in_words(checks.suites[0].counts) == "1 passed, 1 failed, 1 not run"
    report = checks.report(session, checks.tests)
    assert (report.agent, report.spec_version, report.counts.total) == ("Mock Agent", "1.0", 2)
    requests = [request for test in checks.tests for request in test.requests]
    assert [session.journal.capture.get(request).operation for request in requests] == ["SendMessage"] * 2


async def test_the_tests_of_a_cancelled_run_that_have_not_ended_have_no_result(
    open_session: OpenSession, mock: MockAgent, tmp_path: Path
):
    checks = written(tmp_path / "a.json", PASSES, WAITS, FAILS)
    session = await open_session(mock.url)
    run = asyncio.create_task(checks.run(session, checks.tests))
    async with asyncio.timeout(20):
        while statuses(checks) != ["pass", "running", "waiting"]:
            await asyncio.sleep(0.01)
    assert checks.done == 1
    assert checks.seconds is not None
    assert (checks.tests[1].seconds or 0) >= 0
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert statuses(checks) == ["pass", "not run", "not run"]
    assert checks.seconds is None
    assert checks.report(session, checks.tests).counts.total == 1


async def test_a_changed_file_is_noticed_and_unchanged_tests_keep_their_results(
    open_session: OpenSession, mock: MockAgent, tmp_path: Path
):
    path = tmp_path / "a.json"
    checks = written(path, PASSES, FAILS)
    await checks.run(await open_session(mock.url), checks.tests)
    assert not checks.is_outdated()
    later = written(path, {**FAILS, "name": "Another name"}, PASSES)
    os.utime(path, (0, 0))
    assert checks.is_outdated()
    later.keep_results(checks)
    assert statuses(later) == ["not run", "pass"]


async def test_without_an_agent_nothing_runs(open_session: OpenSession, tmp_path: Path):
    checks = written(tmp_path / "a.json", PASSES)
    with pytest.raises(FaultError, match="No agent is connected"):
        await checks.run(await open_session(), checks.tests)
    assert statuses(checks) == ["not run"]
