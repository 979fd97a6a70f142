"""What the rules about streams see: an event, a frame, the end, and what the exchange has sent before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from inspector.findings.examples import chunk, status, stream, task
from inspector.protocol.assemble import Misfit, Order
from inspector.protocol.bindings.base import Answer, Binding
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Request,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import Frame

VALID_STREAM = stream(task(), status("WORKING"), chunk(), chunk(append=True, lastChunk=True), status("COMPLETED"))
RUNNING_STATES = frozenset({State.SUBMITTED, State.WORKING})
"""The states in which the agent works on a task."""
_MOST_MESSAGES = 10_000

EventT = TypeVar("EventT", bound=Event)
Reader: TypeAlias = Callable[[bytes], list[tuple[str, str]]]
"""Reads SSE blocks as another client does: the name and the data of each event."""


def member_pointer(pointer: str, version: str) -> str:
    """Return where a member of an event is in a protocol version."""
    return VERSIONS[version].pointers.get(pointer, pointer)


@dataclass(frozen=True, slots=True)
class Asked:
    """The request: its operation, how it is sent, and the task and the context that it names (`""` for none).

    `request_id` is that of JSON-RPC. `request` is None if the body was written by hand.
    """

    operation: Operation
    dialect: Dialect
    binding: Binding
    request_id: str | int | float | None
    task_id: str = ""
    context_id: str = ""
    request: Request | None = None

    @property
    def message_id(self) -> str:
        """Return the id of the message in the request, `""` if there is none."""
        return self.request.message.message_id if isinstance(self.request, SendRequest) else ""

    @property
    def expected_task(self) -> str:
        """Return the task that the answer should be about, `""` if the agent chooses its id."""
        return self.task_id or (self.message_id if self.dialect.traits.names_tasks else "")


@dataclass(slots=True)
class StreamState:
    """What an exchange has sent so far.

    `order` is what later events of the task have to fit, None before a task is known; `ended_at` is when that had ended
    (0 before). `begun` is true after the first event, readable or not; `failed` after an error, until the next event;
    `blind` after an unreadable event; `unnamed` while the task has been sent, but no context; `elsewhere` once another
    context than the requested one was named; `final` once an update before 1.0 ended the interaction. `last` is the
    JSON of the last event, `time` the last timestamp of a status. `messages` has each message's content by its id,
    `unfinished` the ids of the artifacts of each name that were begun since one of them was continued or completed.
    `last_event_id` is that of SSE; `client_reported` says that STREAM-025 was found. `label_of` returns what a row
    shows of an event; `read_as_client` reads SSE as the official Python client does.
    """

    asked: Asked
    label_of: Callable[[Event], str]
    read_as_client: Reader
    order: Order | None = None
    version: str = field(init=False)
    streaming: bool = field(init=False)
    message_id: str = field(init=False)
    ended_at: float = 0.0
    begun: bool = False
    failed: bool = False
    blind: bool = False
    unnamed: bool = False
    elsewhere: bool = False
    final: bool = False
    last: Json = None
    time: str = ""
    messages: dict[str, str] = field(default_factory=dict)
    unfinished: dict[str, set[str]] = field(default_factory=dict)
    event_count: int = 0
    message_count: int = 0
    last_event_id: str = ""
    client_reported: bool = False

    def __post_init__(self) -> None:
        self.version, self.message_id = self.asked.dialect.version, self.asked.message_id
        self.streaming = self.asked.operation in STREAMING

    def is_elsewhere(self, event: Event) -> bool:
        """Whether an event names another context than the request."""
        asked, context = self.asked.context_id, event.context_id
        return bool(asked and context and context != asked) and self.asked.dialect.traits.keeps_context

    def advance(self, event: Event, value: Mapping[str, Json], *, framed: bool) -> None:
        """Add an event, after it was judged."""
        context = event.context_id
        if not self.begun:
            # A request that names a task or a context knows it.
            known = context or self.asked.task_id or self.asked.context_id
            self.unnamed = isinstance(event, Task) and not known
        elif context:
            self.unnamed = False
        self.elsewhere = self.elsewhere or self.is_elsewhere(event)
        if isinstance(event, TaskArtifactUpdateEvent):
            begun = self.unfinished.setdefault(event.artifact.name or "", set())
            if event.append or event.last_chunk or not event.artifact.artifact_id:
                begun.clear()
            else:
                begun.add(event.artifact.artifact_id)
        elif isinstance(event, TaskStatusUpdateEvent):
            state = event.status.state
            # An update that contradicts itself is not believed; other rules report updates after a terminal state.
            is_final = value.get("final") is True and state not in RUNNING_STATES and not is_terminal(state)
            self.final = self.final or is_final
            self.time = event.status.timestamp or self.time
        self.begun, self.failed, self.last = True, False, value
        if framed:
            self.event_count += 1
            self.message_count += type(event) is Message

    def add_message(self, message: MessageFacts) -> None:
        """Add a message, after it was judged."""
        if not message.is_ours:
            self.messages.setdefault(message.id, message.content)
        if len(self.messages) > _MOST_MESSAGES:
            del self.messages[next(iter(self.messages))]


@dataclass(slots=True)
class _Facts:
    """Something that was sent, and what the exchange had sent before."""

    stream: StreamState

    @property
    def version(self) -> str:
        """Return the protocol version."""
        return self.stream.version


@dataclass(slots=True)
class EventFacts(_Facts, Generic[EventT]):
    """An event: its JSON, which findings point into, and what does not fit the events before it.

    `expected` is the task that the exchange is about, where the event names another.
    `framed` is false for the answer to a call that does not stream.
    """

    event: EventT
    value: Mapping[str, Json]
    misfits: tuple[Misfit, ...] = ()
    expected: str = ""
    framed: bool = True

    @property
    def label(self) -> str:
        """Return what a row shows of the event."""
        return self.stream.label_of(self.event)

    def place(self, pointer: str) -> str:
        """Return where a member is in this protocol version."""
        return member_pointer(pointer, self.stream.version)


@dataclass(slots=True)
class MessageFacts(_Facts):
    """A message within an event, with an id and its pointer; `content` are its parts in one text.

    `is_ours` says that it is the agent's and has the id of the message in the request.
    """

    id: str
    place: str
    content: str
    is_ours: bool


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
            is_ours = message.message_id == stream.message_id and message.role == "ROLE_AGENT"
            yield MessageFacts(stream, message.message_id, place, content, is_ours)


@dataclass(slots=True)
class FrameFacts(_Facts):
    """A frame of a stream."""

    frame: Frame


@dataclass(slots=True)
class StreamEnd(_Facts):
    """The end of a stream.

    `whole` says that the response ended in order, `stopped` that we stopped reading it. `events` counts the events that
    arrived, `why` is the cause of a failure, and `last` the last thing that the agent sent.
    """

    at: float
    whole: bool
    stopped: bool
    events: int
    why: str
    last: Answer | None

    @property
    def seconds_open(self) -> float:
        """Return how long the stream was open after the task had ended."""
        return self.at - self.stream.ended_at if self.stream.ended_at else 0.0

    @property
    def state(self) -> str:
        """Return the last state of the task."""
        order = self.stream.order or Order()
        return State.COMPLETED if order.ended else order.state
