"""Texts that hang beside a label: laid out for a width, wrapped between words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from inspector.tui.render.line_source import Line, Piece
from inspector.tui.render.wrap import WrappedText

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
