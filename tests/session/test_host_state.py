"""The state of a host: what the last exchange with it showed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.server import MockAgent
from scripted import Agent, Heard, OpenSession, giving, say, streaming

from inspector.protocol.errors import INVALID_RESPONSE
from inspector.session.exchanges import HostState, Reachability
from inspector.session.replay.recording import Recording
from inspector.session.session import Session


def state(session: Session) -> HostState:
    found = session.journal.exchanges.host_state(session.agent_url)
    assert found is not None
    return found


async def refuse(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
    return web.Response(status=403)


async def drop(request: web.BaseRequest, _: Heard) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def test_the_last_exchange_decides_and_a_capture_shows_the_same(open_session: OpenSession, agent: Agent):
    agent.answer(giving({}))
    session = await open_session(agent.url)
    assert state(session).state is Reachability.RESPONDING
    agent.routes["/rpc"] = refuse
    await say(session)
    denied = state(session)
    assert denied.state is Reachability.CREDENTIALS_NEEDED
    await say(session)
    assert state(session).since == denied.since, "the time of the first of several equal results"
    assert state(session).last > denied.last
    agent.routes["/rpc"] = streaming(cut=True)
    await say(session)
    assert state(session).state is Reachability.RESPONDING, "the stream broke off, but it began"
    agent.routes["/rpc"] = drop
    await say(session)
    assert state(session).state is Reachability.UNREACHABLE
    agent.routes["/rpc"] = giving({"jsonrpc": "2.0"}, status=500)
    await say(session)
    assert state(session).state is Reachability.RESPONDING, "an error is a response"
    agent.routes["/rpc"] = refuse
    await say(session)
    now = state(session)
    url = session.agent_url
    await session.close()
    recording = Recording(Path(session.journal.capture.path))
    for _ in recording.read():
        pass
    assert recording.journal.exchanges.host_state(url) == now
    await recording.close()


async def in_no_coding(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
    return web.json_response({"jsonrpc": "2.0"}, headers={"Content-Encoding": "gzip"})


async def not_http(request: web.BaseRequest, _: Heard) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    await response.prepare(request)
    assert request.transport is not None
    request.transport.write(b"this is not the size of a chunk\r\n")
    return response


@pytest.mark.parametrize("answer", [in_no_coding, not_http])
async def test_a_response_that_cannot_be_read_is_a_response(open_session: OpenSession, agent: Agent, answer: Any):
    agent.answer(giving({}))
    session = await open_session(agent.url)
    agent.routes["/rpc"] = answer
    call = await say(session, stream=False)
    assert call.fault is not None
    assert call.fault.code == INVALID_RESPONSE
    assert state(session).state is Reachability.RESPONDING


@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_credentials_are_needed_over_each_binding_until_they_are_entered(
    open_session: OpenSession, transport: str
):
    agent = MockAgent(pace=0, authenticator=Authenticator("bearer", "sesame-4711"))
    url = await agent.start()
    try:
        session = await open_session(url, transports=(transport,))
        await say(session, stream=False)
        assert state(session).state is Reachability.CREDENTIALS_NEEDED
        session.credentials.entered.add_bearer(session.agent_url, "sesame-4711")
        await say(session, stream=False)
        assert state(session).state is Reachability.RESPONDING
    finally:
        await agent.stop()
