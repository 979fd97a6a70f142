"""Following a stream of events to where its task ends or waits for us, made up for by asking where it breaks off."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

from inspector.cli.running import Run
from inspector.cli.waiting import is_settled, wait_for
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import Fault, FaultError, ProtocolError
from inspector.protocol.lifecycle import is_interrupted, short
from inspector.protocol.model import (
    Event,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation
from inspector.session.turn import Turn


class Follower:
    """Follows one call that is answered with a stream; `show` gets every event as it comes."""

    def __init__(self, run: Run, show: Callable[[Event], None]) -> None:
        self._run = run
        self._out = run.out
        self._show = show
        self._odd = ""

    async def follow(self, turn: Turn) -> Task | None:
        """Return how the task of the stream stands at its end, None where there is no task; raises `FaultError`."""
        exchange = turn.exchange
        exchange.on_answer = self._take
        async with aclosing(aiter(turn)) as records:
            async for _ in records:
                if _waits_for_us(turn):
                    break  # some agents keep the stream open until somebody answers
        fault = turn.fault
        tracked = self._run.session.tasks.get(exchange.task_id)
        if fault is not None and (tracked is None or isinstance(exchange.answer, ProtocolError)):
            raise FaultError(self._run.explain(fault))
        if tracked is None or (isinstance(exchange.answer, Message) and not tracked.answered.state):
            return None
        now = tracked.answered
        task = Task(id=tracked.id, context_id=now.context_id or None, status=now.status)
        if not is_settled(now.state):
            self._warn_of_break(fault, now.state)
            return await wait_for(self._run, task, self._show)
        if fault is not None:
            self._out.warn(f"the task had ended, but not the stream in order: {fault.seen}")
        return task

    def _warn_of_break(self, fault: Fault | None, state: str) -> None:
        why = fault.seen if fault else f"The stream ended while the task was {short(state) or 'in no state'}."
        self._out.warn(f"{why} The task is asked for from time to time instead.")

    def _take(self, answer: Answer) -> None:
        """Show an event; what is none is told when something follows it, because the last one is the failure."""
        if self._odd:
            self._out.warn(self._odd)
        self._odd = ""
        match answer:
            case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
                self._show(answer)
            case ProtocolError():
                self._odd = f"the stream carried an error and went on: {answer.name}: {answer.message}"
            case Unreadable():
                self._odd = f"an event could not be read: {answer.why}"
            case _:
                self._odd = f"the stream carried a {type(answer).__name__}"


def _waits_for_us(turn: Turn) -> bool:
    """Say whether the last event tells that the task waits for us (section 10.2).

    A task as it was before our answer to it may come first, and still seems to wait.
    """
    answer, call = turn.exchange.answer, turn.exchange.call
    if isinstance(answer, Task) and call.task_id and call.operation is Operation.STREAM:
        return False
    return isinstance(answer, Task | TaskStatusUpdateEvent) and is_interrupted(answer.status.state)
