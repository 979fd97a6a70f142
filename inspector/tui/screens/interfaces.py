"""A menu of the interfaces of an agent, with protocol version, binding and URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
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
from inspector.tui.render.text_lines import padded
from inspector.tui.screens.dialog import FITTED, Dialog
from inspector.tui.widgets.fields import ChoiceList, ValueOption, value_of

_IN_USE = "in use   "
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

    def body(self) -> ComposeResult:
        """List the interfaces that can be used, then the other interfaces with the reason."""
        yield ChoiceList(*self._options(), enter_hint="choose", id="interface-list", classes=FITTED)

    def _options(self) -> Iterator[Option]:
        choices = self._connection.choices
        widths = [
            max((cell_len(text) for text in column), default=0) for column in zip(*map(_columns, choices), strict=True)
        ]
        is_any_used = any(map(self._is_used, choices))
        for reason, group in groupby(choices, lambda choice: choice.reason):
            yield _heading(reason.capitalize())
            for choice in group:
                row = _row(choice, widths, used=self._is_used(choice), is_any_used=is_any_used)
                yield ValueOption(row, choice)
        unusable = [option for option in options(self._connection.card) if not option.usable]
        if unusable:
            yield _heading("Not supported")
        for option in unusable:
            name = f"{option.interface.protocol_version or '?'} · {option.interface.protocol_binding or '?'}"
            yield Option(plain(f"  {name:<20} {option.reason}"), disabled=True)

    def _is_used(self, choice: Choice) -> bool:
        current = self._connection.choice
        return current is not None and (choice.interface, choice.dialect) == (current.interface, current.dialect)

    def on_mount(self) -> None:
        """Select the interface in use, else the first."""
        listed = self.query_one(ChoiceList)
        found = (value_of(option, Choice) for option in listed.options)
        used = (index for index, choice in enumerate(found) if choice is not None and self._is_used(choice))
        listed.highlighted = next(used, None)
        if listed.highlighted is None:
            listed.action_first()
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the interface that was chosen."""
        self.dismiss(value_of(event.option, Choice))


def _heading(text: str) -> Option:
    return Option(Content.styled(text, "$text-soft"), disabled=True)


def _columns(choice: Choice) -> tuple[str, str, str]:
    traits = choice.dialect.traits
    alias = "" if traits.declared in ("", traits.version) else f" (= {traits.declared})"
    return f"A2A {traits.version}{alias}", choice.binding.name, clean_line(choice.interface.url, _LONGEST_URL)


def _row(choice: Choice, widths: Sequence[int], *, used: bool, is_any_used: bool) -> Content:
    version, binding, url = map(padded, _columns(choice), widths)
    mark = _IN_USE if used else " " * len(_IN_USE) if is_any_used else ""
    return Content.assemble((f"  {version}   {binding}   ", "bold"), (mark, "$state-good"), plain(url))
