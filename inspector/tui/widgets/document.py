"""Widgets for the output of an agent: text and Markdown that grow at their end, and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from inspector.tui.render.images import drawn
from inspector.tui.render.markdown import GrowingMarkdown
from inspector.tui.render.text_lines import WrappedText
from inspector.tui.widgets.lines import LineView

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


class Document(LineView):
    """Shows sanitised text in rows that are wrapped between words; the time to append depends only on the new text."""

    DEFAULT_CSS = "Document { overflow-x: hidden; }"

    def __init__(
        self,
        text: str = "",
        *,
        follow: bool = True,
        empty: str = "",
        id: str | None = None,
    ) -> None:
        self._wrapped = WrappedText(text, style="line--text")
        super().__init__(self._wrapped, follow=follow, empty=empty, id=id)

    @property
    def text(self) -> str:
        """The sanitised text that is shown."""
        return self._wrapped.text

    def append(self, text: str) -> None:
        """Add text at the end."""
        self._wrapped.append(text)
        self.refresh_source()

    def set_text(self, text: str) -> None:
        """Show another text."""
        self._wrapped = WrappedText(text, style="line--text")
        self.show(self._wrapped)

    def become(self, text: str, known: str) -> None:
        """Replace the text `known` by another text; if one begins with the other, only the rest is laid out."""
        if text.startswith(known):
            self.append(text[len(known) :])
        elif known.startswith(text) and self._wrapped.take_back(known[len(text) :]):
            self.refresh_source()
        else:
            self.set_text(text)

    def _text(self, index: int) -> str:
        return self._wrapped.row(index)


class MarkdownView(LineView):
    """Shows Markdown that grows at its end; its links cannot be followed."""

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
    """Shows an image as large as possible, or a line while it is being read."""

    _picture: Picture | None = None

    def show(self, picture: Picture | None) -> None:
        """Show an image, or, for None, that it is being read."""
        self._picture = picture
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the image for the current size."""
        if self._picture is None:
            return Content.styled("Reading the image.", "$text-soft")
        return drawn(self._picture, max(1, self.size.width), max(1, self.size.height))
