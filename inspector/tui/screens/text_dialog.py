"""A paper: paragraphs that take a moment to write, on top of the place that asked for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from inspector.tui.notify import copy
from inspector.tui.render.content import plain
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.detail_pane import FactView
from inspector.tui.widgets.footer import KeyFooter

Write = Callable[[], Awaitable[list[Paragraph]]]
"""What writes the paper, each time anew."""


class TextDialog(Dialog[None]):
    """Shows what `write` returns, and has it written again when asked to, or each second where it is `live`."""

    CSS_PATH = "text_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "again", id="paper.again", tooltip="Look again"),
        Binding("y", "copy", "copy", id="paper.copy", tooltip="Copy it as text"),
        Binding("escape,q", "leave", "close", id="paper.close", tooltip="Close it"),
    ]

    def __init__(self, title: str, write: Write, *, live: bool = False) -> None:
        super().__init__()
        self._live = live
        self._title_text = title
        self._write = write
        self._paragraphs: list[Paragraph] = []

    def compose(self) -> ComposeResult:
        """Make the title, the text and the keys."""
        with Vertical(id="paper"):
            yield Static(plain(self._title_text).stylize("bold $bar"), classes="pane-title")
            yield FactView(id="paper-text", empty="Looking ...")
            yield KeyFooter()

    def on_mount(self) -> None:
        """Begin."""
        self.query_one(FactView).focus()
        self.call_after_refresh(self.action_again)  # the width is known by then
        if self._live:
            self.set_interval(1.0, self.action_again)

    @property
    def width(self) -> int:
        """Return how many cells a line of it has."""
        return self.query_one(FactView).scrollable_content_region.width

    @work(group="paper", exclusive=True)
    async def action_again(self) -> None:
        """Have it written anew."""
        written = await self._write()
        if written != self._paragraphs or not written:
            self._paragraphs, view = written, self.query_one(FactView)
            top = view.scroll_y
            view.show(Paragraphs(written))
            view.scroll_to(y=top, animate=False)  # who reads stays where they read

    def action_copy(self) -> None:
        """Copy it as text."""
        copy(self, "\n".join(f"{one.head[0]}{one.text}" for one in self._paragraphs))
