"""A line view with a cursor: the line that keys and clicks apply to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from inspector.tui.keys import bind
from inspector.tui.render.text_lines import LineSource
from inspector.tui.widgets.lines import LineView

Item = TypeVar("Item")
NOWHERE = -1
"""The cursor while there are no lines."""
_RIGHT_BUTTON = 3


class CursorView(LineView):
    """Draws lines; the line under the cursor has a bar at its left and a background.

    While the view follows the end, the cursor stays on the last line.
    """

    DEFAULT_CSS = """
    CursorView {
        & > .cursor--line { background: $panel; }
        & > .cursor--bar { color: $wire-quiet; }
        &:focus > .cursor--line { background: $cursor; }
        &:focus > .cursor--bar { color: $bar; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "open", "Open", "Open the line under the cursor", show=False),
    ]

    enter_hint = ""
    """What enter does with a line, in one or two words for the footer."""

    cursor: var[int] = var(NOWHERE, init=False)
    """The line under the cursor, `NOWHERE` while there is none."""

    _tail_held = True
    """Whether the cursor was put on the last line; more lines may have been added since."""

    _held_at: int | None = None
    """The line under the cursor when `hold` stopped the view from following the end, None if it did not."""

    _opened_by_clicks = False
    """Whether this chain of clicks has opened the line already: a double click opens once."""

    class MenuWanted(Message):
        """The user clicked the line under the cursor with the right button."""

    def _highlighted(self) -> None:
        """Report that another line is under the cursor."""

    def _opened(self) -> None:
        """Handle enter or a second click on the line under the cursor."""

    def show(self, source: LineSource) -> None:
        """Draw another source, with the cursor on its first line or, with `follow`, on its last."""
        self.cursor = NOWHERE
        self._tail_held = True
        super().show(source)

    def refresh_source(self) -> None:
        """Draw the visible lines again, because the source grew or changed; the cursor keeps its line number."""
        super().refresh_source()
        if self.is_attached:
            self._place_cursor()

    def on_mount(self) -> None:
        """Place the cursor if there are lines already."""
        self._place_cursor()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor within the lines."""
        return max(NOWHERE, min(cursor, self.line_count - 1))

    def watch_cursor(self, before: int, cursor: int) -> None:
        """Scroll the line under the cursor into view and report it."""
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

    def hold(self) -> None:
        """Keep the cursor on its line while that is read elsewhere, until `resume` or until the cursor is moved."""
        if self.following:
            self._held_at, self._tail_held = self.cursor, False
            self._settle()

    def resume(self) -> None:
        """Follow the end again if `hold` stopped that and the cursor was not moved since."""
        if self._held_at is not None and self._held_at == self.cursor:
            self.action_last()
        self._held_at = None

    def _settle(self) -> None:
        super()._settle()
        if self.following and self.cursor != self.line_count - 1:
            self.cursor = self.line_count - 1
        elif self.cursor == NOWHERE and self.line_count:
            self.cursor = 0  # there were no lines before the width was known

    def index_at(self, line: int) -> int:
        """Return the index of what a line of the content shows."""
        return line

    def item_of(self, items: Sequence[Item]) -> Item | None:
        """Return the item under the cursor, None without one; the lines may have been drawn from fewer items."""
        return items[self.cursor] if 0 <= self.cursor < len(items) else None

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
            bar = Segment("▌", style + self.style_of("cursor--bar"))
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
        """Move the cursor to the last line and follow the end."""
        self.cursor = self.line_count - 1
        self._tail_held = True
        super().action_last()

    def action_open(self) -> None:
        """Open the line under the cursor."""
        if self.cursor != NOWHERE:
            self._opened()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line, or open the line if the cursor is there already."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index, before = self.index_at(self.top + offset.y), self.cursor
        if event.chain == 1:
            self._opened_by_clicks = False
        if index >= self.line_count:
            return
        if index != self.cursor:
            self.cursor = index
        if event.button == _RIGHT_BUTTON:
            self.post_message(self.MenuWanted())
        elif index != before:
            return
        elif not self._opened_by_clicks:
            self._opened_by_clicks = True
            self._opened()
