"""From "no delivery" to the cause, and from a response override to the retries of the agent, in a real terminal."""

from __future__ import annotations

import re

import pytest
from programs import Run
from terminal import Ending, Terminal, assert_inert

IN_ORDER = Ending(0, frozenset())
SIZES = pytest.mark.parametrize(("cols", "rows"), [(120, 40), (80, 24)])


def say(terminal: Terminal, text: str) -> None:
    terminal.wait_for("A small agent for trying things out.")
    terminal.press("2", "i")
    terminal.wait_for("Write a message")
    terminal.send(text)
    terminal.wait_for(f"▌ {text}")
    terminal.press("enter")


@SIZES
def test_user_finds_why_a_notification_is_missing(inspect: Run, cols: int, rows: int):
    with inspect("demo", cols=cols, rows=rows) as terminal:
        say(terminal, "report 2")
        terminal.wait_for("● completed")
        terminal.press("alt+4")
        terminal.wait_for("Receiver ─ not listening")
        terminal.wait_for("Press p to start the receiver")
        terminal.press("R")
        terminal.wait_for("Register a webhook for task ")
        terminal.press("enter")
        terminal.wait_for("✓ stored by the agent")
        terminal.wait_for("reachable   yes: the agent is on this machine")
        terminal.wait_for("No deliveries yet.")
        terminal.press("w")
        terminal.wait_for("Missing deliveries of task")
        terminal.wait_for(lambda terminal: re.search("certain .*the task ended before", terminal.screen_text()))
        terminal.wait_for("Send the next message with a webhook")
        terminal.press("escape")
        terminal.wait_for("No deliveries yet.")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


@SIZES
def test_user_sees_retries_of_failed_deliveries(inspect: Run, cols: int, rows: int):
    with inspect("demo", cols=cols, rows=rows) as terminal:
        terminal.wait_for("A small agent for trying things out.")
        terminal.press("p", "4")
        terminal.wait_for("⇐ webhook ")
        terminal.wait_for("● listening ─ webhook with every message")
        terminal.press("O")
        terminal.wait_for("Response to deliveries")
        for _ in range(7):
            terminal.press("down")
        terminal.press("enter")
        terminal.wait_for("enter next")
        terminal.send("2")
        terminal.wait_for(lambda terminal: re.search(r"deliveries +2\b", terminal.screen_text()))
        terminal.press("enter")
        terminal.wait_for("enter confirm")
        terminal.press("enter")
        terminal.wait_for("simulated error: 500, 2 more")
        terminal.press("1")
        say(terminal, "report 2")
        terminal.wait_for("● completed")
        terminal.press("alt+4")
        terminal.wait_for(lambda terminal: re.search("(x3|attempt 3) .*204", terminal.screen_text()))
        terminal.press("c")
        terminal.wait_for("2 retries")
        terminal.press("escape", "ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
