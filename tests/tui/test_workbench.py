"""Opening the workbench: the frame is drawn before the session is loaded."""

from __future__ import annotations

from driving import Driver, driving

from inspector.options import Options
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.screens.frame import BootScreen


async def test_the_frame_is_drawn_first_and_a_view_can_be_selected_in_it(mock: str):
    async with driving(Options()) as driver:
        await driver.app.push_screen(BootScreen(UNICODE))
        await driver.until("starting")
        assert "Findings" in driver.lines[1]
        await driver.press("2")
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session is not None and driver.app.session.connection is not None)
        await driver.until(lambda: driver.workbench.view == "chat")
        assert driver.composer.has_focus_within


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
        assert driver.composer.text == "hello"


async def connected(driver: Driver) -> None:
    await driver.until(lambda: driver.app.session is not None and driver.app.session.connection is not None)
