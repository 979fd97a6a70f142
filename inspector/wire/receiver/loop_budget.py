"""Turns of the event loop, shared: who works for many senders leaves others some time of each, keys above all."""

from __future__ import annotations

import asyncio
import time

SLICE = 0.002
"""Seconds of a turn of the loop that are worked in, about."""
WAY = 0.15
"""For so many seconds one piece of work a turn has to do: what a key opens takes some thirty turns to be drawn."""
HOLD = 0.05
"""For so many of them there is no work at all."""


class Hold:
    """A moment that others have to themselves, and for as long after it not again: a held key stops nothing."""

    def __init__(self) -> None:
        self._until = 0.0

    def begin(self, now: float) -> None:
        """Begin it, unless it has just been."""
        if now > self._until + HOLD:
            self._until = now + HOLD

    def left(self, now: float) -> float:
        """Return the seconds of it that are left, none of them where it is not more than 0."""
        return self._until - now


class Turns:
    """Counts how long was worked in this turn of the loop; who would make it too long waits for the next."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._began = 0.0
        self._counting = False
        self._give_way_until = 0.0
        self._hold = Hold()

    def give_way(self) -> None:
        """Leave the turns to others for a moment: all of them at first, then but for one piece of work in each."""
        now = time.perf_counter()
        self._give_way_until = now + WAY
        self._hold.begin(now)

    @property
    def _slice(self) -> float:
        return SLICE if time.perf_counter() > self._give_way_until else 0.0

    async def mine(self) -> None:
        """Wait until there is a turn with time left."""
        if (left := self._hold.left(time.perf_counter())) > 0:
            await asyncio.sleep(left)
        while self._spent > self._slice:  # noqa: ASYNC110 - the next turn is what is waited for
            await asyncio.sleep(0)

    def __enter__(self) -> None:
        """Count what is done inside, in which nothing is waited for."""
        if not self._counting:
            self._counting = True
            asyncio.get_running_loop().call_soon(self._next)  # what is called soon is called in the next turn
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._spent += time.perf_counter() - self._began

    def _next(self) -> None:
        self._spent = 0.0
        self._counting = False
