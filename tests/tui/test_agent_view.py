"""The Agent view: the rendered and the raw card, examples, and connecting to agents."""

from __future__ import annotations

import json

import pytest
from aiohttp import web
from driving import Open
from inspector.sample_agents.server import MockAgent
from players import playing
from ports import unused_port
from puppets import Call, task

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.tui.screens.connect import ConnectScreen
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.json_view import JsonView


async def test_the_card_is_shown_rendered_and_raw(open_app: Open, mock: str):
    async with open_app(mock, (120, 60)) as driver:
        await driver.connected()
        screen = driver.screen
        for words in (
            "Mock Agent  1.0.0   by a2a-inspect",
            "✓ valid card",
            "A small agent for trying things out.",
            f"● 1.0 · JSONRPC     {mock}/ ",
            "none required",
            f"· {'streaming':<24}yes           not tried yet",
            f"· {'extended card':<24}no            not tried yet",
            f"· {'Numbered events 1':<24}{'optional':<14}not requested",
            f"{mock}/.well-known/agent-card.json",
            "▸ Question",
        ):
            assert words in screen, words
        assert "Mock Agent   A2A 1.0 · JSONRPC" in driver.lines[0]
        assert "in use (preferred)" in driver.line("● 1.0 · JSONRPC")
        states = [line.index("supported") for line in driver.lines if "   supported" in line]
        assert len(states) == 5
        assert len(set(states)) == 1, "the states of the interfaces are a column"
        await driver.press("v")
        assert isinstance(driver.app.focused, JsonView)
        assert '"supportedInterfaces": [' in driver.screen
        await driver.press("escape")
        assert isinstance(driver.app.focused, CardView)


async def test_an_example_is_tried_with_a_key_or_a_click(open_app: Open):
    async def finish(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("COMPLETED")})

    skills = [
        {"id": name, "name": name, "description": "Does it", "tags": ["any"], "examples": [f"{name} 1", f"{name} 2"]}
        for name in ("echo", "report")
    ]
    async with playing(finish, card={"skills": skills}) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.click("→ echo 1")
        assert driver.line("enter try the example")
        await driver.press("enter")
        assert driver.workbench.view == "chat"
        assert driver.composer.text == "echo 1"
        await driver.press("enter")
        await driver.done(1)
        assert driver.sent()[0]["params"]["message"]["parts"] == [{"text": "echo 1"}]
        await driver.go(1)
        await driver.click("▾ report", times=2)
        assert driver.workbench.view == "agent"
        assert "→ report 2" not in driver.screen, "the skill is folded"
        await driver.click("▸ report", times=2)
        await driver.click("→ report 2", times=2)
        assert driver.composer.text == "report 2"


async def test_missing_members_are_shown_on_the_card(open_app: Open):
    lacking = {"version": None, "skills": [{"id": "x", "name": "X", "description": "d"}]}
    async with playing(card=lacking) as agent, open_app(agent.url) as driver:
        await driver.connected()
        assert "! CARD-001" in driver.screen
        assert "error" in driver.lines[3]


async def test_an_agent_without_a_supported_interface_is_shown_but_messages_cannot_be_sent(open_app: Open):
    pigeon = [{"url": "http://127.0.0.1:1", "protocolBinding": "PIGEON", "protocolVersion": "1.0"}]
    async with (
        playing(card={"supportedInterfaces": pigeon}) as agent,
        open_app(agent.url, run={"notifications": True}) as driver,
    ):
        await driver.connected()
        assert "no interface" in driver.lines[0]
        await driver.say("hello?")
        await driver.until("The card declares no interface that a2a-inspect can")  # the first line of a notification
        assert driver.sent() == []
        assert driver.composer.text == "hello?"


async def test_another_connection_starts_a_new_session(open_app: Open, tmp_path):
    agent = MockAgent(pace=0)
    url = await agent.start()
    try:
        async with open_app(url) as driver:
            await driver.connected()
            await driver.ask("report 3")
            first = driver.session
            await driver.go(1)
            await driver.press("o")
            await driver.paste(url)
            await driver.press("enter")
            await driver.until(lambda: driver.app.session is not first)
            await driver.connected()
            with pytest.raises(CaptureError):
                first.note("this session is over")
            assert driver.sent() == []
            await driver.go(2)
            assert "report.md" not in driver.screen
            await driver.ask("echo again")
            assert len(driver.sent()) == 1
        captures = sorted((tmp_path / "home" / "captures").glob("*.a2a"))
        assert len(captures) == 2
        for path in captures:
            with Capture.open(path) as capture:
                assert capture.select(kinds=(Kind.REQUEST,))
    finally:
        await agent.stop()


async def test_a_running_stream_ends_when_another_agent_is_chosen(open_app: Open, slow_mock: str, mock: str):
    async with open_app(slow_mock) as driver:
        await driver.connected()
        await driver.say("long 30")
        await driver.until("0 of 30 seconds done")
        first = driver.session
        await driver.go(1)
        await driver.press("o")
        assert isinstance(driver.app.screen, ConnectScreen)
        await driver.press("escape")
        assert driver.app.session is first
        assert driver.workbench.view == "agent"
        await driver.press("o")
        await driver.paste(mock)
        await driver.press("enter")
        await driver.until(lambda: driver.app.session is not first)
        await driver.connected()
        assert not driver.session.journal.exchanges.open
        await driver.ask("report 1")
        assert driver.session.connection is not None
        assert driver.session.connection.url.startswith(mock)


async def test_the_connect_screen_offers_the_demo_and_recent_agents(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
    async with open_app(None) as driver:
        await driver.until("the built-in mock agent")
        assert mock in driver.line("Mock Agent")
        await driver.press("down", "down", "enter")
        await driver.connected()
        assert driver.session.connection is not None
        assert driver.session.connection.reference == mock
    async with open_app(None) as driver:
        await driver.until("the built-in mock agent")
        await driver.press("enter")
        await driver.connected()
        assert "Mock Agent" in driver.lines[0]
    async with open_app(None) as driver:
        await driver.until("the built-in mock agent")
        assert "a minute ago" not in driver.screen
        assert sum("Mock Agent" in line for line in driver.lines) == 1, "the demo is offered already"


async def test_an_agent_that_starts_later_is_found_on_retry(open_app: Open):
    port = unused_port()
    async with open_app(f"127.0.0.1:{port}") as driver:
        await driver.until("Nothing listens at")
        assert "the agent" in driver.line("Responsible")
        assert "Is the agent running, and on this port?" in driver.line("Next step")
        assert "no response" in driver.line("/.well-known/agent-card.json")
        assert f"127.0.0.1:{port}" in driver.lines[0]
        assert "unreachable since" in driver.lines[0]
        first = driver.session
        agent = MockAgent(pace=0)
        await agent.start(port=port)
        try:
            await driver.press("r")
            await driver.connected()
            assert "✓ no findings" in driver.screen
            assert "connected" in driver.lines[0]
            assert driver.session is first, "the capture has both attempts"
        finally:
            await agent.stop()


async def test_a_url_with_the_wrong_scheme_is_not_the_fault_of_the_agent(open_app: Open, mock: str):
    async with open_app(mock.replace("http:", "https:")) as driver:
        await driver.until("Next step")
        assert "you: the address that was entered" in driver.line("Responsible")
        assert "use http:// instead of https://" in driver.screen


async def test_a_web_page_instead_of_a_card_is_explained(open_app: Open):
    page = web.Response(text="<html>Welcome</html>", content_type="text/html")
    async with playing(card=page) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.until("Next step")
        assert driver.session.connection is None
        assert "200 OK" in driver.line("/.well-known/agent-card.json")
        assert "(text/html)" in driver.line("/.well-known/agent-card.json")
        assert "you: the address that was entered" in driver.line("Responsible")
        assert "404 Not Found" in driver.line("/.well-known/agent.json")
        assert driver.screen.count("/.well-known/agent.json") == 1, "the outcomes are not repeated in the sentence"
        await driver.go(5)
        await driver.press("home")
        await driver.until("<html>Welcome</html>")
        await driver.press("enter", "end")
        await driver.settled()
        assert driver.records(Kind.BODY)[0].raw == b"<html>Welcome</html>"


async def test_a_card_file_is_opened(open_app: Open, mock: str, tmp_path):
    async with open_app(mock) as driver:
        await driver.connected()
        assert driver.session.connection is not None
        raw = driver.session.connection.found.raw
    path = tmp_path / "card.json"
    path.write_text(json.dumps(json.loads(raw) | {"name": "From a file"}))
    async with open_app(str(path)) as driver:
        await driver.connected()
        assert "From a file" in driver.lines[0]
        await driver.ask("report 1")
        assert driver.records(Kind.FRAME)
