"""The pacer: wakes the views at once when little happens, and when much does no oftener than leaves time for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.widget import Widget

from inspector.wire.receiver.loop_budget import InputPause

FRAME = 1 / 30
"""The shortest time between two wake-ups, in seconds."""

REST = 10
"""After a wake-up, a loop without a free moment belongs to others for so many times as long as it took until the screen
was drawn; one that has free moments for as much less as it has of them."""

BUSY = 0.5
"""The part of the time that a busy loop works."""

LOST = 0.5
"""After so many seconds nobody will say any more that the screen is drawn: what was on top of it has been closed."""


class RefreshThrottle:
    """Turns any number of `poke`s into few calls of `wake`, on the loop of a widget that every wake-up changes.

    How much of the time between two drawings the loop worked says how long it rests from drawing after the next.
    """

    def __init__(self, changed: Widget, wake: Callable[[], None]) -> None:
        # It has to be one that is drawn anew: Textual tells any other that the screen is drawn before it is.
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
        """Say whether all that was poked about has been drawn."""
        return not self._poked and not self._drawing

    def poke(self) -> None:
        """Say that something may have changed; cheap, and meant to be called for every event."""
        if self._poked:
            return
        self._poked = True
        if not self._drawing:
            self._schedule()
        else:
            self._changed.set_timer(LOST, partial(self._drawn, self._began))

    def yield_to_input(self) -> None:
        """Leave a busy loop to what a key does for a moment: nothing is drawn that only came in."""
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
