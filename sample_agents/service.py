"""The operations of A2A, independent of transport and protocol version (1.0 section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector.lazy_dataclass import dataclass
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
from .access import ANYTHING, Access, MissingScopeError
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
from .faults.fault_plan import FaultPlan
from .profile import Capability, Profile
from .push import PushSender
from .task_store import Store, Subscription, TaskRecord
from .versions import Version

_LONG_POLL = 20.0
"""The maximum time in seconds that GetTask waits for a requested revision."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that its binding has read.

    `extensions` are the URIs that it activates, `base` is the origin under which the client reaches the agent,
    `access` is what its credentials allow.
    """

    operation: Operation
    request: Request
    version: Version
    base: str
    extensions: frozenset[str] = frozenset()
    access: Access = ANYTHING

    @property
    def activated(self) -> list[str]:
        """Return the extensions of the agent that the client activated."""
        return extension.activated(self.extensions, streams=self.operation in STREAMING)

    def event_rewriter(self) -> Callable[[Event], Event]:
        """Return a function that adapts the events of one stream to the version and to the activated extensions."""
        rewrite = self.version.event_rewriter()
        if not self.activated:
            return rewrite
        extend = extension.rewriter(self.extensions)
        return lambda event: extend(rewrite(event))


class Service:
    """Execute calls; raises `CallError` if one fails.

    `extended_card` returns the extended card for a version and an origin. Every call needs the `required_scopes`.
    """

    def __init__(
        self,
        profile: Profile,
        store: Store,
        engine: Engine,
        pushes: PushSender,
        extended_card: Callable[[Version, str], AgentCard],
        required_scopes: Sequence[str] = (),
    ) -> None:
        self._profile = profile
        self._store = store
        self._engine = engine
        self._pushes = pushes
        self._extended_card = extended_card
        self._required_scopes = required_scopes

    def fault_plan(self, call: Call) -> FaultPlan:
        """Return the faults of a call."""
        return self._engine.fault_plan_for(call.request)

    def check_scopes(self, call: Call) -> None:
        """Raise `MissingScopeError` if the token of a call lacks a scope of the agent or of the requested skill."""
        if call.access.scopes is None:
            return
        scopes = (*self._required_scopes, *self._engine.scopes_for(call.request))
        if not call.access.allows(scopes):
            raise MissingScopeError(scopes)

    async def answer(self, call: Call) -> Result:
        """Execute an operation with a single response and return its result."""
        self._check_allowed(call)
        match call.operation, call.request:
            case Operation.SEND, SendRequest() as request:
                return extension.with_metadata(await self._send(request, call.version), call.extensions)
            case Operation.GET, TaskRequest() as request:
                check_history_length(request.history_length)
                record = self._find(request.id)
                await record.wait_for_change(call.version.awaited_revision(request), _LONG_POLL)
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
                return self._push_config(request, call.version)
            case Operation.LIST_PUSH, PushConfigRequest() as request:
                return self._push_configs(request, call.version)
            case Operation.DELETE_PUSH, PushConfigRequest() as request:
                return self._delete_push(request)
            case Operation.EXTENDED_CARD, _:
                return self._extended_card(call.version, call.base)
            case operation, _:
                raise CallError(
                    "UnsupportedOperationError", f"{operation} has no single response; use the streaming method."
                )

    async def open(self, call: Call) -> Subscription:
        """Start an operation with a stream and return its subscription, which the caller must end.

        Raises `CallError` before the stream starts if the call is rejected.
        """
        self._check_allowed(call)
        match call.operation, call.request:
            case Operation.STREAM, SendRequest() as request:
                subscription = Subscription(TERMINAL | INTERRUPTED, self.fault_plan(call), call.version)
                outcome = await self._engine.receive(request, call.version, subscription)
                if isinstance(outcome, Message):
                    subscription.put(outcome)
                    subscription.end()
                return subscription
            case Operation.SUBSCRIBE, TaskRequest() as request:
                record = self._find(request.id)
                if record.ended:
                    raise CallError("UnsupportedOperationError", "The task has ended; a subscription is not possible.")
                subscription = Subscription(call.version.subscription_ends, self.fault_plan(call), call.version)
                record.subscribe(subscription)
                return subscription
            case operation, _:
                raise CallError("UnsupportedOperationError", f"{operation} is not a streaming operation.")

    def _check_allowed(self, call: Call) -> None:
        """Reject operations without their capability on the card, and calls without the required extension."""
        if isinstance(call.request, SendRequest):
            self.fault_plan(call).raise_error()
        declared, required = self._profile.capabilities, self._profile.required
        if required and call.version.dialect.extensions_header and required not in call.extensions:
            raise CallError(
                "ExtensionSupportRequiredError",
                f"The agent requires the extension {required}; name it in {call.version.dialect.extensions_header}.",
            )
        if call.operation in STREAMING and Capability.STREAMING not in declared:
            raise CallError(
                "UnsupportedOperationError", "The agent does not support streaming (capabilities.streaming is false)."
            )
        configuration = call.request.configuration if isinstance(call.request, SendRequest) else None
        pushes = call.operation in PUSH or (configuration and configuration.task_push_notification_config)
        if pushes and Capability.PUSH not in declared:
            raise CallError(
                "PushNotificationNotSupportedError",
                "The agent does not support push notifications (capabilities.pushNotifications is false).",
            )
        if call.operation is Operation.EXTENDED_CARD and Capability.EXTENDED_CARD not in declared:
            raise CallError(call.version.no_extended_card, "The agent has no extended card.")

    def _find(self, task_id: str | None) -> TaskRecord:
        if not task_id:
            raise bad_params("The task id is missing.")
        return self._store.find(task_id)

    async def _send(self, request: SendRequest, version: Version) -> Task | Message:
        outcome = await self._engine.receive(request, version)
        if isinstance(outcome, Message):
            return outcome
        configuration = request.configuration or SendConfiguration()
        immediately = configuration.return_immediately
        if version.traits.waits if immediately is None else not immediately:
            await outcome.idle.wait()
        return self._task(outcome, configuration.history_length, version)

    def _task(self, record: TaskRecord, history_length: int | None, version: Version) -> Task:
        task = record.snapshot().task(version.history if history_length is None else history_length)
        return version.add_revision(task, record.changes)

    def _list(self, request: ListTasksRequest, version: Version) -> TaskList:
        """Return a page of the matching tasks, the last changed status first (section 3.1.4)."""
        check_history_length(request.history_length)
        size, state = check_page_size(request.page_size), check_state(request.status)
        after, since = read_page_token(request.page_token), check_moment(request.status_timestamp_after)
        matching = [
            record
            for record in self._store
            if request.context_id in (None, "", record.context_id)
            and state in (None, record.status.state)
            and (since is None or record.status_changed >= since)
        ]
        matching.sort(key=lambda record: record.sequence, reverse=True)
        rest = [record for record in matching if after is None or record.sequence < after]
        page = rest[:size]
        return TaskList(
            tasks=[
                version.add_revision(
                    record.snapshot().task(request.history_length, with_artifacts=bool(request.include_artifacts)),
                    record.changes,
                )
                for record in page
            ],
            next_page_token=write_page_token(page[-1].sequence) if len(rest) > size else "",
            page_size=size,
            total_size=len(matching),
        )

    def _push_configs(self, request: PushConfigRequest, version: Version) -> PushConfigList:
        """Return a page of the configurations of a task, the oldest first (section 3.1.9); all of them before 1.0."""
        configs = [target.config for target in self._find(request.task_id).webhooks.values()]
        if version.traits.sole_push_config:
            return PushConfigList(configs=configs)
        size, after = check_page_size(request.page_size), read_page_token(request.page_token) or 0
        end = after + size
        token = write_page_token(end) if end < len(configs) else None
        return PushConfigList(configs=configs[after:end], next_page_token=token)

    def _push_config(self, request: PushConfigRequest, version: Version) -> PushConfig:
        """Return the configuration with an id, or the first if a client of a version before 1.0 sends no id."""
        if not request.id and not version.traits.sole_push_config:
            raise bad_params("The id of the push configuration is missing.")
        webhooks = self._find(request.task_id).webhooks
        target = webhooks.get(request.id) if request.id else next(iter(webhooks.values()), None)
        if target is None:
            raise CallError("TaskNotFoundError", "The task has no push configuration with this id.")
        return target.config

    def _delete_push(self, request: PushConfigRequest) -> Deleted:
        """Delete a configuration; an unknown id is not an error (section 3.1.10)."""
        if not request.id:
            raise bad_params("The id of the push configuration is missing.")
        record = self._find(request.task_id)
        record.webhooks.pop(request.id, None)
        self._store.save(record)
        self._pushes.drop_queued(record.task_id, request.id)
        return Deleted()
