"""Check the rules for everything that the agent sends in an exchange, and keep the state of the exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.findings.authorization.denials import DENIALS, DENIED, Denial
from inspector.findings.error_cause import judge_error
from inspector.findings.extensions import ACTIVATION, DATA, Activation, inactive_data
from inspector.findings.finding import Finding
from inspector.findings.result import judge_result
from inspector.findings.rule_set import Checks, judge_with
from inspector.findings.stream import rule_modules  # noqa: F401 - so that every rule is declared
from inspector.findings.stream.accept import Acceptor
from inspector.findings.stream.ending import END
from inspector.findings.stream.facts import (
    EventFacts,
    FrameFacts,
    StreamEnd,
    StreamState,
    messages_in,
)
from inspector.findings.stream.frames import FRAMES, ONCE, is_plain, plain_frames
from inspector.findings.stream.ids import CONTEXTS, MESSAGE_IDS, TASK_IDS
from inspector.findings.stream.observer import CallFacts, ExchangeObserver, StreamEnding
from inspector.findings.stream.order import ARTIFACTS, EVENTS, MIXTURE, STATUSES, TASK_ORDER
from inspector.findings.stream.routine import Routine, facts_of
from inspector.findings.transport import clients, http
from inspector.findings.transport.judge import judge_grpc_status, judge_payload
from inspector.findings.transport.payload import Payload, charset_of
from inspector.protocol.assemble import Order
from inspector.protocol.bindings.base import Answer
from inspector.protocol.circumstances import Circumstances, named_extensions
from inspector.protocol.content import EVENT_TYPES, Content
from inspector.protocol.errors import ProtocolError
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.security import authentication_schemes
from inspector.protocol.sse import Frame

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use

_ERROR_PLACES = {"JSONRPC": "/error/code", "HTTP+JSON": "/error"}
"""JSON pointers to what identifies an error in a payload; over gRPC, it is the status of the call."""


class StreamJudge(ExchangeObserver):
    """Checks the rules for one exchange; `task_id` is the id of its task, `""` before it is known.

    `known_order` returns the state of a task from earlier exchanges, None if the task is unknown. See `StreamState` for
    `label_of`.
    """

    def __init__(
        self,
        call: CallFacts,
        known_order: Callable[[str], Order | None],
        label_of: Callable[[Event], str],
    ) -> None:
        super().__init__()
        self._repeats = False
        self._plain = True
        self._sse = call.binding.uses_sse
        self._last: tuple[Finding, ...] = ()
        self._call = call
        self._known_order = known_order
        # Read before the request is sent, so that events of other streams have no effect on this stream.
        self._state = StreamState(call, label_of, known_order(call.task_id))
        self._status, self._media_type, self._charset = 0, "", ""
        self._reached = True
        self._circumstances = Circumstances()
        self._activated: frozenset[str] = frozenset()
        self._inactive: set[str] = set()
        version = call.dialect.version
        self._acceptor = Acceptor(version, call.binding, call.request_id)
        self._context_checks = CONTEXTS.checks_of(version)
        self._event_checks = _checks_by_type(version)
        self._routine = Routine(
            TASK_IDS.checks_of(version)
            + TASK_ORDER.checks_of(version)
            + self._context_checks
            + self._event_checks[TaskArtifactUpdateEvent]
        )
        self._accepted_findings: tuple[Finding, ...] | None = None

    @property
    def open_state(self) -> str:
        """Return the state of the task, `""` if it has ended or is unknown."""
        order = self._state.order
        return "" if order is None or order.ended else order.state

    @property
    def has_ended_task(self) -> bool:
        """Return whether the task has ended, so that the stream has to close."""
        return self._state.ended_at > 0

    def sent(self, circumstances: Circumstances) -> None:
        """Note the circumstances of the request, which some rules need."""
        self._circumstances = circumstances

    def head(self, status: int, headers: Mapping[str, str], *, reached: bool) -> tuple[Finding, ...]:
        """Check the head of the response; the names in `headers` are in lower case.

        `reached` is false if the response does not come from the agent, so that its body is not checked.
        """
        content_type, challenge = headers.get("content-type", ""), headers.get("www-authenticate", "")
        self._status, self._charset, self._reached = status, charset_of(content_type), reached
        self._media_type = without_parameters(content_type)
        facts = http.ResponseHead(self._state.version, self._call.binding.name, status, content_type, challenge)
        denied = self._denial(status, challenge, headers.get("location", "")) if status in DENIALS else ()
        self._activated = named_extensions(headers.get(self._call.dialect.extensions_header.lower(), ""))
        activation = Activation(self._state.version, self._activated, self._circumstances)
        activated = ACTIVATION.judge(activation) if self._activated else ()
        return (*http.HEAD.judge(facts), *clients.HEADS.judge(facts), *denied, *activated)

    def _denial(self, status: int, challenge: str, location: str) -> list[Finding]:
        sent = self._circumstances
        schemes = authentication_schemes(sent.card) if sent.card is not None else None
        version, authorization = self._state.version, sent.authorization
        return DENIED.judge(Denial(version, sent.url, status, challenge, location, authorization, schemes))

    def feed(self, content: Content, at: float, frame: Frame | None = None) -> tuple[Finding, ...]:
        """Check the next payload: the data of a frame, or the body of a response without a stream."""
        answer, framed = content.answer, frame is not None
        is_first = not self._state.started
        found = self._of_payload(content, framed=framed)
        if isinstance(answer, EVENT_TYPES):
            if of_event := self._of_event(answer, content, at, framed=framed):
                found += _with_prefix(content.place.pointer, of_event)
        elif isinstance(answer, Unreadable) and framed:
            self._note_unreadable()
        elif isinstance(answer, ProtocolError):
            self._state.started = self._state.failed = True
        if is_first or frame is None or isinstance(answer, ProtocolError):
            found += self._compare_with_request(answer, content.place.pointer)
        if content.uses:
            found += self._of_extensions(content.uses)
        if frame is not None:
            found += self.frame(frame)
        self._repeats, self._last = self._plain and found == self._last, found
        return found

    def _of_extensions(self, uses: Sequence[Use]) -> tuple[Finding, ...]:
        """Check the data of known extensions; each extension is reported once."""
        found: list[Finding] = []
        for facts in inactive_data(self._state.version, uses, self._activated, self._circumstances):
            if facts.name not in self._inactive:
                self._inactive.add(facts.name)
                found += DATA.judge(facts)
        return tuple(found)

    def repeatable(self, frames: Sequence[Frame]) -> int:
        """Return how many of the next frames, which only differ in a text, have the findings of the last payload."""
        if not self._repeats:
            return 0
        return plain_frames(frames) if self._sse else len(frames)

    def repeat(self, frames: Sequence[Frame]) -> tuple[Finding, ...]:
        """Return the findings of updates that differ from the last payload only in their texts."""
        self._state.event_count += len(frames)
        for frame in frames:
            if frame.id is not None:
                self._state.last_event_id = frame.id
        return self._last

    def frame(self, frame: Frame) -> tuple[Finding, ...]:
        """Check the rules about SSE for a frame, with or without data."""
        state = self._state
        self._plain = not self._sse or is_plain(frame)
        found = () if self._plain else tuple(FRAMES.judge(FrameFacts(state, frame)))
        if frame.id is not None:
            state.last_event_id = frame.id
        if found:
            state.reported.update(finding.rule for finding in found if finding.rule in ONCE)
        return found

    def trailers(self, word: str, error: ProtocolError) -> tuple[Finding, ...]:
        """Check the status of a failed gRPC call."""
        return judge_grpc_status(self._state.version, word, error) + self._compare_with_request(error, "")

    def close(
        self, at: float, how: StreamEnding, *, events: int, why: str, last: Answer | None, rest: int
    ) -> tuple[Finding, ...]:
        """Check the end of a stream; see `StreamEnd`."""
        if isinstance(last, ProtocolError):
            return ()
        return tuple(END.judge(StreamEnd(self._state, at, how, events, why, last, rest)))

    def close_body(self, *, broken: bool, why: str) -> tuple[Finding, ...]:
        """Check the end of a response without a stream; `broken` is true if it was interrupted, `why` is the cause."""
        return tuple(http.END.judge(http.ResponseEnd(self._state.version, broken, why)))

    def _of_payload(self, content: Content, *, framed: bool) -> tuple[Finding, ...]:
        if not self._reached:
            return ()
        call, charset, self._charset = self._call, self._charset, ""
        accepted = framed and not charset and self._acceptor.accepts(content)
        if accepted and self._accepted_findings is not None:
            return self._accepted_findings
        payload = Payload(
            call.binding.name,
            call.operation,
            call.dialect.version,
            call.request_id,
            self._status,
            self._media_type,
            framed,
            content.value,
            content.answer,
            content.raw if call.binding.uses_sse else b"",
            charset,
        )
        found = judge_payload(payload)
        if accepted:
            self._accepted_findings = found
        return found

    def _of_event(self, event: Event, content: Content, at: float, *, framed: bool) -> list[Finding]:
        """Check an event against the state of the exchange; the findings point into the event."""
        state = self._state
        before = facts_of(event, state, self.task_id)
        if before in self._routine:
            state.add_routine(content, framed=framed)
            return []
        found = self._check_event(event, content, at, framed=framed)
        if not found:
            self._routine.learn(before, facts_of(event, state, self.task_id))
        return found

    def _check_event(self, event: Event, content: Content, at: float, *, framed: bool) -> list[Finding]:
        """Check the rules about an event, and add it to the state of the exchange."""
        state = self._state
        facts = EventFacts(state, event, content.place.value, framed=framed)
        self._check_order(facts)
        found: list[Finding] = []
        if facts.misfits or facts.expected:
            found += TASK_IDS.judge(facts)
            found += TASK_ORDER.judge(facts)
        found += judge_with(self._context_checks, facts)
        if not isinstance(event, TaskArtifactUpdateEvent):
            for message in messages_in(event, state):
                found += MESSAGE_IDS.judge(message)
                state.add_message(message)
        found += judge_with(self._event_checks[type(event)], facts)
        if state.order is not None and state.order.ended:
            state.ended_at = state.ended_at or at
        state.advance(event, content, framed=framed)
        return found

    def _check_order(self, facts: EventFacts[Event]) -> None:
        """Apply an event to the state of its task, and note conflicts in `facts`."""
        state, event = self._state, facts.event
        task = event.task_id or ""
        expected = self.task_id or self._call.expected_task
        if task and not self.task_id:
            self.task_id = task
            if task != self._call.task_id or state.order is None:
                # The artifacts of an existing task may have begun in the stream of another client.
                joins = bool(self._call.task_id) and not isinstance(event, Task)
                state.order = self._known_order(task) or Order(blind=state.blind or joins)
        facts.expected = expected if task and task != expected else ""
        if state.order is not None:
            if _lacks_artifacts(event, facts.value):
                state.order.blind = True
            if task in ("", self.task_id):
                facts.misfits = state.order.add(event)

    def _note_unreadable(self) -> None:
        """Note an unreadable event, so that its content is not reported as missing later."""
        self._state.blind = self._state.started = True
        if self._state.order is not None:
            self._state.order.blind = True

    def _compare_with_request(self, answer: Answer, where: str) -> tuple[Finding, ...]:
        """Check a response, the first event of a stream or an error against the request."""
        call, version = self._call, self._state.version
        if call.request is None:
            return ()
        if isinstance(answer, ProtocolError):
            place = _ERROR_PLACES.get(call.binding.name, "")
            return judge_error(version, call.operation, call.request, answer, place, self._circumstances)
        found = judge_result(version, call.operation, call.request, answer, self._circumstances)
        return _with_prefix(where, found)


def _checks_by_type(version: str) -> Mapping[type[Event], Checks[EventFacts[Any]]]:
    """Return the checks of each type of event, except those of ids and of the order of states and chunks."""
    every, mixture = EVENTS.checks_of(version), MIXTURE.checks_of(version)
    return {
        Task: every + mixture,
        Message: every + mixture,
        TaskStatusUpdateEvent: every + STATUSES.checks_of(version) + mixture,
        TaskArtifactUpdateEvent: every + ARTIFACTS.checks_of(version) + mixture,
    }


def _with_prefix(where: str, found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple([replace(finding, pointer=where + finding.pointer) for finding in found])


def _lacks_artifacts(event: Event, value: Json) -> bool:
    """Whether a task was read without some of the artifacts in its JSON."""
    listed = value.get("artifacts") if isinstance(value, dict) else None
    if not listed or not isinstance(event, Task):
        return False
    return not (isinstance(listed, list) and len(event.artifacts or ()) == len(listed))
