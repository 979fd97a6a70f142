"""`task get` and `task cancel`: how a task stands, once or until it ends, and its end on demand."""

from __future__ import annotations

from inspector.cli.arguments import Invocation
from inspector.cli.fields import Presenter
from inspector.cli.output import Output
from inspector.cli.run_command import Run, run, unfit
from inspector.cli.save_files import save
from inspector.cli.wait_for_task import conclude, get_task, wait_for
from inspector.protocol.model import Task


def get(invocation: Invocation, out: Output) -> int:
    """Show a task, at once or when it has ended."""
    return run(invocation, out, _get)


def cancel(invocation: Invocation, out: Output) -> int:
    """Cancel a task and show what became of it."""
    return run(invocation, out, _cancel)


async def _get(current: Run) -> None:
    await current.connect()
    current.check_interface()
    given = current.invocation.given
    task = await get_task(current, given.id)
    if given.wait:
        task = await wait_for(current, task, lambda _: None)
    _show(current, task)
    if given.save is not None:
        save(current.out, given.save, task)
    conclude(current, task.status.state)


async def _cancel(current: Run) -> None:
    await current.connect()
    current.check_interface()
    answer = await current.call(current.session.cancel(current.invocation.given.id))
    if not isinstance(answer, Task):
        raise unfit("CancelTask", answer)
    _show(current, answer)
    conclude(current, answer.status.state)


def _show(current: Run, task: Task) -> None:
    out = current.out
    if out.json:
        out.document(task.to_json())
    else:
        history = getattr(current.invocation.given, "history", None) is not None
        Presenter(out, verbose=current.invocation.verbose, history=history).event(task)
