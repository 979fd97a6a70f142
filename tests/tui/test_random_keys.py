"""Random keys, clicks and pasted texts, at random moments from the start on, do not end the app with an error."""

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
CHOICES = ("enter", "escape", "down", "tab")
"""The keys that are pressed most often: they choose in a dialog, close it, and go on to the next choice."""
PASTED = ("", "\0", "~nosuch/x", "http://[::1", "a\nb\u2028c", "\ud83d", "x" * 5000, '{"a": 1e999}', "env:NOPE", "-1")
"""Pasted texts that are not valid everywhere: as a path, a URL, JSON, a number or a character."""
GAPS = (0, 0, 3, 10, 40, 60)
"""The messages that widgets handle between two inputs."""

_dispatch = MessagePump._dispatch_message


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
async def test_random_input(seed: int, mock: str, all_views: None, monkeypatch: pytest.MonkeyPatch):
    source, handled = random.Random(seed), 0
    size = source.choice(SIZES)
    app = InspectorApp(Options(reference=mock))
    moment, planned = source.randint(60, 700), []
    for _ in range(source.randint(3, 90)):
        planned.append((moment, random_input(source, size)))
        moment += source.choice(GAPS)
    description = str([each for _, inputs in planned for each in inputs])

    async def dispatch(pump: MessagePump, message: Message) -> None:
        nonlocal handled
        handled += 1
        while planned and planned[0][0] <= handled:
            for each in planned.pop(0)[1]:
                app.post_message(each)
        await _dispatch(pump, message)

    monkeypatch.setattr(MessagePump, "_dispatch_message", dispatch)
    async with app.run_test(size=size) as pilot:
        end = time.monotonic() + 5  # nothing happens any more if the last inputs have no effect
        while planned and time.monotonic() < end:
            await pilot.pause(0.02)
        await pilot.pause(0.1)
        app.exit()
        await asyncio.sleep(0)
    assert app.return_code == 0, description


def random_input(source: random.Random, size: tuple[int, int]) -> list[events.Event]:
    """Return the events of a key, of a click anywhere on the screen, or of a pasted text."""
    kind = source.random()
    if kind < 0.12:
        column, row = (source.randrange(length) for length in size)
        buttons = (events.MouseDown, events.MouseUp)
        return [button(None, column, row, 0, 0, 1, False, False, False, column, row) for button in buttons]
    if kind < 0.16:
        return [events.Paste(source.choice(PASTED))]
    key = source.choice(CHOICES if kind < 0.4 else KEYS)
    return [events.Key(key, key_to_character(key))]
