"""The state of the agent in the header: from the last exchange with it."""

from __future__ import annotations

import re

from aiohttp import web
from driving import Open
from inspector.sample_agents.server import MockAgent
from players import playing
from ports import unused_port
from puppets import Call, task
from stream_servers import serving_bytes, stay_silent

SIZE = (120, 36)


async def test_the_header_shows_since_when_an_agent_is_unreachable(open_app: Open):
    agent = MockAgent(pace=0)
    port = unused_port()
    url = await agent.start(port=port)
    async with open_app(url, SIZE) as driver:
        await driver.connected()
        assert "● connected" in driver.lines[0]
        await agent.stop()
        await driver.ask("echo one")
        await driver.until(lambda: re.search(r"● unreachable since \d\d:\d\d:\d\d", driver.lines[0]))
        since = driver.lines[0]
        await driver.ask("echo two")
        assert since.split("since ")[1][:8] in driver.lines[0], "the time of the first failure"
        assert "● connected" not in driver.lines[0]
        again = MockAgent(pace=0)
        await again.start(port=port)
        try:
            await driver.ask("echo three")
            await driver.until("● connected")
        finally:
            await again.stop()


async def test_a_stream_that_breaks_off_leaves_the_agent_connected(open_app: Open):
    async def break_off(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, breaks_off=True)

    async with playing(break_off, card={}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.ask("hello")
        await driver.until("● connected")
        assert "unreachable" not in driver.lines[0]


async def test_a_call_that_the_user_stops_leaves_the_agent_connected(open_app: Open):
    async with playing() as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.say("hello")
        await driver.until(lambda: driver.session.journal.exchanges.open)
        assert "● connected" in driver.lines[0]


async def test_a_silent_host_shows_a_clock_and_limits_and_can_be_cancelled(open_app: Open):
    async with serving_bytes(stay_silent) as host, open_app(host, SIZE) as driver:
        await driver.until("waiting")
        assert f"http://{host}/.well-known/agent-card.json" in driver.screen
        assert "Limits: connection 10 s, response no limit" in driver.screen
        assert "esc cancel" in driver.lines[-1]
        first = driver.line("Fetching the agent card:")
        await driver.until(lambda: driver.line("Fetching the agent card:") != first)
        await driver.press("escape")
        await driver.until("Connecting was canceled after")
        assert "try again" in driver.screen
        assert "Fetching the agent card:" not in driver.screen
        await driver.press("r")
        await driver.until("Fetching the agent card:")
        await driver.press("escape")
        await driver.until("Connecting was canceled after")


async def test_a_silent_host_is_given_up_after_the_timeout(open_app: Open):
    async with serving_bytes(stay_silent) as host, open_app(host, SIZE, timeout=0.5) as driver:
        await driver.until("did not respond before the timeout")
        assert "the agent" in driver.line("Responsible")
        assert "unreachable since" in driver.lines[0]


async def test_a_click_runs_a_next_step(open_app: Open):
    async with open_app("127.0.0.1:9", SIZE) as driver:
        await driver.until("Nothing listens at")
        await driver.click("another agent")
        await driver.until("the built-in mock agent")


async def test_another_host_does_not_change_the_state_of_the_agent(open_app: Open):
    """A refused extra interface, which the user tries, is not the state of the interface in use afterwards."""
    async with playing(card={}) as agent:
        dead = {"url": "http://127.0.0.1:9/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
        alive = {"url": f"{agent.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        agent.card = {"supportedInterfaces": [alive, dead]}
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.press("I", "down", "enter")
            await driver.ask("hello")
            await driver.until("● unreachable since")
            await driver.press("escape", "I", "up", "enter")
            await driver.until("● connected")
