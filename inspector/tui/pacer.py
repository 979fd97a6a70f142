"""The pacer: wakes the views at once when little happens, and at most thirty times a second when much does."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.widget import Widget

FRAME = 1 / 30
"""The shortest time between two wake-ups, in seconds."""


class Pacer:
    """Turns any number of `poke`s into few calls of `wake`, on the loop of the widget that it is given."""

    def __init__(self, owner: Widget, wake: Callable[[], None]) -> None:
        self._owner = owner
        self._wake = wake
        self._last = 0.0
        self._pending = False

    def poke(self) -> None:
        """Say that something may have changed; cheap, and meant to be called for every event."""
        if self._pending:
            return
        self._pending = True
        wait = self._last + FRAME - time.monotonic()
        if wait > 0:
            self._owner.set_timer(wait, self._run)
        else:
            self._owner.call_later(self._run)

    def _run(self) -> None:
        self._pending = False
        self._last = time.monotonic()
        self._wake()
