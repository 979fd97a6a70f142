"""Polling: tasks that are asked for every few seconds until they end, each with a rhythm of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.lifecycle import is_terminal, short

if TYPE_CHECKING:
    from inspector.session.session import Session

FASTEST = 0.1
"""Seconds between two polls at least: an agent is asked, not stormed."""

_MOST_FAULTS = 5
"""After so many polls in a row that came to nothing, nothing will come any more."""

_UNKNOWN = "TaskNotFoundError"


@dataclass(slots=True)
class Poll:
    """A task that is polled: every how many seconds, and how often it was asked for."""

    task_id: str
    every: float
    times: int = 0
    faults: int = 0
    stopped: asyncio.Event = field(default_factory=asyncio.Event)


class Polls:
    """The tasks of a session that are polled; each poll is a GetTask like any other, and recorded like it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._polls: dict[str, Poll] = {}

    def __len__(self) -> int:
        return len(self._polls)

    def get(self, task_id: str) -> Poll | None:
        """Return the poll of a task, None where it is not polled."""
        return self._polls.get(task_id)

    def stop(self, task_id: str) -> None:
        """End the poll of a task, if there is one; a call that is under way is answered first."""
        poll = self._polls.get(task_id)
        if poll is not None:
            poll.stopped.set()

    async def run(self, task_id: str, every: float) -> str:
        """Ask for a task until it has ended, nobody knows it, or the poll is stopped; returns why it is over.

        A task that is polled already is left to that poll. Raises `FaultError` where nothing can be asked for.
        """
        if task_id in self._polls:
            return "it is polled already"
        poll = self._polls[task_id] = Poll(task_id, max(FASTEST, every))
        self._session.note(f"polling task {task_id} every {poll.every:g} s", event="poll")
        why = "it was broken off"
        try:
            while not (why := await self._ask(poll)):
                await self._pause(poll)
        except FaultError as error:
            why = error.fault.seen
            raise
        finally:
            del self._polls[task_id]
            times = f"{poll.times:,} time{'' if poll.times == 1 else 's'}"
            self._session.note(f"polled task {task_id} {times}: {why or 'it was broken off'}", event="poll")
        return why

    async def _pause(self, poll: Poll) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(poll.stopped.wait(), poll.every)

    async def _ask(self, poll: Poll) -> str:
        """Ask once and say why that was the last time, `""` where it was not."""
        if poll.stopped.is_set():
            return "it was stopped"
        began = time.time()
        fault = await self._session.get(poll.task_id).finish()
        poll.times += 1
        if fault is not None:
            return self._failed(poll, fault)
        poll.faults = 0
        tracked = self._session.tasks.get(poll.task_id)
        account = tracked.now if tracked else None
        if account is not None and account.updated >= began and is_terminal(account.state):
            return f"it has ended as {short(account.state)}"
        return ""

    def _failed(self, poll: Poll, fault: Fault) -> str:
        poll.faults += 1
        if fault.code == _UNKNOWN:
            return "the agent does not know it"
        return f"{poll.faults} polls in a row failed, the last: {fault.seen}" if poll.faults >= _MOST_FAULTS else ""
