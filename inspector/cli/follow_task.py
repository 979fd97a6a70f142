"""Follow a task until it ends or is interrupted: by its stream of events, or by polling (a2a-cli 0.2 section 9.3)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from inspector.cli.running_command import RunningCommand, task_progress
from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import Fault, FaultCode, FaultError, ProtocolError, Whose
from inspector.protocol.lifecycle import MOVES, State, is_interrupted, is_settled, is_terminal, short
from inspector.protocol.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Unreadable
from inspector.session.call import Call
from inspector.session.stream_deadline import StreamDeadline
from inspector.wire.client.observations import Ending

_BEFORE_TIMEOUT = 0.05
"""Seconds before the end of `--timeout` at which the stream of an ended task is left."""
_WARNINGS = 10
"""How many warnings about unreadable events are printed."""
_BACKOFF = 1.5
_LONGEST_PAUSE = 15.0
"""The longest pause between two polls in seconds, unless `--poll-interval` is longer."""


class Follower:
    """Follows a call with a streamed response; `show` gets the events that are received together."""

    def __init__(self, run: RunningCommand, show: Callable[[Sequence[Event | TextAppended]], None]) -> None:
        self._run = run
        self._out = run.out
        self._show = show
        self._problem, self._problems = "", 0
        self._waited = 0.0

    async def follow(self, call: Call) -> Task | None:
        """Return the task at the end of the stream, None without a task; raises `FaultError`."""
        exchange = call.exchange
        with suppress(TimeoutError):
            await self._read(call)
        if self._problems > _WARNINGS:
            self._out.warn(f"{self._problems:,} events could not be read")
        fault = call.fault
        tracked = self._run.session.tasks.get(exchange.task_id)
        if fault is not None and (tracked is None or isinstance(exchange.answer, ProtocolError)):
            raise FaultError(self._run.explain(fault))
        if tracked is None or (isinstance(exchange.answer, Message) and not tracked.answered.state):
            return None
        now = tracked.answered
        task = Task(id=tracked.id, context_id=now.context_id or None, status=now.status)
        if not is_settled(now.state):
            cause = (
                fault.seen if fault else f"The stream ended, but the task is {short(now.state) or 'without a state'}."
            )
            self._out.warn(f"{cause} The task is polled instead.")
            return await wait_for(self._run, task, lambda changed: self._show((changed,)))
        if fault is not None:
            self._out.warn(f"the task ended, but then the stream failed: {fault.seen}")
        elif exchange.ending is Ending.STOPPED and is_terminal(now.state):
            self._out.warn(f"the stream was still open {self._waited:.3g} s after the task ended")
        return task

    async def _read(self, call: Call) -> None:
        """Read a stream to its end; raises `TimeoutError` if it stays open although no event is expected."""
        deadline = StreamDeadline(call)
        # Leave in time, so that `--timeout` does not turn a complete result into an error.
        ends_at = math.inf if self._run.ends_at is None else self._run.ends_at - _BEFORE_TIMEOUT
        async with asyncio.timeout(None) as limit, aclosing(aiter(call)) as answers:
            with self._run.waiting(call):
                async for received in answers:
                    self._take(received)
                    leaves_at = deadline.take(received)
                    if leaves_at is not None:
                        leaves_at = max(deadline.since, min(leaves_at, ends_at))
                        self._waited = leaves_at - deadline.since
                    limit.reschedule(leaves_at)

    def _take(self, received: Sequence[Answer | TextAppended]) -> None:
        """Show events. If a response in the stream is not an event, warn of it when another response follows.

        Without another answer, the call ends with a fault, which `follow` reports.
        """
        events: list[Event | TextAppended] = []
        for answer in received:
            if self._problem:
                self._show(events)
                events = []
                self._warn_of_problem()
            self._problem = ""
            match answer:
                case TextAppended() | TaskArtifactUpdateEvent() | TaskStatusUpdateEvent() | Task() | Message():
                    events.append(answer)
                case ProtocolError():
                    self._problem = f"the stream contained an error and continued: {answer.name}: {answer.message}"
                case Unreadable():
                    self._problem = f"an event could not be read: {answer.why}"
                case _:
                    self._problem = f"the stream contained a {type(answer).__name__}"
        self._show(events)

    def _warn_of_problem(self) -> None:
        """Warn of an unreadable event; many of them are only counted."""
        self._problems += 1
        if self._problems <= _WARNINGS:
            self._out.warn(self._problem)
        elif self._problems == _WARNINGS + 1:
            self._out.warn("more events could not be read; they are counted from here on")


async def get_task(run: RunningCommand, task_id: str) -> Task:
    """Request a task once."""
    return await run.ask(run.session.get(task_id, run.invocation.given.history), Task)


async def wait_for(run: RunningCommand, task: Task, on_change: Callable[[Task], None]) -> Task:
    """Poll a task until it ends or is interrupted, less often while nothing changes; `on_change` gets each change.

    Raises `FaultError` if the task does not change for `--wait-timeout`. A new timestamp alone is not a change, so that
    waiting ends if the agent writes the current time into every response.
    """
    loop, patience = asyncio.get_running_loop(), run.invocation.given.wait_timeout
    first = pause = run.invocation.given.poll_interval
    changed, warned = loop.time(), ""
    with run.out.progress.waiting(lambda: task_progress(task.id, task.status.state)):
        while not is_settled(task.status.state):
            if not task.id:
                run.out.warn("the task has no id, so it cannot be polled")
                return task
            if warned != (warned := _unknown_state(task.status.state)) and warned:
                run.out.warn(f"{warned}; the task is polled until its state is final or --wait-timeout is reached")
            left = changed + patience - loop.time()
            if left <= 0:
                raise FaultError(_unchanged(run, task, patience))
            await asyncio.sleep(min(pause, left))
            before, task = task, (await get_task(run, task.id)).model_copy(update={"id": task.id})
            if _without_time(task) == _without_time(before):
                pause = min(pause * _BACKOFF, max(first, _LONGEST_PAUSE))
            else:
                pause, changed = first, loop.time()
                on_change(task)
    return task


def _unknown_state(state: str) -> str:
    """Return why a state does not show whether the task has ended, `""` if it does."""
    if not state:
        return "the task has no state"
    if state == State.UNSPECIFIED or state not in MOVES:
        return f"the state of the task is {short(state)}, of which A2A does not define whether it is final"
    return ""


def _unchanged(run: RunningCommand, task: Task, seconds: float) -> Fault:
    """Return the fault of a task that did not change for a time."""
    state = short(task.status.state) or "without a state"
    seen = f"Task {task.id} has not changed for {seconds:g} s; it is {state}."
    hint = f"Wait longer with --wait-timeout, or continue: {run.task_command(task.id, '--wait')}"
    return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)


def _without_time(task: Task) -> Task:
    return task.model_copy(update={"status": task.status.model_copy(update={"timestamp": None})})


def conclude(run: RunningCommand, state: str, *, wanted: State = State.COMPLETED, reads_lines: bool = False) -> None:
    """Print the next command, and warn of an end other than `wanted`, for which a2a-cli 0.2 defines no exit code.

    If the command `reads_lines`, the next line is the input that the task needs.
    """
    interrupted = is_interrupted(state)
    label, command = run.follow_up()
    if reads_lines and state == State.INPUT_REQUIRED:
        command = "answer with the next line"
    if command and not run.out.json:
        run.out.field(label, run.out.redact(command))
    if interrupted:
        needed = "input" if state == State.INPUT_REQUIRED else "authorization"
        run.out.warn(f"the task needs {needed} ({short(state)})")
    elif is_terminal(state) and state not in (State.COMPLETED, wanted):
        run.out.warn(f"the task ended as {short(state)}")
    if interrupted and run.out.json:
        run.out.line_to_stderr(label, command)
