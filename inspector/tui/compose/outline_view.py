"""The outline of a message with a cursor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from inspector.tui.compose.outline import PART, Outline, Row
from inspector.tui.widgets.cursor import CursorView


class OutlineView(CursorView):
    """The parts and the options of a message, one a line."""

    DEFAULT_CSS = """
    OutlineView {
        overflow-x: hidden;
        & > .outline--head { color: $text-soft; text-style: bold; }
        & > .outline--error { color: $state-bad; }
        & > .outline--warning { color: $state-warning; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"outline--head", "outline--error", "outline--warning"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "screen.put_back", "put back", id="compose.put-back", tooltip="Put back what was removed last"),
        Binding("D", "screen.duplicate", "double", id="compose.duplicate", tooltip="The part once more"),
        Binding("x,delete", "screen.remove", "remove", id="compose.remove", tooltip="Remove the part"),
        Binding("K,shift+up", "screen.shift(-1)", "move up", id="compose.up", tooltip="Move the part up", show=False),
        Binding("J,shift+down", "screen.shift(1)", "move down", id="compose.down", tooltip="Move it down", show=False),
    ]
    enter_hint = "edit"

    class Highlighted(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """The row under the cursor is to be edited."""

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor."""
        source = self.source
        return source.rows[self.cursor] if isinstance(source, Outline) and 0 <= self.cursor < len(source) else None

    def go_to(self, key: str) -> None:
        """Put the cursor on the row of a key."""
        index = self.source.index_of(key) if isinstance(self.source, Outline) else None
        if index is not None:
            self.cursor = index

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted())

    def _opened(self) -> None:
        self.post_message(self.Opened())

    @property
    def part(self) -> int | None:
        """Return which part is under the cursor, None for another row."""
        row = self.row
        return int(row.key.removeprefix(PART)) if row is not None and row.key.startswith(PART) else None
