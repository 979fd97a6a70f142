"""Measure the time in which this process does not run, because it is suspended or the machine is busy."""

from __future__ import annotations

import asyncio
import time

_TICK = 0.25
"""The interval of the measurements in seconds; shorter stalls can be missed."""


class StallMeter:
    """Adds up the time in which the event loop does not run."""

    def __init__(self) -> None:
        self._stalled = 0.0
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def seconds(self) -> float:
        """Return for how many seconds the loop did not run since the start, including a stall that has just ended."""
        return self._stalled + self._late()

    def start(self, since: float) -> None:
        """Start measuring from a time in seconds since 1970, which may be past, unless that has begun."""
        if self._timer is None:
            self._wait(since)

    def stop(self) -> None:
        """Stop measuring; `seconds` keeps its value."""
        if self._timer is not None:
            self._timer.cancel()
            self._stalled, self._due = self.seconds, 0.0

    def _wait(self, since: float) -> None:
        self._due = since + _TICK
        self._timer = asyncio.get_running_loop().call_later(max(0.0, self._due - time.time()), self._measure)

    def _measure(self) -> None:
        self._stalled = self.seconds
        self._wait(time.time())

    def _late(self) -> float:
        return max(0.0, time.time() - self._due) if self._due else 0.0
