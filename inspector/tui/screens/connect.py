"""Connect: which agent is it to be? The demo for a new user, recent agents, or a url."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.capture import paths, recent_agents
from inspector.text.units import size
from inspector.tui.render.content import plain
from inspector.tui.render.times import ago
from inspector.tui.widgets.fields import ChoiceList, LineInput
from inspector.tui.widgets.footer import KeyFooter

DEMO = "demo"
"""What stands for the built-in agent where a reference is expected."""


_CAPTURES = 5
"""How many captures are offered."""


class ConnectScreen(Screen[None]):
    """A field for a reference, and a list of those known."""

    CSS_PATH = "connect.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "to_list", "list", id="connect.list", tooltip="Go to the list of agents"),
        Binding("escape", "back", "back", id="connect.back", tooltip="Back to the agent that is connected"),
    ]

    class Chosen(Message):
        """An agent was chosen: a reference, or `DEMO`."""

        def __init__(self, reference: str) -> None:
            super().__init__()
            self.reference = reference

    class CaptureChosen(Message):
        """A capture was chosen, to be looked at."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, can_go_back: bool = False) -> None:
        super().__init__()
        self._can_go_back = can_go_back
        self._choices: list[str | Path] = []

    def compose(self) -> ComposeResult:
        """Make the field and the list."""
        with Vertical(id="connect"):
            yield Static(
                Content.assemble(("a2a-inspect", "bold $bar"), ("   which agent?", "$text-soft")), id="connect-title"
            )
            hint = "base url, card url, or path of a card file"
            yield LineInput(enter_hint="connect", placeholder=hint, id="reference")
            yield Static(id="connect-problem")
            yield ChoiceList(enter_hint="connect", id="agents")
        yield KeyFooter()

    def on_mount(self) -> None:
        """List the agents that are known."""
        agents, problem = recent_agents.load()
        options = self.query_one(OptionList)
        options.add_option(Option(_row("demo", "the built-in mock agent, started for you", "")))
        self._choices = [DEMO]
        for agent in agents:
            age = f"{ago(time.time() - agent.last_seen)} ago"
            options.add_option(Option(_row(agent.name, f"{agent.url}   {agent.generation}", age)))
            self._choices.append(agent.url)
        for capture in paths.recent_captures(_CAPTURES):
            age = f"{ago(time.time() - capture.changed)} ago"
            options.add_option(Option(_row("recording", f"{capture.path.name}   {size(capture.size)}", age)))
            self._choices.append(capture.path)
        options.highlighted = 0
        if problem:
            self.show_problem(problem)
        self.query_one(Input).focus()

    def show_problem(self, sentence: str) -> None:
        """Say what is wrong, below the field."""
        self.query_one("#connect-problem", Static).update(plain(sentence))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Connect to what was typed, or to the marked agent where nothing was."""
        event.stop()
        self.action_choose()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Connect to an agent of the list."""
        self._choose(self._choices[event.option_index])

    def _choose(self, choice: str | Path) -> None:
        self.post_message(self.CaptureChosen(choice) if isinstance(choice, Path) else self.Chosen(choice))

    def action_choose(self) -> None:
        """Connect to what was typed, or to the marked agent."""
        typed = self.query_one(Input).value.strip()
        if typed.endswith(paths.SUFFIX) and "://" not in typed:
            self._choose(Path(typed).expanduser())
        else:
            self._choose(typed or self._choices[self.query_one(OptionList).highlighted or 0])

    def action_to_list(self) -> None:
        """Go from the field to the list."""
        self.query_one(OptionList).focus()

    def action_back(self) -> None:
        """Go back to the workbench."""
        self.app.pop_screen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the way back only where there is one."""
        if action == "back":
            return self._can_go_back
        return super().check_action(action, parameters)


def _row(name: str, what: str, age: str) -> Content:
    return Content.assemble(plain(f"{name:<24.24}"), (" ", ""), plain(what), ("   " + age, ""))
