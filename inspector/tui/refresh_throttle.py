"""Throttle refreshes under load: at once when little happens, less often the busier the event loop is."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.widget import Widget

from inspector.wire.receiver.loop_budget import InputPause

FRAME = 1 / 30
"""The minimum seconds between two refreshes."""

REST = 10
"""The pause after a refresh, as a multiple of its duration, in a fully loaded loop; less in proportion to the load."""

BUSY = 0.5
"""The load from which on a loop counts as busy."""

LOST = 0.5
"""The seconds after which a refresh is over even if the screen does not report it, because it was closed."""


class RefreshThrottle:
    """Combines any number of calls of `poke` into few calls of `wake`, which must change the widget `changed`."""

    def __init__(self, changed: Widget, wake: Callable[[], None]) -> None:
        # Textual calls back widgets that did not change before the screen is drawn.
        self._changed = changed
        self._wake = wake
        self._next = 0.0
        self._poked = False
        self._drawing = False
        self._began = 0.0
        self._drawn_at = self._used_by_then = 0.0
        self._load = 0.0
        self._hold = InputPause()

    @property
    def idle(self) -> bool:
        """Whether all changes have been drawn."""
        return not self._poked and not self._drawing

    def poke(self) -> None:
        """Report that something may have changed; cheap enough to be called for every event."""
        if self._poked:
            return
        self._poked = True
        if not self._drawing:
            self._schedule()
        else:
            self._changed.set_timer(LOST, partial(self._drawn, self._began))

    def yield_to_input(self) -> None:
        """Pause the refreshes of a busy loop for a moment, so that a key is handled first."""
        if self._load > BUSY:
            self._hold.begin(time.monotonic())

    def _schedule(self) -> None:
        wait = self._next - time.monotonic()
        if wait > 0:
            self._changed.set_timer(wait, self._run)
        else:
            self._changed.call_later(self._run)

    def _run(self) -> None:
        if (held := self._hold.left(time.monotonic())) > 0:
            self._changed.set_timer(held, self._run)
            return
        self._began = began = time.monotonic()
        between = began - self._drawn_at
        self._load = min(1.0, (time.thread_time() - self._used_by_then) / between) if between > 0 else 1.0
        self._poked, self._drawing = False, True
        self._wake()
        self._changed.call_after_refresh(self._drawn, began)

    def _drawn(self, began: float) -> None:
        if not self._drawing or began != self._began:
            return
        now = self._drawn_at = time.monotonic()
        self._used_by_then = time.thread_time()
        self._drawing = False
        self._next = max(began + FRAME, now + REST * self._load * (now - began))
        if self._poked:
            self._schedule()
