"""Keys and clicks that arrive before the ones before them are handled, as on a busy machine, do not end the app."""

from __future__ import annotations

import asyncio

import pytest
from composing import opened
from driving import Driver, Open
from rich.style import Style
from textual import events
from textual.keys import key_to_character
from textual.widgets import Input, OptionList

from inspector.session.compose.draft import text_draft
from inspector.tui import key_order
from inspector.tui.screens.connect import ConnectScreen
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.screens.workbench import WorkbenchScreen

SIZE = (120, 40)


def queue(driver: Driver, *keys: str) -> None:
    """Press keys without waiting between them."""
    for key in keys:
        driver.app.post_message(events.Key(key, key_to_character(key)))


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("a", "enter"),  # the actions menu
        ("a", "escape"),
        ("ctrl+p", "escape"),  # the command palette
        ("question_mark", "escape"),  # help
        ("slash", "escape"),  # the search line
        ("slash", "enter"),
        ("A", "escape"),  # a remark
    ],
)
async def test_a_dialog_that_is_closed_twice_closes_nothing_else(open_app: Open, mock: str, opening: str, closing: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.ask("hello")
        await driver.press("escape")
        await driver.go(6 if opening == "slash" else 2)
        workbench = driver.workbench
        await driver.press(opening)
        await driver.until(lambda: driver.app.screen is not workbench)
        queue(driver, closing, closing, closing)
        await driver.until(lambda: workbench in driver.app.screen_stack and driver.app.screen is workbench)
        await driver.settled()
        assert driver.app.is_running


async def test_a_message_that_is_sent_twice_from_the_compose_screen_is_sent_once(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await opened(driver, text_draft("hello"))
        queue(driver, "ctrl+s", "ctrl+s", "ctrl+s")
        await driver.until(driver.sent)
        await driver.settled()
        assert isinstance(driver.app.screen, WorkbenchScreen)
        assert len(driver.sent()) == 1


async def test_a_dialog_that_is_closed_before_it_is_drawn(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        workbench = driver.workbench
        for _ in range(20):
            driver.app.push_screen(FormScreen("Values", [Field("one", "One")]))
            driver.app.pop_screen()
        await driver.settled()
        assert driver.app.screen is workbench


async def test_a_click_on_a_choice_that_is_removed_at_the_same_time(open_app: Open):
    async with open_app(None, SIZE) as driver:
        listed = driver.app.screen.query_one(OptionList)
        await driver.until(lambda: listed.option_count > 1)
        last = Style(meta={"option": listed.option_count - 1})
        click = events.Click(listed, 1, 1, 0, 0, 1, False, False, False, style=last)
        listed.post_message(click)
        listed.clear_options()
        await driver.settled()
        assert isinstance(driver.app.screen, ConnectScreen)


async def test_what_was_chosen_is_opened_although_the_list_has_changed_since(open_app: Open):
    async with open_app(None, SIZE) as driver:
        listed = driver.app.screen.query_one(OptionList)
        await driver.until(lambda: listed.highlighted is not None)
        listed.action_select()
        listed.clear_options()
        await driver.connected()


async def test_a_mouse_button_on_a_widget_that_is_being_removed(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.go(2)
        column, row = driver.place("Press i to write a message.")
        for widget in list(driver.workbench.query("#composer *")):
            widget.remove()
        for _ in range(20):
            driver.app.post_message(events.MouseDown(None, column, row, 0, 0, 1, False, False, False, column, row))
            await driver.pilot.pause(0.001)
        assert driver.app.is_running


async def test_a_delayed_call_of_a_screen_that_was_removed_meanwhile(open_app: Open, mock: str):
    async with open_app(None, SIZE) as driver:
        connect = driver.app.screen
        assert isinstance(connect, ConnectScreen)
        connect.query_one(Input).value = mock
        await driver.press("enter")
        await driver.connected()
        driver.workbench.call_after_refresh(connect._fit_beside_scroll_bar)
        driver.workbench.refresh()
        await driver.settled()
        assert driver.app.is_running


async def test_typed_text_and_enter_at_once_open_what_was_typed(open_app: Open, mock: str):
    async with open_app(None, SIZE) as driver:
        screen = driver.app.screen
        screen.query_one(Input).value = mock
        queue(driver, "enter", "enter", "enter")
        await driver.connected()
        assert isinstance(driver.app.screen, WorkbenchScreen)


async def test_a_palette_that_is_closed_while_it_searches(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        workbench = driver.workbench
        for _ in range(10):
            queue(driver, "ctrl+p", "a", "escape", "escape")
            await driver.until(lambda: driver.app.screen is workbench)
        await driver.settled()
        assert driver.app.screen is workbench


async def test_the_palette_is_opened_again_before_it_is_removed(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        workbench = driver.workbench
        for _ in range(10):
            driver.app.action_command_palette()
            driver.app.screen.dismiss(None)
            driver.app.action_command_palette()
            driver.app.screen.dismiss(None)
        await driver.settled()
        assert driver.app.screen is workbench


@pytest.mark.parametrize("command", ["connect", "change_theme"])
async def test_a_screen_that_is_not_a_dialog_is_closed_once(open_app: Open, mock: str, command: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        workbench = driver.workbench
        await driver.app.run_action(command)
        await driver.until(lambda: driver.app.screen is not workbench)
        queue(driver, "escape", "escape", "escape")
        await driver.until(lambda: driver.app.screen is workbench)
        await driver.settled()
        assert driver.app.screen is workbench


async def test_what_is_typed_after_tab_is_in_the_next_field(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        values: list[dict[str, str] | None] = []
        driver.app.push_screen(FormScreen("Values", [Field("one", "One"), Field("two", "Two")]), values.append)
        await driver.until(lambda: isinstance(driver.app.focused, Input))
        queue(driver, "a", "tab", *"bc", "enter")
        driver.app.post_message(events.Paste("d"))
        await driver.until(lambda: bool(values))
        assert values == [{"one": "a", "two": "bc"}]


async def test_a_message_that_is_typed_with_the_keys_that_lead_to_it(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        queue(driver, *"12i", *"echo hello", "enter")
        await driver.until(driver.sent)
        assert driver.sent()[0]["params"]["message"]["parts"] == [{"text": "echo hello"}]


async def test_what_is_typed_after_a_key_that_opens_a_dialog_is_in_the_dialog(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        queue(driver, "ctrl+p", *"theme pa")
        await driver.until(lambda: isinstance(driver.app.focused, Input))
        await driver.settled()
        assert isinstance(driver.app.focused, Input)
        assert driver.app.focused.value == "theme pa"


async def test_what_is_typed_after_a_key_with_alt_is_in_the_form_that_it_opens(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.ask("form")
        await driver.until("alt+i form")
        driver.app.post_message(events.Key("alt+i", "i"))
        queue(driver, *"Ada", "tab", *"Lisbon", *["enter"] * 3, *"reply", "enter")
        await driver.until(lambda: len(driver.sent()) == 2)
        text, data = driver.sent()[1]["params"]["message"]["parts"]
        assert (text["text"], data["data"]["name"], data["data"]["city"]) == ("reply", "Ada", "Lisbon")


async def test_a_key_that_never_ends_holds_the_next_key_for_a_second_only(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch
):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        released = asyncio.Event()

        async def wait(*_: object) -> None:
            await released.wait()

        monkeypatch.setattr(key_order, "_LONGEST_WAIT", 0.05)
        await driver.go(2)
        focused = driver.app.focused
        assert focused is not None
        monkeypatch.setattr(focused, "_on_key", wait, raising=False)
        queue(driver, "x", "ctrl+p")
        await driver.until(lambda: isinstance(driver.app.focused, Input))
        released.set()
