"""Agents that try to act on the terminal: what reaches it, and what a person sees of it."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest
from evil import CARD, FIELDS, MARKUP, PAYLOADS, SPLIT, artifact, pushes, say_everything, shown, status
from programs import Run, the_capture
from rich.cells import cell_len
from terminal import Ending, Terminal, Token, assert_absent, assert_inert, foreign
from villain import Asked, Lair, Villain, stream

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture

PLAIN = {
    "name": "Villain",
    "description": "says what it likes",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}
IN_ORDER = Ending(0, frozenset())


class Tour:
    """A walk through the program that remembers all that was to be seen."""

    def __init__(self, terminal: Terminal, home: Path) -> None:
        self.terminal = terminal
        self.seen = ""
        self._home = home

    def look(self, what: str = "") -> None:
        """Wait for a text, and take in the screen."""
        self.terminal.wait_for(what)
        self.seen += self.terminal.screen_text() + "\n"

    def leave(self, sign: str) -> None:
        """Press escape, and wait for what tells that it was understood: what comes too soon is read with it."""
        self.terminal.press("escape")
        self.look(sign)

    def records(self, *kinds: Kind) -> list[Record]:
        with Capture.open(the_capture(self._home)) as capture:
            return capture.select(kinds=kinds or tuple(Kind))

    def through_records(self, wanted: list[Record]) -> None:
        """Look at every record of the list that has the focus, in all four ways."""
        for _ in ("decoded", "raw", "hex", "head"):
            self.terminal.press("home")
            for record in wanted:
                self.look(f"#{record.seq} ")
                self.terminal.press("down")
            self.terminal.press("enter")
            self.terminal.wait_for(" v view")
            self.terminal.press("v")
            self.leave(" enter detail")

    def say(self, text: str) -> None:
        """Send a message from Talk and wait until the call is over."""
        before = len(self.records(Kind.END))
        self.terminal.press("alt+1")  # coming from elsewhere, one is at the text
        self.terminal.wait_for("R refresh")
        self.terminal.press("alt+2")
        self.terminal.wait_for("^s send")
        self.terminal.send(text)
        self.terminal.wait_for(f"▌ {text}")
        self.terminal.press("enter")
        self.terminal.wait_for(lambda terminal: len(self.records(Kind.END)) > before)


def unharmed(terminal: Terminal) -> None:
    """Fail unless nothing foreign has reached the terminal so far."""
    assert_inert(terminal.raw)
    assert (terminal.title, terminal.bells) == ("", 0)


def test_hostile_text_in_every_field_is_visible_somewhere_and_acts_nowhere(inspect: Run, home: Path, lair: Lair):
    with lair.serving(Villain(CARD, say_everything, pushes=pushes)) as agent:
        terminal = inspect(agent.url, cols=200, rows=70)
        tour = Tour(terminal, home)
        tour.look("SKILLS")
        terminal.press("r")
        tour.look('"supportedInterfaces"')
        terminal.press("end")
        tour.look('"skills"')
        tour.say("everything")
        tour.look("the agent asks")
        tour.leave(" enter detail")
        terminal.press("tab")
        for number in (1, 2, 3):
            terminal.press("a")
            tour.look(f"{number} of 3")
        terminal.press("p")
        terminal.wait_for("push 127.0.0.1:")
        tour.say("push")
        terminal.wait_for(lambda terminal: len(tour.records(Kind.DELIVERY)) == 4)
        tour.look("the agent asks")
        tour.leave(" enter detail")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        tour.leave(" enter detail")
        tour.say("error")
        tour.look("problem")
        tour.leave(" enter detail")
        terminal.press("4")
        tour.look("DELIVERIES")
        tour.through_records(tour.records(Kind.DELIVERY))
        terminal.press("5")
        tour.look(" enter records")
        calls = [record for record in tour.records(Kind.REQUEST) if record.raw]
        for steps, call in enumerate(reversed(calls)):
            terminal.press("end", *["up"] * steps, "enter")
            tour.look(" enter detail")
            tour.through_records([record for record in tour.records() if call.seq in (record.seq, record.exchange)])
            tour.leave(" enter records")
        terminal.press("3")
        tour.look("task     ")
        terminal.press("6")
        for rule in ("PUSH-001", "PUSH-003", "RPC-001"):
            tour.look(f"│ {rule}")
            terminal.press("down")
        terminal.press("1", "o")
        tour.look("which agent?")
        tour.leave('"skills"')
        terminal.press("f1")
        tour.look("KEYS")
        unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    unharmed(terminal)
    assert_absent(terminal.raw, ["\x1b]52", "\x9b\x9b", "]52;c;q00\x07"])
    assert [field for field in FIELDS if not any(one in tour.seen for one in shown(field))] == []
