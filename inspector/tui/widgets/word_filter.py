"""A line above a list in which words are typed; the list shows the rows that contain all of them."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from inspector.lazy_dataclass import dataclass
from inspector.tui.keys import bind
from inspector.tui.widgets.fields import LineInput


class WordFilter(LineInput):
    """The line, hidden until it is opened; enter goes to the list, escape removes the filter."""

    DEFAULT_CSS = """
    WordFilter { height: 1; display: none; color: $state-good; &.-open { display: block; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "clear", "clear", "Remove the filter"),
    ]

    @dataclass
    class Typed(Message):
        """The words were changed or removed."""

        words: str

    class Left(Message):
        """The user wants to go to the list."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, enter_hint="go to the list", select_on_focus=False)

    def open(self) -> None:
        """Show and focus the line."""
        self.add_class("-open")
        self.screen.set_focus(self)

    def action_clear(self) -> None:
        """Remove the filter, and go to the list."""
        self.remove_class("-open")
        self.value = ""
        self.post_message(self.Left())

    def on_input_changed(self, event: Input.Changed) -> None:
        """Report the words."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list; without words, hide the line."""
        event.stop()
        if not event.value.strip():
            self.remove_class("-open")
        self.post_message(self.Left())
