"""The screen with the entries of an AI Catalog: what it lists, and how an agent is chosen."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from driving import Open
from textual.widgets import Input, OptionList

from inspector.capture import recent_agents
from inspector.protocol.ai_catalog import CARD_TYPE, MEDIA_TYPE, WELL_KNOWN
from inspector.tui.screens.catalog import CatalogScreen
from inspector.wire import private_address

SIZE = (110, 30)
SIZES = [(80, 24), (120, 36), (200, 50)]


def entry(name: str, **members: Any) -> dict[str, Any]:
    return {"identifier": f"urn:air:a.example:agent:{name}", "type": CARD_TYPE, **members}


@asynccontextmanager
async def serving(*entries: Any, wait: asyncio.Event | None = None) -> AsyncIterator[str]:
    """Serve a catalog at the well-known path of a host without a card; return the URL of the host."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path != WELL_KNOWN:
            return web.Response(status=404)
        if wait is not None:
            await wait.wait()
        return web.json_response({"specVersion": "0.9", "entries": list(entries)}, content_type=MEDIA_TYPE)

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def card_of(mock: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{mock}/.well-known/agent-card.json") as response:
        found: dict[str, Any] = json.load(response)
    return found


@pytest.mark.parametrize("how", ["keyboard", "mouse"])
async def test_an_agent_of_a_catalog_is_chosen_and_remembered(open_app: Open, mock: str, how: str):
    card = card_of(mock) | {"name": "Inline Agent"}
    tool = {"identifier": "urn:t", "type": "application/mcp-server-card+json", "url": "https://x.example/tool"}
    entries = entry("other", url="http://127.0.0.1:1"), entry("inline", data=card), tool
    async with serving(*entries) as host, open_app(host, SIZE) as driver:
        await driver.until("Entries of the catalog: 3")
        assert "in the catalog" in driver.line("Inline Agent")
        assert "application/mcp-server-card+json" in driver.line(" t ")
        if how == "mouse":
            await driver.click("Inline Agent")
        else:
            await driver.press("down", "down", "enter")
        await driver.connected()
        assert driver.session.connection is not None
        assert driver.session.connection.card.name == "Inline Agent"
        await driver.ask("echo hi")
        assert recent_agents.load().agents[0].url == f"{host}#inline"
        await driver.go(1)
        await driver.press("r")
        await driver.until(lambda: "card" in [record.event for record in driver.records()][-3:])
        assert driver.session.connection.card.name == "Inline Agent", "the card is read from the catalog again"


async def test_the_address_of_a_catalog_is_typed_on_the_connect_screen(open_app: Open, mock: str):
    async with open_app(None, SIZE) as driver:
        await driver.until("the built-in mock agent")
        driver.app.screen.query_one(Input).value = f"{mock}#"
        await driver.until(f"Fetch the catalog {mock}{WELL_KNOWN}, and list its agents")
        await driver.press("enter")
        await driver.until("Entries of the catalog: 3")
        await driver.type("0.3")
        await driver.press("enter")
        await driver.connected()
        assert driver.session.connection is not None
        assert driver.session.connection.reference == f"{mock}#mock-0.3"


async def test_words_filter_the_entries_and_never_leave_the_catalog(open_app: Open):
    entries = [entry(f"a{number}", url="http://127.0.0.1:1", description="of many") for number in range(1_000)]
    async with serving(*entries, entry("last", url="http://127.0.0.1:1")) as host, open_app(host, SIZE) as driver:
        await driver.until("Entries of the catalog: 1,001")
        began = time.process_time()
        await driver.type("urn:air:a.example:agent:a77")
        assert time.process_time() - began < 10, "27 keys"
        assert "a770" in driver.screen
        assert "a78 " not in driver.screen
        assert "of many" in driver.line("Connect to a77")
        driver.app.screen.query_one(Input).value = ""
        await driver.until(lambda: driver.app.screen.query_one(OptionList).option_count == 1_002)
        assert "1 more. Type a word" in str(driver.app.screen.query_one(OptionList).get_option_at_index(1_001).prompt)
        driver.app.screen.query_one(Input).value = "nobody"
        await driver.until("No entry matches.")
        await driver.press("enter")
        assert isinstance(driver.app.screen, CatalogScreen)


async def test_an_empty_catalog_says_so_and_escape_shows_how_to_list_it_again(open_app: Open):
    async with serving() as host, open_app(f"{host}#", SIZE) as driver:
        await driver.until("The catalog has no entries.")
        await driver.press("enter", "escape")
        await driver.until("is an AI Catalog with 0 agents")
        assert "Press r to list its entries" in driver.screen
        assert "edit a copy" not in driver.screen, "a catalog is not a card"
        await driver.press("r")
        await driver.until("The catalog has no entries.")


async def test_while_a_catalog_is_fetched_the_wait_is_shown_and_can_be_cancelled(open_app: Open):
    wait = asyncio.Event()
    async with serving(wait=wait) as host, open_app(f"{host}{WELL_KNOWN}", SIZE) as driver:
        await driver.until("Fetching the agent card:")
        assert WELL_KNOWN in driver.line("waiting")
        await driver.press("escape")
        await driver.until("Connecting was canceled")
        wait.set()


async def test_a_host_without_card_and_catalog_is_an_error_that_names_every_attempt(open_app: Open):
    async with serving() as host, open_app(f"{host}/nothing.json", SIZE) as driver:
        await driver.until("No card was found")
        assert not isinstance(driver.app.screen, CatalogScreen)


async def test_a_nested_catalog_is_opened(open_app: Open, mock: str):
    inner = {"specVersion": "0.9", "entries": [entry("inner", url=mock)]}
    nested = {"identifier": "urn:sub", "type": MEDIA_TYPE, "data": inner}
    async with serving(nested) as host, open_app(host, SIZE) as driver:
        await driver.until("Catalogs")
        await driver.press("enter")
        await driver.until("Agents")
        await driver.until("inner")
        await driver.press("enter")
        await driver.connected()
        assert driver.session.connection is not None
        assert driver.session.connection.reference == f"{host}#/entries/0/data/entries/0"


async def test_a_private_address_in_a_catalog_asks_first(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(private_address, "_is_this_machine", lambda address: False)
    inner = entry("inner", url=mock.replace("127.0.0.1", "localhost"))
    async with serving(inner) as host, open_app(f"{host}#inner", SIZE) as driver:
        await driver.until("Link to a private address")
        assert "An entry of the catalog of" in driver.screen
        await driver.press("up", "enter")
        await driver.connected()


@pytest.mark.parametrize("size", SIZES)
async def test_texts_of_a_catalog_are_clean_and_fit(open_app: Open, size: tuple[int, int]):
    nasty = "\x1b[31m\u202e[bold]x[/bold]\n" + "w" * 300
    hostile = {"identifier": nasty, "displayName": nasty, "type": CARD_TYPE, "url": nasty, "version": nasty}
    entries = hostile | {"description": nasty}, hostile | {"type": nasty}
    async with serving(*entries) as host, open_app(host, size) as driver:
        await driver.until("Entries of the catalog: 2")
        assert "\x1b" not in driver.screen
        assert "\u202e" not in driver.screen
        assert "[bold]x[/bold]" in driver.screen
        assert max(map(len, driver.lines)) <= size[0]


async def test_a_catalog_file_is_listed(open_app: Open, mock: str, tmp_path: Path):
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps({"specVersion": "0.9", "entries": [entry("a", url=mock)]}), "utf-8")
    async with open_app(str(file), SIZE) as driver:
        await driver.until("Entries of the catalog: 1")
        await driver.press("enter")
        await driver.connected()
