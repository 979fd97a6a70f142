"""The differences between two cards under a cursor."""

from __future__ import annotations

from typing import ClassVar

from inspector.tui.render.changes import ChangeLines, as_text
from inspector.tui.widgets.cursor import CursorView


class ChangeView(CursorView):
    """Draws changes; enter shows the values of the one under the cursor in full."""

    DEFAULT_CSS = """
    ChangeView {
        overflow-x: hidden;
        & > .change--path { color: $foreground; text-style: bold; }
        & > .change--added { color: $state-good; }
        & > .change--removed { color: $state-bad; }
        & > .change--changed { color: $state-warning; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"change--path", "change--added", "change--removed", "change--changed"}

    enter_hint = "show in full"

    @property
    def pointer(self) -> str:
        """The place in the later card that the line under the cursor is about."""
        change = self.source.change(self.cursor) if isinstance(self.source, ChangeLines) else None
        return change.pointer if change else ""

    @property
    def text(self) -> str:
        """The change under the cursor as text, `""` where there is none."""
        change = self.source.change(self.cursor) if isinstance(self.source, ChangeLines) else None
        return as_text(change) if change else ""

    def _opened(self) -> None:
        if isinstance(self.source, ChangeLines):
            line = self.source.toggle(self.cursor)
            self.refresh_source()
            self.cursor = line
