"""The agents of `agents.toml` in the connect screen: they are opened with the options of their definitions."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from aiohttp import web
from driving import Driver, Open
from players import playing
from puppets import Call, Puppet, task
from textual.widgets import Static

from inspector.agents_file import user_path
from inspector.capture import recent_agents
from inspector.capture.recent_agents import RecentAgent
from inspector.tui.keys import COMMANDS

SIZE = (120, 36)
OWN, OF_THE_APP = "canary-4d1f-own", "canary-4d1f-app"
HEADING = "Agents of agents.toml"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start in the folder of a project, and return the path of its file."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("A2A_OWN_TOKEN", OWN)
    return tmp_path / "project" / "agents.toml"


def define(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def complete(call: Call) -> web.StreamResponse:
    return await call.stream({"task": task("COMPLETED")})


async def choose(driver: Driver, name: str) -> None:
    await driver.type(name)
    await driver.press("enter")


def tokens(agent: Puppet) -> set[str]:
    return {call.request.headers.get("Authorization", "") for call in agent.calls}


async def test_an_agent_is_opened_with_the_options_of_its_definition(open_app: Open):
    async with playing(complete) as agent:
        agent.card = {"name": "Staging agent"}
        definition = f'[agents.staging]\nurl = "{agent.url}"\nbearer = "env:A2A_OWN_TOKEN"\na2a-version = "1.0"\n'
        define(user_path(), definition)
        async with open_app(None, SIZE, bearer=OF_THE_APP) as driver:
            await driver.until(HEADING)
            assert "staging" in driver.line(agent.url)
            assert "A2A 1.0" in driver.line(agent.url)
            await choose(driver, "stag")
            await driver.connected()
            assert "Staging agent" in driver.screen
            await driver.ask("hello")
        assert tokens(agent) == {"", f"Bearer {OWN}"}, "the card is requested without credentials"


async def test_another_agent_gets_no_credentials_of_the_command_line(open_app: Open):
    async with playing(complete) as agent:
        define(user_path(), f'[agents.plain]\nurl = "{agent.url}"\n')
        async with open_app(None, SIZE, bearer=OF_THE_APP, headers=(("X-Key", OF_THE_APP),)) as driver:
            await driver.until(HEADING)
            await choose(driver, "plain")
            await driver.connected()
            await driver.ask("hello")
        assert agent.calls
        assert not any(OF_THE_APP in str(call.request.headers) for call in agent.calls)


async def test_the_default_agent_is_first_and_its_place_is_shown(open_app: Open, project: Path):
    define(project, 'default = "b"\n[agents.a]\nurl = "http://127.0.0.1:1"\n[agents.b]\nurl = "http://127.0.0.1:2"\n')
    async with open_app(None, (200, 36)) as driver:
        await driver.until(HEADING)
        rows = [driver.place(url)[1] for url in ("127.0.0.1:2", "127.0.0.1:1", "the built-in mock agent")]
        assert rows == sorted(rows)
        assert "Connect to b, as defined in" in driver.screen
        assert "project/agents.toml:4" in driver.screen


async def test_a_recent_agent_with_the_same_url_is_listed_once(open_app: Open):
    define(user_path(), '[agents.a]\nurl = "http://127.0.0.1:1"\n')
    for url in ("http://127.0.0.1:2", "http://127.0.0.1:1"):
        assert recent_agents.remember(RecentAgent(url, f"Agent of {url}", "1.0", time.time() - 120)) == ""
    async with open_app(None, SIZE, run={"notifications": True}) as driver:
        await driver.until(HEADING)
        assert driver.screen.count("http://127.0.0.1:1") == 1
        await driver.press("down", "down", "down", "delete")
        await driver.until("Removed Agent of http://127.0.0.1:2 from the list.")
        await driver.press("ctrl+z")
        assert [agent.url[-1] for agent in recent_agents.load().agents] == ["1", "2"]


async def test_without_definitions_there_is_no_heading(open_app: Open):
    async with open_app(None, SIZE) as driver:
        await driver.until("the built-in mock agent")
        assert HEADING not in driver.screen


async def test_a_mistake_in_a_file_is_shown_and_other_agents_can_be_opened(open_app: Open, mock: str):
    define(user_path(), "[agents.a]\nurls = 1\n")
    async with open_app(None, (200, 36)) as driver:
        await driver.until("home/agents.toml:1:")
        await driver.paste(mock)
        await driver.press("enter")
        await driver.connected()


async def test_a_name_is_not_taken_for_a_host_if_the_file_cannot_be_read(open_app: Open, tmp_path: Path):
    define(user_path(), '[agents.staging]\nurl = "http://127.0.0.1:1"\nbear = 1\n')
    async with open_app(None, SIZE, run={"notifications": True}) as driver:
        await driver.until("home/agents.toml:3:")
        await driver.type("staging")
        hint = "staging may be a name in agents.toml, which cannot be read. To connect to a host, write http://staging."
        await driver.until(hint)
        await driver.press("enter")
        await driver.until(lambda: driver.app._notifications)
        [notice] = driver.app._notifications
        assert notice.message == hint
        assert driver.app.session is None
        for address in ("localhost", "localhost:9", "http://staging"):
            await driver.press("ctrl+u")
            await driver.paste(address)
            assert "Fetch the card from" in driver.screen


async def test_a_variable_that_is_not_set_is_reported(open_app: Open, mock: str):
    define(user_path(), f'[agents.a]\nurl = "{mock}"\nbearer = "env:A2A_NOT_SET"\n')
    async with open_app(None, SIZE, run={"notifications": True}) as driver:
        await driver.until(HEADING)
        await driver.press("enter")
        await driver.until("A2A_NOT_SET")
        assert HEADING in driver.screen
        assert driver.app.session is None


async def test_a_word_filters_by_name_and_address_and_the_exact_name_is_selected(open_app: Open):
    agents = "".join(f'[agents.{name}]\nurl = "http://{name}.example"\n' for name in ("products", "prod", "dev"))
    define(user_path(), agents)
    async with open_app(None, SIZE) as driver:
        await driver.until(HEADING)
        await driver.type("home")  # the folder of the file
        assert ".example" not in driver.screen
        await driver.press("ctrl+u")
        await driver.type("prod")
        assert "Connect to prod, as defined in" in driver.screen
        assert "http://products.example" in driver.screen
        assert "http://dev.example" not in driver.screen


async def test_an_agent_of_the_project_gets_the_credentials_after_a_question(
    open_app: Open, project: Path, monkeypatch: pytest.MonkeyPatch
):
    async with playing(complete) as agent:
        define(project, f'[agents.theirs]\nurl = "{agent.url}"\nbearer = "env:A2A_OWN_TOKEN"\n')
        async with open_app(None, SIZE) as driver:
            await driver.until(HEADING)
            await driver.press("enter")
            await driver.until("Send them in this session")
            dialog = " ".join(str(text.render()) for text in driver.app.screen.query(Static))  # wraps after the path
            assert "a file of the project, has the URL of this agent" in dialog
            assert tokens(agent) == {""}
            await driver.press("up", "enter")
            await driver.connected()
            await driver.ask("hello")
        assert f"Bearer {OWN}" in tokens(agent)


async def test_an_entry_of_a_catalog_with_a_name_has_the_options_of_the_name(open_app: Open, tmp_path: Path):
    async with playing(complete) as agent:
        catalog = tmp_path / "catalog.json"
        entry = (
            '{"identifier": "urn:a", "displayName": "Entry A", "mediaType": "application/a2a-agent-card+json", '
            f'"url": "{agent.url}/.well-known/agent-card.json"}}'
        )
        catalog.write_text(f'{{"specVersion": "1.0", "entries": [{entry}]}}')
        definition = f'[agents.many]\nurl = "{catalog}"\nbearer = "env:A2A_OWN_TOKEN"\n'
        define(user_path(), definition)
        async with open_app(None, SIZE) as driver:
            await driver.until(HEADING)
            await driver.press("enter")
            await driver.until("Entry A")
            await driver.press("enter")
            await driver.until("Send them there, too")
            await driver.press("up", "enter")
            await driver.connected()
            await driver.ask("hello")
        assert f"Bearer {OWN}" in tokens(agent)


async def test_the_same_agent_with_other_options_gets_a_tab_of_its_own(open_app: Open, mock: str):
    define(user_path(), f'[agents.first]\nurl = "{mock}"\n[agents.second]\nurl = "{mock}"\ntimeout = "90s"\n')
    async with open_app(None, SIZE) as driver:
        await driver.until(HEADING)
        await choose(driver, "first")
        await driver.connected()
        first = driver.session
        await driver.press("o")
        await choose(driver, "second")
        await driver.until(lambda: driver.app.session not in (None, first))
        await driver.connected()
        assert "Mock Agent first" in driver.screen
        assert "Mock Agent second" in driver.screen
        await driver.press(COMMANDS["previous-connection"].keys)
        assert driver.session is first


async def test_no_row_wraps_beside_a_scroll_bar(open_app: Open):
    for number in range(100, 130):
        agent = RecentAgent(f"http://127.0.0.1:{number}", "R", "1.0" if number % 2 else "", time.time() - 720)
        assert recent_agents.remember(agent) == ""
    async with open_app(None, (80, 24)) as driver:
        await driver.until("the built-in mock agent")
        await driver.press("down", "end")
        rows = [line for line in driver.lines if "http://" in line]
        assert all("12 min ago" in line for line in rows)
        assert len({line.index("ago") for line in rows}) == 1
