"""The feed: a long list of rows in columns, drawn line by line, with a cursor; it can follow its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.lazy_dataclass import dataclass
from inspector.text.sanitise import clean_line, without_middle
from inspector.tui.render.text_lines import Line, Piece, WrappedText
from inspector.tui.widgets.cursor import CursorView
from inspector.tui.widgets.view_tabs import clickable, clicked

GAP = 2
"""Cells between two columns."""

_LONGEST = 4096
"""The most characters of a text of which the end is drawn."""

_NARROWEST = 16
"""Texts are not wrapped in fewer cells."""

BADGE = "feed--badge"
"""The beginning of the component classes of badges: texts whose colour does not reach to the next column."""

Cell: TypeAlias = tuple[str, str]
"""A text, not yet sanitised, and the component class of its style."""

Row: TypeAlias = Sequence[Cell]
"""A cell for each column, in their order."""


class Column(NamedTuple):
    """A column: its heading, and its width in cells, or None for the column that gets the remaining width.

    It is hidden if the feed has fewer than `min_total_width` cells. A column that `shrinks` needs only as much width as
    the text of the row, so that the remaining width of that row is larger; in a row without a text it needs none. A
    text that is too long loses its end, or with `cuts_middle` its middle.
    """

    name: str
    width: int | None = None
    align: Literal["left", "right"] = "left"
    min_total_width: int = 0
    shrinks: bool = False
    cuts_middle: bool = False


class RowSource(Protocol):
    """Rows, made one at a time when they are drawn."""

    def __len__(self) -> int:
        """Return how many rows there are now."""
        ...

    def row(self, index: int) -> Row:
        """Return one row; `index` is within the length. A row of one cell is a rule made of its character."""
        ...


class FeedTable:
    """The rows of a source as lines: cells in columns, sanitised, cut and padded to their widths."""

    def __init__(self, columns: Sequence[Column], rows: RowSource) -> None:
        self.columns = columns
        self._rows = rows
        self._width = 0
        self._shown = [True] * len(columns)
        self.sorted_by = ("", "")

    def layout(self, width: int, keep: int) -> int:
        """Choose the columns that are visible at this width, and return `keep`."""
        self._width = width
        self._shown = [column.min_total_width <= width for column in self.columns]
        return keep

    def __len__(self) -> int:
        return len(self._rows)

    def line(self, index: int) -> Line:
        """Return one row as a line; each piece reaches to the next column."""
        return self._line(self._rows.row(index))

    def is_rule(self, index: int) -> bool:
        """Return whether a row is a rule, which cannot be selected."""
        return 0 <= index < len(self._rows) and len(self._rows.row(index)) < len(self.columns)

    def headings(self) -> Line:
        """Return the headings of the columns as a line; instead of its style, each has the name of its column."""
        marks = [self.sorted_by[1] if column.name == self.sorted_by[0] else "" for column in self.columns]
        names = [column.name for column in self.columns]
        return self._line([(name + mark, name) for name, mark in zip(names, marks, strict=True)], whole=True)

    def wrapped(self, index: int, most: int) -> list[Line]:
        """Return a row as up to `most` lines, in which the text of the column without a width is wrapped."""
        row = self._rows.row(index)
        if len(row) < len(self.columns):
            return [self._line(row)]
        cells = self._cells(row, most=most)
        number = next((number for number, cell in enumerate(cells) if cell.column.width is None), None)
        if number is None:
            return [_pieces(cells)]
        text, style, _, width = cells[number]
        first, *others = _wrapped(text, width, most)
        cells[number] = cells[number]._replace(text=first)
        blank = " " * sum(cell.width + GAP for cell in cells[:number])
        return [_pieces(cells), *([(blank, "feed--text"), (other, style)] for other in others)]

    def _line(self, row: Row, *, whole: bool = False) -> Line:
        if len(row) < len(self.columns):
            [(character, style)] = row
            return [(character * self._width, style)]
        return _pieces(self._cells(row, whole=whole))

    def _limit(self, column: Column, most: int) -> int:
        """Return the most cells of a text that are needed to draw it in a column, on at most `most` lines."""
        if column.cuts_middle:
            return _LONGEST
        return column.width or self._width * most

    def _cells(self, row: Row, *, whole: bool = False, most: int = 1) -> list[_PlacedCell]:
        """Return the visible cells of a row with their widths."""
        cells = [
            (clean_line(text, self._limit(column, most)), style, column)
            for (text, style), column, shown in zip(row, self.columns, self._shown, strict=True)
            if shown and (text or not column.shrinks)
        ]
        widths = [
            None if column.width is None else cell_len(text) if column.shrinks and not whole else column.width
            for text, _, column in cells
        ]
        room = self._width - GAP * (len(cells) - 1)
        rest = max(0, room - sum(width or 0 for width in widths))
        placed: list[_PlacedCell] = []
        for cell, fixed in zip(cells, widths, strict=True):
            width = min(rest if fixed is None else fixed, max(0, room))
            room -= width
            placed.append(_PlacedCell(*cell, width))
        return placed


class _PlacedCell(NamedTuple):
    """A sanitised text, its style, its column, and the cells that it gets."""

    text: str
    style: str
    column: Column
    width: int


def _pieces(cells: Sequence[_PlacedCell]) -> list[Piece]:
    """Return a line: each text cut and padded to its width."""
    pieces: list[Piece] = []
    for text, style, column, width in cells:
        cut = without_middle if column.cuts_middle else clean_line
        shown = text if cell_len(text) <= width else cut(text, width)
        space = " " * (width - cell_len(shown))
        if style.startswith(BADGE):  # the colour of a badge ends with its text
            blank = (space, "feed--text")
            pieces += [blank, (shown, style)] if column.align == "right" else [(shown, style), blank]
            pieces.append((" " * GAP, "feed--text"))
        else:
            pieces.append(((space + shown if column.align == "right" else shown + space) + " " * GAP, style))
    if pieces:
        text, style = pieces[-1]
        pieces[-1] = (text[:-GAP], style)
    return pieces


def _wrapped(text: str, width: int, most: int) -> list[str]:
    """Return a text in at most `most` lines; the last is cut if there is no room for the rest."""
    if cell_len(text) <= width or width < _NARROWEST:
        return [text]
    rows = WrappedText(text, style="")
    rows.layout(width, 0)
    shown = [rows.row(number).rstrip() for number in range(min(most, len(rows)))]
    if len(rows) > most:
        shown[-1] = clean_line("".join(rows.row(number) for number in range(most - 1, len(rows))), width)
    return shown


class Headings(Static):
    """The headings of the columns of a feed, in a line above it; a click on a heading is reported."""

    DEFAULT_CSS = """
    Headings { height: 1; color: $text-soft; text-wrap: nowrap; text-overflow: clip; }
    """

    @dataclass
    class Clicked(Message):
        """The heading of a column was clicked."""

        column: str

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed = feed

    def on_mount(self) -> None:
        """Follow the layout of the feed."""
        self._feed.heads = self

    def render(self) -> Content:
        """Draw the headings above their columns."""
        return Content.assemble(" ", *(clickable(Content(text), name) for text, name in self._feed.headings()))

    def on_click(self, event: events.Click) -> None:
        """Report the heading under the pointer."""
        if column := clicked(event):
            self.post_message(self.Clicked(column))


class Feed(CursorView):
    """Draws the visible rows of a source in columns."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    Feed {
        overflow-x: hidden;
        & > .feed--text { color: $foreground; }
        & > .feed--strong { color: $foreground; text-style: bold; }
        & > .feed--muted { color: $text-soft; }
        & > .feed--quiet { color: $wire-quiet; }
        & > .feed--rule { color: $rule; }
        & > .feed--sent { color: $wire-sent; }
        & > .feed--user { color: $wire-sent; text-style: bold; }
        & > .feed--received { color: $wire-received; }
        & > .feed--pushed { color: $wire-pushed; }
        & > .feed--good { color: $state-good; }
        & > .feed--warning { color: $state-warning; }
        & > .feed--bad { color: $state-bad; }
        & > .feed--badge-get { color: $wire-received; background: $panel; text-style: bold; }
        & > .feed--badge-post { color: $wire-sent; background: $panel; text-style: bold; }
        & > .feed--badge-other { color: $wire-pushed; background: $panel; text-style: bold; }
        & > .feed--badge-good { color: $state-good; background: $panel; text-style: bold; }
        & > .feed--badge-warning { color: $state-warning; text-style: reverse; }
        & > .feed--badge-bad { color: $state-bad; text-style: reverse; }
        & > .feed--badge-quiet { color: $wire-quiet; text-style: reverse; }
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
        id: str | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self.enter_hint = enter_hint
        self.heads: Headings | None = None
        super().__init__(FeedTable(self._columns, rows), follow=follow, empty=empty, id=id)

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor within the rows, and move it past a rule."""
        cursor = super().validate_cursor(cursor)
        if cursor != self.cursor and isinstance(self.source, FeedTable) and self.source.is_rule(cursor):
            cursor += 1 if cursor > self.cursor else -1
        return cursor

    def show_rows(self, rows: RowSource) -> None:
        """Draw the rows of another source: the last rows if the feed follows, else the first rows."""
        self.show(FeedTable(self._columns, rows))

    @property
    def line_width(self) -> int:
        """The cells of a row."""
        return self._body_width

    def shows(self, column: Column) -> bool:
        """Return whether a column is visible at the present width."""
        return column.min_total_width <= self.line_width

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Draw the rows in other columns; the cells of the rows stay the same."""
        if isinstance(self.source, FeedTable) and tuple(columns) != self._columns:
            self._columns = self.source.columns = tuple(columns)
            self._laid_out = 0
            self._strips.clear()
            self.refresh()
            if self.heads is not None:
                self.heads.refresh()

    def set_width(self, name: str, width: int) -> None:
        """Give the column of a name another width."""
        self.show_columns([column._replace(width=width) if column.name == name else column for column in self._columns])

    def headings(self) -> Line:
        """Return the headings of the columns at the present width, each with the name of its column."""
        return self.source.headings() if isinstance(self.source, FeedTable) else []

    def mark_sorted(self, column: str, mark: str) -> None:
        """Show a mark at the heading of the column by which the rows are sorted."""
        if isinstance(self.source, FeedTable) and self.source.sorted_by != (column, mark):
            self.source.sorted_by = column, mark
            if self.heads is not None:
                self.heads.refresh()

    def on_resize(self) -> None:
        """Fit the rows and the headings to the new width."""
        super().on_resize()
        if self.heads is not None:
            self.heads.refresh()

    def refresh_rows(self) -> None:
        """Draw the visible rows again, because rows were added or changed."""
        self.refresh_source()

    def _segments(self, index: int, style: Style, total: int) -> list[Segment]:
        """Draw a row; the background of the row under the cursor includes its badges."""
        segments = super()._segments(index, style, total)
        if index != self.cursor:
            return segments
        return list(Segment.apply_style(segments, post_style=Style(bgcolor=style.bgcolor)))

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted(self, self.cursor))

    def _opened(self) -> None:
        self.post_message(self.Opened(self, self.cursor))
