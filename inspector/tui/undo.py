"""Undo: functions that undo changes, with the names of the changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

_MOST = 100
"""The number of changes that can be undone."""


class UndoStack:
    """The changes that can be undone, oldest first."""

    def __init__(self) -> None:
        self._changes: deque[tuple[str, Callable[[], object]]] = deque(maxlen=_MOST)

    @property
    def name(self) -> str:
        """The name of the newest change, `""` if there is nothing to undo."""
        return self._changes[-1][0] if self._changes else ""

    def add(self, name: str, undo: Callable[[], object]) -> None:
        """Add a change; its function returns False if there is nothing to undo any more."""
        self._changes.append((name, undo))

    def undo(self) -> str:
        """Undo the newest change that still has an effect; return its name, `""` if there is none.

        If the function of a change raises an exception, the change can be undone later.
        """
        while self._changes:
            name, undo = self._changes[-1]
            effective = undo() is not False
            self._changes.pop()
            if effective:
                return name
        return ""
