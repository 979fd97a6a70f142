"""The feed: a long list of rows in columns, drawn line by line, with a cursor; it can follow its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from rich.cells import cell_len
from textual.message import Message

from inspector.text.sanitise import clean_line
from inspector.tui.render.text_lines import Line, Piece
from inspector.tui.widgets.cursor import CursorView

GAP = 2
"""Cells between two columns."""

Cell: TypeAlias = tuple[str, str]
"""A text, not yet sanitised, and the component class of its style."""

Row: TypeAlias = Sequence[Cell]
"""A cell for each column, in their order."""


class Column(NamedTuple):
    """A column: its width in cells, or None for the column that gets the remaining width.

    It is hidden if the feed has fewer than `min_total_width` cells.
    """

    name: str
    width: int | None = None
    align: Literal["left", "right"] = "left"
    min_total_width: int = 0


class RowSource(Protocol):
    """Rows, made one at a time when they are drawn."""

    def __len__(self) -> int:
        """Return how many rows there are now."""
        ...

    def row(self, index: int) -> Row:
        """Return one row; `index` is within the length."""
        ...


class _Table:
    """The rows of a source as lines: cells in columns, sanitised, cut and padded to their widths."""

    def __init__(self, columns: Sequence[Column], rows: RowSource) -> None:
        self._columns = columns
        self._rows = rows
        self._widths = [0] * len(columns)

    def layout(self, width: int, keep: int) -> int:
        """Set the width of every column, 0 for those that are hidden, and return `keep`."""
        shown = [column.min_total_width <= width for column in self._columns]
        fixed = [column.width or 0 for column, visible in zip(self._columns, shown, strict=True) if visible]
        rest = max(0, width - sum(fixed) - GAP * (len(fixed) - 1))
        self._widths = []
        for column, visible in zip(self._columns, shown, strict=True):
            wanted = rest if column.width is None else column.width
            self._widths.append(max(0, min(wanted, width)) if visible else 0)
            width -= self._widths[-1] + GAP if self._widths[-1] else 0
        return keep

    def __len__(self) -> int:
        return len(self._rows)

    def line(self, index: int) -> Line:
        """Return one row as a line; each piece reaches to the next column."""
        pieces: list[Piece] = []
        for (raw, style), column, width in zip(self._rows.row(index), self._columns, self._widths, strict=True):
            if width:
                text = clean_line(raw, width)
                space = " " * (width - cell_len(text))
                pieces.append(((space + text if column.align == "right" else text + space) + " " * GAP, style))
        if pieces:
            text, style = pieces[-1]
            pieces[-1] = (text[:-GAP], style)
        return pieces


class Feed(CursorView):
    """Draws the visible rows of a source in columns."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    Feed {
        overflow-x: hidden;
        & > .feed--text { color: $foreground; }
        & > .feed--muted { color: $text-soft; }
        & > .feed--quiet { color: $wire-quiet; }
        & > .feed--sent { color: $wire-sent; }
        & > .feed--received { color: $wire-received; }
        & > .feed--pushed { color: $wire-pushed; }
        & > .feed--good { color: $state-good; }
        & > .feed--warning { color: $state-warning; }
        & > .feed--bad { color: $state-bad; }
    }
    """

    @dataclass
    class Highlighted(Message):
        """The cursor is on another row."""

        feed: Feed
        index: int

        def can_replace(self, message: Message) -> bool:
            """Let a later message replace this, so that a burst is one message."""
            return isinstance(message, Feed.Highlighted) and message.feed is self.feed

    @dataclass
    class Opened(Message):
        """The user opened the row under the cursor."""

        feed: Feed
        index: int

    def __init__(
        self,
        columns: Sequence[Column],
        rows: RowSource,
        *,
        follow: bool = True,
        empty: str = "",
        enter_hint: str = "",
        id: str | None = None,  # noqa: A002 - as every widget of Textual's calls it
    ) -> None:
        self._columns = tuple(columns)
        self.enter_hint = enter_hint
        super().__init__(_Table(self._columns, rows), follow=follow, empty=empty, id=id)

    def show_rows(self, rows: RowSource) -> None:
        """Draw the rows of another source: the last rows if the feed follows, else the first rows."""
        self.show(_Table(self._columns, rows))

    def refresh_rows(self) -> None:
        """Draw the visible rows again, because rows were added or changed."""
        self.refresh_source()

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted(self, self.cursor))

    def _opened(self) -> None:
        self.post_message(self.Opened(self, self.cursor))
