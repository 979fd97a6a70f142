"""A search line at the bottom of the screen; the search runs at each key."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector.tui.keys import bind
from inspector.tui.render.content import styled
from inspector.tui.render.key_hints import with_keys
from inspector.tui.screens.dialog import bring_to_top
from inspector.tui.widgets.fields import LineInput


class SearchScreen(ModalScreen[None]):
    """Calls `find` with the typed text at each key and shows its result; going back clears the search."""

    CSS_PATH = "search.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "clear", "clear", "Clear the search"),
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

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the line, unless it is closed already."""
        return super().dismiss(result) if bring_to_top(self) else AwaitComplete()

    def on_mount(self) -> None:
        """Focus the line."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for the typed text."""
        found = self._find(event.value)
        keys = with_keys("   {open} keep   {back} clear", "$wire-quiet")
        self.query_one("#search-found", Static).update(styled([(found, "$foreground"), *keys]))

    def on_input_submitted(self) -> None:
        """Close the line and keep the search."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Close the line and keep the search, if the click is outside the line."""
        if event.widget is self:
            self.dismiss(None)

    def action_clear(self) -> None:
        """Clear the search and close the line."""
        self._find("")
        self.dismiss(None)
