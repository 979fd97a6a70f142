"""Poll tasks: repeat GetTask until the task ends, with an interval for each task."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import field

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import is_terminal, short
from inspector.session.session import Session
from inspector.text.units import counted

FASTEST = 0.1
"""The shortest interval, in seconds."""

STOPPED = "it was stopped"
"""Why polling ended if the user stopped it."""
_MOST_FAULTS = 5
"""The number of failed polls in a row after which polling stops."""


@dataclass(slots=True)
class Poll:
    """A polled task: the interval in seconds, the number of polls, and how many failed since the last success."""

    task_id: str
    every: float
    times: int = 0
    faults: int = 0
    stopped: asyncio.Event = field(default_factory=asyncio.Event)


class Polls:
    """The polled tasks of a session; each poll is a recorded GetTask call."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._polls: dict[str, Poll] = {}

    def __len__(self) -> int:
        return len(self._polls)

    def get(self, task_id: str) -> Poll | None:
        """Return the poll of a task, None if it is not polled."""
        return self._polls.get(task_id)

    def stop(self, task_id: str) -> None:
        """Stop polling a task; a running call is finished first."""
        if poll := self._polls.get(task_id):
            poll.stopped.set()

    async def run(self, task_id: str, every: float) -> str:
        """Poll a task until it ends, is unknown or `stop` is called, and return why polling ended.

        `every` is the interval in seconds, at least `FASTEST`. Raises `FaultError` if no call can be made.
        """
        if task_id in self._polls:
            return "it is already being polled"
        poll = self._polls[task_id] = Poll(task_id, max(FASTEST, every))
        self._session.note(f"polling task {task_id} every {poll.every:g} s", event="poll")
        why = ""
        try:
            while not (why := await self._poll(poll)):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(poll.stopped.wait(), poll.every)
        except FaultError as error:
            why = error.fault.seen
            raise
        finally:
            del self._polls[task_id]
            times = counted(poll.times, "time")
            self._session.note(f"polled task {task_id} {times}: {why or 'it was interrupted'}", event="poll")
        return why

    async def _poll(self, poll: Poll) -> str:
        """Get the task once; return the reason to stop, or `""`."""
        if poll.stopped.is_set():
            return STOPPED
        began = time.time()
        fault = await self._session.get(poll.task_id).finish()
        poll.times += 1
        poll.faults = poll.faults + 1 if fault else 0
        if fault is not None and fault.code == "TaskNotFoundError":
            return "the agent does not know the task"
        if fault is not None:
            return f"{poll.faults} polls in a row failed, the last: {fault.seen}" if poll.faults >= _MOST_FAULTS else ""
        tracked = self._session.tasks.get(poll.task_id)
        ended = tracked and tracked.now.updated >= began and is_terminal(tracked.now.state)
        return f"the task ended as {short(tracked.now.state)}" if tracked and ended else ""
