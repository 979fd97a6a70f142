"""The list of exchanges, with timing bars that are relative to the visible exchanges."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip

from inspector.tui.render.row_sources import ExchangeRows
from inspector.tui.widgets.feed import Column, Feed

_BAR, _LONG_BAR = 6, 24
"""The cells of the timing bars, and of those on a wide screen."""
_WIDE = 150
_COLUMNS = (
    Column("TIME", 8),
    Column("METHOD", 6),
    Column("PATH"),
    Column("OPERATION", 20, shares=True),
    Column("STATUS", 6),
    Column("TYPE", 12, min_total_width=110),
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
    """Shows the exchanges."""

    def __init__(self, rows: ExchangeRows, *, empty: str, id: str) -> None:  # noqa: A002 - as every widget calls it
        self._exchanges = rows
        super().__init__(EXCHANGE_COLUMNS, rows, enter_hint="open", id=id, empty=empty)

    def on_resize(self) -> None:
        """Choose the columns for the width."""
        self.show_columns(WIDE_COLUMNS if self.size.width >= _WIDE else EXCHANGE_COLUMNS)
        super().on_resize()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the screen; if other exchanges have become visible, draw all bars again."""
        bar = _LONG_BAR if self.size.width >= _WIDE else _BAR
        if self._exchanges.scale(self.top, self.size.height, bar):
            self._strips.clear()
            if crop.height < self.size.height:
                self.call_later(self.refresh)
        return super().render_lines(crop)
