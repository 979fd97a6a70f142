"""Lines of several styles, wrapped between words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from inspector.text.sanitise import clean
from inspector.tui.render.line_source import Line, Piece
from inspector.tui.render.wrap import WrappedText

_NARROWEST = 8


def wrap_pieces(pieces: Line, width: int, *, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> list[Line]:
    """Lay out pieces for a width, `first` before the first line and `rest` before each that follows, as wide as it."""
    cleaned = [(clean(text, newlines=True), style) for text, style in pieces]
    indent = sum(cell_len(text) for text, _ in first)
    wrapped = WrappedText("".join(text for text, _ in cleaned), style="")
    wrapped.layout(max(_NARROWEST, width - indent), 0)
    cut = _Cutter(cleaned)
    lines: list[Line] = []
    for number in range(len(wrapped)):
        row = wrapped.row(number)
        lines.append([*(first if number == 0 else rest), *cut.take(len(row), len(row.rstrip(" \n")))])
    return lines or [list(first)]


class _Cutter:
    """Hands out runs of pieces by how many letters they have."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = iter(pieces)
        self._text, self._style = "", ""

    def take(self, count: int, shown: int) -> Iterator[Piece]:
        """Give the next `count` letters, of which the first `shown` are to be seen."""
        while count:
            if not self._text:
                self._text, self._style = next(self._pieces, (" " * count, ""))
                continue
            run, self._text = self._text[:count], self._text[count:]
            count -= len(run)
            if shown > 0:
                yield run[:shown], self._style
            shown -= len(run)
