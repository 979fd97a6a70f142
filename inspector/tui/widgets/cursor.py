"""A line view with a cursor: one line is the one that keys and clicks are about."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.strip import Strip

from inspector.tui.render.text_lines import LineSource
from inspector.tui.widgets.lines import LineView

NOWHERE = -1
"""Where the cursor is while there are no lines."""


class CursorView(LineView):
    """Draws lines of which one is under the cursor, marked with a bar at its left and a background.

    While the view follows the tail, the cursor stays on the last line.
    """

    BAR: ClassVar[str] = "▌"
    """The mark in the first column of the line under the cursor."""

    DEFAULT_CSS = """
    CursorView {
        & > .cursor--line { background: $cursor; }
        & > .cursor--bar { color: $wire-quiet; }
        &:focus > .cursor--bar { color: $bar; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", show=False, id="lines.open", tooltip="Open the line under the cursor"),
    ]

    enter_hint = ""
    """What enter does to a line, in a word or two, for whoever shows the keys."""

    cursor: var[int] = var(NOWHERE, init=False)
    """The line under the cursor, `NOWHERE` while there is none."""

    _tail_held = True
    """Whether the cursor was put on the last line, wherever the last line may be now."""

    _opened_by_clicks = False
    """Whether this chain of clicks has opened the line already: a double click opens once."""

    def _highlighted(self) -> None:
        """Tell whoever shows more about the line under the cursor that it is another one."""

    def _opened(self) -> None:
        """Do what enter or a second click on the line under the cursor asks for."""

    def show(self, source: LineSource) -> None:
        """Draw another source, with the cursor on its first line or, with `follow`, on its last."""
        self.cursor = NOWHERE
        self._tail_held = True
        super().show(source)

    def refresh_source(self) -> None:
        """Draw again what is seen, because the source grew or changed; the cursor stays with its line number."""
        super().refresh_source()
        if self.is_attached:
            self._place_cursor()

    def on_mount(self) -> None:
        """Put the cursor somewhere if there are lines already."""
        self._place_cursor()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor within the lines."""
        return max(NOWHERE, min(cursor, self.line_count - 1))

    def watch_cursor(self, before: int, cursor: int) -> None:
        """Bring the line under the cursor into view and tell about it."""
        self._tail_held = cursor == self.line_count - 1
        if cursor != NOWHERE:
            self._bring_into_view(cursor)
            self._highlighted()
        self._settle()
        self.refresh_line(before)
        self.refresh_line(cursor)

    def _place_cursor(self) -> None:
        self.cursor = self.line_count - 1 if self.following else max(0, self.cursor)

    def _holds_tail(self) -> bool:
        return self._tail_held

    def _settle(self) -> None:
        super()._settle()
        if self.following and self.cursor != self.line_count - 1:
            self.cursor = self.line_count - 1
        elif self.cursor == NOWHERE and self.line_count:
            self.cursor = 0  # lines that there were not before the width was known

    def _bring_into_view(self, index: int) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if index < top:
            self.scroll_to(y=index, animate=False, force=True)
        elif height and index >= top + height:
            self.scroll_to(y=index - height + 1, animate=False, force=True)

    @property
    def _body_width(self) -> int:
        return max(0, super()._body_width - 1)

    def _draw(self, index: int) -> Strip:
        style = self.visual_style.rich_style
        bar = Segment(" ", style)
        if index == self.cursor:
            style += self.style_of("cursor--line")
            bar = Segment(self.BAR, style + self.style_of("cursor--bar"))
        width = self.size.width
        return Strip([bar, *self._segments(index, style, width - 1)], width)

    # Keys and clicks

    def action_line_step(self, lines: int) -> None:
        """Move the cursor down by some lines, up if they are negative."""
        self.cursor = max(0, self.cursor + lines)

    def action_first(self) -> None:
        """Move the cursor to the first line."""
        self.cursor = 0
        self._bring_into_view(self.cursor)

    def action_last(self) -> None:
        """Move the cursor to the last line, where the tail is followed."""
        self.cursor = self.line_count - 1
        self._tail_held = True
        super().action_last()

    def action_open(self) -> None:
        """Open the line under the cursor."""
        if self.cursor != NOWHERE:
            self._opened()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the line that is clicked, or open it if it is there already."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = self.top + offset.y
        if event.chain == 1:
            self._opened_by_clicks = False
        if index >= self.line_count:
            return
        if index != self.cursor:
            self.cursor = index
        elif not self._opened_by_clicks:
            self._opened_by_clicks = True
            self._opened()
