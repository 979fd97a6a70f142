"""The app ends cleanly at any moment: while it connects, and while a view or a dialog is mounted."""

import asyncio
from typing import Any

import pytest
from driving import Driver, Open
from textual.css.query import NoMatches
from textual.message import Message
from textual.message_pump import MessagePump

from inspector.capture.paths import is_being_written
from inspector.options import Options
from inspector.tui.app import InspectorApp

FIRST = 60
"""The number of the first message that is tried: those before it are Textual's own."""
LAST = 800
"""The number of the last message that is tried: a start has 870 to 900, and not always the same number."""
STEP = 40

_dispatch = MessagePump._dispatch_message


class Ending:
    """Ends the app when a widget is about to handle one of the next messages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._app: Any = None
        self.left = 0
        self.error: Exception | None = None
        """What a widget raises after the end."""

        async def dispatch(pump: MessagePump, message: Message) -> None:
            await self._handle(pump, message)

        monkeypatch.setattr(MessagePump, "_dispatch_message", dispatch)

    def after(self, app: InspectorApp, messages: int) -> None:
        self._app, self.left = app, messages

    async def _handle(self, pump: MessagePump, message: Message) -> None:
        self.left -= 1
        if self._app is not None and self.left == 0:
            self._app.exit()
            if self.error is not None:
                raise self.error
        await _dispatch(pump, message)


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Ending:
    return Ending(monkeypatch)


async def start(agent: str, ending: Ending, messages: int) -> InspectorApp:
    """Start the app, end it after a number of messages, and return it."""
    app = InspectorApp(Options(reference=agent))
    ending.after(app, messages)
    async with app.run_test() as pilot, asyncio.timeout(60):
        while ending.left > 0:
            await pilot.pause(0.01)
    return app


@pytest.mark.parametrize("messages", range(FIRST, LAST, STEP))
async def test_the_app_ends_while_it_starts(messages: int, mock: str, all_views: None, ending: Ending):
    assert (await start(mock, ending, messages)).return_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + STEP))
async def test_the_app_ends_at_every_message_of_its_start(first: int, mock: str, all_views: None, ending: Ending):
    for messages in range(first, LAST, STEP):
        assert (await start(mock, ending, messages)).return_code == 0, f"after {messages} messages"


@pytest.mark.parametrize("messages", range(20, 300, 40))
async def test_the_app_ends_while_a_dialog_is_mounted(messages: int, open_app: Open, mock: str, ending: Ending):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        ending.after(driver.app, messages)
        opening = asyncio.create_task(_compose(driver))
        await asyncio.wait({opening}, timeout=60)
    assert ending.left <= 0
    assert driver.app.return_code == 0


@pytest.mark.parametrize("messages", range(1, 300, 25))
async def test_the_app_ends_while_a_tab_is_closed(messages: int, open_app: Open, mock: str, ending: Ending):
    async with open_app(mock) as driver:
        await driver.connected()
        path = driver.session.journal.capture.path
        ending.after(driver.app, messages)
        closing = asyncio.create_task(_close(driver))
        await asyncio.wait({closing}, timeout=60)
        driver.app.exit()  # a tab may be closed after fewer messages
    assert driver.app.return_code == 0
    assert not is_being_written(path)


async def _close(driver: Driver) -> None:
    await driver.press("X")
    await driver.pilot.pause()


async def _compose(driver: Driver) -> None:
    await driver.press("ctrl+o")
    await driver.pilot.pause()


async def test_another_error_while_the_app_ends_is_reported(mock: str, ending: Ending):
    ending.error = ValueError("of the test")
    with pytest.raises(ValueError, match="of the test"):
        await start(mock, ending, 200)


async def test_a_missing_widget_is_reported_unless_the_app_ends(open_app: Open, mock: str):
    with pytest.raises(NoMatches, match="of-the-test"):
        async with open_app(mock) as driver:
            await driver.connected()
            driver.app.call_later(driver.app.screen.query_one, "#of-the-test")
            await driver.pilot.pause()
    assert driver.app.return_code == 1
