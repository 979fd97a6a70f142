"""The eleven operations of A2A, free of any transport and any version's spelling (1.0 section 3.1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import Result
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL
from inspector.protocol.model import (
    Deleted,
    Event,
    ListTasksRequest,
    Message,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
    SendConfiguration,
    SendRequest,
    Task,
    TaskList,
    TaskRequest,
)
from inspector.protocol.operations import PUSH, STREAMING, Operation

from . import extension
from .checks import (
    check_history_length,
    check_moment,
    check_page_size,
    check_push_config,
    check_state,
    read_page_token,
    write_page_token,
)
from .engine import Engine
from .errors import CallError, bad_params
from .faults.fault_plan import Spoiled
from .profile import Capability, Profile
from .push import PushSender
from .task_store import Store, Subscription, TaskRecord
from .versions import Version

_LONG_POLL = 20.0
"""How many seconds GetTask waits at most for the change that it asks for."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that passed the door of its binding.

    `extensions` are those that it activates, `base` the origin under which the client reaches the agent.
    """

    operation: Operation
    request: Request
    version: Version
    base: str
    extensions: frozenset[str] = frozenset()

    @property
    def numbers(self) -> bool:
        """Say whether the events of a stream are to be numbered."""
        return extension.URI in self.extensions

    def written(self) -> Callable[[Event], Event]:
        """Return what makes the events of one stream those of the version, numbered where that was asked."""
        rewrite, numbers = self.version.streamed(), itertools.count(1)
        if not self.numbers:
            return rewrite
        return lambda event: extension.numbered(rewrite(event), next(numbers))


class Service:
    """Answers calls; what cannot be answered is refused with a `CallError`.

    `extended_card` makes the extended card for a version and an origin.
    """

    def __init__(
        self,
        profile: Profile,
        store: Store,
        engine: Engine,
        pushes: PushSender,
        extended_card: Callable[[Version, str], AgentCard],
    ) -> None:
        self._profile = profile
        self._store = store
        self._engine = engine
        self._pushes = pushes
        self._extended_card = extended_card

    def spoiled(self, call: Call) -> Spoiled:
        """Return what goes wrong with a call."""
        return self._engine.spoiled(call.request)

    async def answer(self, call: Call) -> Result:
        """Answer an operation that is answered once."""
        self._admit(call)
        match call.operation, call.request:
            case Operation.SEND, SendRequest() as request:
                return await self._send(request, call.version)
            case Operation.GET, TaskRequest() as request:
                check_history_length(request.history_length)
                record = self._find(request.id)
                await record.wait_for_change(call.version.awaited(request), _LONG_POLL)
                return self._task(record, request.history_length, call.version)
            case Operation.CANCEL, TaskRequest() as request:
                record = self._find(request.id)
                self._engine.cancel(record)
                return self._task(record, None, call.version)
            case Operation.LIST, ListTasksRequest() as request:
                return self._list(request, call.version)
            case Operation.SET_PUSH, PushConfig() as request:
                check_push_config(request)
                return self._engine.set_webhook(self._find(request.task_id), request, call.version)
            case Operation.GET_PUSH, PushConfigRequest() as request:
                return self._push_config(request)
            case Operation.LIST_PUSH, PushConfigRequest() as request:
                targets = self._find(request.task_id).webhooks.values()
                return PushConfigList(configs=[target.config for target in targets])
            case Operation.DELETE_PUSH, PushConfigRequest() as request:
                return self._delete_push(request)
            case Operation.EXTENDED_CARD, _:
                return self._extended_card(call.version, call.base)
            case operation, _:
                raise CallError("UnsupportedOperationError", f"The agent does not answer {operation} this way.")

    async def open(self, call: Call) -> Subscription:
        """Begin an operation that is answered with a stream; the reader ends the subscription when it leaves.

        What is refused is refused here, before the stream starts.
        """
        self._admit(call)
        match call.operation, call.request:
            case Operation.STREAM, SendRequest() as request:
                subscription = Subscription(TERMINAL | INTERRUPTED, self.spoiled(call), call.version)
                outcome = await self._engine.take(request, call.version, subscription)
                if isinstance(outcome, Message):
                    subscription.put(outcome)
                    subscription.end()
                return subscription
            case Operation.SUBSCRIBE, TaskRequest() as request:
                record = self._find(request.id)
                if record.over:
                    raise CallError("UnsupportedOperationError", "The task is over: there is nothing to subscribe to.")
                subscription = Subscription(call.version.subscription_ends, self.spoiled(call), call.version)
                record.subscribe(subscription)
                return subscription
            case operation, _:
                raise CallError("UnsupportedOperationError", f"The agent does not stream {operation}.")

    def _admit(self, call: Call) -> None:
        """Refuse what the agent's card says that it does not do, and who does not bring what it demands."""
        if isinstance(call.request, SendRequest):
            self.spoiled(call).refuse()
        declared, required = self._profile.capabilities, self._profile.required
        if required and call.version.dialect.extensions_header and required not in call.extensions:
            raise CallError("ExtensionSupportRequiredError", f"The agent demands the extension {required}.")
        if call.operation in STREAMING and Capability.STREAMING not in declared:
            raise CallError("UnsupportedOperationError", "The agent does not stream.")
        configuration = call.request.configuration if isinstance(call.request, SendRequest) else None
        pushes = call.operation in PUSH or (configuration and configuration.task_push_notification_config)
        if pushes and Capability.PUSH not in declared:
            raise CallError("PushNotificationNotSupportedError", "The agent sends no push notifications.")
        if call.operation is Operation.EXTENDED_CARD and Capability.EXTENDED_CARD not in declared:
            raise CallError(call.version.no_extended_card, "The agent has no extended card.")

    def _find(self, task_id: str | None) -> TaskRecord:
        if not task_id:
            raise bad_params("The task's id is missing.")
        return self._store.find(task_id)

    async def _send(self, request: SendRequest, version: Version) -> Task | Message:
        outcome = await self._engine.take(request, version)
        if isinstance(outcome, Message):
            return outcome
        configuration = request.configuration or SendConfiguration()
        immediately = configuration.return_immediately
        if version.traits.waits if immediately is None else not immediately:
            await outcome.settled.wait()
        return self._task(outcome, configuration.history_length, version)

    def _task(self, record: TaskRecord, history_length: int | None, version: Version) -> Task:
        task = record.snapshot().task(version.history if history_length is None else history_length)
        return version.numbered(task, record.changes)

    def _list(self, request: ListTasksRequest, version: Version) -> TaskList:
        """Return a page of the tasks that match, those whose status changed last first (section 3.1.4)."""
        check_history_length(request.history_length)
        size, state = check_page_size(request.page_size), check_state(request.status)
        after, since = read_page_token(request.page_token), check_moment(request.status_timestamp_after)
        matching = [
            record
            for record in self._store
            if request.context_id in (None, "", record.context_id)
            and state in (None, record.status.state)
            and (since is None or record.changed >= since)
        ]
        matching.sort(key=lambda record: record.stamp, reverse=True)
        rest = [record for record in matching if after is None or record.stamp < after]
        page = rest[:size]
        return TaskList(
            tasks=[
                version.numbered(
                    record.snapshot().task(request.history_length, with_artifacts=bool(request.include_artifacts)),
                    record.changes,
                )
                for record in page
            ],
            next_page_token=write_page_token(page[-1].stamp) if len(rest) > size else "",
            page_size=size,
            total_size=len(matching),
        )

    def _push_config(self, request: PushConfigRequest) -> PushConfig:
        """Return the configuration with the given id or, where 0.3 gives none, the first."""
        webhooks = self._find(request.task_id).webhooks
        target = webhooks.get(request.id) if request.id else next(iter(webhooks.values()), None)
        if target is None:
            raise CallError("TaskNotFoundError", "The task has no such push configuration.")
        return target.config

    def _delete_push(self, request: PushConfigRequest) -> Deleted:
        """Delete a configuration; deleting what is not there is no error (section 3.1.10)."""
        if not request.id:
            raise bad_params("The push configuration's id is missing.")
        record = self._find(request.task_id)
        record.webhooks.pop(request.id, None)
        self._store.keep(record)
        self._pushes.forget(record.task_id, request.id)
        return Deleted()
