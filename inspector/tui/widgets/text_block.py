"""A text of one or more lines."""

from __future__ import annotations

from textual.visual import VisualType
from textual.widgets import Static


class TextBlock(Static):
    """A text whose height follows each update.

    Textual keeps the previous height if a text is updated twice and the screen is laid out between the two updates.
    """

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        if layout:
            self._layout_updates += 1  # a part of the key of the cached size
        super().update(content, layout=layout)
