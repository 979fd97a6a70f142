"""Run the behaviour for a message: create or continue its task, publish its events, cancel it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
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

from .behaviours.base import Behaviour, MessageBehaviour, TaskBehaviour
from .checks import check_history_length, check_message, check_push_config
from .errors import CallError, bad_params
from .faults.fault import ActiveFault
from .faults.fault_plan import FaultPlan
from .push import PushSender
from .task_context import TaskContext, status_update
from .task_store import PushTarget, Store, Subscription, TaskRecord, new_id
from .versions import Version

MAX_WEBHOOKS = 50
"""The maximum number of webhooks of a task."""


class BehaviourProvider(Protocol):
    """The source of the behaviours of an agent."""

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""

    @property
    def scopes(self) -> Mapping[str, tuple[str, ...]]:
        """Return the scopes that skills need, by the id of the skill."""

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour for a message that starts a task or is answered directly."""

    def working(self, skill_id: str) -> TaskBehaviour:
        """Return the behaviour that works on the tasks of a skill; raises KeyError if there is none."""


_logger = logging.getLogger(__name__)


class Engine:
    """Pass messages to behaviours; `pace` multiplies their pauses, `faults` apply to every call."""

    def __init__(
        self,
        store: Store,
        pushes: PushSender,
        behaviours: BehaviourProvider,
        pace: float,
        faults: tuple[ActiveFault, ...],
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
        """Return how many behaviours are running."""
        return len(self._runs)

    async def receive(
        self, request: SendRequest, version: Version, subscription: Subscription | None = None
    ) -> Message | TaskRecord:
        """Process a message; return the response message, or the task on which a behaviour then runs.

        `subscription` receives all events of the task. Raises `CallError` for invalid parameters and for a task that
        does not exist, has ended, or belongs to another context. In versions whose clients choose the task ids, an
        unknown id creates a task, and messages have no ids.
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
            if revision_error := version.revision_error(request, record.changes):
                raise CallError(*revision_error)
        else:
            behaviour = self._behaviours.choose(message)
            if isinstance(behaviour, MessageBehaviour) and not version.traits.names_tasks:
                return await self._reply(behaviour, message)
            record = self._store.create(message.context_id or new_id(), behaviour.skill.id, message.task_id)
            record.faults = (*self._faults, *behaviour.faults)
        if webhook is not None:
            self.set_webhook(record, webhook, version)
        if record.interrupted:
            self.publish(record, status_update(record, State.WORKING))
        received = record.receive(message)
        if subscription is not None:
            record.subscribe(subscription, history_length)
        if record.turns == 1:
            self.push(record)
        if isinstance(behaviour, MessageBehaviour):
            await self._complete(record, behaviour, received)
        elif record.run is None:
            self._start(record, received)
        return record

    def publish(
        self, record: TaskRecord, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent, *, resumes: bool = False
    ) -> None:
        """Apply an event to its task and send it to subscribers and webhooks.

        The behaviour ends with an interrupted state, unless it `resumes` without a message of the client.
        """
        before = record.status.state
        record.publish(event)
        if record.run is not None and not (record.ended or record.interrupted):
            record.idle.clear()
        if record.status.state != before:
            self.log_task(record, short(record.status.state))
        self._pushes.enqueue(record, event)
        if record.ended or record.interrupted:
            record.run = record.run if resumes else None
            self._store.save(record)

    def push(self, record: TaskRecord) -> None:
        """Send the current task to its webhooks."""
        self._pushes.enqueue(record, record.snapshot().task())

    def log_task(self, record: TaskRecord, line: str) -> None:
        """Write a line about a task to the log of the agent."""
        self._log(f"task {record.task_id[:8]}: {line}")

    def fault_plan_for(self, request: Request) -> FaultPlan:
        """Return the faults of a call: those that apply to every call, and those of the task or scenario."""
        message = request.message if isinstance(request, SendRequest) else None
        task_id = message.task_id if message else request.id if isinstance(request, TaskRequest) else ""
        if task_id and task_id in self._store:
            return FaultPlan(self._store.find(task_id).faults)
        return FaultPlan((*self._faults, *(self._behaviours.choose(message).faults if message else ())))

    def scopes_for(self, request: Request) -> tuple[str, ...]:
        """Return the scopes that a message needs for the skill that it selects or continues."""
        if not isinstance(request, SendRequest):
            return ()
        message = request.message
        if message.task_id and message.task_id in self._store:
            return self._behaviours.scopes.get(self._store.find(message.task_id).skill, ())
        return self._behaviours.choose(message).scopes

    def cancel(self, record: TaskRecord) -> None:
        """Cancel a task; raises `CallError` if it has ended."""
        if record.ended:
            raise CallError("TaskNotCancelableError", "The task has ended and cannot be canceled.")
        run = record.run
        self.publish(record, status_update(record, State.CANCELED, "Canceled as requested."))
        if run is not None:
            run.cancel()

    def set_webhook(self, record: TaskRecord, config: PushConfig, version: Version) -> PushConfig:
        """Store a webhook of a task and return it with its ids; without an id it gets the id of the task."""
        name = config.id or record.task_id
        if name not in record.webhooks and len(record.webhooks) >= MAX_WEBHOOKS:
            raise bad_params(f"The task already has {MAX_WEBHOOKS} push configurations; delete one first.")
        stored = config.model_copy(update={"id": name, "task_id": record.task_id})
        record.webhooks[name] = PushTarget(stored, version)
        self._store.save(record)
        return stored

    def fail_unfinished(self) -> None:
        """Fail the stored tasks whose behaviour was running when the agent stopped."""
        for record in self._store:
            record.faults = self._faults
            if not (record.ended or record.interrupted):
                self.publish(
                    record, status_update(record, State.FAILED, "The agent stopped while the task was running.")
                )

    async def close(self) -> None:
        """Cancel every running behaviour and end every subscription."""
        for record in self._store:
            record.release()
        runs = tuple(self._runs)
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)

    def _continued(self, message: Message) -> TaskRecord:
        record = self._store.find(message.task_id or "")
        if message.context_id and message.context_id != record.context_id:
            raise bad_params("message.contextId is not the context of the task in message.taskId.")
        if record.ended:
            raise CallError(
                "UnsupportedOperationError",
                "The task has ended; send the message without taskId to start a new task in the same context.",
            )
        return record

    async def _reply(self, behaviour: MessageBehaviour, message: Message) -> Message:
        parts = await behaviour.reply(message)
        return Message(message_id=new_id(), role="ROLE_AGENT", context_id=message.context_id or new_id(), parts=parts)

    async def _complete(self, record: TaskRecord, behaviour: MessageBehaviour, message: Message) -> None:
        """Complete a task with the response message, for versions that return tasks only."""
        self.publish(record, status_update(record, State.COMPLETED, await behaviour.reply(message)))

    def _start(self, record: TaskRecord, message: Message) -> None:
        try:
            behaviour = self._behaviours.working(record.skill)
        except KeyError:  # its scenario was removed, or the agent was started again without it
            self.publish(
                record,
                status_update(record, State.FAILED, f"The agent does not have the skill {record.skill} any more."),
            )
            return
        task = TaskContext(record, message, self, self._pace)
        record.idle.clear()
        run = asyncio.create_task(self._run(record, behaviour, task))
        record.run = run
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)

    async def _run(self, record: TaskRecord, behaviour: TaskBehaviour, task: TaskContext) -> None:
        try:
            await behaviour.run(task)
            end = status_update(record, State.COMPLETED)
        except Exception:
            _logger.exception("the behaviour %s failed", behaviour.skill.id)
            end = status_update(record, State.FAILED, "Internal error: the behaviour of the agent failed.")
        if record.run is asyncio.current_task():
            self.publish(record, end)
