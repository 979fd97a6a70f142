"""Record one call: read its response, check it against the rules, and fold its events into tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import Any

from inspector.capture.records import Common, Kind, Payload, Record
from inspector.findings.finding import Finding
from inspector.findings.stream.observer import CallFacts, ExchangeObserver, StreamEnding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import Order, TextAppended
from inspector.protocol.bindings.base import Answer, Hide
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.circumstances import Circumstances, sent_extensions, sent_version
from inspector.protocol.content import Content
from inspector.protocol.errors import FaultCode
from inspector.protocol.extensions import may_have_uses
from inspector.protocol.http_fields import header
from inspector.protocol.http_status import DENYING, REDIRECTING
from inspector.protocol.jsonvalue import parse
from inspector.protocol.lifecycle import INTERRUPTED, short
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    ListTasksRequest,
    TaskArtifactUpdateEvent,
    TaskList,
    Unreadable,
)
from inspector.protocol.operations import PUSH
from inspector.protocol.sse import Frame
from inspector.protocol.unverified_jwt import claims_of
from inspector.session.denial import SentToken
from inspector.session.extension_use import NO_USE, ExtensionUse, find_use, use_of
from inspector.session.frame_reader import FrameReader
from inspector.session.payload import describe, describe_http_error
from inspector.session.recorder import Recorder
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent, Trailers

UNANSWERED = DENYING | REDIRECTING
"""If the response has one of these statuses, its body is not an A2A error: the request did not reach the agent."""

_LOWEST_ERROR = 300
"""The lowest HTTP status with which no result is sent."""
_STREAM_ENDINGS = {
    Ending.COMPLETE: StreamEnding.COMPLETE,
    Ending.BROKEN: StreamEnding.INTERRUPTED,
    Ending.LIMIT: StreamEnding.LIMIT,
    Ending.STOPPED: StreamEnding.STOPPED,
}


@dataclass(frozen=True, slots=True)
class CallContext(CallFacts):
    """The request of a call, with its label, and the warnings that were shown when it was sent (`deliberate`)."""

    label: str = ""
    deliberate: tuple[str, ...] = ()


@dataclass(slots=True)
class Exchange(Recorder):
    """A call and its response; `tasks` folds each event once it is recorded.

    `answers` has the events or the response in the last observation. `circumstances` has the headers of the request
    once it was sent. `stalled` is the number of seconds, after the end of the task, in which this process did not run.
    """

    context: CallContext
    tasks: TaskFold
    answers: list[Answer | TextAppended] = field(default_factory=list, init=False)
    circumstances: Circumstances = field(init=False)
    stalled: float = field(default=0.0, init=False)
    _newest: Answer | TextAppended | None = field(default=None, init=False)
    _of_chunks: dict[tuple[str | None, ...], Common] = field(default_factory=dict, init=False)
    _names: dict[str, str] = field(default_factory=dict, init=False)
    _owners: dict[str, str] = field(default_factory=dict, init=False)
    _judge: ExchangeObserver = field(init=False)
    _reader: FrameReader[Answer] = field(init=False)
    _batch: Sequence[bytes] = field(default=(), init=False)
    _batch_has_uses: bool | None = field(default=None, init=False)
    _hide: Hide = field(init=False)
    _authorization: str = field(default="", init=False, repr=False)

    def __post_init__(self) -> None:
        known = self.tasks.get(self.context.task_id)
        state, page = known.answered.state if known else "", self.tasks.pages.page_of(self.context.request)
        # Read before the request is sent: the response can change the state of the task.
        self.circumstances = Circumstances(
            self.context.card,
            self.context.interface,
            state=state,
            context_id=known.answered.context_id if known else "",
            page=page.number,
            listed=page.listed,
        )
        self._reader = FrameReader(self._read)
        self._hide = partial(self.journal.redactor.body, push=self.context.operation in PUSH)
        self._judge = self.journal.checker.observer(self.context, self._order_of, _label_of)

    @property
    def task_id(self) -> str:
        """Return the id of the task of the call, `""` before the agent has sent it."""
        return self._judge.task_id

    @property
    def has_ended_task(self) -> bool:
        """Return whether the task has ended, so that the stream has to close; always false if no rules are checked."""
        return self._judge.has_ended_task

    def _order_of(self, task_id: str) -> Order | None:
        tracked = self.tasks.get(task_id)
        return Order.of(tracked.answered) if tracked else None

    def take_sent(self, sent: Sent, meta: dict[str, Json] | None = None, **members: Any) -> list[Record]:
        """Append the request, with what is needed to read its response later."""
        context = self.context
        self._authorization = header(sent.headers, "authorization")
        self.circumstances = replace(
            self.circumstances,
            version=sent_version(context.dialect, sent.headers),
            extensions=sent_extensions(context.dialect, sent.headers),
            url=self.journal.redactor.url(sent.url),
            authorization=self._authorization.partition(" ")[0],
        )
        self._judge.sent(self.circumstances)
        known = {"dialect": context.dialect.version, "binding": context.binding.name, "id": context.request_id}
        deliberate = {"deliberate": list(context.deliberate)} if context.deliberate else {}
        use = self._use_of_request(sent.body, sent.at)
        about = {"task": context.task_id, "context": context.context_id, "label": use.added_to(context.label)}
        return super().take_sent(sent, {**known, **deliberate, **use.meta, **(meta or {})}, **about, **members)

    def _use_of_request(self, body: bytes, at: float) -> ExtensionUse:
        """Return what the body of the request contains of known extensions."""
        if not may_have_uses(body):
            return NO_USE
        context = self.context
        value = parse(context.binding.show(context.dialect, context.operation, body, True))
        return find_use(self.journal, body, value, at, context.dialect.version)

    def take_head(self, head: Head, **members: Any) -> list[Record]:
        """Append the response head, with the findings about its status and headers."""
        findings = self._judge.head(head.status, head.fields(), reached=head.status not in UNANSWERED)
        return super().take_head(head, findings=findings, **members)

    def mask(self, raw: bytes, *, asked: bool = False) -> bytes:
        """Mask the secrets in a body; in a body of a push configuration, more members are secret."""
        context = self.context
        masked = context.binding.mask(context.dialect, context.operation, raw, asked, self._hide)
        return masked if asked else self.journal.keep_masked(raw, masked)

    @property
    def sent_token(self) -> SentToken:
        """Return what is known about the token in the request."""
        summary = self.journal.exchanges.get(self.number)
        claims = claims_of(self._authorization.partition(" ")[2])
        return SentToken(self.circumstances.url, claims, summary.at if summary else 0.0)

    @property
    def answer(self) -> Answer | None:
        """Return the last event or response of the agent, None before the first."""
        if isinstance(self._newest, TextAppended):
            *_, self._newest = self._newest.updates()
        return self._newest

    def take(self, seen: Observation) -> list[Record]:
        """Append the records for an observation and return them; `answers` has its events or its response."""
        self.answers.clear()
        return Recorder.take(self, seen)

    def take_end(self, ended: Ended, label: str = "", **members: Any) -> list[Record]:
        """Append the end of the exchange; from now on, other exchanges may update the task of its stream."""
        findings = self._judge_end(ended)
        streamed, open_state = self.head is not None and self.head.streamed, self._judge.open_state
        if ended.how is Ending.COMPLETE and streamed and open_state and open_state not in INTERRUPTED:
            label = f"closed while the task is {short(open_state)}"
        tracked = self.tasks.get(self.task_id)
        state = tracked.answered.state if tracked else ""
        about = {"task": self.task_id or self.context.task_id, "state": state}
        records = super().take_end(ended, label, findings=findings, **about, **members)
        self.tasks.take(records, None)
        return records

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream; a frame without data is a keep-alive."""
        records: list[Record] = []
        self._batch = [frame.raw for frame in seen.frames]
        self._batch_has_uses = None
        payloads = self._payloads(self._batch)
        for event in self._reader.read(seen.frames, self._judge.repeatable):
            masked = list(islice(payloads, len(event.frames)))
            if event.content is not None:
                records += self._append_content(Kind.FRAME, seen.at, event.content, masked, event.frames[0])
            elif isinstance(event.answer, TextAppended):
                # Updates that differ only in their texts have the same findings.
                self._newest, findings = event.answer, self._judge.repeat(event.frames)
                records += self._append(Kind.FRAME, seen.at, event.answer, masked, findings)
            else:
                records += self._keepalive(event.frames[0], seen.at, masked)
        return records

    def _payloads(self, raws: Sequence[bytes]) -> Iterator[Payload]:
        """Return the size and the masked bytes of frames."""
        if self.context.binding.uses_sse and self.context.operation not in PUSH:
            masked = self.journal.redactor.bodies(raws)
            if masked is not raws:
                masked = list(map(self.journal.keep_masked, raws, masked))
        else:
            masked = [self.mask(raw) for raw in raws]
        return zip(map(len, raws), masked, strict=True)

    def _keepalive(self, frame: Frame, at: float, payloads: Sequence[Payload]) -> list[Record]:
        return self.append(
            Kind.KEEPALIVE,
            at,
            task=self.task_id,
            label=" ".join(frame.comments),
            payloads=payloads,
            findings=self._judge.frame(frame),
        )

    def _append_content(
        self, kind: Kind, at: float, content: Content, payloads: Sequence[Payload], frame: Frame | None = None
    ) -> list[Record]:
        """Check and append an event of a stream (in a frame), or a response."""
        self._newest = content.answer
        findings = self._judge.feed(content, at, frame)
        use = use_of(self.journal, content.uses, at, self.context.dialect.version)
        return self._append(kind, at, content.answer, payloads, findings, use)

    def _append(
        self,
        kind: Kind,
        at: float,
        answer: Answer | TextAppended,
        payloads: Sequence[Payload],
        findings: tuple[Finding, ...],
        use: ExtensionUse = NO_USE,
    ) -> list[Record]:
        """Append an event or a response, then fold it into its task."""
        update = answer.like if isinstance(answer, TextAppended) else answer
        common, meta = self._described(kind, update), self.mark
        if use.names:
            common = common._replace(label=use.added_to(common.label))
            meta = {**meta, **use.meta}
        records = self.journal.add(common, at, payloads, meta, findings + use.findings)
        self.tasks.take(records, answer)
        self.answers.append(answer)
        return records

    def _described(self, kind: Kind, answer: Answer) -> Common:
        """Return the result of `_describe`, which is the same for all chunks of an artifact."""
        if not isinstance(answer, TaskArtifactUpdateEvent) or answer.model_extra or not answer.task_id:
            return self._describe(kind, answer)
        artifact = answer.artifact
        name = artifact.name or self._names.get(artifact.artifact_id)
        chunk = answer.task_id, answer.context_id, artifact.artifact_id, name
        if (found := self._of_chunks.get(chunk)) is None:
            found = self._of_chunks[chunk] = self._describe(kind, answer)
        return found

    def _describe(self, kind: Kind, answer: Answer) -> Common:
        """Return the members of the record of a payload, without its bytes and findings."""
        if isinstance(answer, Unreadable) and self.status >= _LOWEST_ERROR:
            found = describe_http_error(answer)
        else:
            found = describe(answer, self._called, with_code=self.context.binding.name == "JSONRPC")
        task = found.task or self.task_id or self.context.task_id
        return Common(kind, self.number, self.operation, found.event, task, found.context, found.state, found.label)

    def _read(self, data: bytes) -> tuple[Answer, Content]:
        """Read the data of a frame, as an event and its content."""
        event = self.context.binding.read_event(self.context.dialect, data)
        if event is not None:
            return event, Content(data, event, self._parse, no_uses=self._no_uses())
        value = self._parse(data)
        context = self.context
        answer = value if isinstance(value, Unreadable) else context.binding.decode_item(context.dialect, value)
        return answer, Content(data, answer, self._parse, value, no_uses=self._no_uses())

    def _no_uses(self) -> bool:
        """Return whether the frames that arrived together certainly have no data of known extensions."""
        if self._batch_has_uses is None:  # to search all of them at once is faster
            self._batch_has_uses = may_have_uses(b"\n".join(self._batch))
        return not self._batch_has_uses

    def _parse(self, raw: bytes) -> Json | Unreadable:
        return self.context.binding.read(self.context.dialect, self.context.operation, raw)

    def take_body(self, body: Body) -> list[Record]:
        """Append the body of a response that is not a stream."""
        context = self.context
        value = self._parse(body.raw)
        answer = (
            value
            if isinstance(value, Unreadable)
            else context.binding.decode_answer(context.dialect, context.operation, self.status, value)
        )
        content = Content(body.raw, answer, self._parse, value)
        if isinstance(context.request, ListTasksRequest) and isinstance(answer, TaskList):
            self.tasks.pages.add(context.request, answer)
        return self._append_content(Kind.BODY, body.at, content, [(len(body.raw), self.mask(body.raw))])

    def take_trailers(self, seen: Trailers, **members: Any) -> list[Record]:
        """Append the status of a gRPC call; a status other than OK is the answer of the agent."""
        if seen.code == OK:
            return super().take_trailers(seen, **members)
        context = self.context
        answer = decode_error(seen.code, seen.message, seen.binary(DETAILS), context.dialect, context.operation)
        self._newest = answer
        found = describe(answer, with_code=False)
        task = self.task_id or self.context.task_id
        findings = self._judge.trailers(seen.name, answer)
        self.answers.append(answer)
        about = {"event": found.event, "label": found.label, "task": task}
        return super().take_trailers(seen, **about, findings=findings)

    def _called(self, artifact: Artifact) -> str:
        """Return the name of an artifact, or else its id, or both if another artifact has the same name."""
        own = artifact.artifact_id
        name = self._names[own] = artifact.name or self._names.get(own) or own
        return name if self._owners.setdefault(name, own) == own else f"{name} ({own})"

    def _judge_end(self, ended: Ended) -> tuple[Finding, ...]:
        """Return the findings about an incomplete response, and about the state in which a stream left its task."""
        if self.head is None:
            return ()
        why = ended.fault.seen if ended.fault else ""
        how = _STREAM_ENDINGS[ended.how]
        if ended.fault is not None and ended.fault.code == FaultCode.TIMEOUT:
            how = StreamEnding.STOPPED  # we did not wait longer
        if not self.head.streamed:
            return self._judge.close_body(broken=how is StreamEnding.INTERRUPTED, why=why)
        rest = len(ended.rest.strip())
        at = ended.at - self.stalled  # during a stall, we cannot see that the agent closes the stream
        return self._judge.close(at, how, events=ended.events, why=why, last=self.answer, rest=rest)


def _label_of(event: Event) -> str:
    """Return the label of an event, or else its state."""
    found = describe(event)
    return found.label or short(found.state)
