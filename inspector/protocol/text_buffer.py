"""An append-only text from which the newest part can be read cheaply."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

_BLOCK = 64 * 1024
"""Appended texts are joined at this length, because many small strings need more memory than their text."""


class TextBuffer:
    """An append-only text of `length` characters; a part of it can be read without joining the whole text."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._ends: list[int] = []
        self._tail: list[str] = []
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def __str__(self) -> str:
        return self.after(0)

    def append(self, text: str) -> None:
        """Add text at the end."""
        if not text:
            return  # empty texts never fill a block, so they would accumulate
        self._tail.append(text)
        self.length += len(text)
        if self.length - (self._ends[-1] if self._ends else 0) >= _BLOCK:
            self._blocks.append("".join(self._tail))
            self._ends.append(self.length)
            self._tail.clear()

    def after(self, position: int) -> str:
        """Return the text from a character position to the end; only the blocks of this part are joined."""
        first = len(self._blocks)
        while first and self._ends[first - 1] > position:
            first -= 1
        start = self._ends[first - 1] if first else 0
        return "".join((*self._blocks[first:], *self._tail))[max(0, position - start) :]

    def between(self, start: int, end: int) -> str:
        """Return the text between two character positions; only the blocks of this part are joined."""
        first, last = bisect_right(self._ends, start), bisect_left(self._ends, end)
        begin = self._ends[first - 1] if first else 0
        tail = self._tail if last >= len(self._blocks) else ()
        return "".join((*self._blocks[first : last + 1], *tail))[max(0, start - begin) : max(0, end - begin)]
