"""One call as records: what the agent answers, read, judged and folded into its task in the order of the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.findings import events as judge
from inspector.findings.exchange import Payload, of_payload
from inspector.findings.finding import Finding
from inspector.protocol.assemble import Order
from inspector.protocol.bindings.base import Answer, Binding, Hide
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import short
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import PUSH, STREAMING, Operation
from inspector.protocol.sse import Frame
from inspector.session.recorder import Recorder
from inspector.session.tasks import Source, Tasks, context_of, state_of, task_of, text_of
from inspector.wire.discovery import REDIRECTS
from inspector.wire.observations import Body, Ended, Ending, Frames, Trailers

UNANSWERED = frozenset({401, 403}) | REDIRECTS
"""The statuses with which HTTP keeps a call from the agent: no protocol says what the body is then."""

_WRAPPERS: Mapping[type[Event], str] = {
    Task: "task",
    Message: "message",
    TaskStatusUpdateEvent: "statusUpdate",
    TaskArtifactUpdateEvent: "artifactUpdate",
}
_EVENTS = (TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Task, Message)
"""What tells of a task, the commonest first: a busy stream asks for it tens of thousands of times a second."""


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked: the operation, how it is spelled on this interface, what it is about."""

    operation: Operation
    dialect: Dialect
    binding: Binding
    request_id: str
    task_id: str = ""
    context_id: str = ""
    label: str = ""


@dataclass(slots=True)
class Exchange(Recorder):
    """A call and what came of it: `answer` is the last thing that the agent said, `task_id` the task it is about.

    `on_answer` is called with each thing that the agent says, once it is recorded.
    """

    call: Call
    tasks: Tasks
    on_answer: Callable[[Answer], None] | None = field(default=None, init=False)
    answer: Answer | None = field(default=None, init=False)
    task_id: str = field(default="", init=False)
    _order: Order | None = field(default=None, init=False)
    _events: int = field(default=0, init=False)
    _messages: int = field(default=0, init=False)
    _hide: Hide = field(init=False)

    def __post_init__(self) -> None:
        self._hide = partial(self.journal.redactor.body, push=self.call.operation in PUSH)
        # As it is now, before anything is sent: what another stream tells meanwhile is no slip of this one.
        self._order = self._order_of(self.call.task_id)

    def _order_of(self, task_id: str) -> Order | None:
        tracked = self.tasks.get(task_id)
        return tracked.answered.order.copy() if tracked else None

    def request_members(self) -> dict[str, Json]:
        """Return the task, the context and the text that the call is about."""
        return {"task": self.call.task_id, "context": self.call.context_id, "label": self.call.label}

    def request_meta(self) -> dict[str, Json]:
        """Return what reads the answer: the dialect, the binding and the request's id."""
        call = self.call
        return {"dialect": call.dialect.generation, "binding": call.binding.name, "id": call.request_id}

    def payload_members(self) -> dict[str, Json]:
        """Return the task of the exchange and its state."""
        return {"task": self.task_id or self.call.task_id, "state": self._state()}

    def mask(self, raw: bytes, *, asked: bool = False) -> bytes:
        """Mask the secrets in a body; a push configuration that stands alone is known by the operation."""
        call = self.call
        return call.binding.mask(call.dialect, call.operation, raw, asked, self._hide)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append every frame; one without data is a keep-alive."""
        return [
            self._frame(frame, seen.at) if frame.data is not None else self._keepalive(frame, seen.at)
            for frame in seen.frames
        ]

    def _keepalive(self, frame: Frame, at: float) -> Record:
        return self.journal.append(
            Kind.KEEPALIVE,
            at,
            exchange=self.number,
            operation=self.operation,
            task=self.task_id,
            label=" ".join(frame.comments),
            size=len(frame.raw),
            raw=self.mask(frame.raw),
        )

    def _frame(self, frame: Frame, at: float) -> Record:
        call = self.call
        value = call.binding.read(call.dialect, call.operation, frame.data or b"")
        answer: Answer = value if isinstance(value, Unreadable) else call.binding.decode_item(call.dialect, value)
        return self._payload(Kind.FRAME, at, answer, frame.raw, value)

    def take_body(self, body: Body) -> Record:
        """Append the answer to a call that was not answered with a stream."""
        call = self.call
        value = call.binding.read(call.dialect, call.operation, body.raw)
        answer: Answer = (
            value
            if isinstance(value, Unreadable)
            else call.binding.decode_answer(call.dialect, call.operation, self._status, value)
        )
        return self._payload(Kind.BODY, body.at, answer, body.raw, value)

    def take_trailers(self, seen: Trailers, **members: Any) -> Record:
        """Append the status that ended a gRPC call; one that is not OK is the last that the agent said."""
        if seen.code == OK:
            return super(Exchange, self).take_trailers(seen, **members)
        self.answer = answer = decode_error(seen.code, seen.message, seen.binary(DETAILS))
        event, _, _, _, label = describe(answer)
        task = self.task_id or self.call.task_id
        record = super(Exchange, self).take_trailers(seen, event=event, label=label, task=task)
        if self.on_answer is not None:
            self.on_answer(answer)
        return record

    def _payload(self, kind: Kind, at: float, answer: Answer, raw: bytes, value: Json) -> Record:
        self.answer = answer
        framed = kind is Kind.FRAME
        findings = self._judge(answer, value, framed=framed)
        event, task, context, state, label = describe(answer)
        if isinstance(answer, _EVENTS):
            if told := self._fold(answer, at, framed=framed):
                where = event_pointer(value, answer)
                findings += tuple(replace(one, pointer=where + one.pointer) for one in told)
        elif isinstance(answer, TaskList):
            for listed in answer.tasks:
                self.tasks.take(listed, at, Source.ANSWER)
        record = self.journal.append(
            kind,
            at,
            exchange=self.number,
            operation=self.operation,
            event=event,
            task=task or self.task_id or self.call.task_id,
            context=context,
            state=state,
            label=label,
            size=len(raw),
            raw=self.mask(raw),
            findings=findings,
        )
        if self.on_answer is not None:
            self.on_answer(answer)
        return record

    def _fold(self, event: Event, at: float, *, framed: bool) -> tuple[Finding, ...]:
        """Fold an event into its task, and judge it by what this exchange has told of the task before.

        The findings point into the event.
        """
        findings: tuple[Finding, ...] = ()
        task, expected = task_of(event), self.task_id or self.call.task_id
        if task and not self.task_id:
            self.task_id = task
            if task != self.call.task_id or self._order is None:
                self._order = self._order_of(task) or Order()
        if task and expected and task != expected:
            findings += judge.of_other_task(expected, task, "/id" if isinstance(event, Task) else "/taskId")
        elif self._order is not None and (misfits := self._order.check(event)):
            _, _, _, state, label = describe(event)
            findings += judge.of_misfits(misfits, label or short(state))
        findings += judge.of_state(state_of(event))
        if framed:
            self._events += 1
            self._messages += type(event) is Message
            findings += judge.of_mixture(self._events, self._messages)
        told_here = framed and task == self.task_id
        self.tasks.take(event, at, Source.ANSWER, stream=self.number if told_here else 0)
        return findings

    def _judge(self, answer: Answer, value: Json, *, framed: bool) -> tuple[Finding, ...]:
        """Judge how the transport carries an answer; not where HTTP itself has said that the agent was not reached."""
        call, status = self.call, self._status
        if status in UNANSWERED:
            return ()
        return of_payload(
            call.binding.name,
            Payload(
                call.dialect.generation,
                call.request_id,
                status,
                self.content_type,
                framed,
                call.operation in STREAMING,
                value,
                answer,
            ),
        )

    @property
    def _status(self) -> int:
        return self.head.status if self.head else 0

    def judge_end(self, ended: Ended) -> tuple[Finding, ...]:
        """Judge where a stream left the task."""
        streamed = self.head is not None and self.head.streamed
        whole = ended.how is Ending.COMPLETE and not ended.rest.strip()
        if not streamed or ended.how is Ending.STOPPED or isinstance(self.answer, ProtocolError):
            return ()
        if whole and isinstance(self.answer, Unreadable):
            return ()  # it may have been the end of the task
        return judge.of_ending(
            self._order.state if self._order else "",
            whole=whole,
            events=ended.events,
            message_only=0 < self._messages == self._events,
        )

    def let_go(self) -> None:
        """Leave the task to the next stream."""
        self.tasks.let_go(self.task_id, self.number)

    def _state(self) -> str:
        tracked = self.tasks.get(self.task_id)
        return tracked.answered.state if tracked else ""


def event_pointer(value: Json, event: Event) -> str:
    """Return where in a JSON payload an event stands, under the result of an envelope and in a wrapper of its own."""
    pointer = ""
    if isinstance(value, dict) and "result" in value:
        pointer, value = "/result", value["result"]
    wrapper = _WRAPPERS[type(event)]
    return f"{pointer}/{wrapper}" if isinstance(value, dict) and wrapper in value else pointer


def describe(answer: Answer) -> tuple[str, str, str, str, str]:
    """Return what a row says of a payload: its event, task, context, state and a label of one line."""
    match answer:
        case TaskArtifactUpdateEvent():
            return (
                "artifact",
                answer.task_id,
                context_of(answer),
                "",
                answer.artifact.name or answer.artifact.artifact_id,
            )
        case TaskStatusUpdateEvent() | Task():
            event = "task" if isinstance(answer, Task) else "status"
            return event, task_of(answer), context_of(answer), state_of(answer), text_of(answer.status.message)
        case Message():
            return "message", task_of(answer), context_of(answer), "", text_of(answer)
        case ProtocolError():
            code = "" if answer.code is None else f"{answer.code} "
            return "error", "", "", "", f"{code}{answer.words}"
        case Unreadable():
            return "unreadable", "", "", "", answer.why
        case _:
            return "result", "", "", "", type(answer).__name__
