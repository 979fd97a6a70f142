"""What an artifact is shown in besides plain text and JSON: Markdown that grows, and an image in half cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from inspector.tui.render.images import drawn
from inspector.tui.render.markdown import GrowingMarkdown
from inspector.tui.widgets.lines import LineView

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


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
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "card--text",
        "card--muted",
        "card--strong",
        "card--emphasis",
        "card--code",
        "card--link",
    }

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
