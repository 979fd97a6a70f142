"""The list of exchanges, with timing bars that are relative to the visible exchanges."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip

from inspector.tui.render.row_sources import ExchangeRows
from inspector.tui.widgets.feed import GAP, Column, Feed

_BAR, _LONG_BAR = 6, 24
"""The cells of the timing bars, and of those on a wide screen."""
_WIDE = 150
_OPERATION, _PATH = 20, 14
"""The cells for the longest name of an operation, and the least cells of a path beside it."""
_COLUMNS = (
    Column("TIME", 8),
    Column("METHOD", 6),
    Column("PATH", cuts_middle=True),
    Column("OPERATION", 20),
    Column("STATUS", 6),
    Column("TYPE", 12, min_total_width=120),
    Column("SIZE", 6, "right", min_total_width=80),
    Column("DURATION", 8, "right"),
)
_FINDING = Column("", 1)
EXCHANGE_COLUMNS = (*_COLUMNS, Column("", _BAR, min_total_width=92), _FINDING)
WIDE_COLUMNS = (*_COLUMNS, Column("", _LONG_BAR), _FINDING)
RECORD_COLUMNS = (
    Column("OFFSET", 8, "right"),
    Column("", 1),
    Column("KIND", 10),
    Column("CONTENT"),
    Column("SIZE", 6, "right", min_total_width=50, shrinks=True),
    Column("", 1, shrinks=True),
)


class ExchangeFeed(Feed):
    """Shows the exchanges; the paths and the operations share the free width by the longest that are visible."""

    def __init__(self, rows: ExchangeRows, *, empty: str, id: str) -> None:
        self._exchanges = rows
        super().__init__(EXCHANGE_COLUMNS, rows, enter_hint="open", id=id, empty=empty)

    def on_resize(self) -> None:
        """Choose the columns for the width."""
        self._fit_operations()
        super().on_resize()

    def _fit_operations(self) -> bool:
        """Choose the columns for the width, and the width of the operations; return whether the columns change."""
        columns = WIDE_COLUMNS if self.size.width >= _WIDE else EXCHANGE_COLUMNS
        shown = [column for column in columns if column.min_total_width <= self._body_width]
        others = sum(column.width or 0 for column in shown if column.name != "OPERATION")
        room = self._body_width - others - GAP * (len(shown) - 1)
        path, operation = self._exchanges.longest
        path = max(path, len("PATH"))
        least = min(_OPERATION, room - _PATH)
        width = max(len("OPERATION"), min(operation, max(least, room // 2, room - path)))
        fitted = tuple(column._replace(width=width) if column.name == "OPERATION" else column for column in columns)
        changed = fitted != self._columns
        self.show_columns(fitted)
        return changed

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the screen; if other exchanges have become visible, draw all rows again."""
        bar = _LONG_BAR if self.size.width >= _WIDE else _BAR
        scaled = self._exchanges.scale(self.top, self.size.height, bar)
        fitted = self._fit_operations()
        if fitted and self.heads is not None:
            self.call_later(self.heads.refresh)
        if scaled or fitted:
            self._strips.clear()
            if crop.height < self.size.height:
                self.call_later(self.refresh)
        return super().render_lines(crop)
