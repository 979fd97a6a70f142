"""The facts that rules about streams check: an event, a frame or the end, and the state of the exchange before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Generic, TypeVar

from inspector.findings.examples import chunk, status, stream, task
from inspector.findings.stream.observer import CallFacts, StreamEnding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import Misfit, Order
from inspector.protocol.bindings.base import Answer
from inspector.protocol.content import Content
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import STREAMING
from inspector.protocol.sse import Frame

VALID_STREAM = stream(task(), status("WORKING"), chunk(), chunk(append=True, lastChunk=True), status("COMPLETED"))
RUNNING_STATES = frozenset({State.SUBMITTED, State.WORKING})
"""The states of a task that is neither terminal nor interrupted."""
_MOST_MESSAGES = 10_000

EventT = TypeVar("EventT", bound=Event)


def member_pointer(pointer: str, version: str) -> str:
    """Return the JSON pointer to a member of an event in a protocol version, from its pointer in 1.0."""
    return VERSIONS[version].pointers.get(pointer, pointer)


@dataclass(slots=True)
class StreamState:
    """The state of an exchange: what the agent has sent so far.

    - `order`: the state of the task that later events must fit, None before a task is known
    - `ended_at`: the time when the task ended, 0 before that
    - `started`: true after the first event, readable or not
    - `failed`: true after an error, until the next event
    - `blind`: true after an unreadable event
    - `lacks_context`: true after the task was sent without a context, until an event has a context
    - `left_context`: true after an event named another context than the request
    - `final`: true after a final update (before 1.0) ended the interaction
    - `time`: the last timestamp of a status
    - `messages`: the content of each message by its id
    - `unfinished`: by artifact name, the ids of artifacts that were started, but neither continued nor completed;
      cleared when an artifact of this name is continued or completed
    - `last_event_id`: the last id of SSE
    - `reported`: the rules that were found and are reported once for each stream
    - `label_of`: returns an event as one line of text
    """

    call: CallFacts
    label_of: Callable[[Event], str]
    order: Order | None = None
    version: str = field(init=False)
    streaming: bool = field(init=False)
    message_id: str = field(init=False)
    ended_at: float = 0.0
    started: bool = False
    failed: bool = False
    blind: bool = False
    lacks_context: bool = False
    left_context: bool = False
    final: bool = False
    _last: Content | None = None
    time: str = ""
    messages: dict[str, str] = field(default_factory=dict)
    unfinished: dict[str, set[str]] = field(default_factory=dict)
    event_count: int = 0
    message_count: int = 0
    last_event_id: str = ""
    reported: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.version, self.message_id = self.call.dialect.version, self.call.message_id
        self.streaming = self.call.operation in STREAMING

    @property
    def last(self) -> Json:
        """Return the JSON of the last event, None before the first."""
        return self._last.place.value if self._last is not None else None

    def names_other_context(self, event: Event) -> bool:
        """Whether an event names another context than the request."""
        requested, context = self.call.context_id, event.context_id
        return bool(requested and context and context != requested) and self.call.dialect.traits.keeps_context

    def advance(self, event: Event, content: Content, *, framed: bool) -> None:
        """Add an event, after its rules were checked."""
        context = event.context_id
        if not self.started:
            # The client knows the context if the request names it or the task.
            known = context or self.call.task_id or self.call.context_id
            self.lacks_context = isinstance(event, Task) and not known
        elif context:
            self.lacks_context = False
        self.left_context = self.left_context or self.names_other_context(event)
        if isinstance(event, TaskArtifactUpdateEvent):
            started = self.unfinished.setdefault(event.artifact.name or "", set())
            if event.append or event.last_chunk or not event.artifact.artifact_id:
                started.clear()
            else:
                started.add(event.artifact.artifact_id)
        elif isinstance(event, TaskStatusUpdateEvent):
            state = event.status.state
            # `final` contradicts a running state; after a terminal state, other rules report further updates.
            can_be_final = state not in RUNNING_STATES and not is_terminal(state)
            self.final = self.final or (can_be_final and content.place.value.get("final") is True)
            self.time = event.status.timestamp or self.time
        self.started, self.failed, self._last = True, False, content
        if framed:
            self.event_count += 1
            self.message_count += type(event) is Message

    def add_routine(self, content: Content, *, framed: bool) -> None:
        """Add an event that changes nothing else."""
        self._last = content
        if framed:
            self.event_count += 1

    def add_message(self, message: MessageFacts) -> None:
        """Add a message, after its rules were checked."""
        if not message.repeats_request_id:
            self.messages.setdefault(message.id, message.content)
        if len(self.messages) > _MOST_MESSAGES:
            del self.messages[next(iter(self.messages))]


@dataclass(slots=True)
class _Facts:
    """Base class of facts about an exchange: its state before the checked item."""

    stream: StreamState

    @property
    def version(self) -> str:
        """Return the protocol version."""
        return self.stream.version


@dataclass(slots=True)
class EventFacts(_Facts, Generic[EventT]):
    """An event, its JSON (which findings point into), and its conflicts with earlier events (`misfits`).

    `expected` is the task id of the exchange if the event names another task. `framed` is false for the response to a
    call without streaming.
    """

    event: EventT
    value: Mapping[str, Json]
    misfits: tuple[Misfit, ...] = ()
    expected: str = ""
    framed: bool = True

    @property
    def label(self) -> str:
        """Return the event as one line of text."""
        return self.stream.label_of(self.event)

    def place(self, pointer: str) -> str:
        """Return the JSON pointer to a member in this protocol version."""
        return member_pointer(pointer, self.stream.version)


@dataclass(slots=True)
class MessageFacts(_Facts):
    """A message with an id in an event, and the JSON pointer to it (`place`); `content` is the text of its parts.

    `repeats_request_id` is true if the agent's message has the id of the message in the request.
    """

    id: str
    place: str
    content: str
    repeats_request_id: bool


def messages_in(event: Task | Message | TaskStatusUpdateEvent, stream: StreamState) -> Iterator[MessageFacts]:
    """Return the messages of an event that have an id."""
    found: list[tuple[str, Message | None]] = []
    if isinstance(event, Message):
        found = [("", event)]
    else:
        history = event.history if isinstance(event, Task) else None
        found = [(f"/history/{number}", message) for number, message in enumerate(history or ())]
        found.append(("/status/message", event.status.message))
    for place, message in found:
        if message is not None and message.message_id:
            content = repr([part.to_json() for part in message.parts])
            repeats_request_id = message.message_id == stream.message_id and message.role == "ROLE_AGENT"
            yield MessageFacts(stream, message.message_id, place, content, repeats_request_id)


@dataclass(slots=True)
class FrameFacts(_Facts):
    """A frame of a stream."""

    frame: Frame


@dataclass(slots=True)
class StreamEnd(_Facts):
    """The end of a stream.

    `at` is its time, less the time in which this process did not run, `how` is how it ended. `events` is the number of
    events, `why` the cause of a failure, `last` the last event or error of the agent. `rest` is the number of bytes
    after the last event, which are not a whole event.
    """

    at: float
    how: StreamEnding
    events: int
    why: str
    last: Answer | None
    rest: int

    @property
    def seconds_open(self) -> float:
        """Return the number of seconds that the stream stayed open after the task ended."""
        return self.at - self.stream.ended_at if self.stream.ended_at else 0.0

    @property
    def state(self) -> str:
        """Return the last state of the task, `""` if none was received."""
        return self.stream.order.state if self.stream.order else ""

    @property
    def is_complete(self) -> bool:
        """Return whether the response ended regularly, after a whole event."""
        return self.how is StreamEnding.COMPLETE and not self.rest

    @property
    def task_ended(self) -> bool:
        """Return whether the task has ended, also if an agent reports another state afterwards."""
        return self.stream.order is not None and self.stream.order.ended
