"""Keep tasks in memory, with history, artifacts, subscriptions and webhooks; the number of tasks is bounded.

A storage can also save each task when its behaviour pauses or ends.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import TERMINAL, State, is_interrupted, is_terminal
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    Message,
    Part,
    PushConfig,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from .errors import CallError, task_not_found
from .faults.fault import ActiveFault
from .faults.fault_plan import NO_FAULTS, FaultPlan
from .versions import V1_0, Version

MAX_TASKS = 10_000
MAX_CHARACTERS = 256_000_000
"""The maximum size of the content of all tasks; above it, the oldest ended tasks are removed."""
MAX_BEHIND = 256
"""The maximum number of queued events of a subscription before its task waits."""
_BATCH = 64
_YIELD_EVERY = 32
"""How many events a task publishes before it yields; a yield after each would send every event in its own packet."""

_sequence_numbers = itertools.count(1)


def new_id() -> str:
    """Return a new UUID."""
    return str(uuid4())


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Format a time for A2A: UTC, milliseconds, `Z` (1.0 section 5.6.1)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Subscription:
    """A queue of events for one stream; it ends after an event with a state in `until`.

    `fault_plan` has the faults of the last batch of events, `version` is the protocol version of the stream.
    """

    def __init__(
        self, until: frozenset[str] = TERMINAL, fault_plan: FaultPlan = NO_FAULTS, version: Version = V1_0
    ) -> None:
        self.fault_plan = fault_plan
        self.version = version
        self._until = until
        self._events: deque[Event | ActiveFault] = deque()
        self._ended = False
        self._wake = asyncio.Event()
        self._has_space = asyncio.Event()
        self._has_space.set()

    @property
    def ended(self) -> bool:
        """Return whether no more events can be added."""
        return self._ended

    def put(self, event: Event | ActiveFault) -> None:
        """Add an event, or a fault for the events after it; does nothing if the subscription has ended."""
        if self._ended:
            return
        self._events.append(event)
        self._wake.set()
        if len(self._events) >= MAX_BEHIND:
            self._has_space.clear()
        if isinstance(event, TaskStatusUpdateEvent) and event.status.state in self._until:
            self.end()

    def end(self) -> None:
        """Accept no more events; the queued events can still be read."""
        self._ended = True
        self._wake.set()
        self._has_space.set()

    async def next_events(self) -> list[Event]:
        """Wait for events and return a batch, the oldest first; an empty list if the subscription has ended."""
        while True:
            await self._wake.wait()
            events = self._pop()
            if len(self._events) < MAX_BEHIND // 2:
                self._has_space.set()
            if not self._events and not self._ended:
                self._wake.clear()
            if events or self._ended:
                return events

    def _pop(self) -> list[Event]:
        """Remove and return the next events that have the same faults."""
        events: list[Event] = []
        while self._events and len(events) < _BATCH:
            head = self._events[0]
            if not isinstance(head, ActiveFault):
                events.append(head)
            elif events:
                break
            else:
                self.fault_plan = self.fault_plan.with_fault(head)
            self._events.popleft()
        return events

    async def wait_for_space(self) -> None:
        """Wait while too many events are queued."""
        await self._has_space.wait()


@dataclass(frozen=True, slots=True)
class PushTarget:
    """A webhook of a task and the protocol version of its pushes."""

    config: PushConfig
    version: Version


@dataclass(slots=True)
class _Assembly:
    head: dict[str, Json]
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at one moment. Its lists only grow, so their lengths identify their content."""

    task_id: str
    context_id: str
    status: TaskStatus
    history: list[Message]
    received: int
    artifacts: tuple[tuple[_Assembly, int], ...]

    def task(self, history_length: int | None = None, *, with_artifacts: bool = True) -> Task:
        """Return the task with the last `history_length` messages; None is all of them (1.0 section 3.2.4)."""
        members: dict[str, Json] = {}
        if self.artifacts and with_artifacts:
            members["artifacts"] = [
                Artifact(**assembly.head, parts=assembly.parts[:count]) for assembly, count in self.artifacts
            ]
        first = 0 if history_length is None else max(0, self.received - history_length)
        if first < self.received:
            members["history"] = self.history[first : self.received]
        return Task(id=self.task_id, context_id=self.context_id, status=self.status, **members)


@dataclass(slots=True)
class ContentSize:
    """The number of characters in the content of all tasks."""

    characters: int = 0


@dataclass(slots=True)
class TaskRecord:
    """A task and its subscriptions; `publish` makes every change, so all subscriptions have the same order of events.

    - `skill`: the skill id of the behaviour that works on the task
    - `turns`: the number of messages from the client; `turn_messages` are those for which the behaviour was run
    - `run`: the running behaviour; `idle` is set while there is none
    - `sequence`: increases over all tasks with each change of a status
    - `changes`: the number of changes of this task, its revision in 1.1
    - `faults`: the faults of its calls
    """

    context_id: str
    skill: str
    content_size: ContentSize
    task_id: str = field(default_factory=new_id)
    status: TaskStatus = field(default_factory=lambda: TaskStatus(state=State.SUBMITTED, timestamp=timestamp(now())))
    status_changed: datetime = field(default_factory=now)
    sequence: int = field(default_factory=lambda: next(_sequence_numbers))
    history: list[Message] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)
    webhooks: dict[str, PushTarget] = field(default_factory=dict)
    turns: int = 0
    changes: int = 1
    turn_messages: list[Message] = field(default_factory=list)
    faults: tuple[ActiveFault, ...] = ()
    run: asyncio.Task[None] | None = None
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    characters: int = 0
    _artifacts: dict[str, _Assembly] = field(default_factory=dict)
    _since_yield: int = 0
    _change_event: asyncio.Event = field(default_factory=asyncio.Event)
    _removed: bool = False

    @classmethod
    def restored(
        cls, task: Task, skill: str, turns: int, status_changed: datetime, content_size: ContentSize, changes: int = 1
    ) -> TaskRecord:
        """Return the record of a stored task on which no behaviour is running."""
        record = cls(
            task.context_id or "",
            skill,
            content_size,
            task.id,
            task.status,
            status_changed,
            turns=turns,
            changes=changes,
        )
        record.history = list(task.history or ())
        for message in (*record.history, *((task.status.message,) if task.status.message else ())):
            record._count(message.parts)
        for artifact in task.artifacts or ():
            record._assemble(TaskArtifactUpdateEvent(artifact=artifact))
        record.idle.set()
        return record

    @property
    def ended(self) -> bool:
        """Return whether the task is in a terminal state."""
        return is_terminal(self.status.state)

    @property
    def interrupted(self) -> bool:
        """Return whether the task waits for its client."""
        return is_interrupted(self.status.state)

    def receive(self, message: Message) -> Message:
        """Add a message of the client to the history; returns it with the ids of the task."""
        received = message.model_copy(update={"task_id": self.task_id, "context_id": self.context_id})
        self.history.append(received)
        self._count(received.parts)
        self.turns += 1
        return received

    def publish(self, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
        """Apply an event to the task and send it to every subscription."""
        if self.ended:
            raise RuntimeError(f"task {self.task_id} has ended and cannot change")
        if isinstance(event, TaskStatusUpdateEvent):
            if self.status.message is not None:
                self.history.append(self.status.message)
            self.status, self.status_changed, self.sequence = event.status, now(), next(_sequence_numbers)
            if event.status.message is not None:
                self._count(event.status.message.parts)
        else:
            self._assemble(event)
        self.changes += 1
        self._change_event.set()
        for subscription in self.subscriptions:
            subscription.put(subscription.version.add_revision(event, self.changes))
        self.subscriptions = self._open_subscriptions()
        if is_terminal(self.status.state) or is_interrupted(self.status.state):
            self.idle.set()

    async def wait_for_change(self, beyond: int, seconds: float) -> None:
        """Wait until `changes` is greater than `beyond`, the task has ended, or the seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.changes <= beyond and not (self.ended or self._removed):
                    self._change_event.clear()
                    await self._change_event.wait()

    def add_fault(self, active: ActiveFault) -> None:
        """Apply a fault to the following events of every subscription."""
        self.faults = (*self.faults, active)
        for subscription in self.subscriptions:
            subscription.put(active)

    def release(self) -> None:
        """End every subscription and every wait for this task."""
        for subscription in self.subscriptions:
            subscription.end()
        self._removed = True
        self._change_event.set()
        self.idle.set()

    def subscribe(self, subscription: Subscription, history_length: int | None = None) -> None:
        """Add a subscription; its first event is the current task."""
        task = self.snapshot().task(history_length)
        subscription.put(subscription.version.add_revision(task, self.changes))
        self.subscriptions = [*self._open_subscriptions(), subscription]

    async def wait_for_readers(self) -> None:
        """Let other asyncio tasks run from time to time, and wait while a subscription has too many queued events."""
        self._since_yield = (self._since_yield + 1) % _YIELD_EVERY
        if self._since_yield == 0:
            await asyncio.sleep(0)
        for subscription in tuple(self.subscriptions):
            await subscription.wait_for_space()

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current task."""
        artifacts = tuple((assembly, len(assembly.parts)) for assembly in self._artifacts.values())
        return Snapshot(self.task_id, self.context_id, self.status, self.history, len(self.history), artifacts)

    def _open_subscriptions(self) -> list[Subscription]:
        return [subscription for subscription in self.subscriptions if not subscription.ended]

    def _assemble(self, event: TaskArtifactUpdateEvent) -> None:
        artifact = event.artifact
        known = self._artifacts.get(artifact.artifact_id)
        if event.append and known is not None:
            known.parts.extend(artifact.parts)
        else:
            self._count(known.parts if known is not None else (), -1)
            head = {name: getattr(artifact, name) for name in artifact.model_fields_set if name != "parts"}
            self._artifacts[artifact.artifact_id] = _Assembly(head, list(artifact.parts))
        self._count(artifact.parts)

    def _count(self, parts: Sequence[Part], sign: int = 1) -> None:
        added = sign * sum(_characters(part) for part in parts)
        self.characters += added
        self.content_size.characters += added


def _characters(part: Part) -> int:
    return len(part.text or part.raw or part.url or "") if part.data is None else len(str(part.data))


class TaskStorage(Protocol):
    """A storage for tasks outside of memory."""

    def records(self, content_size: ContentSize) -> Iterator[TaskRecord]:
        """Yield the stored tasks."""

    def save(self, record: TaskRecord) -> None:
        """Store the current task."""

    def forget(self, task_id: str) -> None:
        """Delete a task."""


class Store:
    """The tasks by id, at most `max_tasks`; the oldest ended tasks are removed first."""

    def __init__(self, max_tasks: int = MAX_TASKS, max_characters: int = MAX_CHARACTERS) -> None:
        self._max_tasks = max_tasks
        self._max_characters = max_characters
        self._content_size = ContentSize()
        self._tasks: dict[str, TaskRecord] = {}
        self._storage: TaskStorage | None = None

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[TaskRecord]:
        return iter(tuple(self._tasks.values()))

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._tasks

    def use_storage(self, storage: TaskStorage | None) -> None:
        """Load the tasks of a storage and save tasks there from now on; None stops saving."""
        self._storage = storage
        records = storage.records(self._content_size) if storage is not None else ()
        # By time, because the sequence numbers in a file are those of several runs if the agent was killed.
        for record in sorted(records, key=lambda record: record.status_changed):
            record.sequence = next(_sequence_numbers)
            self._tasks[record.task_id] = record

    def save(self, record: TaskRecord) -> None:
        """Save the current task if there is a storage."""
        if self._storage is not None:
            self._storage.save(record)

    def find(self, task_id: str) -> TaskRecord:
        """Return a task; raises `CallError` (TaskNotFoundError) for an unknown id."""
        record = self._tasks.get(task_id)
        if record is None:
            raise task_not_found(task_id)
        return record

    def create(self, context_id: str, skill: str, task_id: str | None = None) -> TaskRecord:
        """Create a task; without `task_id` its id is new. Raises `CallError` if too many tasks are running."""
        self._make_room()
        record = TaskRecord(context_id, skill, self._content_size, task_id or new_id())
        self._tasks[record.task_id] = record
        return record

    def _full(self) -> bool:
        return len(self._tasks) >= self._max_tasks or self._content_size.characters > self._max_characters

    def _make_room(self) -> None:
        if not self._full():
            return
        records = tuple(self)
        ended = (record for record in records if record.ended)
        interrupted = (record for record in records if record.interrupted)
        for record in itertools.chain(ended, interrupted):
            self._forget(record)
            if not self._full():
                return
        if len(self._tasks) >= self._max_tasks:
            raise CallError("InternalError", "Too many tasks are running; cancel one or wait until one ends.")

    def _forget(self, record: TaskRecord) -> None:
        del self._tasks[record.task_id]
        if self._storage is not None:
            self._storage.forget(record.task_id)
        self._content_size.characters -= record.characters
        record.release()
