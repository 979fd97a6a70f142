"""Throttle refreshes under load: the busier the event loop, the longer the pause between two refreshes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from textual.widget import Widget

from inspector.wire.receiver.loop_budget import InputPause

FRAME = 1 / 30
"""The minimum seconds between two refreshes."""

PAUSE_FACTOR = 10
"""The pause after a refresh is the duration of the refresh, multiplied by this factor and by the load (0 to 1)."""

BUSY = 0.5
"""Above this load, from 0 to 1, the event loop is busy."""

SHORTEST_TIMER = 0.001
"""Textual never calls back a timer whose time is over before the task of the timer begins, so none is shorter."""

REFRESH_TIMEOUT = 0.5
"""The seconds after which a refresh counts as finished: a closed screen does not report the end."""


class RefreshThrottle:
    """Combines many calls of `request` into few calls of `refresh`, which must change the widget `changed`."""

    def __init__(self, changed: Widget, refresh: Callable[[], None]) -> None:
        # Textual calls back an unchanged widget before the screen is drawn, so use a widget that changes.
        self._changed = changed
        self._refresh = refresh
        self._next = 0.0
        self._requested = False
        self._drawing = False
        self._started = 0.0
        self._drawn_at = self._cpu_at_drawn = 0.0
        self._load = 0.0
        self._input_pause = InputPause()

    @property
    def idle(self) -> bool:
        """Whether all requested refreshes have been drawn."""
        return not self._requested and not self._drawing

    def request(self) -> None:
        """Request a refresh; cheap enough to be called for every event."""
        if self._requested:
            return
        self._requested = True
        if not self._drawing:
            self._schedule()
        else:
            self._changed.set_timer(REFRESH_TIMEOUT, partial(self._drawn, self._started))

    def yield_to_input(self) -> None:
        """Pause the refreshes of a busy loop for a moment, so that a key is handled first."""
        if self._load > BUSY:
            self._input_pause.begin(time.monotonic())

    def _schedule(self) -> None:
        self._run_after(self._next - time.monotonic())

    def _run_after(self, seconds: float) -> None:
        if seconds > SHORTEST_TIMER:
            self._changed.set_timer(seconds, self._run)
        else:
            self._changed.call_later(self._run)

    def _run(self) -> None:
        if (pause := self._input_pause.left(time.monotonic())) > 0:
            self._run_after(pause)
            return
        self._started = started = time.monotonic()
        elapsed = started - self._drawn_at
        self._load = min(1.0, (time.thread_time() - self._cpu_at_drawn) / elapsed) if elapsed > 0 else 1.0
        self._requested, self._drawing = False, True
        self._refresh()
        self._changed.call_after_refresh(self._drawn, started)

    def _drawn(self, started: float) -> None:
        if not self._drawing or started != self._started:
            return
        now = self._drawn_at = time.monotonic()
        self._cpu_at_drawn = time.thread_time()
        self._drawing = False
        self._next = max(started + FRAME, now + PAUSE_FACTOR * self._load * (now - started))
        if self._requested:
            self._schedule()
