"""Follow a task until it ends or waits for us: by its stream of events, or by polling (section 9.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress

from inspector.cli.run_command import Run
from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import Fault, FaultError, ProtocolError
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Unreadable
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.wire.client.observations import Ending

PATIENCE = 5.0
"""Seconds that a stream may stay open after its task has ended."""
LINGER = 1.0
"""The same where the task waits for us: some agents keep the stream open until somebody answers."""


class Follower:
    """Follows one call that is answered with a stream; `show` gets every event as it comes."""

    def __init__(self, run: Run, show: Callable[[Event], None]) -> None:
        self._run = run
        self._out = run.out
        self._show = show
        self._odd = ""
        self._old = self._waits = False

    async def follow(self, call: Call) -> Task | None:
        """Return how the task of the stream stands at its end, None where there is no task; raises `FaultError`."""
        exchange = call.exchange
        # A task as it was before our answer to it comes first then, and still seems to wait.
        self._old = bool(exchange.call.task_id) and exchange.call.operation is Operation.STREAM
        with suppress(TimeoutError):
            await self._read(call)
        fault = call.fault
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
        elif exchange.ending is Ending.STOPPED and is_terminal(now.state):
            self._out.warn(f"the task had ended, and the stream was still open after {PATIENCE:g} s")
        return task

    async def _read(self, call: Call) -> None:
        """Read a stream to its end; TimeoutError where it stays open when nothing more is due."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as limit, aclosing(aiter(call)) as answers:
            async for said in answers:
                for answer in said.updates() if isinstance(said, TextAppended) else (said,):
                    self._take(answer)
                patience = self._patience(call)
                if patience is None:
                    limit.reschedule(None)
                elif limit.when() is None:
                    limit.reschedule(loop.time() + patience)

    def _patience(self, call: Call) -> float | None:
        """Return how long the stream may stay open from now on, None where more is due (section 10.2)."""
        tracked = self._run.session.tasks.get(call.exchange.task_id)
        if tracked is not None and is_terminal(tracked.answered.state):
            return PATIENCE
        return LINGER if self._waits else None

    def _warn_of_break(self, fault: Fault | None, state: str) -> None:
        why = fault.seen if fault else f"The stream ended while the task was {short(state) or 'in no state'}."
        self._out.warn(f"{why} The task is asked for from time to time instead.")

    def _take(self, answer: Answer) -> None:
        """Show an event; what is none is told when something follows it, because the last one is the failure."""
        if self._odd:
            self._out.warn(self._odd)
        self._odd = ""
        if isinstance(answer, Task | TaskStatusUpdateEvent):
            told_before = isinstance(answer, Task) and self._old
            self._waits = is_interrupted(answer.status.state) and not told_before
        match answer:
            case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
                self._show(answer)
            case ProtocolError():
                self._odd = f"the stream carried an error and went on: {answer.name}: {answer.message}"
            case Unreadable():
                self._odd = f"an event could not be read: {answer.why}"
            case _:
                self._odd = f"the stream carried a {type(answer).__name__}"


_SLOWER = 1.5
_SLOWEST = 15.0
"""Seconds; the longest pause that comes about by itself."""


def is_settled(state: str) -> bool:
    """Say whether nothing more happens to a task unless we act; an unknown state is not settled."""
    return is_terminal(state) or is_interrupted(state)


async def get_task(run: Run, task_id: str) -> Task:
    """Ask for a task once."""
    return await run.ask(run.session.get(task_id, run.invocation.given.history), Task)


async def wait_for(run: Run, task: Task, on_change: Callable[[Task], None]) -> Task:
    """Ask for a task until it ends or waits for us, and return it; `on_change` gets it whenever it has changed.

    The pauses grow while nothing changes and start again when something does.
    """
    first = pause = run.invocation.given.poll_interval
    while not is_settled(task.status.state):
        if not task.id:
            run.out.warn("the agent gave the task no id, so it cannot be asked for")
            return task
        await asyncio.sleep(pause)
        before, task = task, (await get_task(run, task.id)).model_copy(update={"id": task.id})
        if task == before:
            pause = min(pause * _SLOWER, max(first, _SLOWEST))
        else:
            pause = first
            on_change(task)
    return task


def conclude(run: Run, state: str) -> None:
    """Name an outcome that is no success, because the exit code does not tell (section 11.6), and how to go on."""
    interrupted = is_interrupted(state)
    label, command = run.follow_up()
    if command and not run.out.json:
        run.out.field(label, run.out.redact(command))
    if interrupted:
        wanted = "input" if state == State.INPUT_REQUIRED else "authorization"
        run.out.warn(f"the task waits for {wanted} ({short(state)})")
    elif is_terminal(state) and state != State.COMPLETED:
        run.out.warn(f"the task ended as {short(state)}")
    if interrupted and run.out.json:
        run.out.tell(label, command)
