"""Limit the work of the receiver per event-loop iteration, so that key presses are handled first."""

from __future__ import annotations

import asyncio
import time

SLICE = 0.002
"""How many seconds of one loop iteration may be spent on deliveries."""
YIELD = 0.15
"""For how many seconds after a key press only one delivery per iteration is processed.

Drawing the view that a key opens needs about thirty iterations.
"""
PAUSE = 0.05
"""For how many seconds after a key press no delivery is processed."""


class InputPause:
    """A pause after a key press; between two pauses is a gap of at least the same length.

    Without the gap, a key that is held down would stop the work.
    """

    def __init__(self) -> None:
        self._until = 0.0

    def begin(self, now: float) -> None:
        """Begin a pause, unless a pause is in progress or has just ended."""
        if now > self._until + PAUSE:
            self._until = now + PAUSE

    def left(self, now: float) -> float:
        """Return how many seconds of the pause are left; 0 or less if it is over."""
        return self._until - now


class LoopBudget:
    """The time that deliveries may use in a loop iteration; further work waits for the next iteration."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._began = 0.0
        self._counting = False
        self._yielding_until = 0.0
        self._pause = InputPause()

    def yield_to_input(self) -> None:
        """Give priority to a pressed key: no work during the pause, then one delivery per iteration for a moment."""
        now = time.perf_counter()
        self._yielding_until = now + YIELD
        self._pause.begin(now)

    @property
    def free(self) -> bool:
        """Return whether work may begin in this iteration."""
        return self._spent <= self._slice and self._pause.left(time.perf_counter()) <= 0

    @property
    def _slice(self) -> float:
        return SLICE if time.perf_counter() > self._yielding_until else 0.0

    async def wait(self) -> None:
        """Wait for an iteration with time left."""
        if (left := self._pause.left(time.perf_counter())) > 0:
            await asyncio.sleep(left)
        while self._spent > self._slice:  # noqa: ASYNC110 - this waits for the next iteration
            await asyncio.sleep(0)

    def __enter__(self) -> None:
        """Measure the work in the `with` block, which must not await."""
        if not self._counting:
            self._counting = True
            asyncio.get_running_loop().call_soon(self._next)  # call_soon runs in the next iteration
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._spent += time.perf_counter() - self._began

    def _next(self) -> None:
        self._spent = 0.0
        self._counting = False
