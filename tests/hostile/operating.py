"""Operate the program with a hostile agent, and read what reaches the terminal."""

from __future__ import annotations

from pathlib import Path

from hostile_agent import HostileAgent, ReceivedRequest, stream
from programs import only_capture
from rich.cells import cell_len
from terminal import Ending, Terminal, assert_inert

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture

PLAIN = {
    "name": "Hostile",
    "description": "a plain card",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}
IN_ORDER = Ending(0, frozenset())
WAITING = "the agent waits for your input"


class Tour:
    """Operates the program and collects every screen in `seen`."""

    def __init__(self, terminal: Terminal, home: Path) -> None:
        self.terminal = terminal
        self.seen = ""
        self._home = home

    def look(self, what: str = "") -> None:
        """Wait for a text and add the screen to `seen`."""
        self.terminal.wait_for(what)
        self.seen += self.terminal.screen_text() + "\n"

    @property
    def lines(self) -> list[str]:
        return self.terminal.screen_text().split("\n")

    def leave(self, text: str) -> None:
        """Press escape and wait for a text: keys sent too early would be read as one sequence with it."""
        self.terminal.press("escape")
        self.look(text)

    def records(self, *kinds: Kind) -> list[Record]:
        with Capture.open(only_capture(self._home)) as capture:
            return capture.select(kinds=kinds or tuple(Kind))

    def through_records(self, wanted: list[Record]) -> None:
        """Show the records of the focused list in all four views; as hex, one record is enough."""
        for view in ("raw", "hex", "headers", "decoded"):
            self._choose(view, wanted)
            self.terminal.wait_for("│0000  " if view == "hex" else "")
            for record in wanted if view != "hex" else wanted[:1]:
                self.look(f"record       #{record.seq} " if view == "headers" else f"Detail ─ #{record.seq} ")
                self.terminal.press("down")

    def _choose(self, view: str, wanted: list[Record]) -> None:
        """Click on a view in the border while the first record is selected: the words move with its title."""
        self.terminal.press("end")
        self.terminal.wait_for(f"╭─ Detail ─ #{wanted[-1].seq} ")
        self.terminal.press("home")
        title = f"╭─ Detail ─ #{wanted[0].seq} "
        self.terminal.wait_for(title)
        row, line = next((row, line) for row, line in enumerate(self.lines) if title in line)
        self.terminal.click(line.index(view, line.index(title)), row)

    def go_to_text(self) -> None:
        """Go to the composer from any view and focus it."""
        self.terminal.press("alt+6")
        self.terminal.wait_for("╭─ Findings ")
        self.terminal.press("alt+2")
        self.terminal.wait_for(" i write")
        self.terminal.press("i")
        self.terminal.wait_for(" enter send")

    def say(self, text: str) -> None:
        """Send a message from Chat and wait until the call is over."""
        before = len(self.records(Kind.END))
        self.go_to_text()
        self.terminal.send(text)
        self.terminal.wait_for(f"▌ {text}")
        self.terminal.press("enter")
        self.terminal.wait_for(lambda terminal: len(self.records(Kind.END)) > before)


def assert_unharmed(terminal: Terminal) -> None:
    """Fail if hostile output has reached the terminal."""
    assert_inert(terminal.raw)
    assert (terminal.title, terminal.bells) == ("", 0)


def streaming(*events: dict[str, object] | bytes) -> HostileAgent:
    """Return an agent with a plain card that responds to every message with these events."""

    def say(hostile_agent: HostileAgent, request: ReceivedRequest) -> list[bytes]:
        return stream(*(event if isinstance(event, bytes) else request.frame(event) for event in events))

    return HostileAgent(PLAIN, say)


def states_of(lines: list[str]) -> list[str]:
    """Return the texts after the state `working` on the timeline."""
    return [line.partition("◐ working")[2].lstrip() for line in lines if "◐ working" in line]


def edges_of(line: str) -> list[int]:
    """Return the cells in which a line of the screen has the edge or a corner of a pane."""
    return [cell_len(line[:index]) for index, character in enumerate(line) if character in "│╭╮╰╯"]


def click_on_everything(terminal: Terminal, *texts: str) -> None:
    """Click on the last letter of each of these texts in every line of the screen."""
    places = [
        (cell_len(line[: line.index(text) + len(text) - 1]), row)
        for row, line in enumerate(terminal.screen_text().split("\n"))
        for text in texts
        if row and text in line  # the first line is the header with its own menu
    ]
    assert places
    for column, row in places:
        terminal.click(column, row)
