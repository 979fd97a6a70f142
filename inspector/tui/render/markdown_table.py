"""Tables of Markdown as aligned columns, or as a list of their values where the columns do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len

from inspector.text.sanitise import clean
from inspector.tui.render.text_lines import Line, Piece, wrap_pieces

_SEPARATOR = " | "
_CROSSING = "-+-"
_RULE = "-"
_NARROWEST = 8
"""The least cells of a column whose texts are wrapped; `wrap_pieces` needs as many."""
_TEXT, _MUTED, _STRONG = "card--text", "card--muted", "card--strong"


class Cell(NamedTuple):
    """The runs of text in a cell, and how they are aligned: `left`, `right` or `center`."""

    pieces: Sequence[Piece]
    align: str = "left"


def table_lines(rows: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    """Lay out a table, whose first row has the headings, in at most `width` cells.

    Texts are wrapped within their columns. If the columns do not fit beside each other, each row is a list of its
    values with their headings.
    """
    texts = [[clean("".join(text for text, _ in cell.pieces)) for cell in row] for row in rows]
    widest = [max(map(cell_len, column)) for column in zip_longest(*texts, fillvalue="")]
    widths = _widths(widest, width - cell_len(_SEPARATOR) * (len(widest) - 1))
    if widths is None:
        return _listed(rows, width)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        lines += _row_lines(row, widths)
        if number == 0:
            lines.append([(_CROSSING.join(_RULE * column for column in widths), _MUTED)])
    return lines


def _widths(widest: Sequence[int], room: int) -> list[int] | None:
    """Return the widths of columns: narrow columns get what they need, the others share the rest; None if too many."""
    widths = [0] * len(widest)
    for left, index in zip(range(len(widest), 0, -1), sorted(range(len(widest)), key=widest.__getitem__), strict=True):
        share = room // left
        if share < min(_NARROWEST, widest[index]):
            return None
        widths[index] = max(1, min(widest[index], share))
        room -= widths[index]
    return widths


def _row_lines(row: Sequence[Cell], widths: Sequence[int]) -> list[Line]:
    cells = [*row, *(Cell(()) for _ in range(len(widths) - len(row)))]
    columns = [_cell_lines(cell, width) for cell, width in zip(cells, widths, strict=False)]
    lines: list[Line] = []
    for number in range(max(map(len, columns))):
        pieces: list[Piece] = []
        for index, column in enumerate(columns):
            pieces += [(_SEPARATOR, _MUTED)] if index else []
            pieces += column[number] if number < len(column) else [(" " * widths[index], _TEXT)]
        lines.append(pieces)
    return lines


def _cell_lines(cell: Cell, width: int) -> list[list[Piece]]:
    """Return the lines of a cell, each padded to the width of its column."""
    pieces = [(clean(text), style) for text, style in cell.pieces]
    wrapped = [pieces] if _wide(pieces) <= width else [list(line) for line in wrap_pieces(pieces, width)]
    lines = []
    for line in wrapped:
        free = max(0, width - _wide(line))
        before = {"right": free, "center": free // 2}.get(cell.align, 0)
        lines.append([(" " * before, _TEXT), *line, (" " * (free - before), _TEXT)])
    return lines


def _wide(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(text) for text, _ in pieces)


def _listed(rows: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    """Return each row as lines of a heading and a value, with a rule between two rows."""
    headings, *values = rows
    lines: list[Line] = []
    for number, row in enumerate(values or [headings]):
        if number:
            lines.append([(_RULE * min(width, _NARROWEST), _MUTED)])
        for heading, cell in zip_longest(headings if values else [], row, fillvalue=Cell(())):
            name = clean("".join(text for text, _ in heading.pieces))
            lines += wrap_pieces([(f"{name}: " if name else "", _STRONG), *cell.pieces], width)
    return lines
