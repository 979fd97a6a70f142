"""A text area that keeps every character as it was written, and leaves the keys of the screen alone."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.message import Message
from textual.widgets import TextArea

_SHOWN = {"\r": "␍", "\u2028": "↵", "\u2029": "¶"}
"""What stands on the screen for characters that break lines elsewhere, and here do not."""


class VerbatimDocument(Document):
    """A document in which only a newline ends a line: Textual's own makes newlines of eight other characters."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\n"
        self._lines = text.split("\n")

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace a range and return where the new text ends, and what it replaced."""
        top, bottom = sorted((start, end))
        replaced = self.get_text_range(top, bottom)
        before = self._lines[top[0]][: top[1]] if top[0] < len(self._lines) else ""
        after = self._lines[bottom[0]][bottom[1] :] if bottom[0] < len(self._lines) else ""
        lines = text.split("\n")
        column = len(lines[-1]) + (len(before) if len(lines) == 1 else 0)
        lines[0] = before + lines[0]
        lines[-1] += after
        self._lines[top[0] : bottom[0] + 1] = lines
        return EditResult((top[0] + len(lines) - 1, column), replaced)


class VerbatimArea(TextArea):
    """A text area over an `VerbatimDocument`; more than `most` characters are not taken, but told of.

    Escape and keys with alt are for the screen: some terminals name a letter with alt, and Textual's area would write
    it, or move the focus on.
    """

    most: int | None = None

    class Overflowed(Message):
        """So much was pasted that it was not taken; `text` is what it would have come to."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def on_mount(self) -> None:
        """Nothing here blinks."""
        self.cursor_blink = False

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document("", language)
        self.document = VerbatimDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is drawn: a character that a terminal would obey or hide has a sign in its place."""
        line = self.document.get_line(line_index)
        if not line.isprintable():
            line = "".join(one if one.isprintable() or one == "\t" else _SHOWN.get(one, "·") for one in line)
        return Text(line, end="", no_wrap=True)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "escape" or event.key.startswith("alt+"):
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        text = event.text
        if "\n" not in text:
            text = text.replace("\r", "\n")  # terminals write the ends of pasted lines so
        if self.most is not None and len(self.text) + len(text) > self.most:
            event.stop()
            event.prevent_default()
            document, (start, end) = self.document, sorted(self.selection)
            before = document.get_text_range(document.start, start)
            self.post_message(self.Overflowed(before + text + document.get_text_range(end, document.end)))
        elif text != event.text:
            event.prevent_default()
            await super()._on_paste(events.Paste(text))
