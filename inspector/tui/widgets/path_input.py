"""An input line for the path of a file, which is completed as in a shell."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual.binding import BindingType
from textual.suggester import Suggester

from inspector.tui.compose.path_completion import candidates, completed
from inspector.tui.keys import bind
from inspector.tui.widgets.fields import LineInput


class _PathSuggester(Suggester):
    """Suggests the first file or folder whose path begins with what was typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the path, None if there is none."""
        found, _ = await asyncio.to_thread(candidates, value)
        return next((candidate.path for candidate in found if candidate.path.startswith(value)), None)


class PathInput(LineInput):
    """The line; the key of completions extends the path to what all matching files share, or goes to the next field."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("complete", "complete", "complete", "Complete the path"),
    ]

    def on_mount(self) -> None:
        """Suggest the rest of the path behind the cursor."""
        self.suggester = _PathSuggester()

    def action_complete(self) -> None:
        """Complete the path, or go to the next field if there is nothing to complete."""
        found, _ = candidates(self.value)
        path = completed(self.value, found)
        if path != self.value:
            self.value = path
            self.cursor_position = len(path)
        elif len(found) < 2:
            self.screen.focus_next()
