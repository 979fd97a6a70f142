"""Lines without a screen: the protocol of line sources, text wrapped for a width, and paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from rich.cells import cell_len, get_character_cell_size

from inspector.text.sanitise import Cleaner, clean

Piece: TypeAlias = tuple[str, str]
"""A run of text, not yet sanitised, and the component class of the view for its style."""

Line: TypeAlias = Sequence[Piece]
"""One line, without its line break."""


class LineSource(Protocol):
    """Lines, made one at a time when they are drawn."""

    def __len__(self) -> int:
        """Return how many lines there are now."""
        ...

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width in cells, and return the new number of the line `keep`."""
        ...

    def line(self, index: int) -> Line:
        """Return one line; `index` is within the length."""
        ...


LIMIT = 4_000_000
"""The most characters that are shown of a text, approximately; more would make a resize slow."""
LONGEST = 4000
"""The most characters that a paragraph shows; the raw view has all of them."""
DEFAULT_WIDTH = 80
"""The width of rows until a view sets it."""
_NARROWEST = 8
_STEP = 65_536
"""The most characters that are wrapped at once."""


class WrappedText:
    """A sanitised text in rows, broken between words or, without `words`, anywhere.

    A row keeps the space or the line break that ends it, so the joined rows are the text. `head` is a text above it
    that is not part of it, also in rows. Characters beyond `limit` are only counted, and a last line shows the count.
    """

    def __init__(self, text: str = "", *, words: bool = True, style: str, head: str = "", limit: int = LIMIT) -> None:
        self._words = words
        self._style = style
        self._head = head
        self._limit = limit
        self._width = DEFAULT_WIDTH
        self._cleaner = Cleaner(newlines=True)
        self._rows: list[str] = []
        self._taken = self._missing = 0
        self._heads = self._head_rows()
        self.append(text)

    @property
    def text(self) -> str:
        """The text that is shown, clean."""
        return "".join(self._rows)

    def append(self, text: str) -> None:
        """Add text at the end; only the last row is wrapped again."""
        at = 0
        while at < len(text) and self._taken < self._limit:
            # The tokens of the sanitiser lengthen the text, so the limit is checked for each piece.
            piece = text[at : at + min(_STEP, self._limit - self._taken)]
            at += len(piece)
            clean = self._cleaner.feed(piece)
            self._taken += len(clean)
            if self._rows and not self._rows[-1].endswith("\n"):
                clean = self._rows.pop() + clean
            self._wrap(clean)
        self._missing += len(text) - at

    def take_back(self, text: str) -> bool:
        """Remove the text that was appended last; do nothing and return False if it was not shown unchanged."""
        if self._missing or not text.isascii() or not text.replace("\n", "").isprintable():
            return False
        left, first = len(text), len(self._rows)
        while left > 0 and first:
            first -= 1
            left -= len(self._rows[first])
        kept = self._rows[first][:-left] if left < 0 else ""
        if first and not self._rows[first - 1].endswith("\n"):
            first -= 1  # the rest of a word may fit into the row before
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
        """Count characters that were not passed to `append`."""
        self._missing += count

    def layout(self, width: int, keep: int) -> int:
        """Wrap the text at `width` cells and return the row that now contains the start of the row `keep`."""
        width = max(1, width)
        if width == self._width:
            return keep
        first = len(self._heads)
        before = sum(map(len, self._rows[: max(0, keep - first)]))
        text, self._rows, self._width = self.text, [], width
        self._heads = self._head_rows()
        self._wrap(text)
        row = 0
        while row < len(self._rows) and before >= len(self._rows[row]):
            before -= len(self._rows[row])
            row += 1
        return row + len(self._heads) if keep >= first else keep

    def __len__(self) -> int:
        return len(self._heads) + len(self._rows) + bool(self._missing)

    def row(self, index: int) -> str:
        """Return one line including its line break."""
        if index < len(self._heads):
            return self._heads[index]
        index -= len(self._heads)
        if index < len(self._rows):
            return self._rows[index]
        return f"… {self._missing:,} more characters are not shown"

    def line(self, index: int) -> Line:
        """Return one line to draw."""
        body = range(len(self._heads), len(self._heads) + len(self._rows))
        return [(self.row(index).rstrip(" \n"), self._style if index in body else "line--note")]

    def _head_rows(self) -> list[str]:
        """Return the rows of the head for the width."""
        if not self._head:
            return []
        head = WrappedText(f"{self._head}\n", style=self._style)
        head.layout(self._width, 0)
        return [head.row(index) for index in range(len(head))]

    def _wrap(self, text: str) -> None:
        *paragraphs, last = text.split("\n")
        for paragraph in paragraphs:
            self._wrap_paragraph(f"{paragraph}\n")
        if last:
            self._wrap_paragraph(last)

    def _wrap_paragraph(self, text: str) -> None:
        """Cut one paragraph into rows; each cut depends only on the text before it, so text can be appended."""
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
    """Return the last position at or before `cut` where a row may end; a space at `cut` stays in the row."""
    if text[cut] == " ":
        return cut + 1
    if not text.isascii() and 2 in {get_character_cell_size(text[cut]), get_character_cell_size(text[cut - 1])}:
        return cut  # Chinese and Japanese break between any two letters.
    return text.rfind(" ", start, cut) + 1 or cut


def _reach(text: str, start: int, end: int, width: int) -> int:
    """Return the position up to which `text[start:end]` fits the width: at least a letter with its combining marks."""
    at = min(end, start + width)
    if text.isascii():
        return at
    cells = cell_len(text[start:at])
    if cells > width:
        at = start + width // 2  # a letter has at most two cells
        cells = cell_len(text[start:at])
    while at < end:
        size = get_character_cell_size(text[at])
        if cells and cells + size > width:
            break
        cells += size
        at += 1
    return at


def wrap_pieces(pieces: Line, width: int, *, first: Sequence[Piece] = (), rest: Sequence[Piece] = ()) -> list[Line]:
    """Wrap pieces for a width, with `first` before the first line and `rest`, which is as wide, before the others."""
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
    """Cuts pieces into runs of given lengths."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = iter(pieces)
        self._text, self._style = "", ""

    def take(self, count: int, shown: int) -> Iterator[Piece]:
        """Consume `count` letters and yield the first `shown` of them."""
        while count:
            if not self._text:
                self._text, self._style = next(self._pieces, (" " * count, ""))
                continue
            run, self._text = self._text[:count], self._text[count:]
            count -= len(run)
            if shown > 0:
                yield run[:shown], self._style
            shown -= len(run)


class Paragraph(NamedTuple):
    """A text beside its head; the text is indented by the width of the head."""

    head: Piece
    text: str
    style: str


def padded(text: str, width: int) -> str:
    """Return a text with spaces up to a width."""
    return text + " " * (width - cell_len(text))


def column_width(texts: Iterable[str], longest: int = 48) -> int:
    """Return the width of a column: that of its widest text, without texts that are longer than `longest`."""
    return max((width for width in map(cell_len, texts) if width <= longest), default=0)


def labelled(label: str, text: str, width: int, style: str = "line--text") -> Paragraph:
    """Return a text beside a label in a column of this width."""
    return Paragraph((f"{label:<{width}}", "line--soft"), text, style)


def without_head(text: str, style: str = "line--text") -> Paragraph:
    """Return a text that begins at the left."""
    return Paragraph(("", style), text, style)


BLANK = without_head("")
"""An empty line."""


def as_text(paragraphs: Iterable[Paragraph]) -> str:
    """Return paragraphs as text for the clipboard."""
    return "\n".join(f"{paragraph.head[0]}{paragraph.text}".rstrip() for paragraph in paragraphs)


def hang(paragraph: Paragraph, width: int) -> list[Line]:
    """Lay out one paragraph; the text keeps to the right of its head."""
    head, style = paragraph.head
    indent = cell_len(head)
    wrapped = WrappedText(paragraph.text[:LONGEST], style=paragraph.style)
    wrapped.layout(max(_NARROWEST, width - indent), 0)
    return [
        [(head if number == 0 else " " * indent, style), *wrapped.line(number)] for number in range(len(wrapped))
    ] or [[(head, style)]]


_Item = TypeVar("_Item")


class ItemLines(Generic[_Item]):
    """Lines that are built for a width, each with the item that it shows, if any; a `LineSource`."""

    def __init__(self) -> None:
        self._lines: list[tuple[Line, _Item | None]] = []

    def __len__(self) -> int:
        return len(self._lines)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; `keep` stays as near as the new width allows."""
        self._lines = list(self._build(width))
        return min(keep, max(0, len(self._lines) - 1))

    def line(self, index: int) -> Line:
        """Return one line."""
        return self._lines[index][0]

    def item(self, index: int) -> _Item | None:
        """Return the item that a line shows, None for a line without an item or outside the range."""
        return self._lines[index][1] if 0 <= index < len(self._lines) else None

    def _build(self, width: int) -> Iterable[tuple[Line, _Item | None]]:
        raise NotImplementedError


class Paragraphs(ItemLines[Paragraph]):
    """Paragraphs one below the other; a `LineSource`."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        super().__init__()
        self._paragraphs = paragraphs

    def _build(self, width: int) -> Iterable[tuple[Line, Paragraph]]:
        return ((line, paragraph) for paragraph in self._paragraphs for line in hang(paragraph, width))
