"""The feed: a long list of rows in columns, drawn line by line, with a cursor; it can follow its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

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
    """A column: its heading, and its width in cells, or None for the column that gets the remaining width.

    It is hidden if the feed has fewer than `min_total_width` cells. A column that `shrinks` needs only as much width as
    the text of the row, so that the remaining width of that row is larger; in a row without a text it needs none.
    """

    name: str
    width: int | None = None
    align: Literal["left", "right"] = "left"
    min_total_width: int = 0
    shrinks: bool = False


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
        self._width = 0
        self._shown = [True] * len(columns)

    def layout(self, width: int, keep: int) -> int:
        """Choose the columns that are visible at this width, and return `keep`."""
        self._width = width
        self._shown = [column.min_total_width <= width for column in self._columns]
        return keep

    def __len__(self) -> int:
        return len(self._rows)

    def line(self, index: int) -> Line:
        """Return one row as a line; each piece reaches to the next column."""
        return self._line(self._rows.row(index))

    def headings(self) -> Line:
        """Return the headings of the columns as a line."""
        return self._line([(column.name, "") for column in self._columns], whole=True)

    def _line(self, row: Row, *, whole: bool = False) -> Line:
        cells = [
            (clean_line(text, column.width or self._width), style, column)
            for (text, style), column, shown in zip(row, self._columns, self._shown, strict=True)
            if shown and (whole or text or not column.shrinks)
        ]
        widths = [
            None if column.width is None else cell_len(text) if column.shrinks and not whole else column.width
            for text, _, column in cells
        ]
        room = self._width - GAP * (len(cells) - 1)
        rest = max(0, room - sum(width or 0 for width in widths))
        pieces: list[Piece] = []
        for (text, style, column), fixed in zip(cells, widths, strict=True):
            width = min(rest if fixed is None else fixed, max(0, room))
            room -= width
            shown = text if cell_len(text) <= width else clean_line(text, width)
            space = " " * (width - cell_len(shown))
            pieces.append(((space + shown if column.align == "right" else shown + space) + " " * GAP, style))
        if pieces:
            text, style = pieces[-1]
            pieces[-1] = (text[:-GAP], style)
        return pieces


class Headings(Static):
    """The headings of the columns of a feed, in a line above it."""

    DEFAULT_CSS = """
    Headings { height: 1; color: $text-soft; text-wrap: nowrap; text-overflow: clip; }
    """

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed = feed

    def on_mount(self) -> None:
        """Follow the layout of the feed."""
        self._feed.heads = self

    def render(self) -> Content:
        """Draw the headings above their columns."""
        return Content.assemble(" ", *(Content(text) for text, _ in self._feed.headings()))


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
        self.heads: Headings | None = None
        super().__init__(_Table(self._columns, rows), follow=follow, empty=empty, id=id)

    def show_rows(self, rows: RowSource) -> None:
        """Draw the rows of another source: the last rows if the feed follows, else the first rows."""
        self.show(_Table(self._columns, rows))

    def headings(self) -> Line:
        """Return the headings of the columns at the present width."""
        return self.source.headings() if isinstance(self.source, _Table) else []

    def on_resize(self) -> None:
        """Fit the rows and the headings to the new width."""
        super().on_resize()
        if self.heads is not None:
            self.heads.refresh()

    def refresh_rows(self) -> None:
        """Draw the visible rows again, because rows were added or changed."""
        self.refresh_source()

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted(self, self.cursor))

    def _opened(self) -> None:
        self.post_message(self.Opened(self, self.cursor))
