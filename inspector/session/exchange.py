"""One call as records: what the agent answers, read, judged and folded into its task in the order of the wire."""

from __future__ import annotations

from collections.abc import Sequence as Rows
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.findings.exchange import Payload, charset_of, of_payload, of_status
from inspector.findings.finding import Finding
from inspector.findings.result import of_refusal, of_result
from inspector.findings.rules import broken
from inspector.findings.stream import events as judge
from inspector.findings.stream.sequence import Sequence
from inspector.protocol.assemble import Order, TextAppended
from inspector.protocol.bindings.base import Answer, Binding, Hide
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import INTERRUPTED, State, short
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    Message,
    Request,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import PUSH, Operation
from inspector.protocol.pointer import at as at_pointer
from inspector.protocol.sse import Frame
from inspector.session.frame_reader import FrameReader
from inspector.session.httpx_sse_check import HttpxSseCheck
from inspector.session.payload import describe, event_pointer, result_pointer
from inspector.session.recorder import Recorder
from inspector.session.tasks import EVENTS, TaskFold, context_of, task_of
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Trailers
from inspector.wire.discovery import REDIRECTS

UNANSWERED = frozenset({401, 403}) | REDIRECTS
"""The statuses with which HTTP keeps a call from the agent: no protocol says what the body is then."""

_UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class CallContext:
    """What was asked: the operation, how it is spelled on this interface, what it is about.

    `request_id` is that of JSON-RPC. `request` is None where nobody knows what it says; `knowing` is what spoke against
    it when it was sent all the same.
    """

    operation: Operation
    dialect: Dialect
    binding: Binding
    request_id: str | int | float | None
    task_id: str = ""
    context_id: str = ""
    label: str = ""
    request: Request | None = None
    knowing: tuple[str, ...] = ()


@dataclass(slots=True)
class Exchange(Recorder):
    """A call and what came of it; `task_id` is the task it is about.

    `tasks` folds each event once it is recorded; `said` is what the agent said in the last observation.
    """

    call: CallContext
    tasks: TaskFold
    said: list[Answer | TextAppended] = field(default_factory=list, init=False)
    task_id: str = field(default="", init=False)
    _order: Order | None = field(default=None, init=False)
    _sequence: Sequence = field(init=False)
    _events: int = field(default=0, init=False)
    _messages: int = field(default=0, init=False)
    _mixed: bool = field(default=False, init=False)
    _blind: bool = field(default=False, init=False)
    _newest: Answer | TextAppended | None = field(default=None, init=False)
    _described: tuple[Answer | None, dict[str, Any]] = field(default=(None, {}), init=False)
    _last: tuple[Finding, ...] = field(default=(), init=False)
    _repeats: bool = field(default=False, init=False)
    _over: float = field(default=0.0, init=False)
    _names: dict[str, str] = field(default_factory=dict, init=False)
    _owners: dict[str, str] = field(default_factory=dict, init=False)
    _judged: bool = field(default=False, init=False)
    _second: HttpxSseCheck = field(default_factory=HttpxSseCheck, init=False)
    _reader: FrameReader[Answer] = field(init=False)
    _hide: Hide = field(init=False)

    def __post_init__(self) -> None:
        self._reader = FrameReader(self._read)
        self._hide = partial(self.journal.redactor.body, push=self.call.operation in PUSH)
        # As it is now, before anything is sent: what another stream tells meanwhile is no slip of this one.
        call = self.call
        self._order = self._order_of(call.task_id)
        request = call.request
        asked = request.message.message_id if isinstance(request, SendRequest) else ""
        self._sequence = Sequence(self._generation, call.operation, call.task_id, call.context_id, asked)

    def _order_of(self, task_id: str) -> Order | None:
        tracked = self.tasks.get(task_id)
        return Order.of(tracked.answered) if tracked else None

    def _named(self) -> str:
        """Return the task that the request begins, where it is the client that names it."""
        request = self.call.request
        if isinstance(request, SendRequest) and self.call.dialect.names_tasks:
            return request.message.message_id
        return ""

    def request_members(self) -> dict[str, Json]:
        """Return the task, the context and the text that the call is about."""
        return {"task": self.call.task_id, "context": self.call.context_id, "label": self.call.label}

    def request_meta(self) -> dict[str, Json]:
        """Return what reads the answer: the dialect, the binding and the request's id."""
        call = self.call
        known: dict[str, Json] = {
            "dialect": call.dialect.generation,
            "binding": call.binding.name,
            "id": call.request_id,
        }
        return known | {"deliberate": list(call.knowing)} if call.knowing else known

    def payload_members(self) -> dict[str, Json]:
        """Return the task of the exchange and its state."""
        return {"task": self.task_id or self.call.task_id, "state": self._state()}

    def mask(self, raw: bytes, *, asked: bool = False) -> bytes:
        """Mask the secrets in a body; a push configuration that stands alone is known by the operation."""
        call = self.call
        return call.binding.mask(call.dialect, call.operation, raw, asked, self._hide)

    @property
    def answer(self) -> Answer | None:
        """Return the last thing that the agent said, None before it has said anything."""
        if isinstance(self._newest, TextAppended):
            *_, self._newest = self._newest.updates()
        return self._newest

    def take(self, seen: Observation) -> list[Record]:
        """Append the records for an observation and return them; `said` has what the agent said in it."""
        self.said.clear()
        return super(Exchange, self).take(seen)

    def take_end(self, ended: Ended) -> list[Record]:
        """Append the end of the exchange, which leaves its task to the next stream."""
        records = super(Exchange, self).take_end(ended)
        self.tasks.take(records, None)
        return records

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream; one without data is a keep-alive."""
        records: list[Record] = []
        for event in self._reader.read(seen.frames, lambda: self._repeats):
            if event.said is None:
                records += self._keepalive(event.frames[0], seen.at)
            elif isinstance(event.said, TextAppended):
                records += self._texts(event.said, event.frames, seen.at)
            else:
                records += self._payload(seen.at, event.said, event.frames[0].raw, event.value, event.frames[0])
        return records

    def _keepalive(self, frame: Frame, at: float) -> list[Record]:
        return self.journal.append(
            Kind.KEEPALIVE,
            at,
            exchange=self.number,
            operation=self.operation,
            task=self.task_id,
            label=" ".join(frame.comments),
            payloads=[(len(frame.raw), self.mask(frame.raw))],
            findings=(*judge.of_lines(frame.ignored, frame.event), *self._second.of(frame)),
        )

    def _texts(self, said: TextAppended, frames: Rows[Frame], at: float) -> list[Record]:
        """Append updates that differ from the one before in their texts alone, which earned these findings, too."""
        self._newest = said
        self._events += len(frames)
        for frame in frames:
            if frame.id is not None:
                self._second.last_id = frame.id
        return self._append(Kind.FRAME, at, said, frames, self._last)

    def _append(
        self, kind: Kind, at: float, said: Answer | TextAppended, frames: Rows[Frame], findings: tuple[Finding, ...]
    ) -> list[Record]:
        """Append what the agent said, then fold it."""
        update = said.like if isinstance(said, TextAppended) else said
        if update is not self._described[0]:
            self._described = update, self._members(update)
        payloads = [(len(frame.raw), self.mask(frame.raw)) for frame in frames]
        records = self.journal.append(kind, at, payloads=payloads, findings=findings, **self._described[1])
        self.tasks.take(records, said)
        self.said.append(said)
        return records

    def _members(self, said: Answer) -> dict[str, Any]:
        """Return what the record of a payload has besides its bytes and findings."""
        event, task, context, state, label = describe(said)
        return {
            "exchange": self.number,
            "operation": self.operation,
            "event": event,
            "task": task or self.task_id or self.call.task_id,
            "context": context,
            "state": state,
            "label": self._called(said.artifact) if isinstance(said, TaskArtifactUpdateEvent) else label,
        }

    def _read(self, data: bytes) -> tuple[Json, Answer]:
        """Read the data of a frame, as JSON and as what it says."""
        call = self.call
        value = call.binding.read(call.dialect, call.operation, data)
        return value, value if isinstance(value, Unreadable) else call.binding.decode_item(call.dialect, value)

    def take_body(self, body: Body) -> list[Record]:
        """Append the answer to a call that was not answered with a stream."""
        call = self.call
        value = call.binding.read(call.dialect, call.operation, body.raw)
        answer: Answer = (
            value
            if isinstance(value, Unreadable)
            else call.binding.decode_answer(call.dialect, call.operation, self._status, value)
        )
        return self._payload(body.at, answer, body.raw, value)

    def take_trailers(self, seen: Trailers, **members: Any) -> list[Record]:
        """Append the status that ended a gRPC call; one that is not OK is the last that the agent said."""
        if seen.code == OK:
            return super(Exchange, self).take_trailers(seen, **members)
        self._newest = answer = decode_error(seen.code, seen.message, seen.binary(DETAILS))
        event, _, _, _, label = describe(answer)
        task = self.task_id or self.call.task_id
        findings = of_status(self._generation, seen.name, answer)
        self.said.append(answer)
        return super(Exchange, self).take_trailers(seen, event=event, label=label, task=task, findings=findings)

    def _payload(self, at: float, answer: Answer, raw: bytes, value: Json, frame: Frame | None = None) -> list[Record]:
        """Append what the agent said, judged: a frame of a stream, or the answer that is not a stream."""
        self._newest = answer
        framed = frame is not None
        findings = self._judge(answer, value, raw if frame is None else frame.data or b"", framed=framed)
        if isinstance(answer, EVENTS):
            where = event_pointer(value, answer)
            if told := self._place(answer, at_pointer(value, where), at, framed=framed):
                findings += tuple(replace(one, pointer=where + one.pointer) for one in told)
        elif isinstance(answer, Unreadable) and framed:
            self._lose()
        elif isinstance(answer, ProtocolError):
            self._sequence.fail()
        if frame is None or isinstance(answer, ProtocolError):
            findings += self._as_asked(answer, value)
        if frame is not None:
            findings += (*judge.of_lines(frame.ignored, ""), *self._second.of(frame))
        self._repeats, self._last = findings == self._last, findings
        frames = (Frame(raw, None),) if frame is None else (frame,)
        return self._append(Kind.FRAME if framed else Kind.BODY, at, answer, frames, findings)

    def _called(self, artifact: Artifact) -> str:
        """Return what an artifact is called: by its id too where it has no name, or one that an earlier one has."""
        own = artifact.artifact_id
        name = self._names[own] = artifact.name or self._names.get(own) or own
        return name if self._owners.setdefault(name, own) == own else f"{name} ({own})"

    def _as_asked(self, answer: Answer, value: Json) -> tuple[Finding, ...]:
        """Judge the only answer by what was asked."""
        call = self.call
        if call.request is None:
            return ()
        if isinstance(answer, ProtocolError):
            place = "/error/code" if call.binding.name == "JSONRPC" else "/error"
            return of_refusal(self._generation, call.operation, call.request, answer, place)
        where = event_pointer(value, answer) if isinstance(answer, EVENTS) else result_pointer(value)
        told = of_result(self._generation, call.operation, call.request, answer)
        return tuple(replace(one, pointer=where + one.pointer) for one in told)

    def _lose(self) -> None:
        """Take in that an event could not be read: what it told is not missed in later ones."""
        self._blind = True
        self._sequence.lose()
        if self._order is not None:
            self._order.blind = True

    @property
    def _generation(self) -> str:
        return self.call.dialect.generation

    def _place(self, event: Event, said: Json, at: float, *, framed: bool) -> tuple[Finding, ...]:
        """Judge an event by what this exchange has said of its task before.

        `said` is the event's own JSON, which the findings point into.
        """
        findings: tuple[Finding, ...] = ()
        task, expected = task_of(event), self.task_id or self.call.task_id or self._named()
        if task and not self.task_id:
            self.task_id = task
            if task != self.call.task_id or self._order is None:
                self._order = self._order_of(task) or Order(blind=self._blind)
        if self._order is not None and judge.lacks_artifacts(event, said):
            self._order.blind = True
        if task and expected and task != expected:
            findings += judge.of_other_task(expected, task, self._generation, whole=isinstance(event, Task))
        ours = task in ("", self.task_id)
        if ours and self._order is not None and (misfits := self._order.check(event)):
            _, _, _, state, label = describe(event)
            contexts = f"context {context_of(event)!r:.80}, the task is in {self._order.context_id!r:.80}"
            findings += judge.of_misfits(misfits, label or short(state), self._generation, contexts)
        if self._order is not None and self._order.ended:
            self._over = self._over or at
        findings += self._sequence.check(event, said)
        if framed:
            self._events += 1
            self._messages += type(event) is Message
            if not self._mixed:
                mixed = judge.of_mixture(self._events, self._messages)
                self._mixed = bool(mixed)
                findings += mixed
        return findings

    def _judge(self, answer: Answer, value: Json, raw: bytes, *, framed: bool) -> tuple[Finding, ...]:
        """Judge how the transport carries an answer; not where HTTP itself has said that the agent was not reached."""
        call, status = self.call, self._status
        if status in UNANSWERED:
            return ()
        charset = "" if self._judged or self.head is None else charset_of(self.head.header("content-type"))
        self._judged = True
        return of_payload(
            call.binding.name,
            Payload(
                call.operation,
                call.dialect.generation,
                call.request_id,
                status,
                self.content_type,
                framed,
                value,
                answer,
                raw if call.binding.events else b"",
                charset,
            ),
        )

    @property
    def _status(self) -> int:
        return self.head.status if self.head else 0

    def judge_end(self, ended: Ended) -> tuple[Finding, ...]:
        """Judge whether an answer came whole, and where a stream left the task."""
        if self.head is None:
            return ()
        if not self.head.streamed:
            cut = ended.how is Ending.BROKEN
            return (broken("HTTP-009", ended.fault.seen if ended.fault else ""),) if cut else ()
        if isinstance(self.answer, ProtocolError):
            return ()
        whole = ended.how is Ending.COMPLETE and not ended.rest.strip()
        if ended.how is Ending.STOPPED:
            return judge.of_staying_open(ended.at - self._over) if self._over else ()
        if whole and self._over and (late := judge.of_staying_open(ended.at - self._over, closed=True)):
            return late
        if whole and isinstance(self.answer, Unreadable):
            return ()  # it may have been the end of the task
        order = self._order or Order()
        return judge.of_ending(
            State.COMPLETED if order.ended else order.state,
            whole=whole,
            events=ended.events,
            message_only=0 < self._messages == self._events,
            why=ended.fault.seen if ended.fault and not ended.events else "",
        )

    def judge_head(self, head: Head) -> tuple[Finding, ...]:
        """Judge the status and the headers of a response."""
        silent = head.status == _UNAUTHORIZED and not head.header("www-authenticate")
        return (broken("HTTP-008", "no WWW-Authenticate came"),) if silent else ()

    def end_words(self, ended: Ended) -> str:
        """Say how the exchange ended, and that a stream left its task at work."""
        streamed = self.head is not None and self.head.streamed
        state = "" if self._order is None or self._order.ended else self._order.state
        if ended.how is Ending.COMPLETE and streamed and state and state not in INTERRUPTED:
            return f"closed while the task is {short(state)}"
        return super(Exchange, self).end_words(ended)

    def _state(self) -> str:
        tracked = self.tasks.get(self.task_id)
        return tracked.answered.state if tracked else ""
