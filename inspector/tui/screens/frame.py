"""The frame that is on the screen from the first paint on: the status, the tabs of the views, and the footer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from inspector.tui.render.glyphs import Glyphs
from inspector.tui.views.registry import view_bindings
from inspector.tui.widgets.footer import KeyFooter
from inspector.tui.widgets.status_bar import Status, StatusBar
from inspector.tui.widgets.view_tabs import ViewTabs

LAST_KEYS = (
    Binding("question_mark", "app.help", "help", id="help.short", tooltip="What the keys do here"),
    Binding("q", "app.quit", "quit", id="quit.short", tooltip="Leave the inspector", show=False),
)
"""The keys that the help lists behind those of the screen."""


class FrameScreen(Screen[None]):
    """The frame around the view with the id `view`, which the tabs and the number keys change."""

    CSS_PATH = "frame.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *view_bindings(),
    ]

    view: reactive[str] = reactive("agent", init=False)
    """The id of the view that is seen."""

    def __init__(self, glyphs: Glyphs, view: str, doing: str) -> None:
        super().__init__()
        self.status_bar = StatusBar(glyphs, Status(light="busy", doing=doing))
        self._tabs = ViewTabs(view)
        self._footer = KeyFooter()
        self.set_reactive(FrameScreen.view, view)

    def compose(self) -> ComposeResult:
        """Make the frame around the views."""
        yield self.status_bar
        yield self._tabs
        yield self.content()
        yield self._footer

    def content(self) -> Widget:
        """Return what the frame is around."""
        raise NotImplementedError

    def watch_view(self, view: str) -> None:
        """Mark another view as the one that is seen."""
        self._tabs.current = view

    def action_go(self, view: str) -> None:
        """Go to a view."""
        self.view = view

    def on_view_tabs_chosen(self, event: ViewTabs.Chosen) -> None:
        """Go to the view that was clicked."""
        self.view = event.view


class BootScreen(FrameScreen):
    """The frame while there is no session; `view` is the one that the workbench opens with."""

    BINDINGS: ClassVar[list[BindingType]] = [*LAST_KEYS]

    def __init__(self, glyphs: Glyphs, view: str = "agent") -> None:
        super().__init__(glyphs, view, "starting")

    def content(self) -> Widget:
        """Return nothing yet."""
        return Static(id="views")
