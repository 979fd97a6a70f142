"""The frame of the main screens: the status bar, the tabs of the views, and the footer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from inspector.tui.keys import bind
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.views.registry import view_bindings
from inspector.tui.widgets.footer import KeyFooter
from inspector.tui.widgets.status_bar import Status, StatusBar
from inspector.tui.widgets.view_tabs import ViewTabs

LAST_KEYS = (
    bind("settings", "app.settings", show=False),
    bind("help", "app.help"),
    bind("quit", "app.quit", "", "Quit a2a-inspect", show=False),
)
"""The keys that the help lists last."""


class FrameScreen(Screen[None]):
    """A screen with the frame around its content; the tabs and the number keys change `view`."""

    CSS_PATH = "frame.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*view_bindings()]

    view: reactive[str] = reactive("agent", init=False)
    """The id of the current view."""

    def __init__(self, glyphs: Glyphs, view: str, doing: str, content: Widget) -> None:
        super().__init__()
        self._content = content
        self.status_bar = StatusBar(glyphs, Status(light="busy", doing=doing))
        self._tabs = ViewTabs(view)
        self._footer = KeyFooter()
        self.set_reactive(FrameScreen.view, view)

    def compose(self) -> ComposeResult:
        """Make the frame around the content."""
        yield self.status_bar
        yield self._tabs
        yield self._content
        yield self._footer

    def watch_view(self, view: str) -> None:
        """Select the tab of the current view."""
        self._tabs.current = view

    async def action_go(self, view: str) -> None:
        """Go to a view."""
        self.view = view

    async def on_view_tabs_chosen(self, event: ViewTabs.Chosen) -> None:
        """Go to the view that was clicked."""
        await self.action_go(event.view)


class BootScreen(FrameScreen):
    """The frame while the session is loaded; the workbench then opens with the same `view`."""

    BINDINGS: ClassVar[list[BindingType]] = [*LAST_KEYS]

    def __init__(self, glyphs: Glyphs, view: str = "agent") -> None:
        super().__init__(glyphs, view, "starting", Static(id="views"))
