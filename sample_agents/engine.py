"""Runs a behaviour for a message: makes or continues the task, publishes its events, cancels it at any moment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State, short
from inspector.protocol.model import (
    Message,
    PushConfig,
    Request,
    SendRequest,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
)

from .behaviours.base import Behaviour, Replying, Working
from .checks import check_history_length, check_message, check_push_config
from .errors import CallError, bad_params
from .faults.fault import Spoiler
from .faults.fault_plan import Spoiled
from .push import PushSender
from .task_context import Work, status_update
from .task_store import PushTarget, Store, Subscription, TaskRecord, new_id
from .versions import Version

MAX_WEBHOOKS = 50
"""How many webhooks a task may have."""


class Repertoire(Protocol):
    """What an agent can do."""

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour that begins with a message."""

    def working(self, skill_id: str) -> Working:
        """Return the behaviour that works on the tasks of a skill; KeyError where none does."""


_logger = logging.getLogger(__name__)


class Engine:
    """Gives messages to behaviours; `pace` stretches every pause that they make, `faults` go wrong with every call."""

    def __init__(
        self,
        store: Store,
        pushes: PushSender,
        behaviours: Repertoire,
        pace: float,
        faults: tuple[Spoiler, ...],
        log: Callable[[str], None],
    ) -> None:
        self._store = store
        self._pushes = pushes
        self._behaviours = behaviours
        self._pace = pace
        self._faults = faults
        self._log = log
        self._runs: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> int:
        """Return how many turns are at work."""
        return len(self._runs)

    async def take(
        self, request: SendRequest, version: Version, subscription: Subscription | None = None
    ) -> Message | TaskRecord:
        """Take a message in and return the direct answer, or the task that works on it, with its turn begun.

        A subscription gets the task's events from the first one on. Refused are bad parameters, a task that does not
        exist, is over, or belongs to another context. Where clients make the ids of tasks, one that does not exist
        begins, and messages have no ids of their own.
        """
        message, configuration = request.message, request.configuration
        if version.traits.names_tasks and not message.message_id:
            message = message.model_copy(update={"message_id": new_id()})
        check_message(message)
        history_length = configuration.history_length if configuration else None
        check_history_length(history_length)
        webhook = configuration.task_push_notification_config if configuration else None
        if webhook is not None:
            check_push_config(webhook)
        behaviour: Behaviour | None = None
        if message.task_id and not (version.traits.names_tasks and message.task_id not in self._store):
            record = self._continued(message)
            if refusal := version.refusal(request, record.changes):
                raise CallError(*refusal)
        else:
            behaviour = self._behaviours.choose(message)
            if isinstance(behaviour, Replying) and not version.traits.names_tasks:
                return await self._reply(behaviour, message)
            record = self._store.create(message.context_id or new_id(), behaviour.skill.id, message.task_id)
            record.faults = (*self._faults, *behaviour.faults)
        if webhook is not None:
            self.set_webhook(record, webhook, version)
        if record.waiting:
            self.publish(record, status_update(record, State.WORKING))
        heard = record.hear(message)
        if subscription is not None:
            record.subscribe(subscription, history_length)
        if record.turns == 1:
            self.push(record)
        if isinstance(behaviour, Replying):
            await self._complete(record, behaviour, heard)
        elif record.run is None:
            self._start(record, heard)
        return record

    def publish(self, record: TaskRecord, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
        """Change a task by an event and tell its readers and webhooks."""
        before = record.status.state
        record.publish(event)
        if record.status.state != before:
            self.note(record, short(record.status.state))
        self._pushes.offer(record, event)
        if record.over or record.waiting:
            record.run = None
            self._store.keep(record)

    def push(self, record: TaskRecord) -> None:
        """Tell a task's webhooks how it stands."""
        self._pushes.offer(record, record.snapshot().task())

    def note(self, record: TaskRecord, line: str) -> None:
        """Tell the person who runs the agent something about a task."""
        self._log(f"task {record.task_id[:8]}: {line}")

    def spoiled(self, request: Request) -> Spoiled:
        """Return what goes wrong with a call: with every one, and with those about a task or a message."""
        message = request.message if isinstance(request, SendRequest) else None
        task_id = message.task_id if message else request.id if isinstance(request, TaskRequest) else ""
        if task_id and task_id in self._store:
            return Spoiled(self._store.find(task_id).faults)
        return Spoiled((*self._faults, *(self._behaviours.choose(message).faults if message else ())))

    def cancel(self, record: TaskRecord) -> None:
        """End a task where it stands; refused when it is over."""
        if record.over:
            raise CallError("TaskNotCancelableError", "The task is over and cannot be canceled any more.")
        run = record.run
        self.publish(record, status_update(record, State.CANCELED, "Canceled, as you asked."))
        if run is not None:
            run.cancel()

    def set_webhook(self, record: TaskRecord, config: PushConfig, version: Version) -> PushConfig:
        """Keep a webhook of a task, under its own id or the task's, and return it with its ids."""
        name = config.id or record.task_id
        if name not in record.webhooks and len(record.webhooks) >= MAX_WEBHOOKS:
            raise bad_params(f"The task has {MAX_WEBHOOKS} push configurations already: delete one.")
        kept = config.model_copy(update={"id": name, "task_id": record.task_id})
        record.webhooks[name] = PushTarget(kept, version)
        self._store.keep(record)
        return kept

    def resume(self) -> None:
        """End the tasks that were at work when an agent before this one stopped: nobody works on them any more."""
        for record in self._store:
            record.faults = self._faults
            if not (record.over or record.waiting):
                self.publish(
                    record, status_update(record, State.FAILED, "The agent was stopped while it worked on this.")
                )

    async def close(self) -> None:
        """Stop every turn and let every reader go."""
        for record in self._store:
            record.let_go()
        runs = tuple(self._runs)
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    def _continued(self, message: Message) -> TaskRecord:
        record = self._store.find(message.task_id or "")
        if message.context_id and message.context_id != record.context_id:
            raise bad_params("message.contextId is not the context of the task that message.taskId names.")
        if record.over:
            raise CallError("UnsupportedOperationError", "The task is over: start a new one in the same context.")
        return record

    async def _reply(self, behaviour: Replying, message: Message) -> Message:
        parts = await behaviour.reply(message)
        return Message(message_id=new_id(), role="ROLE_AGENT", context_id=message.context_id or new_id(), parts=parts)

    async def _complete(self, record: TaskRecord, behaviour: Replying, message: Message) -> None:
        """End a task with a direct answer, for a version in which nothing but a task can carry one."""
        self.publish(record, status_update(record, State.COMPLETED, await behaviour.reply(message)))

    def _start(self, record: TaskRecord, message: Message) -> None:
        behaviour = self._behaviours.working(record.skill)
        work = Work(record, message, self, self._pace)
        record.settled.clear()
        run = asyncio.create_task(self._run(record, behaviour, work))
        record.run = run
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)

    async def _run(self, record: TaskRecord, behaviour: Working, work: Work) -> None:
        try:
            await behaviour.run(work)
            end = status_update(record, State.COMPLETED)
        except Exception:
            _logger.exception("the behaviour %s failed", behaviour.skill.id)
            end = status_update(record, State.FAILED, "The agent failed inside.")
        if record.run is asyncio.current_task():
            self.publish(record, end)
