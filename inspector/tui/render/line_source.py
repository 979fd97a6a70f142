"""Lines without a screen: what a source of lines promises to the view that draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

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
