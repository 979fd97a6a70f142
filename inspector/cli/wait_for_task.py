"""Waiting for a task by asking for it from time to time (section 9.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from inspector.cli.run_command import Run, unfit
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.model import Task

_SLOWER = 1.5
_SLOWEST = 15.0
"""Seconds; the longest pause that comes about by itself."""


def is_settled(state: str) -> bool:
    """Say whether nothing more happens to a task unless we act; an unknown state is not settled."""
    return is_terminal(state) or is_interrupted(state)


async def get_task(run: Run, task_id: str) -> Task:
    """Ask for a task once."""
    answer = await run.call(run.session.get(task_id, run.invocation.given.history))
    if not isinstance(answer, Task):
        raise unfit("GetTask", answer)
    return answer


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
