"""A document: text that grows and is wrapped at the width of its pane."""

from __future__ import annotations

from inspector.tui.render.text_lines import LIMIT, WrappedText
from inspector.tui.widgets.lines import LineView


class Document(LineView):
    """Shows sanitised text in rows, wrapped between words or, as `code`, anywhere; appending costs what is appended.

    Text beyond `limit` characters is not shown, and the last line says so.
    """

    DEFAULT_CSS = """
    Document {
        overflow-x: hidden;
        & > .document--text { color: $foreground; }
        & > .document--code { color: $text-soft; }
    }
    """

    def __init__(
        self,
        text: str = "",
        *,
        code: bool = False,
        follow: bool = True,
        limit: int = LIMIT,
        empty: str = "",
        id: str | None = None,  # noqa: A002 - as every widget of Textual's calls it
    ) -> None:
        self._code = code
        self._limit = limit
        self._wrapped = self._wrap(text)
        super().__init__(self._wrapped, follow=follow, empty=empty, id=id)

    @property
    def text(self) -> str:
        """The text that is shown, clean."""
        return self._wrapped.text

    def append(self, text: str) -> None:
        """Add text at the end."""
        self._wrapped.append(text)
        self.refresh_source()

    def set_text(self, text: str, *, code: bool | None = None) -> None:
        """Show another text, as code or not; None leaves that as it is."""
        self._code = self._code if code is None else code
        self._wrapped = self._wrap(text)
        self.show(self._wrapped)

    def become(self, text: str, known: str) -> None:
        """Show a text instead of what is `known`; where one begins with the other, only the rest is laid out."""
        if text.startswith(known):
            self.append(text[len(known) :])
        elif known.startswith(text) and self._wrapped.take_back(known[len(text) :]):
            self.refresh_source()
        else:
            self.set_text(text)

    def clear(self) -> None:
        """Show no text."""
        self.set_text("")

    def _wrap(self, text: str) -> WrappedText:
        style = "document--code" if self._code else "document--text"
        return WrappedText(text, words=not self._code, style=style, limit=self._limit)

    def _text(self, index: int) -> str:
        return self._wrapped.row(index)
