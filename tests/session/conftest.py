"""Fixtures: sessions with their own captures, a mock agent, and agents with scripted responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from closed_port import closed_port  # noqa: F401 - a fixture
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, scripted

from inspector.session.session import Session
from inspector.session.settings import Settings


@pytest.fixture
async def open_session(tmp_path: Path) -> AsyncIterator[OpenSession]:
    """Return a function that creates a session with some settings, and connects it if there is a url."""
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
    """A mock agent without pauses."""
    agent = MockAgent(pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def slow_mock() -> AsyncIterator[MockAgent]:
    """A mock agent with pauses."""
    agent = MockAgent(pace=0.1, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    """An agent with scripted responses."""
    async with scripted() as agent:
        yield agent


@pytest.fixture
async def stranger() -> AsyncIterator[Agent]:
    """Another scripted agent, at another origin."""
    async with scripted() as agent:
        yield agent


@pytest.fixture(params=["1.0", "0.3"])
def version(request: pytest.FixtureRequest) -> str:
    """Each protocol version of the mock agent."""
    return str(request.param)
