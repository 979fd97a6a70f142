"""A menu of the interfaces of an agent, with protocol version, binding and URL."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from inspector.protocol.selection import Choice, alternatives, options
from inspector.session.connection import Connection
from inspector.tui.keys import bind
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fields import ChoiceList


class InterfacesScreen(Dialog[Choice]):
    """Returns the interface that was chosen."""

    FRAME = "interfaces"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "leave", "close", "Close the menu"),
        bind("quit", "leave", "close", "Close the menu", show=False),
    ]

    def __init__(self, connection: Connection, title: str) -> None:
        super().__init__(title)
        self._connection = connection
        self._choices: list[Choice] = []

    def body(self) -> ComposeResult:
        """Make the list."""
        yield ChoiceList(enter_hint="choose", id="interface-list")

    def on_mount(self) -> None:
        """List the interfaces that can be used, then the other interfaces with the reason."""
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
        """Return the interface that was chosen."""
        self.dismiss(self._choices[event.option_index])


def _row(choice: Choice, *, used: bool) -> Content:
    name = f"{choice.dialect.version} · {choice.binding.name}"
    return Content.assemble(
        (f"{name:<20} ", "bold"),
        plain(choice.interface.url),
        (f"   {'in use' if used else choice.reason}", "$text-soft"),
    )
