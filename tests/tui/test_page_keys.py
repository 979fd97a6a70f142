"""Page keys in a list that is not laid out yet, for example in a dialog that has just been opened."""

from __future__ import annotations

import pytest
from driving import Open
from textual.app import App, ComposeResult
from textual.command import CommandList
from textual.widgets.option_list import Option

from inspector.tui.widgets.fields import ChoiceList


class Lists(App[None]):
    def compose(self) -> ComposeResult:
        yield ChoiceList(Option("a"), Option("b"), enter_hint="choose", id="choices")


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_a_list_that_is_not_laid_out_yet_ignores_page_keys(key: str):
    async with Lists().run_test() as pilot:
        choices = pilot.app.query_one(ChoiceList)
        choices.display = False
        await pilot.pause()
        choices.add_option(Option("c"))
        choices.highlighted = 2
        await choices.run_action(key.replace("page", "page_"))
        choices.display = True
        await pilot.pause()
        await choices.run_action(key.replace("page", "page_"))
        assert choices.highlighted == (0 if key == "pageup" else 2)


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_the_command_palette_without_a_list_ignores_page_keys(open_app: Open, mock: str, key: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("ctrl+p")
        found = driver.app.screen.query_one(CommandList)
        await driver.until(lambda: found.option_count > 0)
        found.display = False
        await driver.pilot.pause()
        found.add_option(Option("last"))
        found.highlighted = found.option_count - 1
        await driver.press(key)
        await driver.press("escape")
        assert driver.section == "card"
