"""`send`: send a message and print the response: at once, when the task has ended, or event by event."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.cli import lazy_loading
from inspector.cli.arguments import Invocation
from inspector.cli.debug_log import JournalPrinter
from inspector.cli.errors import usage
from inspector.cli.fields import Presenter
from inspector.cli.follow_task import Follower, conclude, wait_for
from inspector.cli.message_options import make_draft, read_request, secret_variables, show
from inspector.cli.option_reader import FLAG
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.errors import FaultError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.lifecycle import is_settled, short
from inspector.protocol.model import (
    Message,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.session.call import Call
from inspector.session.compose.draft import Draft
from inspector.session.journal import Journal
from inspector.session.payload import payload_json


def send(invocation: Invocation, out: Output) -> int:
    """Send a message and print the response."""
    given = invocation.given
    if given.stream and given.no_wait:
        raise usage("--stream and --async contradict each other.", "Remove one of them.")
    if given.wait and given.no_wait:
        raise usage("--wait and --async contradict each other.", "Remove one of them.")
    if given.preview and (ignored := [name for name in ("findings", "save") if given.sources.get(name) == FLAG]):
        raise usage(f"--preview sends nothing: --{ignored[0]} has no effect.", "Remove one of them.")
    draft = make_draft(given)
    request = read_request(given)
    return run(invocation, out, lambda current: Sending(current).send(draft, request))


class _RawResponse(JournalPrinter):
    """Prints the response to a raw request as it is received, each payload after its findings."""

    kinds = frozenset({Kind.RESPONSE, Kind.TRAILERS, Kind.BODY, Kind.FRAME})

    def __init__(self, journal: Journal, out: Output) -> None:
        super().__init__(journal, out)
        self._last = len(journal.capture)  # after the records of connecting

    def _print(self, record: Record) -> None:
        if record.kind in (Kind.RESPONSE, Kind.TRAILERS):
            if not self._out.json:
                code = f"{record.meta['code']} " if record.kind is Kind.TRAILERS else ""
                self._out.field("Status", f"{code}{record.label}")
            return
        payload = payload_json(record, self._journal.capture.request_of(record))
        value = parse(payload)
        if self._out.json:
            self._out.document(payload.decode("utf-8", "replace") if isinstance(value, Unreadable) else value)
        else:
            self._out.block("Response", payload.decode("utf-8", "replace"))


class Sending:
    """Sends messages, and prints the responses; `reads_lines` is whether the next line of stdin is the next message."""

    def __init__(self, current: RunningCommand, *, reads_lines: bool = False) -> None:
        self._run = current
        self._out = current.out
        self._given = current.invocation.given
        self._reads_lines = reads_lines
        self._presenter = Presenter.of(current)

    async def send(self, draft: Draft, request: str | None) -> None:
        """Send the raw request, else the message, with streaming if that is requested and the card declares it."""
        session, given = self._run.session, self._given
        for secret in secret_variables(given):
            session.journal.redactor.add(secret)
        connection = await self._run.connect()
        self._run.check_interface()
        stream = given.stream
        if stream and not connection.card.capabilities.streaming and request is None:
            self._out.warn("the card does not declare streaming: the message is sent without streaming")
            stream = False
        if not given.preview and request is None:
            await self._run.request_state(given.task_id or "")
        call = session.send(draft, stream=stream)
        if request is not None:
            call = session.send_raw(request, call)
        if given.preview:
            show(call, given.preview, self._out)
            return
        if request is not None:
            await self._send_raw(call)
            return
        await self.deliver(call, stream=stream)

    async def deliver(self, call: Call, *, stream: bool) -> None:
        """Send a prepared message and print the response until its task ends or is interrupted."""
        for warning in call.warnings:
            self._out.warn(warning.words)
        if self._run.invocation.verbose and not self._out.json and isinstance(call.request, SendRequest):
            self._presenter.message(call.request.message)
        await (self._follow(call) if stream else self._wait(call))

    async def _send_raw(self, call: Call) -> None:
        """Send a raw request unchanged, and print the response as it is received."""
        with _RawResponse(self._run.session.journal, self._out), self._run.waiting(call):
            await call.finish()
        if call.fault is not None:
            raise FaultError(self._run.explain(call.fault))

    async def _wait(self, call: Call) -> None:
        """Send without streaming, and poll the task until it ends or is interrupted, unless `--async` is given."""
        answer = await self._run.call(call)
        if not isinstance(answer, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
            raise self._run.unexpected("SendMessage", answer)
        if not isinstance(answer, Task):
            self._presenter.show_event(answer)
            if isinstance(answer, Message):
                self._save(answer)
            return
        task, stream = answer, self._given.stream
        if stream:
            self._presenter.show_event(task)
        if not self._given.no_wait and not is_settled(task.status.state):
            if not self._out.json and not self._out.progress.shown:
                self._out.line_to_stderr("Waiting", f"for task {task.id} ({short(task.status.state)})")
            task = await wait_for(self._run, task, self._presenter.show_event if stream else lambda _: None)
        if not stream:
            self._presenter.show_event(task)
        self._save(task)
        conclude(self._run, task.status.state, reads_lines=self._reads_lines)

    async def _follow(self, call: Call) -> None:
        """Send and print every event when it is received."""
        task = await Follower(self._run, self._presenter.show_stream).follow(call)
        if task is None:
            if isinstance(call.exchange.answer, Message):
                self._save(call.exchange.answer)
            return
        if not self._out.json:
            self._presenter.summary(task.id, task.context_id or "", task.status.state)
        tracked = self._run.session.tasks.get(task.id)
        self._save(tracked.now if tracked is not None else task)
        conclude(self._run, task.status.state, reads_lines=self._reads_lines)

    def _save(self, answer: AssembledTask | Task | Message) -> None:
        """Save the artifacts with `--save`."""
        if self._given.save is not None:
            lazy_loading.save(self._out, self._given.save, answer)
