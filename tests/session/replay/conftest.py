"""Fixture: the mock agent with every protocol version."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent


@pytest.fixture
async def everything() -> AsyncIterator[MockAgent]:
    """The mock agent with every protocol version."""
    agent = MockAgent(Profile(("1.0", "0.3", "0.2", "0.1", "opvs", "1.1")), pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()
