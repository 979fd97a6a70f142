"""The data of known extensions in Chat, and the status of extensions in the Agent view."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from driving import Driver, Open
from inspector.sample_agents.extension import OFFERED
from players import playing
from puppets import Call, task

from inspector.protocol.extensions.known import PASSPORT, TIMESTAMP, TRACEABILITY
from inspector.tui.widgets.detail_pane import DetailPane

SIZES = [(80, 24), (120, 36), (200, 50)]
ACTIVATED = {"svc_params": (("A2A-Extensions", ", ".join(extension.uri for extension in OFFERED)),)}
NASTY = "\x1b[31m\u202e[bold]x[/bold]"


async def select(driver: Driver, what: str) -> None:
    """Select the row of the timeline with a text."""
    await driver.press("escape")
    await driver.click(what)
    await driver.settled()


def detail(driver: Driver) -> DetailPane:
    return driver.widget("#detail", DetailPane)


@pytest.mark.parametrize("size", SIZES[1:])
async def test_a_cart_and_a_surface_are_shown_as_what_they_mean(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size, **ACTIVATED) as driver:
        await driver.connected()
        await driver.ask("extensions")
        for text in ("verified  5 valid, 1 not verified", "token  1 of 2", "payment.amount_range"):
            assert text in driver.screen, "the artifact pane shows the last artifact"
        await select(driver, "artifact  cart")
        for text in ("verified  3 valid, 1 not verified", "merchant  Books & Rivers", "total  EUR 28.4"):
            assert text in driver.screen, text
        await select(driver, "order form")
        for text in ("A2UI", "Card", "Text  Order the book", "TextField  Name"):
            assert text in driver.screen, text
        assert "extension decoded raw hex headers" in driver.screen
        await driver.press("v")
        await driver.until('"artifactUpdate"')
        assert "decoded" in driver.screen, "the JSON is one key away"


async def test_the_choice_of_the_json_is_kept_for_the_next_rows(open_app: Open, mock: str):
    async with open_app(mock, SIZES[1], **ACTIVATED) as driver:
        await driver.connected()
        await driver.ask("extensions")
        await select(driver, "order form")
        await driver.press("v")
        await driver.until('"artifactUpdate"')
        await select(driver, "Signing the cart")
        assert '"statusUpdate"' in driver.screen


async def test_a_timestamp_is_beside_its_message(open_app: Open, mock: str):
    async with open_app(mock, SIZES[2], **ACTIVATED) as driver:
        await driver.connected()
        await driver.ask("extensions")
        assert "Laying out the form. · created " in driver.screen


async def test_the_other_data_of_an_artifact_has_its_json(open_app: Open, mock: str):
    async with open_app(mock, SIZES[1], **ACTIVATED) as driver:
        await driver.connected()
        await driver.ask("extensions")
        await driver.press("escape")
        await driver.click("extension ▾")
        await driver.until("JSON")


@pytest.mark.parametrize("size", SIZES)
async def test_the_agent_view_has_a_row_for_each_extension(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size, **ACTIVATED) as driver:
        await driver.connected()
        names = ("Numbered events", "A2UI v0.9.1", "AP2 v1", "Timestamps v1", "Traceability v1", "Secure Passport")
        for name in names if size[0] > 80 else names[:3]:
            assert "not requested" in driver.line(name), name
        await driver.ask("extensions")
        await driver.go(1)
        await driver.until("requested 1")
        if size[0] > 80:
            assert "requested 1, activated 1, used 6" in driver.line("Timestamps v1")
        assert max(map(len, driver.lines)) <= size[0]


async def test_data_of_an_extension_that_is_not_active_is_marked(open_app: Open, mock: str):
    async with open_app(mock, SIZES[1]) as driver:
        await driver.connected()
        await driver.ask("extensions")
        await driver.go(1)
        await driver.until("not requested, used 1")
        assert "✕" in driver.line("A2UI v0.9.1")
        await driver.go(6)
        await driver.until("RESULT-018")


@pytest.mark.parametrize("size", SIZES)
async def test_texts_of_extensions_are_clean(open_app: Open, size: tuple[int, int]):
    async def handle(call: Call) -> web.StreamResponse:
        step = {"step_id": NASTY, "name": NASTY, "call_type": NASTY, "error": NASTY}
        data: list[Any] = [
            {"data": [{NASTY: {NASTY: NASTY}}], "mediaType": "application/a2ui+json"},
            {"data": {f"ap2.{NASTY}": {"payee": {"name": NASTY}}}},
        ]
        metadata = {
            PASSPORT: {"clientId": NASTY, "state": {NASTY: NASTY}},
            f"{TIMESTAMP}/timestamp": NASTY,
            f"{TRACEABILITY}/traceability": {"trace_id": NASTY, "steps": [step]},
        }
        artifact = {"artifactId": "a", "parts": data, "metadata": metadata}
        return await call.stream({"task": task("WORKING")}, {"task": task("COMPLETED") | {"artifacts": [artifact]}})

    async with playing(handle) as agent, open_app(agent.url, size) as driver:
        await driver.connected()
        await driver.ask("hello")
        await driver.until("completed")
        await driver.press("escape", "end")
        await driver.settled()
        for _ in range(2):
            assert "\x1b" not in driver.screen
            assert "\u202e" not in driver.screen
            assert max(map(len, driver.lines)) <= size[0]
            await driver.press("tab")


@pytest.mark.parametrize("size", SIZES)
async def test_the_columns_of_capabilities_and_extensions_are_aligned(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size) as driver:
        await driver.connected()
        capability, extension = driver.line("· push notifications"), driver.line("· A2UI v0.9.1")
        assert capability.index("yes") == extension.index("optional")
        assert capability.index("not tried yet") == extension.index("not requested")
