"""A feed that shows the text of the row under the cursor in full, on several lines."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from inspector.text.sanitise import clean
from inspector.tui.render.text_lines import Line
from inspector.tui.widgets.feed import Feed, FeedTable

_MOST = 3
"""The most lines of the selected row."""


class WrappingFeed(Feed):
    """Draws each row on a line, and the row under the cursor on up to three, so that its text is not cut."""

    _wrapped: tuple[Line, ...] = ()
    """The lines of the row under the cursor; none if it needs only one line."""
    _part = 0
    """The line of the row under the cursor that is being drawn."""

    @property
    def _extra(self) -> int:
        """How many lines the row under the cursor needs besides its first."""
        return max(0, len(self._wrapped) - 1)

    @property
    def _content_height(self) -> int:
        return self.line_count + self._extra

    def _wrap(self) -> None:
        """Wrap the row under the cursor for the present width."""
        table, room = self.source, min(_MOST, self.size.height - 1)
        drawn = isinstance(table, FeedTable) and 0 <= self.cursor < len(table) and self._laid_out > 0
        lines = table.wrapped(self.cursor, room) if drawn and isinstance(table, FeedTable) and room > 1 else []
        self._wrapped = tuple(lines) if len(lines) > 1 else ()

    def _resize_content(self) -> None:
        self._wrap()
        super()._resize_content()

    def watch_cursor(self, before: int, cursor: int) -> None:
        """Wrap the row under the cursor; the rows below it move if it needs another number of lines than before."""
        extra = self._extra
        self._resize_content()
        if self.following and cursor == self.line_count - 1:
            self._to_end()
        super().watch_cursor(before, cursor)
        if extra or self._extra:
            self.refresh()

    def _row_at(self, line: int) -> tuple[int, int]:
        """Return the row that a line shows, and the number of the line within the row."""
        part = min(max(0, line - self.cursor), self._extra) if self.cursor >= 0 else 0
        return line - part, part

    def index_at(self, line: int) -> int:
        """Return the index of the row that a line of the content shows."""
        return self._row_at(line)[0]

    def _bring_into_view(self, index: int) -> None:
        top, height, last = self.scroll_offset.y, self.size.height, index + self._extra
        if index < top:
            self.scroll_to(y=index, animate=False, force=True)
        elif height and last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, force=True)

    def _draw(self, index: int) -> Strip:
        row, self._part = self._row_at(index)
        return super()._draw(row)

    def _strip(self, index: int) -> Strip:
        if index != self.cursor or not self._wrapped:
            return super()._strip(index)
        pieces = self._wrapped[min(self._part, self._extra)]
        return Strip([Segment(clean(text), self.style_of(style)) for text, style in pieces if text])
