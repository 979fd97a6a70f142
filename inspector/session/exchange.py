"""One call as records: what the agent answers, read, judged and folded into its task in the order of the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from inspector.capture.records import Kind, Record
from inspector.findings import events as judge
from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.bindings.base import Answer, Binding
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import Frame
from inspector.session.recorder import Recorder
from inspector.session.tasks import Source, Tasks, context_of, state_of, task_of, text_of
from inspector.wire.observations import Body, Ended, Ending, Frames


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
            raw=self.journal.redactor.body(frame.raw),
        )

    def _frame(self, frame: Frame, at: float) -> Record:
        call = self.call
        value = call.binding.read(call.dialect, call.operation, frame.data or b"")
        answer: Answer = value if isinstance(value, Unreadable) else call.binding.decode_item(call.dialect, value)
        return self._payload(Kind.FRAME, at, answer, frame.raw, self._envelope(value))

    def take_body(self, body: Body) -> Record:
        """Append the answer to a call that was not answered with a stream."""
        call = self.call
        value = call.binding.read(call.dialect, call.operation, body.raw)
        if isinstance(value, Unreadable):
            return self._payload(Kind.BODY, body.at, value, body.raw, ())
        streaming = call.operation in STREAMING
        answer = (
            call.binding.decode_item(call.dialect, value)
            if streaming
            else call.binding.decode_answer(call.dialect, call.operation, self.head.status if self.head else 0, value)
        )
        findings = self._envelope(value)
        if streaming and not isinstance(answer, ProtocolError | Unreadable):
            findings += (broken("RPC-004", f"answered with {self.content_type or 'no content type'}"),)
        elif "json" not in self.content_type:
            findings += (broken("RPC-005", self.content_type or "none"),)
        return self._payload(Kind.BODY, body.at, answer, body.raw, findings)

    def _envelope(self, value: Json) -> tuple[Finding, ...]:
        """Judge the id; an error without one is no slip, when the agent could not read the request."""
        if not isinstance(value, dict) or value.get("id") == self.call.request_id:
            return ()
        if value.get("id") is None and "error" in value:
            return ()
        return judge.of_envelope(self.call.request_id, value.get("id"))

    def _payload(self, kind: Kind, at: float, answer: Answer, raw: bytes, findings: tuple[Finding, ...]) -> Record:
        self.answer = answer
        event, task, context, state, label = describe(answer)
        match answer:
            case TaskArtifactUpdateEvent() | TaskStatusUpdateEvent() | Task() | Message():
                if misfits := self.tasks.take(answer, at, Source.ANSWER):
                    findings += judge.of_misfits(misfits, label or event)
                findings += judge.of_state(state)
                if task and self.task_id and task != self.task_id:
                    findings += judge.of_other_task(self.task_id, task)
                self.task_id = self.task_id or task
            case Unreadable():
                findings += (broken(self._unreadable_rule(kind), label),)
            case _:
                pass
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
            raw=self.journal.redactor.body(raw),
            findings=findings,
        )
        if self.on_answer is not None:
            self.on_answer(answer)
        return record

    def _unreadable_rule(self, kind: Kind) -> str:
        if kind is Kind.FRAME:
            return "STREAM-007"
        return "RPC-003" if self.head is not None and self.head.status == 200 else "RPC-002"

    def judge_end(self, ended: Ended) -> tuple[Finding, ...]:
        """Judge where a stream left the task."""
        streamed = self.head is not None and self.head.streamed
        if not streamed or ended.how is Ending.STOPPED or isinstance(self.answer, ProtocolError):
            return ()
        return judge.of_ending(
            self._state(),
            whole=ended.how is Ending.COMPLETE and not ended.rest.strip(),
            events=ended.events,
            message_only=isinstance(self.answer, Message),
        )

    def _state(self) -> str:
        tracked = self.tasks.get(self.task_id)
        return tracked.answered.state if tracked else ""


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
            return "error", "", "", "", f"{code}{answer.name}: {answer.message}"
        case Unreadable():
            return "unreadable", "", "", "", answer.why
        case _:
            return "result", "", "", "", type(answer).__name__
