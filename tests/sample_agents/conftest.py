"""Fixtures: mock agents on free ports and clients for each version and binding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.task_context import TaskContext
from mock_peer import Peer, Webhook, peer_for
from oauth_client import Oauth, running

from inspector.protocol.bindings.registry import BINDINGS

SERVED = Profile(versions=("1.0", "0.3", "0.2", "0.1", "opvs", "1.1"))


@pytest.fixture
async def agent() -> AsyncIterator[MockAgent]:
    """An agent without pauses."""
    agent = MockAgent(SERVED, pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def slow_agent() -> AsyncIterator[MockAgent]:
    """An agent with pauses."""
    agent = MockAgent(SERVED, pace=0.2, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture
async def pauses(monkeypatch: pytest.MonkeyPatch) -> asyncio.Semaphore:
    """Let each pause of a task last until the test releases it: a busy machine may be slower than any pause."""
    released, own_loop, original = asyncio.Semaphore(0), asyncio.get_running_loop(), TaskContext.pause

    async def pause(task: TaskContext, seconds: float) -> None:
        if asyncio.get_running_loop() is own_loop:
            await released.acquire()
        else:  # a task of an agent that the tests of other modules share
            await original(task, seconds)

    monkeypatch.setattr(TaskContext, "pause", pause)
    return released


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """A client session without a limit of connections."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield session


WAYS = [(version, binding) for version in ("1.0", "0.3") for binding in BINDINGS] + [
    ("0.2", "JSONRPC"),
    ("0.2", "GRPC"),
]


@pytest.fixture(params=WAYS, ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each version over each of its bindings, for tests that need no version-specific feature."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def peer(agent: MockAgent, session: aiohttp.ClientSession, way: tuple[str, str]) -> Peer:
    """A client of the agent without pauses."""
    return peer_for(session, agent, *way)


@pytest.fixture
def slow_peer(slow_agent: MockAgent, session: aiohttp.ClientSession, way: tuple[str, str]) -> Peer:
    """A client of the agent with pauses."""
    return peer_for(session, slow_agent, *way)


@pytest.fixture
async def webhook() -> AsyncIterator[Webhook]:
    """A receiver of pushes."""
    hook = Webhook()
    application = web.Application()
    application.router.add_post("/hook", hook.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    hook.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield hook
    await runner.cleanup()


@pytest.fixture
async def oauth(session: aiohttp.ClientSession) -> AsyncIterator[Oauth]:
    async with running(session) as client:
        yield client
