"""JSON to read: in colours, folding, with the pointer and the value of the line under the cursor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from inspector.text.sanitise import clean
from inspector.tui.render.jsonlines import JsonLines, NotJsonError, Value, read
from inspector.tui.render.wrap import LIMIT, WrappedText
from inspector.tui.widgets.cursor import CursorView


class JsonView(CursorView):
    """Shows one JSON value, or bytes that should have been one as the text that they are."""

    DEFAULT_CSS = """
    JsonView {
        & > .json--key { color: $json-key; }
        & > .json--string { color: $json-string; }
        & > .json--number { color: $json-number; }
        & > .json--punct { color: $json-punct; }
        & > .json--fold { color: $json-punct; }
        & > .json--size { color: $wire-quiet; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "json--key",
        "json--string",
        "json--number",
        "json--punct",
        "json--fold",
        "json--size",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "fold", "Fold", show=False, id="json.fold", tooltip="Fold, or go to what it is part of"),
        Binding("right", "unfold", "Unfold", show=False, id="json.unfold", tooltip="Unfold, or go to what is in it"),
    ]

    class Highlighted(Message):
        """The cursor is on another line."""

        def __init__(self, view: JsonView, pointer: str) -> None:
            super().__init__()
            self.view = view
            self.pointer = pointer

        @property
        def control(self) -> JsonView:
            """The view."""
            return self.view

        def can_replace(self, message: Message) -> bool:
            """Let a later line stand for an earlier one."""
            return isinstance(message, JsonView.Highlighted) and message.view is self.view

    def __init__(
        self,
        *,
        empty: str = "",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - as every widget of Textual's calls it
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(empty=empty, name=name, id=id, classes=classes, disabled=disabled)

    def show_value(self, value: Value) -> None:
        """Show a JSON value."""
        self.show(JsonLines(value))

    def show_bytes(self, raw: bytes) -> None:
        """Show the JSON value that bytes spell or, where they spell none, why not and the bytes as text."""
        try:
            self.show_value(read(raw))
        except NotJsonError as error:
            text = WrappedText(raw[:LIMIT].decode("utf-8", "replace"), style="line--text", head=f"{error}; as text:")
            text.skip(max(0, len(raw) - LIMIT))
            self.show(text)

    @property
    def pointer(self) -> str:
        """The JSON pointer of the line under the cursor."""
        return self.source.pointer(self.cursor) if isinstance(self.source, JsonLines) else ""

    @property
    def value(self) -> str:
        """What the line under the cursor stands for, to be copied: strings as they are, the rest as JSON."""
        if isinstance(self.source, JsonLines):
            return self.source.value(self.cursor)
        return self.source.text if isinstance(self.source, WrappedText) else ""

    def action_fold(self) -> None:
        """Fold the container under the cursor, or go to the one around it."""
        if not isinstance(self.source, JsonLines):
            return
        if self.source.can_fold(self.cursor):
            self._toggle(self.source)
        else:
            self.cursor = self.source.parent(self.cursor)

    def action_unfold(self) -> None:
        """Unfold the container under the cursor, or go into it."""
        if not isinstance(self.source, JsonLines):
            return
        if self.source.can_unfold(self.cursor):
            self._toggle(self.source)
        elif self.source.can_fold(self.cursor):
            self.cursor += 1

    def _opened(self) -> None:
        if isinstance(self.source, JsonLines):
            self._toggle(self.source)

    def _toggle(self, lines: JsonLines) -> None:
        lines.toggle(self.cursor)
        self.refresh_source()

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted(self, self.pointer))

    def _text(self, index: int) -> str:
        if isinstance(self.source, WrappedText):
            return self.source.row(index)
        # A fold mark is no part of the value.
        pieces = self.source.line(index)
        return "".join(" " * len(text) if style == "json--fold" else clean(text) for text, style in pieces) + "\n"
