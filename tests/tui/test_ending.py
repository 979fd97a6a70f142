"""The app ends cleanly at any moment of its start: while it connects, and while each view is mounted."""

import asyncio

import pytest
from textual.message import Message
from textual.message_pump import MessagePump

from inspector.options import Options
from inspector.tui.app import InspectorApp

FIRST = 60
"""The number of the first message that is tried: those before it are Textual's own."""
LAST = 800
"""The number of a message before the last: there are 870 to 900, not always the same."""
STEP = 40

_dispatch = MessagePump._dispatch_message


@pytest.mark.parametrize("number", range(FIRST, LAST, STEP))
async def test_the_app_ends_at_a_message(number: int, mock: str, all_views: None, monkeypatch: pytest.MonkeyPatch):
    await _end_at(number, mock, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(FIRST, FIRST + STEP))
async def test_the_app_ends_at_every_message(start: int, mock: str, all_views: None, monkeypatch: pytest.MonkeyPatch):
    for number in range(start, LAST, STEP):
        await _end_at(number, mock, monkeypatch)


async def _end_at(number: int, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the app, and exit when a widget is about to handle the message with a number."""
    app, handled = InspectorApp(Options(reference=agent)), 0

    async def dispatch(pump: MessagePump, message: Message) -> None:
        nonlocal handled
        handled += 1
        if handled == number:
            app.exit()
        await _dispatch(pump, message)

    monkeypatch.setattr(MessagePump, "_dispatch_message", dispatch)
    async with app.run_test() as pilot:
        async with asyncio.timeout(10):
            while handled < number:
                await pilot.pause(0.01)
    assert app.return_code == 0, f"message {number}"
