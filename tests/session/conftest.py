"""Sessions on captures of their own, a mock agent, and agents that answer as a test scripts it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, scripted

from inspector.session.session import Session
from inspector.session.settings import Settings


@pytest.fixture
async def open_session(tmp_path: Path) -> AsyncIterator[OpenSession]:
    """Return what makes a session with some settings, connected to a url where one is given."""
    made: list[Session] = []

    async def open_session(url: str = "", **settings: Any) -> Session:
        session = Session(tmp_path / f"{len(made)}.a2acap", Settings(**settings))
        made.append(session)
        if url:
            await session.connect(url)
        return session

    yield open_session
    for session in made:
        await session.close()


@pytest.fixture
async def mock() -> AsyncIterator[MockAgent]:
    """A mock agent whose behaviours make no pauses."""
    agent = MockAgent(pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def slow_mock() -> AsyncIterator[MockAgent]:
    """A mock agent that takes its time."""
    agent = MockAgent(pace=0.1, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    """An agent that answers as the test scripts it."""
    async with scripted() as agent:
        yield agent


@pytest.fixture
async def stranger() -> AsyncIterator[Agent]:
    """Another such agent, at an origin of its own."""
    async with scripted() as agent:
        yield agent


@pytest.fixture(params=["1.0", "0.3"])
def version(request: pytest.FixtureRequest) -> str:
    """Each version that the mock agent serves."""
    return str(request.param)
