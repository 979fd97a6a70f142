"""Calls without the capability or the required extension are rejected over every binding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from inspector.sample_agents.profile import Capability, Profile
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, peer_for, say

from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    ExtendedCardRequest,
    Message,
    PushConfig,
    PushConfigRequest,
    Request,
    SendConfiguration,
    TaskRequest,
)
from inspector.protocol.operations import Operation

HOOK = PushConfig(url="http://127.0.0.1:9/", task_id="x")
REQUIRED = "urn:example:required"


@asynccontextmanager
async def serving(profile: Profile) -> AsyncIterator[MockAgent]:
    agent = MockAgent(profile, pace=0)
    await agent.start()
    try:
        yield agent
    finally:
        await agent.stop()


async def code(peer: Peer, operation: Operation, request: Request) -> int | None:
    answer = await peer.call(operation, request)
    return answer.code if isinstance(answer, ProtocolError) else None


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_an_agent_without_capabilities_rejects_their_operations(
    session: aiohttp.ClientSession, binding: str
) -> None:
    async with serving(Profile(capabilities=frozenset())) as agent:
        peer = peer_for(session, agent, "1.0", binding)
        assert isinstance(await peer.send("echo hi"), Message)
        for operation, request in ((Operation.STREAM, say("echo")), (Operation.SUBSCRIBE, TaskRequest(id="x"))):
            items = [item async for item in peer.stream(operation, request)]
            assert [getattr(item, "code", None) for item in items] == [-32004]
        assert await code(peer, Operation.SET_PUSH, HOOK) == -32003
        for operation in (Operation.GET_PUSH, Operation.DELETE_PUSH):
            assert await code(peer, operation, PushConfigRequest(task_id="x", id="c")) == -32003
        assert await code(peer, Operation.LIST_PUSH, PushConfigRequest(task_id="x")) == -32003
        inline = say("ask", configuration=SendConfiguration(task_push_notification_config=HOOK))
        assert await code(peer, Operation.SEND, inline) == -32003
        assert await code(peer, Operation.EXTENDED_CARD, ExtendedCardRequest()) == -32004


async def test_each_capability_can_be_omitted(session: aiohttp.ClientSession) -> None:
    async with serving(Profile(capabilities=frozenset({Capability.PUSH}))) as agent:
        peer = peer_for(session, agent, "0.3")
        assert await code(peer, Operation.SET_PUSH, HOOK) == -32001
        assert [getattr(item, "code", None) for item in await peer.events("echo")] == [-32004]
        assert await code(peer, Operation.EXTENDED_CARD, ExtendedCardRequest()) == -32007


@pytest.mark.parametrize("way", [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("1.0", "GRPC"), ("0.3", "JSONRPC")])
async def test_a_call_without_the_required_extension_is_rejected(
    session: aiohttp.ClientSession, way: tuple[str, str]
) -> None:
    async with serving(Profile(required=REQUIRED)) as agent:
        peer = peer_for(session, agent, *way)
        assert await code(peer, Operation.SEND, say("echo hi")) == -32008
        peer.headers = {peer.dialect.extensions_header: f"urn:example:other, {REQUIRED}"}
        assert isinstance(await peer.send("echo hi"), Message)
        card = f"{agent.url}/.well-known/agent-card.json"
        async with session.get(card) as response:
            declared = (await response.json())["capabilities"]["extensions"]
        assert {"uri": REQUIRED, "required": True} in declared
