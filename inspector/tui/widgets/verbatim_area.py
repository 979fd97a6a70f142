"""A text area that keeps every character, and does not handle keys of the screen."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.message import Message
from textual.widgets import TextArea

from inspector.lazy_dataclass import dataclass

_SHOWN = {"\r": "␍", "\u2028": "↵", "\u2029": "¶"}
"""The signs for characters that break lines elsewhere, but not here."""


class VerbatimDocument(Document):
    """A document in which only a newline ends a line; Textual's own turns eight other characters into newlines."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\n"
        self._lines = text.split("\n")

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace a range and return the end of the new text and the replaced text."""
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
    """A text area with a `VerbatimDocument`; a paste that exceeds `most` characters is reported instead of inserted.

    Escape and keys with alt are left to the screen: Textual's own area moves the focus, or inserts the letter that some
    terminals send with alt.
    """

    most: int | None = None

    @dataclass
    class Overflowed(Message):
        """A paste was too long; `text` is the whole text including the paste."""

        text: str

    def on_mount(self) -> None:
        """Stop the cursor from blinking."""
        self.cursor_blink = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the function keys to the screen, and the key for undo if no edit of the text can be undone."""
        if action in ("select_line", "select_all"):
            return False
        if action == "undo":
            return bool(self.history._undo_stack)
        return super().check_action(action, parameters)

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document("", language)
        self.document = VerbatimDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()

    def replace_all(self, text: str) -> None:
        """Replace the whole text, as an edit that can be undone."""
        self.replace(text, self.document.start, self.document.end)

    def get_cursor_line_start_location(self, smart_home: bool = False) -> Location:  # noqa: ARG002 - as TextArea
        """Return the start of the line, as in a shell; Textual's area returns the start of the wrapped row."""
        return self.cursor_location[0], 0

    def get_cursor_line_end_location(self) -> Location:
        """Return the end of the line, as in a shell; Textual's area returns the end of the wrapped row."""
        row = self.cursor_location[0]
        return row, len(self.document.get_line(row))

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is drawn, with signs for control and invisible characters."""
        line = self.document.get_line(line_index)
        if not line.isprintable():
            line = "".join(char if char.isprintable() or char == "\t" else _SHOWN.get(char, "·") for char in line)
        return Text(line, end="", no_wrap=True)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "escape" or event.key.startswith("alt+"):
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        text = event.text
        if "\n" not in text:
            text = text.replace("\r", "\n")  # terminals send a carriage return for each line end
        if self.most is not None and len(self.text) + len(text) > self.most:
            event.stop()
            event.prevent_default()
            document, (start, end) = self.document, sorted(self.selection)
            before = document.get_text_range(document.start, start)
            self.post_message(self.Overflowed(before + text + document.get_text_range(end, document.end)))
        elif text != event.text:
            event.prevent_default()
            await super()._on_paste(events.Paste(text))
