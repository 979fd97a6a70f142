"""What the agent remembers: tasks with their history, artifacts, readers and webhooks; bounded, in memory.

Tasks may be kept elsewhere too, each whenever it comes to rest.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

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
from .faults.fault import Spoiler
from .faults.fault_plan import SOUND, Spoiled
from .versions import V1_0, Version

MAX_TASKS = 10_000
MAX_CHARACTERS = 256_000_000
"""How much content all tasks together may hold before the oldest ones that are over are forgotten."""
MAX_BEHIND = 256
"""How many events a reader may lag behind before the task waits for it."""
_BATCH = 64
_TURN = 32
"""How many events a task may publish before the others get a turn; a turn for each would be a packet for each."""

_stamps = itertools.count(1)


def new_id() -> str:
    """Return an id that nobody has used."""
    return str(uuid4())


def now() -> datetime:
    """Return the time of day, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Write a time as 1.0 wants it: UTC, milliseconds, `Z` (section 5.6.1)."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Subscription:
    """One reader of events: takes them in order, in batches, and ends automatically after a state in `until`.

    `spoiled` is what goes wrong with the events that were taken last, `version` the version that they are for.
    """

    def __init__(self, until: frozenset[str] = TERMINAL, spoiled: Spoiled = SOUND, version: Version = V1_0) -> None:
        self.spoiled = spoiled
        self.version = version
        self._until = until
        self._events: deque[Event | Spoiler] = deque()
        self._ended = False
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    @property
    def ended(self) -> bool:
        """Say whether nothing more will be put in."""
        return self._ended

    def put(self, event: Event | Spoiler) -> None:
        """Add an event, or what goes wrong with those that follow, unless the subscription is over."""
        if self._ended:
            return
        self._events.append(event)
        self._wake.set()
        if len(self._events) >= MAX_BEHIND:
            self._room.clear()
        if isinstance(event, TaskStatusUpdateEvent) and event.status.state in self._until:
            self.end()

    def end(self) -> None:
        """Put nothing more in: the reader finishes with what is there, or has left."""
        self._ended = True
        self._wake.set()
        self._room.set()

    async def take(self) -> list[Event]:
        """Wait for events and return some, the oldest first; an empty list says that the subscription is over."""
        while True:
            await self._wake.wait()
            events = self._pop()
            if len(self._events) < MAX_BEHIND // 2:
                self._room.set()
            if not self._events and not self._ended:
                self._wake.clear()
            if events or self._ended:
                return events

    def _pop(self) -> list[Event]:
        """Take out the next events with which the same things go wrong."""
        events: list[Event] = []
        while self._events and len(events) < _BATCH:
            head = self._events[0]
            if not isinstance(head, Spoiler):
                events.append(head)
            elif events:
                break
            else:
                self.spoiled = self.spoiled.further(head)
            self._events.popleft()
        return events

    async def room(self) -> None:
        """Wait while the reader is too far behind."""
        await self._room.wait()


@dataclass(frozen=True, slots=True)
class PushTarget:
    """A webhook of a task, and the version in which it was asked for and is written to."""

    config: PushConfig
    version: Version


@dataclass(slots=True)
class _Assembly:
    head: dict[str, Json]
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at one moment, cheap to take: lists only ever grow, so their lengths are enough to come back to it."""

    task_id: str
    context_id: str
    status: TaskStatus
    history: list[Message]
    heard: int
    artifacts: tuple[tuple[_Assembly, int], ...]

    def task(self, history_length: int | None = None, *, with_artifacts: bool = True) -> Task:
        """Return the task as it was; None keeps the whole history, 0 none of it, n the last n (1.0 section 3.2.4)."""
        members: dict[str, Json] = {}
        if self.artifacts and with_artifacts:
            members["artifacts"] = [
                Artifact(**assembly.head, parts=assembly.parts[:count]) for assembly, count in self.artifacts
            ]
        first = 0 if history_length is None else max(0, self.heard - history_length)
        if first < self.heard:
            members["history"] = self.history[first : self.heard]
        return Task(id=self.task_id, context_id=self.context_id, status=self.status, **members)


@dataclass(slots=True)
class Ledger:
    """How many characters of content all tasks hold together."""

    characters: int = 0


@dataclass(slots=True)
class TaskRecord:
    """A task as the agent works on it: every change goes through `publish`, which all readers see in one order.

    `skill` names the behaviour that works on it, `turns` counts the client's messages, `begun` are those that began a
    turn, `run` is the turn at work, `settled` is set while none is, and `stamp` grows with every change of status of
    any task, and `changes` by one with every change of this one. `faults` are what goes wrong with it.
    """

    context_id: str
    skill: str
    ledger: Ledger
    task_id: str = field(default_factory=new_id)
    status: TaskStatus = field(default_factory=lambda: TaskStatus(state=State.SUBMITTED, timestamp=timestamp(now())))
    changed: datetime = field(default_factory=now)
    stamp: int = field(default_factory=lambda: next(_stamps))
    history: list[Message] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)
    webhooks: dict[str, PushTarget] = field(default_factory=dict)
    turns: int = 0
    changes: int = 1
    begun: list[Message] = field(default_factory=list)
    faults: tuple[Spoiler, ...] = ()
    run: asyncio.Task[None] | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    characters: int = 0
    _artifacts: dict[str, _Assembly] = field(default_factory=dict)
    _since_turn: int = 0
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _forgotten: bool = False

    @classmethod
    def restored(
        cls, task: Task, skill: str, turns: int, changed: datetime, ledger: Ledger, changes: int = 1
    ) -> TaskRecord:
        """Return the record of a task that was worked on before, and is at rest now."""
        record = cls(task.context_id or "", skill, ledger, task.id, task.status, changed, turns=turns, changes=changes)
        record.history = list(task.history or ())
        for message in record.history:
            record._count(message.parts)
        for artifact in task.artifacts or ():
            record._assemble(TaskArtifactUpdateEvent(artifact=artifact))
        record.settled.set()
        return record

    @property
    def over(self) -> bool:
        """Say whether the task is in a state that it never leaves."""
        return is_terminal(self.status.state)

    @property
    def waiting(self) -> bool:
        """Say whether the task waits for its client."""
        return is_interrupted(self.status.state)

    def hear(self, message: Message) -> Message:
        """Add a client's message to the history, with the task's ids, and return it so."""
        heard = message.model_copy(update={"task_id": self.task_id, "context_id": self.context_id})
        self.history.append(heard)
        self._count(heard.parts)
        self.turns += 1
        return heard

    def publish(self, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
        """Change the task by an event and hand the event to every reader."""
        if self.over:
            raise RuntimeError(f"task {self.task_id} is over and cannot change any more")
        if isinstance(event, TaskStatusUpdateEvent):
            if self.status.message is not None:
                self.history.append(self.status.message)
            self.status, self.changed, self.stamp = event.status, now(), next(_stamps)
        else:
            self._assemble(event)
        self.changes += 1
        self._moved.set()
        for subscription in self.subscriptions:
            subscription.put(subscription.version.numbered(event, self.changes))
        self.subscriptions = [one for one in self.subscriptions if not one.ended]
        if is_terminal(self.status.state) or is_interrupted(self.status.state):
            self.settled.set()

    async def wait_for_change(self, beyond: int, seconds: float) -> None:
        """Wait until the task has changed more often than `beyond`, is over, or so many seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.changes <= beyond and not (self.over or self._forgotten):
                    self._moved.clear()
                    await self._moved.wait()

    def spoil(self, spoiler: Spoiler) -> None:
        """Let something go wrong from here on, for every reader."""
        self.faults = (*self.faults, spoiler)
        for subscription in self.subscriptions:
            subscription.put(spoiler)

    def let_go(self) -> None:
        """End every subscription and every wait for this task."""
        for subscription in self.subscriptions:
            subscription.end()
        self._forgotten = True
        self._moved.set()
        self.settled.set()

    def subscribe(self, subscription: Subscription, history_length: int | None = None) -> None:
        """Add a reader, whose first event is the task as it is now."""
        task = self.snapshot().task(history_length)
        subscription.put(subscription.version.numbered(task, self.changes))
        self.subscriptions = [one for one in self.subscriptions if not one.ended] + [subscription]

    async def room(self) -> None:
        """Give the others a turn every now and then, and wait while a reader is too far behind."""
        self._since_turn = (self._since_turn + 1) % _TURN
        if self._since_turn == 0:
            await asyncio.sleep(0)
        for subscription in tuple(self.subscriptions):
            await subscription.room()

    def snapshot(self) -> Snapshot:
        """Return the task as it is now."""
        artifacts = tuple((assembly, len(assembly.parts)) for assembly in self._artifacts.values())
        return Snapshot(self.task_id, self.context_id, self.status, self.history, len(self.history), artifacts)

    def _assemble(self, event: TaskArtifactUpdateEvent) -> None:
        artifact = event.artifact
        known = self._artifacts.get(artifact.artifact_id)
        if event.append and known is not None:
            known.parts.extend(artifact.parts)
        else:
            head = {name: getattr(artifact, name) for name in artifact.model_fields_set if name != "parts"}
            self._artifacts[artifact.artifact_id] = _Assembly(head, list(artifact.parts))
        self._count(artifact.parts)

    def _count(self, parts: list[Part]) -> None:
        grown = sum(_characters(part) for part in parts)
        self.characters += grown
        self.ledger.characters += grown


def _characters(part: Part) -> int:
    return len(part.text or part.raw or part.url or "") if part.data is None else len(str(part.data))


class Keeper(Protocol):
    """What keeps tasks elsewhere than in memory."""

    def records(self, ledger: Ledger) -> Iterator[TaskRecord]:
        """Return the tasks that are kept, those whose status changed last at the end."""

    def save(self, record: TaskRecord) -> None:
        """Keep a task as it is now."""

    def forget(self, task_id: str) -> None:
        """Keep a task no more."""


class Store:
    """Every task by its id, at most `max_tasks` of them: the oldest that are over make room for new ones."""

    def __init__(self, max_tasks: int = MAX_TASKS, max_characters: int = MAX_CHARACTERS) -> None:
        self._max_tasks = max_tasks
        self._max_characters = max_characters
        self._ledger = Ledger()
        self._tasks: dict[str, TaskRecord] = {}
        self._keeper: Keeper | None = None

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[TaskRecord]:
        return iter(tuple(self._tasks.values()))

    def __contains__(self, task_id: str) -> bool:
        return task_id in self._tasks

    def keep_in(self, keeper: Keeper | None) -> None:
        """Take in what a keeper has, and keep every task there from now on; with None, keep nothing any more."""
        self._keeper = keeper
        for record in keeper.records(self._ledger) if keeper is not None else ():
            self._tasks[record.task_id] = record

    def keep(self, record: TaskRecord) -> None:
        """Keep a task as it is now, where tasks are kept."""
        if self._keeper is not None:
            self._keeper.save(record)

    def find(self, task_id: str) -> TaskRecord:
        """Return a task, or refuse with TaskNotFoundError."""
        record = self._tasks.get(task_id)
        if record is None:
            raise task_not_found(task_id)
        return record

    def create(self, context_id: str, skill: str, task_id: str | None = None) -> TaskRecord:
        """Keep a new task, under an id of its own unless given one; refuses when every task of too many is at work."""
        self._make_room()
        record = TaskRecord(context_id, skill, self._ledger, task_id or new_id())
        self._tasks[record.task_id] = record
        return record

    def _full(self) -> bool:
        return len(self._tasks) >= self._max_tasks or self._ledger.characters > self._max_characters

    def _make_room(self) -> None:
        if not self._full():
            return
        everyone = tuple(self)
        over, waiting = (one for one in everyone if one.over), (one for one in everyone if one.waiting)
        for record in itertools.chain(over, waiting):
            self._forget(record)
            if not self._full():
                return
        if len(self._tasks) >= self._max_tasks:
            raise CallError("InternalError", "Too many tasks are at work: wait for one to finish, or cancel one.")

    def _forget(self, record: TaskRecord) -> None:
        del self._tasks[record.task_id]
        if self._keeper is not None:
            self._keeper.forget(record.task_id)
        self._ledger.characters -= record.characters
        record.let_go()
