"""Search in lines: find a text, and highlight the hits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from inspector.tui.render.text_lines import Line, LineSource, Piece, WrappedText

HIT = "line--hit"
"""The component class of a hit."""
MOST_LINES = 200_000
"""The most lines that are searched."""
MOST_HITS = 10_000
"""The most hits that are found."""


def next_of(hits: list[int], current: int, step: int, *, here: bool) -> int | None:
    """Return the index of the next hit before or after a position, continuing at the other end; None without hits.

    `hits` is sorted; `here` includes the current position.
    """
    if not hits:
        return None
    number = bisect_left(hits, current + (not here)) if step > 0 else bisect_left(hits, current) - 1
    return number % len(hits)


class HighlightedLines:
    """The lines of a source with the hits of a search highlighted, ignoring case; a `LineSource`.

    In wrapped text a hit may cross the end of a row; only hits within one row are highlighted.
    """

    def __init__(self, source: LineSource) -> None:
        self.source = source
        self._words = ""
        self._hits: list[int] = []

    def __len__(self) -> int:
        return len(self.source)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width and search again, because rows may end elsewhere."""
        kept = self.source.layout(width, keep)
        self.find(self._words)
        return kept

    def line(self, index: int) -> Line:
        """Return one line."""
        line = self.source.line(index)
        return list(highlighted(line, self._words, HIT)) if self._words else line

    def find(self, words: str) -> int:
        """Search for a text and return the number of hits."""
        self._words, self._hits = words.casefold(), []
        if not self._words:
            return 0
        starts: list[int] = []
        texts: list[str] = []
        length = 0
        for index in range(min(len(self.source), MOST_LINES)):
            starts.append(length)
            texts.append(self._text(index).casefold())
            length += len(texts[-1])
        whole = "".join(texts)
        at = whole.find(self._words)
        while at >= 0 and len(self._hits) < MOST_HITS:
            self._hits.append(bisect_right(starts, at) - 1)
            at = whole.find(self._words, at + len(self._words))
        return len(self._hits)

    def next_hit(self, line: int, step: int, *, here: bool = False) -> tuple[int, int] | None:
        """Return the line of the next hit and the hit's number, counted from 1; None without hits."""
        number = next_of(self._hits, line, step, here=here)
        return None if number is None else (self._hits[number], number + 1)

    def _text(self, index: int) -> str:
        if isinstance(self.source, WrappedText):
            return self.source.row(index)
        return "".join(text for text, _ in self.source.line(index)) + "\n"


def highlighted(line: Line, words: str, hit: str) -> Iterator[Piece]:
    """Yield the pieces of a line with every occurrence of the casefolded `words` in the style `hit`."""
    for text, style in line:
        folded = text.casefold()
        at = folded.find(words) if len(folded) == len(text) else -1
        start = 0
        while at >= 0:
            yield text[start:at], style
            start = at + len(words)
            yield text[at:start], hit
            at = folded.find(words, start)
        yield text[start:], style
