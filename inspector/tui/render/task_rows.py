"""The rows of the task table: the tasks that a filter leaves, and which of them are polled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import TaskRows
from inspector.tui.render.rows import Cells

if TYPE_CHECKING:
    from inspector.session.polling import Polls
    from inspector.session.tasks import TrackedTask

POLL_COLUMN = 5
"""Before which cell of a task's row stands how it is polled."""


class PolledTaskRows(TaskRows):
    """One row for each task, with the glyph of polls and the seconds between two of them where it is polled."""

    def __init__(self, tasks: Callable[[], list[TrackedTask]], glyphs: Glyphs, polls: Polls) -> None:
        super().__init__(tasks, glyphs)
        self._polls = polls

    def row(self, index: int) -> Cells:
        """Return the cells of one task."""
        cells = super().row(index)
        poll = self._polls.get(self.tasks[index].id)
        said = f"{self._glyphs.poll} {poll.every:g}s" if poll else ""
        return (*cells[:POLL_COLUMN], (said, "feed--received"), *cells[POLL_COLUMN:])
