"""JSON in colours that can be folded, with the pointer and the value of the line under the cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.text.sanitise import clean
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.json_lines import JsonLines
from inspector.tui.render.json_nodes import NotJsonError, Value, read
from inspector.tui.render.text_lines import LIMIT, Piece, WrappedText
from inspector.tui.screens.search import SearchScreen
from inspector.tui.widgets.cursor import CursorView


class JsonView(CursorView):
    """Shows a JSON value, or, as text, bytes that are not JSON."""

    DEFAULT_CSS = """
    JsonView {
        & > .json--key { color: $json-key; }
        & > .json--string { color: $json-string; }
        & > .json--number { color: $json-number; }
        & > .json--punct { color: $json-punct; }
        & > .json--fold { color: $json-punct; }
        & > .json--size { color: $wire-quiet; }
        & > .json--hit { color: $state-warning; text-style: bold underline; }
        & > .json--error { color: $state-bad; }
        & > .json--warning { color: $state-warning; }
        & > .json--hint { color: $text-soft; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("left", "fold", "Fold", "Fold, or go to the parent", show=False),
        bind("right", "unfold", "Unfold", "Unfold, or go to the first child", show=False),
        bind("filter", "find", "find", "Search names and values"),
        bind("next-match", "next_hit(1)", show=False),
        bind("previous-match", "next_hit(-1)", show=False),
    ]

    @dataclass
    class Highlighted(Message):
        """The cursor is on another line."""

        view: JsonView
        pointer: str

        def can_replace(self, message: Message) -> bool:
            """Let a later message replace this."""
            return isinstance(message, JsonView.Highlighted) and message.view is self.view

    def show_value(self, value: Value) -> None:
        """Show a JSON value."""
        self.show(JsonLines(value))

    def show_bytes(self, raw: bytes) -> None:
        """Show bytes as JSON, or the reason why they are not JSON and the bytes as text."""
        try:
            self.show_value(read(raw))
        except NotJsonError as error:
            self.show_text(raw, f"{error}; as text:")

    def show_text(self, raw: bytes, head: str) -> None:
        """Show bytes as text below a head."""
        text = WrappedText(raw[:LIMIT].decode("utf-8", "replace"), style="line--text", head=head)
        text.skip(max(0, len(raw) - LIMIT))
        self.show(text)

    @property
    def pointer(self) -> str:
        """The JSON pointer of the line under the cursor."""
        return self.source.pointer(self.cursor) if isinstance(self.source, JsonLines) else ""

    @property
    def value(self) -> str:
        """The value of the line under the cursor: a string without quotes, anything else as JSON."""
        if isinstance(self.source, JsonLines):
            return self.source.value(self.cursor)
        return self.source.text if isinstance(self.source, WrappedText) else ""

    @property
    def json(self) -> str:
        """The value of the line under the cursor as JSON, `""` if the bytes are not JSON."""
        return self.source.json(self.cursor) if isinstance(self.source, JsonLines) else ""

    def action_fold(self) -> None:
        """Fold the object or array under the cursor, or go to its parent."""
        if isinstance(self.source, JsonLines):
            if self.source.can_fold(self.cursor):
                self._opened()
            else:
                self.cursor = self.source.parent(self.cursor)

    def action_unfold(self) -> None:
        """Unfold the object or array under the cursor, or go to its first child."""
        if isinstance(self.source, JsonLines):
            if self.source.can_unfold(self.cursor):
                self._opened()
            elif self.source.can_fold(self.cursor):
                self.cursor += 1

    def nearest(self, pointer: str) -> str:
        """Return the pointer if its value exists, else the pointer of its nearest ancestor that exists."""
        return self.source.nearest(pointer) if isinstance(self.source, JsonLines) else ""

    def go_to(self, pointer: str) -> None:
        """Move the cursor to the value of a pointer, or to its nearest ancestor."""
        if isinstance(self.source, JsonLines):
            self.source.line_at(pointer)  # unfolds what hides it
            self.refresh_source()
            self.cursor = self.source.line_at(pointer)

    def note(self, notes: Mapping[str, Piece]) -> None:
        """Show notes at the end of the lines of these pointers."""
        if isinstance(self.source, JsonLines):
            self.source.note(notes)
            self.refresh_source()

    def find(self, words: str) -> str:
        """Highlight a text, go to its first hit from the cursor on, and return how many hits there are, in words."""
        if not isinstance(self.source, JsonLines):
            return "only JSON can be searched"
        count = self.source.find(words)
        found = self._go_to_hit(1, here=True)
        self.refresh_source()
        return f"{found:,} of {count:,}" if count else "no match" if words else ""

    def action_find(self) -> None:
        """Ask what to find."""
        self.app.push_screen(SearchScreen(self.find))

    def action_next_hit(self, step: int) -> None:
        """Go to the next hit in a direction."""
        if not self._go_to_hit(step):
            notify(self, f"No match. Press {key_of('filter')} to search.", "warning")

    def _go_to_hit(self, step: int, *, here: bool = False) -> int:
        hit = self.source.next_hit(self.cursor, step, here=here) if isinstance(self.source, JsonLines) else None
        if hit is None:
            return 0
        line, number = hit
        self.refresh_source()
        self.cursor = line
        return number

    def _opened(self) -> None:
        if isinstance(self.source, JsonLines):
            node = self.source.node(self.cursor)
            self.source.toggle(self.cursor)
            self.refresh_source()
            self.cursor = self.source.row(node)

    def _fit(self) -> None:
        """Wrap the strings for the width of the view; the cursor stays at its value."""
        source = self.source
        node = source.node(self.cursor) if isinstance(source, JsonLines) else -1
        super()._fit()
        if isinstance(source, JsonLines) and node >= 0 and source.node(self.cursor) != node:
            self.set_reactive(JsonView.cursor, source.row(node))  # no event: the same value is selected

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted(self, self.pointer))

    def _text(self, index: int) -> str:
        if isinstance(self.source, WrappedText):
            return self.source.row(index)
        # A fold mark and the end of a row within a string are not part of the value.
        pieces = self.source.line(index)
        text = "".join(" " * len(text) if style == "json--fold" else clean(text) for text, style in pieces)
        return text if isinstance(self.source, JsonLines) and not self.source.ends(index) else text + "\n"
