"""Text that grows by pieces and is read by those who already have its beginning."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

_BLOCK = 64 * 1024
"""Pieces are joined when they reach this many characters: many small strings cost more than their text."""


class TextBuffer:
    """An append-only text whose tail can be read from any position without joining the whole."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._ends: list[int] = []
        self._tail: list[str] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return self.after(0)

    def append(self, text: str) -> None:
        """Add text at the end."""
        if not text:
            return  # pieces that never fill a block would pile up
        self._tail.append(text)
        self._length += len(text)
        if self._length - (self._ends[-1] if self._ends else 0) >= _BLOCK:
            self._blocks.append("".join(self._tail))
            self._ends.append(self._length)
            self._tail.clear()

    def after(self, position: int) -> str:
        """Return the text from a character position on; its cost is that of the part returned, by blocks."""
        first = len(self._blocks)
        while first and self._ends[first - 1] > position:
            first -= 1
        start = self._ends[first - 1] if first else 0
        return "".join((*self._blocks[first:], *self._tail))[max(0, position - start) :]

    def between(self, start: int, end: int) -> str:
        """Return the text from one character position to another; its cost is that of the blocks that they touch."""
        first, last = bisect_right(self._ends, start), bisect_left(self._ends, end)
        begin = self._ends[first - 1] if first else 0
        tail = self._tail if last >= len(self._blocks) else ()
        return "".join((*self._blocks[first : last + 1], *tail))[max(0, start - begin) : max(0, end - begin)]
