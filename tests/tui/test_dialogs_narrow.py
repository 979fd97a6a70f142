"""Dialogs at 80 columns: keys and whole texts are shown, and a list has no blank rows below it."""

from __future__ import annotations

import pytest
from driving import Driver, Open

from inspector.tui.screens.dialog import FITTED, Dialog


def blank_rows(driver: Driver) -> int:
    """Return how many lines of the frame are neither its border, its list, the footer nor the line above it."""
    dialog = driver.app.screen
    assert isinstance(dialog, Dialog)
    return dialog.frame.region.height - dialog.query_one(f".{FITTED}").region.height - 4


@pytest.mark.parametrize("key", ["a", "I", "question_mark", "d"])
async def test_a_list_that_scrolls_has_no_blank_rows(open_app: Open, mock: str, key: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", key)
        await driver.settled()
        dialog = driver.app.screen
        assert isinstance(dialog, Dialog)
        assert dialog.query_one(f".{FITTED}").max_scroll_y > 0
        assert blank_rows(driver) == 0
        assert " close " in driver.screen


async def test_the_actions_menu_shows_keys_and_the_help_whole_sentences(open_app: Open, mock: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "a")
        await driver.settled()
        assert " m " in driver.line("Mark this moment for a comparison")
        await driver.press("escape", "question_mark")
        await driver.settled()
        assert "Log in to the agent" in driver.screen


async def test_the_footer_of_a_long_history_is_seen(open_app: Open, mock: str):
    async with open_app(mock, size=(60, 20)) as driver:
        await driver.connected()
        for number in range(14):
            await driver.ask(f"hello {number}")
        await driver.press("ctrl+up")
        await driver.until("Sent messages and snippets")
        await driver.until("hello 9")
        assert "esc close" in driver.screen


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_a_question_is_not_cut(open_app: Open, mock: str, width: int):
    async with open_app(mock, size=(width, 24)) as driver:
        await driver.connected()
        await driver.ask("ask")
        await driver.press("escape", "3", "x")
        await driver.until("confirm")
        assert "undone." in driver.screen, "the last word of the question"


async def test_the_setting_under_the_cursor_is_described_in_full(open_app: Open, mock: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        await driver.press("comma", "down", "down", "down")
        await driver.until("Preferred bindings, the first before the others.")
        await driver.until("A change is used when the next session starts.")
        await driver.press("end")
        await driver.until("Scroll to the right.")
        assert "shift+→ (the default)" in driver.screen
        assert "shift+right" not in driver.screen
