"""`task subscribe`: a task that is under way listened to again, live or until it ends (section 9.4)."""

from __future__ import annotations

from dataclasses import replace

from inspector.cli.arguments import Invocation
from inspector.cli.fields import Presenter
from inspector.cli.follow_stream import Follower
from inspector.cli.output import Output
from inspector.cli.run_command import UNSUPPORTED, Run, run
from inspector.cli.wait_for_task import conclude, get_task
from inspector.protocol.dialects.v1_0 import encode_event
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Event
from inspector.protocol.operations import Operation


def subscribe(invocation: Invocation, out: Output) -> int:
    """Listen to a task until it ends or waits for us."""
    out.lines = out.json and invocation.given.stream
    return run(invocation, out, _subscribe)


async def _subscribe(current: Run) -> None:
    await current.connect()
    current.check_interface()
    current.allow(Operation.SUBSCRIBE)
    given, out = current.invocation.given, current.out
    presenter = Presenter(out, verbose=current.invocation.verbose, history=given.history is not None)

    def show(event: Event) -> None:
        if not given.stream:
            return
        if out.json:
            out.document(encode_event(event))
        else:
            presenter.event(event)

    try:
        task = await Follower(current, show).follow(current.session.subscribe(given.id))
    except FaultError as error:
        if error.fault.code != UNSUPPORTED:
            raise
        hint = f"A task that has ended has no more events: {current.again('task', 'get', given.id)} shows it."
        raise FaultError(replace(error.fault, hint=hint)) from error
    if task is None:
        return
    if not given.stream:
        task = await get_task(current, given.id)  # what came before we listened belongs to it too
        if out.json:
            out.document(task.to_json())
        else:
            presenter.event(task)
    elif not out.json:
        presenter.standing(task.id, task.context_id or "", task.status.state)
    conclude(current, task.status.state)
