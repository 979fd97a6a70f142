"""Search: one line at the bottom, over whatever is searched while one types."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector.tui.widgets.fields import LineInput


class SearchScreen(ModalScreen[None]):
    """Calls `find` with what is typed, at each key, and shows what it says; escape takes the search back."""

    CSS_PATH = "search.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "take back", id="search.close", tooltip="Search for nothing any more"),
    ]

    def __init__(self, find: Callable[[str], str], words: str = "") -> None:
        super().__init__()
        self._find = find
        self._words = words

    def compose(self) -> ComposeResult:
        """Make the line."""
        with Horizontal(id="search"):
            yield Static("find ", id="search-label")
            yield LineInput(self._words, id="search-words")
            yield Static(id="search-found")

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for what stands there now."""
        said = self._find(event.value)
        keys = "   enter keeps it   escape takes it back"
        self.query_one("#search-found", Static).update(Content.assemble((said, "$foreground"), (keys, "$wire-quiet")))

    def on_input_submitted(self) -> None:
        """Leave what was found as it is."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Leave what was found as it is, when something else is clicked."""
        if event.widget is self:
            self.dismiss(None)

    def action_give_up(self) -> None:
        """Search for nothing any more."""
        self._find("")
        self.dismiss(None)
