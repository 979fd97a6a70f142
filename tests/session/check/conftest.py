"""Fixtures: run tests of check files against a mock agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from check_runs import MakeMock, RunChecks, run_file
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.session.check.result import RunResult


@pytest.fixture
async def run_checks(mock: MockAgent, open_session: OpenSession) -> RunChecks:
    """Return a function that runs the tests of a file against an agent, by default a mock without pauses."""

    async def run_checks(text: str, url: str = "", settings: Any = None, **options: Any) -> RunResult:
        session = await open_session(url or mock.url, **(settings or {}))
        return await run_file(session, text, **options)

    return run_checks


@pytest.fixture
async def make_mock() -> AsyncIterator[MakeMock]:
    """Return a function that starts a mock agent with faults and a profile."""
    started: list[MockAgent] = []

    async def make_mock(*faults: str, pace: float = 0, **members: Any) -> MockAgent:
        agent = MockAgent(Profile(**members), pace=pace, push_pause=0, faults=tuple(map(parse_fault, faults)))
        started.append(agent)
        await agent.start()
        return agent

    yield make_mock
    for agent in started:
        await agent.stop()
