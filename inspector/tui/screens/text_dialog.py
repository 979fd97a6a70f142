"""A dialog that shows paragraphs, which are computed asynchronously."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.capture.private_files import CaptureError
from inspector.tui.keys import bind
from inspector.tui.notify import copy
from inspector.tui.render.text_lines import Paragraph, Paragraphs, as_text, without_head
from inspector.tui.screens.dialog import FITTED, Dialog
from inspector.tui.widgets.fact_view import FactView

Write = Callable[[], Awaitable[list[Paragraph]]]
"""Computes the paragraphs; it is called again for each update."""


class TextDialog(Dialog[None]):
    """Shows what `write` returns; updates the text on request and, if the dialog is `live`, every second."""

    FRAME = "text-dialog"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("refresh", "refresh_text", "", "Refresh the text"),
        bind("copy", "copy", "", "Copy the text"),
        bind("back", "leave", "close", "Close the dialog"),
        bind("quit", "leave", "close", "Close the dialog", show=False),
    ]

    def __init__(self, title: str, write: Write, *, live: bool = False) -> None:
        super().__init__(title)
        self._live = live
        self._write = write
        self._paragraphs: list[Paragraph] = []

    def body(self) -> ComposeResult:
        """Make the text."""
        yield FactView(id="dialog-text", classes=FITTED, empty="Loading ...")

    def on_mount(self) -> None:
        """Compute the text after the dialog is laid out."""
        self.query_one(FactView).focus()
        self.call_after_refresh(self.action_refresh_text)  # only then is the width known
        if self._live:
            self.set_interval(1.0, self.action_refresh_text)

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return self.query_one(FactView).scrollable_content_region.width

    @work(group="text dialog", exclusive=True)
    async def action_refresh_text(self) -> None:
        """Compute the text again, and keep the scroll position."""
        try:
            written = await self._write()
        except CaptureError as error:
            written = [without_head(str(error), "line--bad")]
        if written != self._paragraphs or not written:
            self._paragraphs = written
            self.query_one(FactView).show_again(Paragraphs(written))

    def action_copy(self) -> None:
        """Copy the text."""
        copy(self, as_text(self._paragraphs))
