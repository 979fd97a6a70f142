"""Each fault causes the finding or error that it names, in a session of the inspector."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.faults.fault import Level
from inspector.sample_agents.faults.names import FAULTS, UnknownFaultError, parse_fault
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.scenario.catalog import Scenarios
from inspector.sample_agents.server import MockAgent
from mock_peer import eventually

from inspector.capture.records import Kind, Record
from inspector.findings.rules import RULES
from inspector.protocol.errors import BY_NAME, FaultCode
from inspector.protocol.model import ListTasksRequest
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.client.http import Client, Limits

PATIENT = Limits(read_seconds=10, block=1_000_000)
QUICK = Limits(read_seconds=0.5, block=1_000_000)
"""The limits for faults that end with the time limit; the card is still fetched with the others."""
SILENT = frozenset({"slow-start", "hang"})
"""Limits of the client: half a second, and blocks up to a megabyte."""
WORDS = {"double-base64": "image", "wrong-state": "push", "duplicate": "push", "unknown-state": "push"}
"""Messages that make a fault visible; all other faults are visible with a report."""
NUMBERS = {"slow-start": 60, "giant-frame": 2, "trickle": 1_000_000, "push-late": 0.05}
"""Parameters of faults that keep the tests fast."""


@asynccontextmanager
async def inspected(
    tmp_path: Path, *faults: str, version: str = "1.0", transport: str = "JSONRPC", **members: Any
) -> AsyncIterator[tuple[MockAgent, Session]]:
    """An agent that has faults, and a session with it."""
    profile, active = Profile(versions=(version,)), tuple(parse_fault(text) for text in faults)
    agent = MockAgent(profile, pace=0, push_pause=0, faults=active, **members)
    await agent.start()
    session = Session(tmp_path / "faults.a2acap", Settings(limits=PATIENT, transports=(transport,)))
    try:
        await session.connect(agent.url)
        if SILENT & {fault.partition(":")[0] for fault in faults}:
            await session.client.aclose()
            session.client = Client(QUICK)
        yield agent, session
    finally:
        await session.close()
        await agent.stop()


async def say(session: Session, text: str, *, stream: bool = True) -> Call:
    call = session.send(text_draft(text), stream=stream)
    await call.finish()
    return call


def records(session: Session) -> list[Record]:
    capture = session.journal.capture
    return capture.slice(1, len(capture))


def found(session: Session) -> set[str]:
    """Return the rules with findings, without those about the card."""
    rules = {finding.rule for record in records(session) for finding in record.findings}
    return {rule for rule in rules if not rule.startswith("CARD-")}


def call_of(name: str) -> str:
    return f"{name}:{NUMBERS[name]}" if name in NUMBERS else name


def test_every_fault_names_a_known_rule_or_error():
    text = {code.value for code in FaultCode} | set(BY_NAME) | {"InvalidAgentResponseError", ""}
    assert {fault.finding for fault in FAULTS.values()} <= set(RULES) | text


async def test_an_agent_without_faults_violates_no_rule(tmp_path: Path):
    async with inspected(tmp_path) as (_, session):
        for text in ("report 3", "push", "image", "mixed", "many 2", "ask", "echo hi"):
            assert (await say(session, text)).fault is None
        assert found(session) == set()


@pytest.mark.parametrize(
    "name",
    [name for name, fault in FAULTS.items() if fault.level is not Level.PUSH and not fault.level.needs_authentication],
)
async def test_a_fault_causes_its_finding(tmp_path: Path, name: str):
    version = "0.3" if name == "no-final" else "1.0"
    async with inspected(tmp_path, call_of(name), version=version) as (_, session):
        call = await say(session, WORDS.get(name, "report 3"), stream=name not in ("html", "content-type"))
        seen = found(session) | ({call.fault.code} if call.fault else set())
        expected = FAULTS[name].finding
        assert expected in seen if expected else not seen


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.level is Level.PUSH])
async def test_a_push_fault_causes_its_finding(tmp_path: Path, name: str):
    async with inspected(tmp_path, call_of(name)) as (agent, session):
        await session.push.turn_on()
        await say(session, "reject")
        expected = {"push-twice": 4, "push-never": 0}.get(name, 2)
        tried = {"push-unsigned": 6, "push-wrong-token": 6}.get(name, expected)
        counts = agent.push_counts
        await eventually(lambda: counts.delivered + counts.given_up == expected)
        deliveries = [record for record in records(session) if record.kind is Kind.DELIVERY]
        assert len(deliveries) == tried
        assert found(session) == ({FAULTS[name].finding} - {""})


@pytest.mark.parametrize(
    ("fault", "transport", "seen"),
    [
        ("html", "HTTP+JSON", {"InvalidAgentResponseError", "HTTP-005"}),
        ("content-type", "HTTP+JSON", {"HTTP-001"}),
        ("break-off:0", "HTTP+JSON", {"A2ACLI_ERR_UNREACHABLE", "HTTP-005", "HTTP-009"}),
        ("break-off:0", "JSONRPC", {"A2ACLI_ERR_UNREACHABLE", "RPC-002", "HTTP-009"}),
        ("malformed-json", "JSONRPC", {"InvalidAgentResponseError", "RPC-002"}),
        ("error-before", "GRPC", {"InternalError"}),
        ("batch", "HTTP+JSON", set()),
    ],
)
async def test_faults_apply_to_responses_without_stream(tmp_path: Path, fault: str, transport: str, seen: set[str]):
    async with inspected(tmp_path, fault, transport=transport) as (_, session):
        call = await say(session, "report 3", stream=False)
        assert found(session) | ({call.fault.code} if call.fault else set()) == seen


@pytest.mark.parametrize(
    ("fault", "transport", "seen"),
    [
        ("break-off", "HTTP+JSON", "STREAM-008"),
        ("error-in-stream", "HTTP+JSON", "InternalError"),
        ("error-in-stream", "GRPC", "InternalError"),
        ("after-terminal", "GRPC", "STREAM-003"),
        ("wrong-task", "GRPC", "STREAM-006"),
    ],
)
async def test_stream_faults_apply_over_other_transports(tmp_path: Path, fault: str, transport: str, seen: str):
    async with inspected(tmp_path, fault, transport=transport) as (_, session):
        call = await say(session, "report 3")
        assert seen in found(session) | ({call.fault.code} if call.fault else set())


# In a scenario


def with_scenario(tmp_path: Path, text: str) -> Scenarios:
    (tmp_path / "own.toml").write_text(f'description = "A test."\n{text}', "utf-8")
    return Scenarios((tmp_path / "own.toml",))


async def test_the_fault_of_a_scenario_applies_from_its_start_and_only_there(tmp_path: Path):
    own = with_scenario(tmp_path, 'fault = "drop:1"\nsteps = [{ completed = "" }]')
    async with inspected(tmp_path, behaviours=own) as (_, session):
        await say(session, "report 3")
        assert found(session) == set()
        await say(session, "own")
        assert found(session) == {"STREAM-011"}


async def test_the_fault_of_a_step_applies_from_there_on(tmp_path: Path):
    steps = (
        '{ working = "one" }, { working = "two" }, { wait = 0, fault = ["duplicate", "no-timezone"] },'
        '{ working = "three" }, { fault = "wrong-task" }, { completed = "" }'
    )
    own = with_scenario(tmp_path, f"steps = [{steps}]")
    async with inspected(tmp_path, behaviours=own) as (agent, session):
        await say(session, "own")
        frames = [record for record in records(session) if record.kind is Kind.FRAME]
        rules = [sorted({finding.rule for finding in record.findings}) for record in frames]
        assert rules == [
            [],
            [],
            [],
            ["DATA-008"],
            ["DATA-008", "STREAM-019"],
            ["DATA-008", "STREAM-006"],
            ["DATA-008", "STREAM-006", "STREAM-019"],
        ]
        [task] = agent.store
        assert task.ended


async def test_a_fault_of_an_earlier_turn_applies_to_a_later_stream(tmp_path: Path):
    own = with_scenario(
        tmp_path, 'steps = [{ fault = "no-timezone" }, { input-required = "well?" }, { completed = "" }]'
    )
    async with inspected(tmp_path, behaviours=own) as (agent, session):
        asked = await say(session, "own", stream=False)
        assert found(session) == set()
        [task] = agent.store
        call = session.send(text_draft("continue", task_id=task.task_id), stream=True)
        await call.finish()
        assert asked.fault is None
        assert found(session) == {"DATA-008"}


# Names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("explode", "Unknown fault 'explode'."),
        ("hangs", "Did you mean 'hang'?"),
        ("batch:2", "has no number; remove :2"),
        ("drop:", "needs a number after the colon"),
        ("drop:-1", "needs a number after the colon"),
        ("drop:1e9", "needs a number after the colon"),
        ("drop:²", "needs a number after the colon"),
        ("", "Unknown fault"),
    ],
)
def test_an_invalid_fault_is_rejected(text: str, message: str):
    with pytest.raises(UnknownFaultError, match=re.escape(message)):
        parse_fault(text)


def test_a_fault_prints_its_name_and_number():
    assert [str(parse_fault(text)) for text in ("hang", "hang:0.5", "batch")] == ["hang:2", "hang:0.5", "batch"]


@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON"])
async def test_the_status_updates_lack_final_over_each_binding(tmp_path: Path, transport: str):
    async with inspected(tmp_path, call_of("no-final"), version="0.3", transport=transport) as (_, session):
        await say(session, "report 2")
        frames = [record.raw for record in records(session) if record.kind is Kind.FRAME]
        assert frames
        assert not any(b'"final"' in frame for frame in frames)


async def test_tasks_that_are_requested_have_the_older_shape_too(tmp_path: Path):
    async with inspected(tmp_path, call_of("shapes-0.3"), version="1.0") as (_, session):
        call = await say(session, "report 2", stream=False)
        await session.get(call.exchange.task_id).finish()
        await session.list_tasks(ListTasksRequest()).finish()
        bodies = [
            record.raw for record in records(session) if record.kind is Kind.BODY and record.operation != "GetAgentCard"
        ]
        assert len(bodies) == 3
        assert not any(b"TASK_STATE_" in body for body in bodies)
