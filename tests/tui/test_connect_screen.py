"""The connect screen: the list of agents and captures, its filter, and the field."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from driving import Driver, Open
from textual.widgets import Input

from inspector.capture import recent_agents
from inspector.capture.paths import captures_folder, is_being_written
from inspector.capture.recent_agents import RecentAgent
from inspector.tui.screens.connect import ConnectScreen

SIZE = (110, 30)
URL = "http://127.0.0.1:1"


def remember(*names: str, **members: str) -> None:
    for number, name in enumerate(reversed(names)):
        agent = RecentAgent(f"{URL}/{name.split()[0]}", name, "1.0", time.time() - 120, **members)
        assert recent_agents.remember(agent) == "", number


async def opened(driver: Driver) -> None:
    await driver.until("the built-in mock agent")


async def test_agents_are_listed_by_name_with_url_version_and_age(open_app: Open):
    remember("Travel agent", "Weather agent")
    async with open_app(None, SIZE) as driver:
        await opened(driver)
        row = driver.line("Travel agent")
        assert f"{URL}/Travel" in row
        assert "A2A 1.0" in row
        assert "2 min ago" in row
        places = [driver.place(name)[1] for name in ("built-in", "Travel agent", "Weather agent")]
        assert places == sorted(places), "the demo is first, then the newest agent"


async def test_no_name_is_cut_beside_free_cells(open_app: Open):
    long = "An agent whose name is somewhat longer than usual"
    remember(long)
    async with open_app(None, (120, 30)) as driver:
        await opened(driver)
        assert long in driver.screen
    async with open_app(None, (80, 24)) as driver:
        await opened(driver)
        assert f"{URL}/An" in driver.screen, "the address is complete"


async def test_agents_on_a_host_are_distinguished_in_a_narrow_terminal(open_app: Open):
    for port in (9001, 9002):
        url = f"http://agents.example.com:{port}/"
        assert recent_agents.remember(RecentAgent(url, "Mock Agent", "1.0", time.time())) == ""
    async with open_app(None, (60, 20)) as driver:
        await opened(driver)
        assert ":9001/" in driver.screen
        assert ":9002/" in driver.screen


async def test_typing_filters_the_list_and_enter_opens_the_match(open_app: Open, mock: str):
    remember("Travel agent", "Weather agent")
    assert recent_agents.remember(RecentAgent(mock, "Mock of the tests", "1.0", time.time())) == ""
    async with open_app(None, SIZE) as driver:
        await opened(driver)
        assert "Connect to Demo" in driver.screen
        await driver.type("weather")
        assert "Weather agent" in driver.line("A2A 1.0")
        assert "Travel agent" not in driver.screen
        assert "Connect to Weather agent" in driver.screen
        await driver.press("ctrl+u")
        await driver.type("of tests")
        await driver.press("enter")
        await driver.connected()
        assert driver.session.connection is not None
        assert driver.session.connection.reference == mock


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("127.0.0.1:9", "Fetch the card from http://127.0.0.1:9/.well-known/agent-card.json, else from"),
        ("https://x.example/a/card.json", "Fetch the card from https://x.example/a/card.json"),
        ("unheardof", "Fetch the card from https://unheardof/.well-known/agent-card.json"),
        ("./none.json", "There is no file none.json"),
        ("none.a2a", "There is no file none.a2a"),
        ("~nosuch/x.a2a", "~nosuch/x.a2a: unknown user in path."),
        ("~nosuch/x.json", "There is no file ~nosuch/x.json"),
        ("weather agent", "“weather agent” cannot be a host: it contains a space."),
        (f"/{'x' * 300}", "File name too long."),
        (f"/{'x' * 300}.a2a", "File name too long."),
    ],
)
async def test_the_field_shows_what_enter_does(open_app: Open, typed: str, said: str):
    async with open_app(None, SIZE) as driver:
        await opened(driver)
        driver.app.screen.query_one(Input).value = typed
        await driver.until(said)


async def test_enter_on_a_path_that_cannot_exist_shows_why(open_app: Open):
    async with open_app(None, SIZE, run={"notifications": True}) as driver:
        await opened(driver)
        for typed, said in (("~nosuch/x.a2a", "unknown user in path"), (f"/{'x' * 300}.a2a", "its name is too long")):
            driver.app.screen.query_one(Input).value = typed
            await driver.press("enter")
            await driver.until(said)


async def test_a_card_file_and_a_capture_are_recognised(open_app: Open, mock: str, home: Path, tmp_path: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        assert driver.session.connection is not None
        (tmp_path / "card.json").write_bytes(driver.session.connection.found.raw)
    [capture] = (home / "captures").glob("*.a2a")
    async with open_app(None, (200, 30)) as driver:
        await opened(driver)
        field = driver.app.screen.query_one(Input)
        field.value = str(tmp_path / "card.json")
        await driver.until("Read the card file")
        field.value = str(capture)
        await driver.until("Open the capture")
        await driver.press("enter")
        await driver.until(lambda: driver.app.session is not None and driver.session.recorded)


async def test_a_recent_agent_is_removed_and_restored(open_app: Open):
    remember("Travel agent", "Weather agent")
    async with open_app(None, SIZE, run={"notifications": True}) as driver:
        await opened(driver)
        await driver.press("delete")
        assert len(recent_agents.load().agents) == 2, "in the field, the key deletes a character"
        await driver.press("down", "delete")
        assert len(recent_agents.load().agents) == 2, "the demo cannot be removed"
        await driver.press("down", "delete")
        await driver.until("Removed Travel agent from the list.")
        assert [agent.name for agent in recent_agents.load().agents] == ["Weather agent"]
        assert f"{URL}/Travel" not in driver.screen
        await driver.press("ctrl+z")
        assert [agent.name for agent in recent_agents.load().agents] == ["Travel agent", "Weather agent"]
        assert f"{URL}/Travel" in driver.screen
        assert not driver.enabled("ctrl+z")


async def test_the_screen_opens_over_the_agent(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        first = driver.session
        await driver.press("o")
        assert isinstance(driver.app.screen, ConnectScreen)
        await driver.press("escape")
        assert driver.workbench.session is first


async def test_a_proxy_that_cannot_be_used_is_reported(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:1")
    async with open_app(mock, (120, 36), run={"notifications": True}) as driver:
        await driver.until(lambda: "The proxy that the environment names cannot be used" in driver.words)
        assert isinstance(driver.app.screen, ConnectScreen)
        [capture] = captures_folder().glob("*.a2a")
        assert not is_being_written(capture)
