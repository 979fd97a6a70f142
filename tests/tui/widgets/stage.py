"""One widget on a stage: an app that shows it and writes down what it posts."""

from __future__ import annotations

import idle
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.tui.themes import fallback_variables
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.json_view import JsonView


class Stage(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget
        self.heard: list[tuple[str, object]] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallback_variables(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()

    def on_feed_highlighted(self, message: Feed.Highlighted) -> None:
        self.heard.append(("highlighted", message.index))

    def on_feed_opened(self, message: Feed.Opened) -> None:
        self.heard.append(("opened", message.index))

    def on_json_view_highlighted(self, message: JsonView.Highlighted) -> None:
        self.heard.append(("highlighted", message.pointer))


def drawn(widget: Widget) -> list[str]:
    """Return the lines that the widget draws, without the spaces at their ends."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is left to be handled, and draw the screen."""
    await pilot.pause()
    idle.draw(pilot.app.screen)
    await pilot.pause()
