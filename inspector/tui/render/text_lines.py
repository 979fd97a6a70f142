"""Lines without a screen: what a source of lines promises, text wrapped for a width, and paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from rich.cells import cell_len, get_character_cell_size

from inspector.text.sanitise import Cleaner, clean

Piece: TypeAlias = tuple[str, str]
"""A run of text, not yet sanitised, and the component class of the view that gives it its style."""

Line: TypeAlias = Sequence[Piece]
"""One line, without its line break."""


class LineSource(Protocol):
    """Lines, made one at a time when they are drawn."""

    def __len__(self) -> int:
        """Return how many lines there are now."""
        ...

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to so many cells, and return where the line `keep` is now."""
        ...

    def line(self, index: int) -> Line:
        """Return one line; `index` is within the length."""
        ...


LIMIT = 4_000_000
"""How many characters one text shows, about; more would make a resize slow, and nobody scrolls that far."""

_UNKNOWN_WIDTH = 80
"""The width of rows until a view says how wide it is."""

_STEP = 65_536
"""How many characters are taken in at once."""


class WrappedText:
    """A sanitised text in rows, broken between words or, without `words`, anywhere.

    Rows put together are the text again: a row keeps the space or the line break that ends it. `head` is a line of ours
    above the text. What exceeds `limit` characters is counted and not kept, and a last line says so.
    """

    def __init__(self, text: str = "", *, words: bool = True, style: str, head: str = "", limit: int = LIMIT) -> None:
        self._words = words
        self._style = style
        self._head = head
        self._limit = limit
        self._width = _UNKNOWN_WIDTH
        self._cleaner = Cleaner(newlines=True)
        self._rows: list[str] = []
        self._taken = 0
        self._missing = 0
        self.append(text)

    @property
    def text(self) -> str:
        """The text that is shown, clean."""
        return "".join(self._rows)

    @property
    def missing(self) -> int:
        """How many characters are not shown."""
        return self._missing

    def append(self, text: str) -> None:
        """Add text at the end; only the last row is wrapped again."""
        at = 0
        while at < len(text) and self._taken < self._limit:
            # Tokens make text longer than it came, so the limit is looked at often.
            piece = text[at : at + min(_STEP, self._limit - self._taken)]
            at += len(piece)
            clean = self._cleaner.feed(piece)
            self._taken += len(clean)
            if self._rows and not self._rows[-1].endswith("\n"):
                clean = self._rows.pop() + clean
            self._wrap(clean)
        self._missing += len(text) - at

    def take_back(self, text: str) -> bool:
        """Take away what was appended last; False, and all stays, where it was not shown letter for letter."""
        if self._missing or not text.isascii() or not text.replace("\n", "").isprintable():
            return False
        left, first = len(text), len(self._rows)
        while left > 0 and first:
            first -= 1
            left -= len(self._rows[first])
        kept = self._rows[first][:-left] if left < 0 else ""
        if first and not self._rows[first - 1].endswith("\n"):
            first -= 1  # what is left of a word may fit the row before
            kept = self._rows[first] + kept
        if left > 0 or not kept.isascii():
            return False
        del self._rows[first:]
        self._wrap(kept)
        self._taken -= len(text)
        column = 0
        for row in reversed(self._rows):
            if row.endswith("\n"):
                break
            column += len(row)
        self._cleaner.go_back(kept[-1:], column)
        return True

    def skip(self, count: int) -> None:
        """Count text that was never given."""
        self._missing += count

    def layout(self, width: int, keep: int) -> int:
        """Wrap everything at `width` cells and return the row that now has the beginning of the row `keep`."""
        width = max(1, width)
        if width == self._width:
            return keep
        first = 1 if self._head else 0
        before = sum(map(len, self._rows[: max(0, keep - first)]))
        text, self._rows, self._width = self.text, [], width
        self._wrap(text)
        row = 0
        while row < len(self._rows) and before >= len(self._rows[row]):
            before -= len(self._rows[row])
            row += 1
        return row + first if keep >= first else keep

    def __len__(self) -> int:
        return bool(self._head) + len(self._rows) + bool(self._missing)

    def row(self, index: int) -> str:
        """Return one line as part of the whole text: with the line break, if it ends with one."""
        if self._head:
            if index == 0:
                return self._head + "\n"
            index -= 1
        if index < len(self._rows):
            return self._rows[index]
        return f"… {self._missing:,} more characters are not shown"

    def line(self, index: int) -> Line:
        """Return one line to draw."""
        body = range(bool(self._head), bool(self._head) + len(self._rows))
        return [(self.row(index).rstrip(" \n"), self._style if index in body else "line--note")]

    def _wrap(self, text: str) -> None:
        start = 0
        while start < len(text):
            stop = text.find("\n", start)
            stop = len(text) if stop < 0 else stop + 1
            self._wrap_paragraph(text[start:stop])
            start = stop

    def _wrap_paragraph(self, text: str) -> None:
        """Cut one paragraph into rows; each cut depends only on what stands before it, so text may come in pieces."""
        start, end = 0, len(text) - text.endswith("\n")
        while (cut := _reach(text, start, end, self._width)) < end:
            if self._words:
                cut = _between_words(text, start, cut)
            self._rows.append(text[start:cut])
            start = cut
        if 0 < start == end:
            self._rows[-1] += text[end:]
        else:
            self._rows.append(text[start:])


def _between_words(text: str, start: int, cut: int) -> int:
    """Return the last place to break a row at or before `cut`; a space behind the edge hangs over it, unseen."""
    if text[cut] == " ":
        return cut + 1
    if not text.isascii() and 2 in {get_character_cell_size(text[cut]), get_character_cell_size(text[cut - 1])}:
        return cut  # Chinese and Japanese break between any two letters.
    return text.rfind(" ", start, cut) + 1 or cut


def _reach(text: str, start: int, end: int, width: int) -> int:
    """Return how far `text[start:end]` fits the width: one letter with its marks at least."""
    if text.isascii():
        return min(end, start + width)
    at = min(end, start + width)
    cells = cell_len(text[start:at])
    if cells > width:
        # No letter has more than two cells, so this many fit for certain.
        at = start + width // 2
        cells = cell_len(text[start:at])
    while at < end:
        size = get_character_cell_size(text[at])
        if cells and cells + size > width:
            break
        cells += size
        at += 1
    return at


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


LONGEST = 4000
"""How many characters of one text are shown; all of it stands in the raw view."""


class Paragraph(NamedTuple):
    """A text beside its head, which is as wide as the text's indent."""

    head: Piece
    text: str
    style: str


def hang(paragraph: Paragraph, width: int) -> list[Line]:
    """Lay out one paragraph; the text keeps to the right of its head."""
    head, style = paragraph.head
    indent = cell_len(head)
    wrapped = WrappedText(paragraph.text[:LONGEST], style=paragraph.style)
    wrapped.layout(max(8, width - indent), 0)
    return [
        [(head if number == 0 else " " * indent, style), *wrapped.line(number)] for number in range(len(wrapped))
    ] or [[(head, style)]]


class Paragraphs:
    """Paragraphs one below the other; a `LineSource`."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self._lines: list[Line] = []

    def __len__(self) -> int:
        return len(self._lines)

    def layout(self, width: int, keep: int) -> int:
        """Fit the paragraphs to a width; `keep` stays as near as the new width allows."""
        self._lines = [line for paragraph in self._paragraphs for line in hang(paragraph, width)]
        return min(keep, max(0, len(self._lines) - 1))

    def line(self, index: int) -> Line:
        """Return one line."""
        return self._lines[index]
