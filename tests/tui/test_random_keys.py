"""Random keys, pressed at random moments from the start on, do not end the app with an error."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from textual import events
from textual.keys import key_to_character
from textual.message import Message
from textual.message_pump import MessagePump

from inspector.options import Options
from inspector.tui.app import InspectorApp
from inspector.tui.keys import COMMANDS

SIZES = ((80, 24), (110, 30), (200, 50))
ENDING = ("quit", "quit-always")
KEYS = sorted(
    {key for name, command in COMMANDS.items() if name not in ENDING for key in command.keys.split(",")}
    | {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "shift+tab", "enter", "space", "x"}
)
GAPS = (0, 3, 10, 40, 60)
"""The messages that widgets handle between two keys."""

_dispatch = MessagePump._dispatch_message


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
async def test_random_keys(seed: int, mock: str, all_views: None, monkeypatch: pytest.MonkeyPatch):
    source, handled = random.Random(seed), 0
    app = InspectorApp(Options(reference=mock))
    moment, presses = source.randint(60, 700), []
    for _ in range(source.randint(3, 60)):
        presses.append((moment, source.choice(KEYS)))
        moment += source.choice(GAPS)

    async def dispatch(pump: MessagePump, message: Message) -> None:
        nonlocal handled
        handled += 1
        while presses and presses[0][0] <= handled:
            app.post_message(events.Key(presses[0][1], key_to_character(presses.pop(0)[1])))
        await _dispatch(pump, message)

    monkeypatch.setattr(MessagePump, "_dispatch_message", dispatch)
    async with app.run_test(size=source.choice(SIZES)) as pilot:
        end = time.monotonic() + 5  # nothing happens any more if the last keys have no effect
        while presses and time.monotonic() < end:
            await pilot.pause(0.02)
        await pilot.pause(0.1)
        app.exit()
        await asyncio.sleep(0)
    assert app.return_code == 0, presses
