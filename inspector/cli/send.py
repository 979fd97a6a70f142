"""`send`: a message to an agent, and what comes of it: at once, when the task has ended, or live (section 10.2)."""

from __future__ import annotations

from inspector.cli.arguments import Invocation
from inspector.cli.failure import usage
from inspector.cli.findings import FindingsPrinter
from inspector.cli.following import Follower
from inspector.cli.output import Output
from inspector.cli.parts import make_parts
from inspector.cli.present import Presenter
from inspector.cli.running import Run, run, unfit
from inspector.cli.waiting import conclude, is_settled, wait_for
from inspector.protocol.dialects.v1_0 import encode_event
from inspector.protocol.lifecycle import short
from inspector.protocol.model import (
    Event,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from inspector.session.connection import GET_CARD
from inspector.session.draft import Draft


def send(invocation: Invocation, out: Output) -> int:
    """Send a message and show what comes of it."""
    given = invocation.given
    if given.stream and given.no_wait:
        raise usage("--stream follows the task, and --async does not wait for it.", "Leave one of them out.")
    if given.wait and given.no_wait:
        raise usage("--wait and --async are opposites.", "Leave one of them out.")
    parts = make_parts(getattr(given, "parts", ()))
    draft = Draft(
        parts,
        task_id=given.task_id or "",
        context_id=given.context_id or "",
        blocking=not given.no_wait,
        history_length=given.history,
        metadata=given.metadata,
    )
    out.lines = out.json and (given.stream or given.findings)

    async def work(current: Run) -> None:
        await _Sending(current).send(draft)

    return run(invocation, out, work)


class _Sending:
    """One message on its way."""

    def __init__(self, current: Run) -> None:
        self._run = current
        self._out = current.out
        self._given = current.invocation.given
        verbose, history = current.invocation.verbose, self._given.history is not None
        self._presenter = Presenter(current.out, verbose=verbose, history=history)
        self._findings = FindingsPrinter(current.session.journal, current.out, skip=frozenset({GET_CARD}))

    async def send(self, draft: Draft) -> None:
        """Send the message in the way that was asked for, or in the one that the agent knows."""
        if not self._given.findings:
            await self._send(draft)
            return
        journal = self._run.session.journal
        journal.listen(self._findings.show)
        try:
            await self._send(draft)
        finally:
            journal.unlisten(self._findings.show)
            self._findings.show()

    async def _send(self, draft: Draft) -> None:
        connection = await self._run.connect()
        self._run.check_interface()
        if self._run.invocation.verbose and not self._out.json:
            self._presenter.message(draft.request().message)
        if not self._given.stream:
            await self._wait(draft)
        elif connection.card.capabilities.streaming:
            await self._follow(draft)
        else:
            self._out.warn("the card does not declare streaming, so the message is sent without it")
            await self._wait(draft)

    async def _wait(self, draft: Draft) -> None:
        """Send without a stream; an agent that answers before the task has ended is asked again until it has."""
        answer = await self._run.call(self._run.session.send(draft, stream=False))
        if not isinstance(answer, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
            raise unfit("SendMessage", answer)
        if not isinstance(answer, Task):
            self._print(answer)
            return
        task = answer
        if self._given.stream:
            self._print(task)
        if not self._given.no_wait and not is_settled(task.status.state):
            self._say_waiting(task.id, task.status.state)
            task = await wait_for(self._run, task, self._print if self._given.stream else _ignore)
        if not self._given.stream:
            self._print(task)
        conclude(self._run, task.status.state)

    async def _follow(self, draft: Draft) -> None:
        """Send and print every event as it comes."""
        task = await Follower(self._run, self._print).follow(self._run.session.send(draft, stream=True))
        if task is None:
            return
        if not self._out.json:
            self._presenter.standing(task.id, task.context_id or "", task.status.state)
        conclude(self._run, task.status.state)

    def _print(self, event: Event) -> None:
        if self._out.json:
            self._out.document(encode_event(event))
        else:
            self._presenter.event(event)

    def _say_waiting(self, task_id: str, state: str) -> None:
        if not self._out.json:
            self._out.tell("Waiting", f"task {task_id} is {short(state)}")


def _ignore(_: Task) -> None:
    return
