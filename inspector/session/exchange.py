"""One call as records: what the agent answers, read, judged and folded into its task in the order of the wire."""

from __future__ import annotations

from collections.abc import Sequence as Rows
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding
from inspector.findings.stream.facts import Asked
from inspector.findings.stream.judge import StreamJudge
from inspector.protocol.assemble import Order, TextAppended
from inspector.protocol.bindings.base import Answer, Hide
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.lifecycle import INTERRUPTED, short
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    TaskArtifactUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import PUSH
from inspector.protocol.sse import Frame
from inspector.session.frame_reader import FrameReader
from inspector.session.httpx_sse_check import read_with_httpx_sse
from inspector.session.payload import describe, event_pointer, result_pointer
from inspector.session.recorder import Recorder
from inspector.session.tasks import EVENTS, TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Trailers
from inspector.wire.discovery import REDIRECTS

UNANSWERED = frozenset({401, 403}) | REDIRECTS
"""The statuses with which HTTP keeps a call from the agent: no protocol says what the body is then."""


@dataclass(frozen=True, slots=True)
class CallContext(Asked):
    """What was asked, with the text that rows show of it.

    `knowing` is what spoke against the request when it was sent all the same.
    """

    label: str = ""
    knowing: tuple[str, ...] = ()


@dataclass(slots=True)
class Exchange(Recorder):
    """A call and what came of it; `task_id` is the task it is about.

    `tasks` folds each event once it is recorded; `said` is what the agent said in the last observation.
    """

    call: CallContext
    tasks: TaskFold
    said: list[Answer | TextAppended] = field(default_factory=list, init=False)
    _newest: Answer | TextAppended | None = field(default=None, init=False)
    _described: tuple[Answer | None, dict[str, Any]] = field(default=(None, {}), init=False)
    _names: dict[str, str] = field(default_factory=dict, init=False)
    _owners: dict[str, str] = field(default_factory=dict, init=False)
    _judge: StreamJudge = field(init=False)
    _reader: FrameReader[Answer] = field(init=False)
    _hide: Hide = field(init=False)

    def __post_init__(self) -> None:
        self._reader = FrameReader(self._read)
        self._hide = partial(self.journal.redactor.body, push=self.call.operation in PUSH)
        self._judge = StreamJudge(self.call, self._order_of, _label_of, read_with_httpx_sse)

    @property
    def task_id(self) -> str:
        """Return the task that the call is about, `""` before the agent has named it."""
        return self._judge.task_id

    def _order_of(self, task_id: str) -> Order | None:
        tracked = self.tasks.get(task_id)
        return Order.of(tracked.answered) if tracked else None

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
        for event in self._reader.read(seen.frames, lambda: self._judge.repeats):
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
            findings=self._judge.frame(frame),
        )

    def _texts(self, said: TextAppended, frames: Rows[Frame], at: float) -> list[Record]:
        """Append updates that differ from the one before in their texts alone, which earned these findings, too."""
        self._newest = said
        return self._append(Kind.FRAME, at, said, frames, self._judge.repeat(frames))

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
        findings = self._judge.trailers(seen.name, answer)
        self.said.append(answer)
        return super(Exchange, self).take_trailers(seen, event=event, label=label, task=task, findings=findings)

    def _payload(self, at: float, answer: Answer, raw: bytes, value: Json, frame: Frame | None = None) -> list[Record]:
        """Append what the agent said, judged: a frame of a stream, or the answer that is not a stream."""
        self._newest = answer
        where = event_pointer(value, answer) if isinstance(answer, EVENTS) else result_pointer(value)
        data = raw if frame is None else frame.data or b""
        findings = self._judge.feed(answer, value, data, at, where, frame)
        if frame is None:
            return self._append(Kind.BODY, at, answer, (Frame(raw, None),), findings)
        return self._append(Kind.FRAME, at, answer, (frame,), findings)

    def _called(self, artifact: Artifact) -> str:
        """Return what an artifact is called: by its id too where it has no name, or one that an earlier one has."""
        own = artifact.artifact_id
        name = self._names[own] = artifact.name or self._names.get(own) or own
        return name if self._owners.setdefault(name, own) == own else f"{name} ({own})"

    @property
    def _status(self) -> int:
        return self.head.status if self.head else 0

    def judge_end(self, ended: Ended) -> tuple[Finding, ...]:
        """Judge whether an answer came whole, and where a stream left the task."""
        if self.head is None:
            return ()
        why = ended.fault.seen if ended.fault else ""
        if not self.head.streamed:
            return self._judge.close_body(broken=ended.how is Ending.BROKEN, why=why)
        whole, stopped = ended.how is Ending.COMPLETE and not ended.rest.strip(), ended.how is Ending.STOPPED
        return self._judge.close(ended.at, whole=whole, stopped=stopped, events=ended.events, why=why, last=self.answer)

    def judge_head(self, head: Head) -> tuple[Finding, ...]:
        """Judge the status and the headers of a response."""
        content_type, challenge = head.header("content-type"), head.header("www-authenticate")
        return self._judge.head(head.status, content_type, challenge, reached=head.status not in UNANSWERED)

    def end_words(self, ended: Ended) -> str:
        """Say how the exchange ended, and that a stream left its task at work."""
        streamed, state = self.head is not None and self.head.streamed, self._judge.open_state
        if ended.how is Ending.COMPLETE and streamed and state and state not in INTERRUPTED:
            return f"closed while the task is {short(state)}"
        return super(Exchange, self).end_words(ended)

    def _state(self) -> str:
        tracked = self.tasks.get(self.task_id)
        return tracked.answered.state if tracked else ""


def _label_of(event: Event) -> str:
    """Return what a row shows of an event, or its state where that is all."""
    _, _, _, state, label = describe(event)
    return label or short(state)
