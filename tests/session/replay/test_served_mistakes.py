"""`mock --capture`: recorded mistakes of the agent are made again."""

from __future__ import annotations

import pytest
from inspector.sample_agents.faults.fault import Level
from inspector.sample_agents.faults.names import FAULTS, parse_fault
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession, hurry
from serving import closed, outcome, send, served

from inspector.session.session import Session

OF_CALLS = sorted(name for name, fault in FAULTS.items() if not fault.level.needs_authentication and name[:4] != "push")
SLOW = {"trickle", "slow-start", "giant-frame"}
"""Faults that need seconds, or 20 megabytes, and have no bytes of their own."""

MISTAKES = [
    (name, binding)
    for name in OF_CALLS
    for binding in ("JSONRPC", "HTTP+JSON", "GRPC")
    if name not in SLOW and (binding != "GRPC" or name == "error-before" or FAULTS[name].level is Level.EVENTS)
]


@pytest.mark.parametrize(("fault", "binding"), MISTAKES)
async def test_a_recorded_mistake_of_the_agent_is_made_again(open_session: OpenSession, fault: str, binding: str):
    outcomes = []

    async def connected(url: str) -> Session:
        session = await open_session(url, transports=(binding,))
        if fault == "hang":
            hurry(session, 0.5)
        return session

    agent = MockAgent(pace=0, faults=(parse_fault(fault),))
    await agent.start()
    try:
        first = await connected(agent.url)
        outcomes.append([outcome(first, await send(first, "report 3", stream=stream)) for stream in (True, False)])
    finally:
        await agent.stop()
    async with served(await closed(first)) as replayed:
        again = await connected(replayed.url)
        outcomes.append([outcome(again, await send(again, "report 3", stream=stream)) for stream in (True, False)])
    assert outcomes[1] == outcomes[0]
