"""The judge of an exchange: checks the rules for everything that the agent sends, and keeps the state they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from inspector.findings.finding import Finding
from inspector.findings.result import of_refusal, of_result
from inspector.findings.stream.accept import is_accepted, proves_all
from inspector.findings.stream.ending import END
from inspector.findings.stream.facts import (
    Asked,
    EventFacts,
    FrameFacts,
    Reader,
    StreamEnd,
    StreamState,
    messages_in,
)
from inspector.findings.stream.frames import FRAMES
from inspector.findings.stream.ids import CONTEXTS, MESSAGE_IDS, TASK_IDS
from inspector.findings.stream.order import ARTIFACTS, EVENTS, MIXTURE, STATUSES, TASK_ORDER
from inspector.findings.transport import http
from inspector.findings.transport.judge import of_payload, of_status
from inspector.findings.transport.payload import Payload, charset_of
from inspector.protocol.assemble import Order
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.pointer import at as at_pointer
from inspector.protocol.sse import Frame

_EVENTS = (TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Task, Message)
"""The types of events, the most frequent first."""


class StreamJudge:
    """Judges one exchange; `task_id` is the task that it is about, `""` before that is known.

    `repeats` says that the last payload broke the same rules as the one before it. `known_order` returns what earlier
    exchanges sent of a task, None if it is unknown; `label_of` and `read_as_client` are those of `StreamState`.
    """

    def __init__(
        self,
        asked: Asked,
        known_order: Callable[[str], Order | None],
        label_of: Callable[[Event], str],
        read_as_client: Reader,
    ) -> None:
        self.task_id = ""
        self.repeats = False
        self._last: tuple[Finding, ...] = ()
        self._asked = asked
        self._known_order = known_order
        # Read before anything is sent: what another stream sends meanwhile does not count for this one.
        self._state = StreamState(asked, label_of, read_as_client, known_order(asked.task_id))
        self._status, self._media_type, self._charset = 0, "", ""
        self._reached = True
        self._accepting = proves_all()
        self._of_accepted: tuple[Finding, ...] | None = None

    @property
    def open_state(self) -> str:
        """Return the state of a task that has not ended, `""` for one that has or is not known."""
        order = self._state.order
        return "" if order is None or order.ended else order.state

    def head(self, status: int, content_type: str, challenge: str, *, reached: bool) -> tuple[Finding, ...]:
        """Judge the head of the response: its status, Content-Type and WWW-Authenticate.

        `reached` is false if HTTP itself kept the request from the agent, so that the body is not judged.
        """
        self._status, self._charset, self._reached = status, charset_of(content_type), reached
        self._media_type = content_type.partition(";")[0].strip().lower()
        return tuple(http.HEAD.judge(http.Head(self._state.version, status, content_type, challenge)))

    def feed(
        self, answer: Answer, value: Json, raw: bytes, at: float, where: str, frame: Frame | None = None
    ) -> tuple[Finding, ...]:
        """Judge the next payload: that of a frame, or the body of an answer that is not a stream.

        `value` is its JSON, and `where` the pointer to the event or the result in it.
        """
        framed = frame is not None
        found = self._of_payload(answer, value, raw, framed=framed)
        if isinstance(answer, _EVENTS):
            found += _within(where, self._of_event(answer, at_pointer(value, where), at, framed=framed))
        elif isinstance(answer, Unreadable) and framed:
            self._lose()
        elif isinstance(answer, ProtocolError):
            self._state.begun = self._state.failed = True
        if frame is None or isinstance(answer, ProtocolError):
            found += self._as_asked(answer, where)
        if frame is not None:
            found += self.frame(frame)
        self.repeats, self._last = found == self._last, found
        return found

    def repeat(self, frames: Iterable[Frame]) -> tuple[Finding, ...]:
        """Judge updates that differ from the last payload in their texts alone: they break the same rules."""
        for frame in frames:
            self._state.event_count += 1
            if frame.id is not None:
                self._state.last_event_id = frame.id
        return self._last

    def frame(self, frame: Frame) -> tuple[Finding, ...]:
        """Judge a frame as SSE, whether it has data or not."""
        state, found = self._state, tuple(FRAMES.judge(FrameFacts(self._state, frame)))
        if frame.id is not None:
            state.last_event_id = frame.id
        if found and not state.client_reported:
            state.client_reported = any(one.rule == "STREAM-025" for one in found)
        return found

    def trailers(self, word: str, error: ProtocolError) -> tuple[Finding, ...]:
        """Judge the status that ended a gRPC call in an error."""
        return of_status(self._state.version, word, error)

    def close(
        self, at: float, *, whole: bool, stopped: bool, events: int, why: str, last: Answer | None
    ) -> tuple[Finding, ...]:
        """Judge how a stream ended; see `StreamEnd`."""
        if isinstance(last, ProtocolError):
            return ()
        return tuple(END.judge(StreamEnd(self._state, at, whole, stopped, events, why, last)))

    def close_body(self, *, broken: bool, why: str) -> tuple[Finding, ...]:
        """Judge how a response ended that was not a stream; `broken` says that it broke off, and `why` the cause."""
        return tuple(http.END.judge(http.End(self._state.version, broken, why)))

    def _of_payload(self, answer: Answer, value: Json, raw: bytes, *, framed: bool) -> tuple[Finding, ...]:
        if not self._reached:
            return ()
        asked, charset, self._charset = self._asked, self._charset, ""
        payload = Payload(
            asked.binding.name,
            asked.operation,
            asked.dialect.version,
            asked.request_id,
            self._status,
            self._media_type,
            framed,
            value,
            answer,
            raw if asked.binding.events else b"",
            charset,
        )
        if not framed or charset or not self._accepting or not is_accepted(payload):
            return of_payload(payload)
        if self._of_accepted is None:
            self._of_accepted = of_payload(payload)
        return self._of_accepted

    def _of_event(self, event: Event, value: Mapping[str, Json], at: float, *, framed: bool) -> list[Finding]:
        """Judge an event by what the exchange has sent before; the findings point into the event."""
        state = self._state
        facts = EventFacts(state, event, value, framed=framed)
        self._fit(facts)
        found: list[Finding] = []
        if facts.misfits or facts.expected:
            found += TASK_IDS.judge(facts)
            found += TASK_ORDER.judge(facts)
        found += CONTEXTS.judge(facts)
        if not isinstance(event, TaskArtifactUpdateEvent):
            for message in messages_in(event, state):
                found += MESSAGE_IDS.judge(message)
                state.add_message(message)
        found += EVENTS.judge(facts)
        if isinstance(event, TaskArtifactUpdateEvent):
            found += ARTIFACTS.judge(EventFacts(state, event, value))
        elif isinstance(event, TaskStatusUpdateEvent):
            found += STATUSES.judge(EventFacts(state, event, value))
        found += MIXTURE.judge(facts)
        if state.order is not None and state.order.ended:
            state.ended_at = state.ended_at or at
        state.advance(event, value, framed=framed)
        return found

    def _fit(self, facts: EventFacts[Event]) -> None:
        """Fit an event into its task, and note what does not fit."""
        state, event = self._state, facts.event
        task = event.id if isinstance(event, Task) else event.task_id or ""
        expected = self.task_id or self._asked.expected_task
        if task and not self.task_id:
            self.task_id = task
            if task != self._asked.task_id or state.order is None:
                state.order = self._known_order(task) or Order(blind=state.blind)
        facts.expected = expected if task and task != expected else ""
        if state.order is not None:
            if _lacks_artifacts(event, facts.value):
                state.order.blind = True
            if task in ("", self.task_id):
                facts.misfits = state.order.check(event)

    def _lose(self) -> None:
        """Take note of an unreadable event: what it may have contained is not reported as missing."""
        self._state.blind = self._state.begun = True
        if self._state.order is not None:
            self._state.order.blind = True

    def _as_asked(self, answer: Answer, where: str) -> tuple[Finding, ...]:
        """Judge the only answer, or an error, by the request."""
        asked, version = self._asked, self._state.version
        if asked.request is None:
            return ()
        if isinstance(answer, ProtocolError):
            place = "/error/code" if asked.binding.name == "JSONRPC" else "/error"
            return of_refusal(version, asked.operation, asked.request, answer, place)
        return _within(where, of_result(version, asked.operation, asked.request, answer))


def _within(where: str, found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple([replace(one, pointer=where + one.pointer) for one in found])


def _lacks_artifacts(event: Event, value: Json) -> bool:
    """Whether a task was read without some of the artifacts in its JSON."""
    if not isinstance(event, Task) or not isinstance(value, dict):
        return False
    listed = value.get("artifacts")
    return bool(listed) and not (isinstance(listed, list) and len(event.artifacts or ()) == len(listed))
