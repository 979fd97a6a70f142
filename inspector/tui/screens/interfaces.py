"""A menu of the interfaces of an agent, with protocol version, binding and URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from inspector.protocol.selection import Choice, options
from inspector.session.connection import Connection
from inspector.text.sanitise import clean_line
from inspector.tui.keys import bind
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import FITTED, Dialog
from inspector.tui.widgets.fields import ChoiceList

_LONGEST_URL = 100


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
        self._choices: list[Choice | None] = []

    def body(self) -> ComposeResult:
        """Make the list."""
        listed = ChoiceList(enter_hint="choose", id="interface-list")
        listed.add_class(FITTED)
        yield listed

    def on_mount(self) -> None:
        """List the interfaces that can be used, then the other interfaces with the reason."""
        card, current = self._connection.card, self._connection.choice
        listed = self.query_one(OptionList)
        choices = self._connection.choices
        widths = [
            max((cell_len(text) for text in column), default=0) for column in zip(*map(_columns, choices), strict=True)
        ]
        heading = ""
        for choice in choices:
            if choice.reason != heading:
                heading = choice.reason
                self._add(Option(Content.styled(heading.capitalize(), "$text-soft"), disabled=True), None)
            used = current is not None and (choice.interface, choice.dialect) == (current.interface, current.dialect)
            self._add(Option(_row(choice, widths, used=used)), choice)
            if used:
                listed.highlighted = len(self._choices) - 1
        unusable = [option for option in options(card) if not option.usable]
        if unusable:
            self._add(Option(Content.styled("Not supported", "$text-soft"), disabled=True), None)
        for option in unusable:
            name = f"{option.interface.protocol_version or '?'} · {option.interface.protocol_binding or '?'}"
            self._add(Option(plain(f"  {name:<20} {option.reason}"), disabled=True), None)
        if listed.highlighted is None:
            listed.action_first()
        listed.focus()

    def _add(self, option: Option, choice: Choice | None) -> None:
        self.query_one(OptionList).add_option(option)
        self._choices.append(choice)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the interface that was chosen."""
        choice = self._choices[event.option_index]
        if choice is not None:
            self.dismiss(choice)


def _columns(choice: Choice) -> tuple[str, str, str]:
    traits = choice.dialect.traits
    alias = "" if traits.declared in ("", traits.version) else f" (another name of {traits.declared})"
    return f"A2A {traits.version}{alias}", choice.binding.name, clean_line(choice.interface.url, _LONGEST_URL)


def _row(choice: Choice, widths: Sequence[int], *, used: bool) -> Content:
    version, binding, url = (
        text + " " * (width - cell_len(text)) for text, width in zip(_columns(choice), widths, strict=True)
    )
    return Content.assemble(
        (f"  {version}   {binding}", "bold"), "   ", plain(url), ("   in use" if used else "", "$state-good")
    )
