"""Decide when to leave a stream that stays open although no more events are expected."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import is_interrupted, is_terminal
from inspector.protocol.model import Message, Task, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation
from inspector.session.call import Call

TERMINAL_GRACE = 5.0
"""Seconds that a stream may stay open after its task has ended, or after a message or an error."""
INTERRUPTED_GRACE = 1.0
"""The same for an interrupted task, whose stream some agents keep open until the task continues."""


class StreamDeadline:
    """When to leave the stream of a call (a2a-cli 0.2 section 10.2).

    `leaves_at` is the time of the event loop at which to leave it, None while more events are expected. Events that
    arrive after the end of the task do not postpone it. `since` is the time of the event after which none is expected.
    """

    def __init__(self, call: Call) -> None:
        self.leaves_at: float | None = None
        self.since = 0.0
        self._call = call
        self._grace: float | None = None
        context = call.exchange.context
        # The first events may be the task as it was before the message, still interrupted.
        self._may_be_old = bool(context.task_id) and context.operation is Operation.STREAM

    def take(self, answers: Sequence[Answer | TextAppended]) -> float | None:
        """Take answers that arrived together, and return `leaves_at`."""
        for answer in answers:
            if isinstance(answer, Task | TaskStatusUpdateEvent):
                if self._is_of_this_task(answer):
                    self._expect(self._grace_of(answer))
            elif isinstance(answer, Message | ProtocolError):
                self._expect(TERMINAL_GRACE)
        return self.leaves_at

    def _is_of_this_task(self, event: Task | TaskStatusUpdateEvent) -> bool:
        task_id = event.id if isinstance(event, Task) else event.task_id
        return task_id in ("", self._call.exchange.task_id)

    def _grace_of(self, event: Task | TaskStatusUpdateEvent) -> float | None:
        """Return how long the stream may stay open after an event, None without a limit."""
        state = event.status.state
        if is_terminal(state):
            return TERMINAL_GRACE
        self._may_be_old = self._may_be_old and isinstance(event, Task) and is_interrupted(state)
        return INTERRUPTED_GRACE if is_interrupted(state) and not self._may_be_old else None

    def _expect(self, grace: float | None) -> None:
        """Expect the end within some seconds, None for more events; the time of an earlier end of this kind is kept."""
        if grace != self._grace:
            self._grace = grace
            self.since = asyncio.get_running_loop().time()
            self.leaves_at = None if grace is None else self.since + grace
