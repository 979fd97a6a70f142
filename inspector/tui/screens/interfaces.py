"""The interfaces of an agent as a menu: which one to talk to, in which generation."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from inspector.protocol.selection import Choice, alternatives, options
from inspector.session.connection import Connection
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fields import ChoiceList
from inspector.tui.widgets.footer import KeyFooter


class InterfacesScreen(Dialog[Choice]):
    """Gives back the interface that was chosen, or None."""

    CSS_PATH = "interfaces.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "close", id="interfaces.close", tooltip="Close the menu"),
    ]

    def __init__(self, connection: Connection, title: str) -> None:
        super().__init__()
        self._connection = connection
        self._title_text = title
        self._choices: list[Choice] = []

    def compose(self) -> ComposeResult:
        """Make the title, the list and the keys."""
        with Vertical(id="interfaces"):
            yield Static(Content.styled(self._title_text, "bold $bar"), classes="pane-title")
            yield ChoiceList(enter_hint="choose", id="interface-list")
            yield KeyFooter()

    def on_mount(self) -> None:
        """List what can be chosen, and below it what cannot, with the reason."""
        card = self._connection.card
        listed = self.query_one(OptionList)
        for choice in alternatives(card):
            self._choices.append(choice)
            current = self._connection.choice
            used = current is not None and (choice.interface, choice.dialect) == (current.interface, current.dialect)
            listed.add_option(Option(_row(choice, used=used)))
            if used:
                listed.highlighted = len(self._choices) - 1
        for option in options(card):
            if not option.usable:
                name = f"{option.interface.protocol_version or '?'} · {option.interface.protocol_binding or '?'}"
                listed.add_option(Option(plain(f"{name:<20} {option.reason}"), disabled=True))
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back what was chosen."""
        self.dismiss(self._choices[event.option_index])


def _row(choice: Choice, *, used: bool) -> Content:
    name = f"{choice.dialect.generation} · {choice.binding.name}"
    return Content.assemble(
        (f"{name:<20} ", "bold"),
        plain(choice.interface.url),
        (f"   {'in use' if used else choice.reason}", "$text-soft"),
    )
