"""Turns of the event loop, shared: who works for many senders leaves others some time of each, keys above all."""

from __future__ import annotations

import asyncio
import time

SLICE = 0.002
"""Seconds of a turn of the loop that are worked in, about."""


class Turns:
    """Counts how long was worked in this turn of the loop; who would make it too long waits for the next."""

    def __init__(self) -> None:
        self._spent = 0.0
        self._began = 0.0
        self._counting = False

    async def mine(self) -> None:
        """Wait until there is a turn with time left."""
        while self._spent >= SLICE:  # noqa: ASYNC110 - the next turn is what is waited for
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
