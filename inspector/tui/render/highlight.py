"""Lines in which a text that was looked for is marked, whatever they are lines of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from inspector.tui.render.text_lines import Line, LineSource, Piece, WrappedText

HIT = "line--hit"
"""The component class of what was found."""

MOST_LINES = 200_000
"""How many lines are searched."""

MOST_HITS = 10_000
"""How many places are found at most."""


class Marked:
    """Draws the lines of a source and marks where a text stands in them, whatever its case; a `LineSource`.

    In wrapped text it is found across the ends of rows, too; only what stands in one row is marked.
    """

    def __init__(self, source: LineSource) -> None:
        self._source = source
        self._words = ""
        self._hits: list[int] = []

    def __len__(self) -> int:
        return len(self._source)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; what was found is looked for again, because rows may end elsewhere."""
        kept = self._source.layout(width, keep)
        self.find(self._words)
        return kept

    def line(self, index: int) -> Line:
        """Return one line."""
        line = self._source.line(index)
        return list(_marked(line, self._words)) if self._words else line

    def find(self, words: str) -> int:
        """Look for a text and return how often it was found."""
        self._words, self._hits = words.casefold(), []
        if not self._words:
            return 0
        starts: list[int] = []
        texts: list[str] = []
        length = 0
        for index in range(min(len(self._source), MOST_LINES)):
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
        """Return the next line with what was looked for, round the end, and its number; None where there is none."""
        if not self._hits:
            return None
        number = bisect_left(self._hits, line + (0 if here else 1)) if step > 0 else bisect_left(self._hits, line) - 1
        number %= len(self._hits)
        return self._hits[number], number + 1

    def _text(self, index: int) -> str:
        if isinstance(self._source, WrappedText):
            return self._source.row(index)
        return "".join(text for text, _ in self._source.line(index)) + "\n"


def _marked(line: Line, words: str) -> Iterator[Piece]:
    for text, style in line:
        folded = text.casefold()
        at = folded.find(words) if len(folded) == len(text) else -1
        start = 0
        while at >= 0:
            yield text[start:at], style
            start = at + len(words)
            yield text[at:start], HIT
            at = folded.find(words, start)
        yield text[start:], style
