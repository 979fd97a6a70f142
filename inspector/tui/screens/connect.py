"""The connect screen: enter an agent, or choose the demo, a recent agent or a recent capture."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.capture import paths, recent_agents
from inspector.text.units import size
from inspector.tui.keys import bind
from inspector.tui.render.content import plain
from inspector.tui.render.times import ago
from inspector.tui.widgets.fields import ChoiceList, LineInput
from inspector.tui.widgets.footer import KeyFooter

DEMO = "demo"
"""The reference of the built-in agent."""
_CAPTURES = 5
"""The maximum number of captures that are listed."""


class ConnectScreen(Screen[None]):
    """A field for the URL or card file of an agent, and a list of known agents and captures."""

    CSS_PATH = "connect.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("down", "to_list", "list", "Go to the list of agents"),
        bind("back", "back", "", "Go back to the connected agent"),
    ]

    @dataclass
    class Chosen(Message):
        """The user chose an agent (a URL, a card file or `DEMO`) or a capture (a path)."""

        chosen: str | Path

    def __init__(self, *, can_go_back: bool = False) -> None:
        super().__init__()
        self._can_go_back = can_go_back
        self._choices: list[str | Path] = []

    def compose(self) -> ComposeResult:
        """Make the field and the list."""
        with Vertical(id="connect"):
            yield Static(
                Content.assemble(("a2a-inspect", "bold $bar"), ("   Connect to an agent", "$text-soft")),
                id="connect-title",
            )
            hint = "base URL, card URL, or path of a card file or capture"
            yield LineInput(enter_hint="connect", placeholder=hint, id="reference")
            yield Static(id="connect-problem")
            yield ChoiceList(enter_hint="connect", id="agents")
        yield KeyFooter()

    def on_mount(self) -> None:
        """List the known agents and captures."""
        agents, problem = recent_agents.load()
        self._add(DEMO, "demo", "the built-in mock agent")
        for agent in agents:
            self._add(agent.url, agent.name, f"{agent.url}   {agent.protocol_version}", agent.last_seen)
        for capture in paths.recent_captures(_CAPTURES):
            self._add(capture.path, "capture", f"{capture.path.name}   {size(capture.size)}", capture.changed)
        self.query_one(OptionList).highlighted = 0
        self.query_one("#connect-problem", Static).update(plain(problem))
        self.query_one(Input).focus()

    def _add(self, choice: str | Path, name: str, details: str, used: float | None = None) -> None:
        """Add a line to the list; `used` is when the agent or the capture was used last."""
        age = "" if used is None else f"{ago(time.time() - used)} ago"
        line = Content.assemble(plain(f"{name:<24.24}"), (" ", ""), plain(details), ("   " + age, ""))
        self.query_one(OptionList).add_option(Option(line))
        self._choices.append(choice)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the typed text, or the selected line if the field is empty."""
        event.stop()
        typed = event.value.strip()
        if typed.endswith(paths.SUFFIX) and "://" not in typed:
            self.post_message(self.Chosen(Path(typed).expanduser()))
        else:
            selected = self._choices[self.query_one(OptionList).highlighted or 0]
            self.post_message(self.Chosen(typed or selected))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a line of the list."""
        self.post_message(self.Chosen(self._choices[event.option_index]))

    def action_to_list(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    def action_back(self) -> None:
        """Close the screen."""
        self.app.pop_screen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key to go back if there is no workbench to go back to."""
        return self._can_go_back if action == "back" else super().check_action(action, parameters)
