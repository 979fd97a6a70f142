"""The workbench while it is being made: the first place is painted before the others are there."""

from __future__ import annotations

from driving import driving

from inspector.options import Options
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.screens.workbench import WorkbenchScreen


async def test_a_place_that_is_not_there_yet_is_not_gone_to():
    async with driving(Options()) as driver:
        workbench = WorkbenchScreen(UNICODE)
        await driver.app.push_screen(workbench)
        await driver.press("2")
        assert workbench.place == "agent"
        await workbench.complete()
        await driver.press("2")
        assert workbench.place == "talk"
