"""Runs of check files: time limits, an agent that stops, jobs, trials, cancellation, and the selection of tests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from check_files import CARD_STEP, file_of, get, send, stream, suite_of, test_of
from check_runs import UNKNOWN, MakeMock, RunChecks, only, run_file
from inspector.sample_agents.server import MockAgent
from scripted import PATIENCE, Agent, OpenSession, eventually, giving, records

from inspector.capture.records import Kind
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.result import RunResult
from inspector.session.check.result import TestResult as Outcome
from inspector.session.check.status import Status


async def test_the_limit_of_a_test_is_a_failure_with_the_request(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("hang:1")
    run = await run_checks(file_of(test_of(stream("report 3"))), agent.url, seconds=0.5)
    [failure] = only(run).failures
    assert (failure.message, failure.step) == ("timed out after 0.5 s", "stream")
    assert failure.exchange > 0
    assert [step.id for step in only(run).steps] == ["stream"]


async def test_a_stream_that_does_not_end_in_time_fails(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("hang:2")
    run = await run_checks(file_of(test_of(stream("report 3", expect_stream={"timeout_ms": 300}))), agent.url)
    [failure] = only(run).failures
    assert failure.message == "events: expected the end of the stream within 300 ms, got a stream that stays open"
    assert failure.exchange > 0


async def test_an_agent_that_stops_during_the_run_is_an_error_of_each_test(
    open_session: OpenSession, make_mock: MakeMock
):
    agent = await make_mock()
    tests = [test_of(send("report 3"), id=f"T-{number}") for number in range(3)]
    stopping = test_of(
        {"id": "a", "operation": "get_agent_card"}, get(UNKNOWN, expect_error={}, delay_ms=500), id="first"
    )
    session = await open_session(agent.url)
    before = len(records(session, Kind.END))
    running = asyncio.create_task(run_file(session, file_of(stopping, *tests)))
    await eventually(lambda: len(records(session, Kind.END)) > before)  # the first step is over
    await agent.stop()
    run = await asyncio.wait_for(running, PATIENCE)
    assert [result.status for result in run.results] == [Status.ERROR] * 4
    assert "127.0.0.1" in run.results[-1].failures[0].message


async def test_jobs_run_at_the_same_time_and_results_have_the_order_of_the_plan(
    run_checks: RunChecks, slow_mock: MockAgent
):
    tests = [test_of({**CARD_STEP, "delay_ms": 300 - 90 * number}, id=f"T-{number}") for number in range(4)]
    begun: list[Outcome] = []
    ended: list[float] = []

    def on_start(result: Outcome) -> None:
        ended.extend(other.seconds for other in begun if other.seconds)
        begun.append(result)

    run = await run_checks(file_of(*tests), slow_mock.url, jobs=4, on_start=on_start)
    assert (len(begun), ended) == (4, []), "each test began before another had ended"
    assert [result.test.id for result in run.results] == ["T-0", "T-1", "T-2", "T-3"]
    assert run.passed


async def test_no_test_starts_after_a_failure_with_fail_fast(run_checks: RunChecks):
    tests = [test_of(id="T-0"), test_of(get(UNKNOWN), id="T-1"), test_of(id="T-2")]
    run = await run_checks(file_of(*tests), fail_fast=True)
    assert [result.test.id for result in run.results] == ["T-0", "T-1"]
    assert not run.interrupted


async def test_every_test_runs_in_every_trial_over_every_transport(run_checks: RunChecks):
    run = await run_checks(file_of(test_of(send("echo"))), trials=3, transports=tuple(Transport), jobs=4)
    assert [result.transport for result in run.results] == [transport for transport in Transport for _ in range(3)]
    assert run.passed


async def test_a_run_that_is_cancelled_has_the_results_that_are_complete(
    open_session: OpenSession, slow_mock: MockAgent, run_checks: RunChecks
):
    from pathlib import Path

    from check_files import parsed

    from inspector.session.check.plan import Selection, plan
    from inspector.session.check.reading import CheckFile
    from inspector.session.check.runner import Runner, choices

    session = await open_session(slow_mock.url)
    slow = {**CARD_STEP, "delay_ms": 60_000}
    document = parsed(file_of(test_of(id="T-0"), test_of(slow, id="T-1"), test_of(id="T-2")), "a.json")
    run = RunResult("1.0", "agent", "1", 0)
    planned = plan([CheckFile(Path("a.json"), document, {})], Selection())

    async def follow() -> None:
        async for _ in Runner(session, choices(session, ()), planned, run).results():
            pass

    running = asyncio.create_task(follow())
    await eventually(lambda: any(record.label.startswith("check T-1 ") for record in records(session, Kind.NOTE)))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert run.interrupted
    assert [(result.test.id, result.status, result.reason) for result in run.results] == [
        ("T-0", Status.PASS, ""),
        ("T-1", Status.SKIP, "interrupted"),
    ]


def test_tests_are_selected_by_words_tags_and_levels():
    from pathlib import Path

    from check_files import parsed

    from inspector.session.check.document.enumerations import Level
    from inspector.session.check.plan import Selection, plan
    from inspector.session.check.reading import CheckFile

    text = json.dumps(
        {
            "acts_version": "1.0",
            "spec_version": "1.0",
            "suites": [
                suite_of(test_of(id="A-1", tags=["x"]), test_of(id="A-2", level="may"), tags=["all"]),
                suite_of(test_of(id="B-1", name="Streaming"), id="other"),
            ],
        }
    )
    file = CheckFile(Path("a.json"), parsed(text, "a.json"), {})

    def ids(**members: Any) -> list[str]:
        return [item.test.id for item in plan([file], Selection(**members))]

    assert ids() == ["A-1", "A-2", "B-1"]
    assert ids(words=("a-1", "stream")) == ["A-1", "B-1"]
    assert ids(words=("other",)) == ["B-1"]
    assert ids(tags=frozenset({"x"})) == ["A-1"]
    assert ids(tags=frozenset({"all"}), levels=frozenset({Level.MAY})) == ["A-2"]
    assert ids(words=("nothing",)) == []


async def test_a_test_that_does_not_apply_is_skipped_with_its_reason(run_checks: RunChecks):
    run = await run_checks(file_of(test_of(preconditions={"skills": [{"id": "x"}]})))
    assert (only(run).status, only(run).reason) == (Status.SKIP, "the card has no skill 'x'")
    assert run.passed


async def test_a_transport_that_the_card_does_not_declare_is_refused(agent: Agent, run_checks: RunChecks):
    from inspector.protocol.errors import FaultError

    agent.serve_card()
    agent.routes["/rpc"] = giving({})
    with pytest.raises(FaultError, match="The card declares no interface over GRPC"):
        await run_checks(file_of(test_of()), agent.url, transports=(Transport.GRPC,))
