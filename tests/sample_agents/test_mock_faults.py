"""Every fault against the inspector itself: what it breaks is found, and told by its name."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.faults.fault import Level
from inspector.sample_agents.faults.names import FAULTS, UnknownFaultError, named
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.scenario.catalog import Scenarios
from inspector.sample_agents.server import MockAgent
from mock_peer import eventually

from inspector.capture.records import Kind, Record
from inspector.findings.rules import RULES
from inspector.protocol.errors import BY_NAME, FaultCode
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.client.http import Limits

QUICK = Limits(read_seconds=0.5, block=1_000_000)
"""A client that waits half a second and takes no block beyond a megabyte."""
WORDS = {"double-base64": "image", "wrong-state": "push", "duplicate": "push", "unknown-state": "push"}
"""What has to be said for a fault to show; anything else shows with a report."""
NUMBERS = {"slow-start": 60, "giant-frame": 2, "trickle": 2000, "push-late": 0.05}
"""The numbers with which a test need not wait for long."""


@asynccontextmanager
async def inspected(
    tmp_path: Path, *faults: str, version: str = "1.0", transport: str = "JSONRPC", **members: Any
) -> AsyncIterator[tuple[MockAgent, Session]]:
    """An agent that has faults, and a session with it."""
    profile, spoilers = Profile(versions=(version,)), tuple(named(one) for one in faults)
    agent = MockAgent(profile, pace=0, push_pause=0, faults=spoilers, **members)
    await agent.start()
    session = Session(tmp_path / "faults.a2acap", Settings(limits=QUICK, transports=(transport,)))
    try:
        await session.connect(agent.url)
        yield agent, session
    finally:
        await session.close()
        await agent.stop()


async def say(session: Session, text: str, *, stream: bool = True) -> Call:
    turn = session.send(text_draft(text), stream=stream)
    await turn.finish()
    return turn


def records(session: Session) -> list[Record]:
    capture = session.journal.capture
    return capture.slice(1, len(capture))


def found(session: Session) -> set[str]:
    """Return the rules that were broken since the card was read."""
    rules = {finding.rule for record in records(session) for finding in record.findings}
    return {rule for rule in rules if not rule.startswith("CARD-")}


def call_of(name: str) -> str:
    return f"{name}:{NUMBERS[name]}" if name in NUMBERS else name


def test_every_fault_names_what_gives_it_away():
    words = {code.value for code in FaultCode} | set(BY_NAME) | {"InvalidAgentResponseError", ""}
    assert {fault.finding for fault in FAULTS.values()} <= set(RULES) | words


async def test_an_agent_without_faults_breaks_no_rule(tmp_path: Path):
    async with inspected(tmp_path) as (_, session):
        for words in ("report 3", "push", "image", "mixed", "many 2", "ask", "echo hi"):
            assert (await say(session, words)).fault is None
        assert found(session) == set()


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.level is not Level.PUSH])
async def test_the_inspector_sees_what_a_fault_breaks(tmp_path: Path, name: str):
    version = "0.3" if name == "no-final" else "1.0"
    async with inspected(tmp_path, call_of(name), version=version) as (_, session):
        turn = await say(session, WORDS.get(name, "report 3"), stream=name not in ("html", "content-type"))
        seen = found(session) | ({turn.fault.code} if turn.fault else set())
        due = FAULTS[name].finding
        assert due in seen if due else not seen


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.level is Level.PUSH])
async def test_the_inspector_sees_what_a_fault_of_a_push_breaks(tmp_path: Path, name: str):
    async with inspected(tmp_path, call_of(name)) as (agent, session):
        await session.push.turn_on()
        await say(session, "reject")
        due = {"push-twice": 4, "push-never": 0}.get(name, 2)
        tried = {"push-unsigned": 6, "push-wrong-token": 6}.get(name, due)
        counts = agent.push_counts
        await eventually(lambda: counts.delivered + counts.given_up == due)
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
async def test_an_answer_that_is_no_stream_is_spoiled_too(tmp_path: Path, fault: str, transport: str, seen: set[str]):
    async with inspected(tmp_path, fault, transport=transport) as (_, session):
        turn = await say(session, "report 3", stream=False)
        assert found(session) | ({turn.fault.code} if turn.fault else set()) == seen


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
async def test_a_stream_is_spoiled_over_the_other_transports(tmp_path: Path, fault: str, transport: str, seen: str):
    async with inspected(tmp_path, fault, transport=transport) as (_, session):
        turn = await say(session, "report 3")
        assert seen in found(session) | ({turn.fault.code} if turn.fault else set())


# In a scenario


def with_scenario(tmp_path: Path, text: str) -> Scenarios:
    (tmp_path / "own.toml").write_text(f'description = "A test."\n{text}', "utf-8")
    return Scenarios((tmp_path / "own.toml",))


async def test_a_scenario_goes_wrong_alone_and_from_its_start(tmp_path: Path):
    own = with_scenario(tmp_path, 'fault = "drop:1"\nsteps = [{ completed = "" }]')
    async with inspected(tmp_path, behaviours=own) as (_, session):
        await say(session, "report 3")
        assert found(session) == set()
        await say(session, "own")
        assert found(session) == {"STREAM-011"}


async def test_a_step_goes_wrong_from_there_on(tmp_path: Path):
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
        assert task.over


async def test_who_subscribes_later_sees_what_went_wrong_by_then(tmp_path: Path):
    own = with_scenario(
        tmp_path, 'steps = [{ fault = "no-timezone" }, { input-required = "well?" }, { completed = "" }]'
    )
    async with inspected(tmp_path, behaviours=own) as (agent, session):
        asked = await say(session, "own", stream=False)
        assert found(session) == set()
        [task] = agent.store
        turn = session.send(text_draft("go on", task_id=task.task_id), stream=True)
        await turn.finish()
        assert asked.fault is None
        assert found(session) == {"DATA-008"}


# Names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("explode", "There is no fault 'explode'."),
        ("hangs", "is it hang?"),
        ("batch:2", "takes no number"),
        ("drop:", "takes a number"),
        ("drop:-1", "takes a number"),
        ("drop:1e9", "takes a number"),
        ("drop:²", "takes a number"),
        ("", "There is no fault"),
    ],
)
def test_what_is_no_fault_is_refused(words: str, said: str):
    with pytest.raises(UnknownFaultError, match=re.escape(said)):
        named(words)


def test_a_fault_is_said_as_it_is_named():
    assert [str(named(words)) for words in ("hang", "hang:0.5", "batch")] == ["hang:2", "hang:0.5", "batch"]
