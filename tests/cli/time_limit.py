"""A `--timeout` that expires at an event in place of a time: a busy machine may need long to reach the event."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Self
from unittest.mock import patch

import pytest


class TimeLimit:
    """While the context lasts, the time limit of a command in this process expires at `end`, and not before."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._limit: asyncio.Timeout | None = None
        self._timeout_at = asyncio.timeout_at
        self._patch = patch.object(asyncio, "timeout_at", self._replaced)

    def __enter__(self) -> Self:
        self._patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.stop()

    def end(self) -> None:
        """Let the limit of the running command expire; any thread may call this, more than once."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            limit.reschedule(0)

    def _replaced(self, when: float | None) -> asyncio.Timeout:
        """Return a limit without a time in place of the first one in an event loop, which is that of the command."""
        loop = asyncio.get_running_loop()
        if loop is self._loop or threading.current_thread() is not threading.main_thread():
            return self._timeout_at(when)
        self._loop, self._limit = loop, asyncio.timeout(None)
        return self._limit


@pytest.fixture
def time_limit() -> Iterator[TimeLimit]:
    """Let `--timeout` of commands in this process expire at `time_limit.end()`."""
    with TimeLimit() as limit:
        yield limit
