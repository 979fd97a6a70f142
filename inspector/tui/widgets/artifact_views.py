"""What the artifact pane is made of: chips that can be clicked, Markdown that grows, and an image in half cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from inspector.tui.render.content import plain
from inspector.tui.render.images import drawn
from inspector.tui.render.markdown import GrowingMarkdown
from inspector.tui.widgets.lines import LineView

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


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


class MarkdownView(LineView):
    """Shows Markdown that grows at its end; nothing in it can be followed."""

    DEFAULT_CSS = """
    MarkdownView {
        overflow-x: hidden;
        & > .card--text { color: $foreground; }
        & > .card--muted { color: $text-soft; }
        & > .card--strong { color: $foreground; text-style: bold; }
        & > .card--emphasis { color: $foreground; text-style: italic; }
        & > .card--code { color: $json-string; }
        & > .card--link { color: $foreground; text-style: underline; }
    }
    """

    def set_text(self, text: str) -> None:
        """Show another text."""
        self.show(GrowingMarkdown(text))

    def append(self, text: str) -> None:
        """Add text at the end."""
        if isinstance(self.source, GrowingMarkdown):
            self.source.append(text)
            self.refresh_source()


class ImageView(Widget, can_focus=True):
    """Shows an image as large as it fits, or a line while it is being read."""

    _picture: Picture | None = None

    def show(self, picture: Picture | None) -> None:
        """Show an image; None says that it is being read."""
        self._picture = picture
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the image for the size that there is now."""
        if self._picture is None:
            return Content.styled("The image is being read.", "$text-soft")
        return drawn(self._picture, max(1, self.size.width), max(1, self.size.height))
