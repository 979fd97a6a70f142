"""A line of words, some of which do something when they are clicked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.tui.render.content import plain

_GAP = "  "


class Chip(NamedTuple):
    """A word, from anywhere, with its style, and what a click on it asks for, `""` where for nothing."""

    text: str
    style: str = "$text-soft"
    does: str = ""


class Chips(Static):
    """Shows chips beside each other, and tells which one is clicked."""

    class Chosen(Message):
        """A chip was clicked."""

        def __init__(self, does: str) -> None:
            super().__init__()
            self.does = does

    _chips: Sequence[Chip] = ()
    _widths: Sequence[int] = ()

    def show(self, chips: Sequence[Chip]) -> None:
        """Show these chips."""
        if chips == self._chips:
            return
        self._chips = chips
        contents = [plain(chip.text, limit=40).stylize(chip.style) for chip in chips]
        self._widths = [cell_len(content.plain) for content in contents]
        self.update(Content(_GAP).join(contents), layout=False)

    def on_click(self, event: events.Click) -> None:
        """Ask for what the chip under the pointer does."""
        at = event.get_content_offset(self)
        end = 0
        for chip, width in zip(self._chips, self._widths, strict=True):
            start, end = end, end + width + len(_GAP)
            if at is not None and chip.does and start <= at.x < start + width:
                self.post_message(self.Chosen(chip.does))
