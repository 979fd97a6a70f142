"""Opening the workbench: first the frame is drawn, then the session and the Agent view, then the other views."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from driving import Driver, driving
from stream_servers import serving_bytes, stay_silent
from textual import events

from inspector.capture.records import Kind
from inspector.options import Options
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.screens.frame import BootScreen
from inspector.tui.views.registry import VIEWS


async def test_the_frame_is_drawn_first_and_a_view_can_be_selected_in_it(mock: str):
    async with driving(Options()) as driver:
        await driver.app.push_screen(BootScreen(UNICODE))
        await driver.until("starting")
        assert "Findings" in driver.lines[1]
        await driver.press("2")
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session is not None and driver.app.session.connection is not None)
        await driver.until(lambda: driver.workbench.view == "chat")
        assert driver.timeline.has_focus  # the next digit selects a view and is not typed


async def test_the_draft_and_the_view_are_kept_for_another_agent(mock: str):
    async with driving(Options(reference=mock)) as driver:
        await connected(driver)
        await driver.go(2)
        driver.composer.fill("hello")
        first = driver.app.session
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session not in (None, first))
        await connected(driver)
        assert driver.workbench.view == "chat"
        await driver.until("Unsent message: hello")
        await driver.press("ctrl+up")
        assert driver.composer.text == "hello"


async def test_keys_after_the_key_of_a_view_are_for_that_view_even_before_it_is_mounted():
    async with silent_agent() as url, driving(Options(reference=url)) as driver:
        await driver.until("waiting")
        workbench = driver.workbench
        driver.app.post_message(events.Key("2", "2"))
        while workbench.view != "chat":
            await asyncio.sleep(0)
        assert not workbench.views.has("chat")
        driver.app.post_message(events.Key("i", "i"))
        await driver.until(lambda: workbench.views.has("chat") and driver.composer.has_focus_within)
        assert workbench.view == "chat"
        assert len(driver.records(Kind.REQUEST)) == 1


@asynccontextmanager
async def silent_agent() -> AsyncIterator[str]:
    """Run a server that never answers, and yield its URL."""

    async with serving_bytes(stay_silent) as place:
        yield f"http://{place}"


@pytest.mark.usefixtures("all_views")
async def test_the_other_views_are_mounted_after_the_card_is_shown(mock: str):
    async with driving(Options(reference=mock)) as driver:
        await driver.connected()
        await driver.until(lambda: driver.app.screen.query("#findings.view"))
        assert [view.id for view in driver.app.screen.query(".view")] == [entry.id for entry in VIEWS]
        assert driver.workbench.view == "agent"
        assert "Interfaces" in driver.screen


async def test_the_other_views_are_mounted_without_an_agent():
    async with driving(Options(reference="http://127.0.0.1:1/")) as driver:
        await driver.until("unreachable since")
        await driver.go(5)
        await driver.until("Exchanges ─ 1")


async def connected(driver: Driver) -> None:
    await driver.until(lambda: driver.app.session is not None and driver.app.session.connection is not None)
