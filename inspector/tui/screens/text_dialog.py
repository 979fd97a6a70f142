"""A dialog that shows paragraphs, which may take a moment to compute."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.tui.notify import copy
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.detail_pane import FactView

Write = Callable[[], Awaitable[list[Paragraph]]]
"""Computes the paragraphs; it is called again for each update."""


class TextDialog(Dialog[None]):
    """Shows what `write` returns; updates it on request and, if it is `live`, every second."""

    CSS_PATH = "text_dialog.tcss"
    FRAME = "paper"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "again", id="paper.again", tooltip="Look again"),
        Binding("y", "copy", "copy", id="paper.copy", tooltip="Copy it as text"),
        Binding("escape,q", "leave", "close", id="paper.close", tooltip="Close it"),
    ]

    def __init__(self, title: str, write: Write, *, live: bool = False) -> None:
        super().__init__(title)
        self._live = live
        self._write = write
        self._paragraphs: list[Paragraph] = []

    def body(self) -> ComposeResult:
        """Make the text."""
        yield FactView(id="paper-text", empty="Looking ...")

    def on_mount(self) -> None:
        """Compute the text once it is laid out."""
        self.query_one(FactView).focus()
        self.call_after_refresh(self.action_again)  # the width is known by then
        if self._live:
            self.set_interval(1.0, self.action_again)

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return self.query_one(FactView).scrollable_content_region.width

    @work(group="paper", exclusive=True)
    async def action_again(self) -> None:
        """Compute the text again, and keep the scroll position."""
        written = await self._write()
        if written != self._paragraphs or not written:
            self._paragraphs, view = written, self.query_one(FactView)
            top = view.scroll_y
            view.show(Paragraphs(written))
            view.scroll_to(y=top, animate=False)

    def action_copy(self) -> None:
        """Copy the text."""
        copy(self, "\n".join(f"{one.head[0]}{one.text}" for one in self._paragraphs))
