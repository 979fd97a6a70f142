"""The eleven operations of A2A, free of any transport and any generation's spelling (1.0 section 3.1)."""

from __future__ import annotations

from inspector.protocol.dialects.base import Result
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL
from inspector.protocol.model import (
    Deleted,
    ListTasksRequest,
    Message,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
    SendRequest,
    Task,
    TaskList,
    TaskRequest,
)
from inspector.protocol.operations import Operation

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
from .generations import Generation
from .push import PushSender
from .state import Store, Subscription, TaskRecord


class Service:
    """Answers operations; what cannot be answered is refused with a `CallError`."""

    def __init__(self, store: Store, engine: Engine, pushes: PushSender) -> None:
        self._store = store
        self._engine = engine
        self._pushes = pushes

    async def answer(self, operation: Operation, request: Request, generation: Generation) -> Result:
        """Answer an operation that is answered once."""
        match operation, request:
            case Operation.SEND, SendRequest():
                return await self._send(request, generation)
            case Operation.GET, TaskRequest():
                check_history_length(request.history_length)
                return self._find(request.id).snapshot().task(request.history_length)
            case Operation.CANCEL, TaskRequest():
                record = self._find(request.id)
                self._engine.cancel(record)
                return record.snapshot().task()
            case Operation.LIST, ListTasksRequest():
                return self._list(request)
            case Operation.SET_PUSH, PushConfig():
                check_push_config(request)
                return self._engine.set_webhook(self._find(request.task_id), request, generation)
            case Operation.GET_PUSH, PushConfigRequest():
                return self._push_config(request)
            case Operation.LIST_PUSH, PushConfigRequest():
                targets = self._find(request.task_id).webhooks.values()
                return PushConfigList(configs=[target.config for target in targets])
            case Operation.DELETE_PUSH, PushConfigRequest():
                return self._delete_push(request)
            case Operation.EXTENDED_CARD, _:
                raise CallError(generation.no_extended_card, "The agent has no extended card.")
            case _:
                raise CallError("UnsupportedOperationError", f"The agent does not answer {operation} this way.")

    async def open(self, operation: Operation, request: Request, generation: Generation) -> Subscription:
        """Begin an operation that is answered with a stream; the reader ends the subscription when it leaves.

        What is refused is refused here, before the stream starts.
        """
        match operation, request:
            case Operation.STREAM, SendRequest():
                subscription = Subscription(until=TERMINAL | INTERRUPTED)
                outcome = await self._engine.take(request, generation, subscription)
                if isinstance(outcome, Message):
                    subscription.put(outcome)
                    subscription.end()
                return subscription
            case Operation.SUBSCRIBE, TaskRequest():
                record = self._find(request.id)
                if record.over:
                    raise CallError("UnsupportedOperationError", "The task is over: there is nothing to subscribe to.")
                subscription = Subscription(until=generation.subscription_ends)
                record.subscribe(subscription)
                return subscription
            case _:
                raise CallError("UnsupportedOperationError", f"The agent does not stream {operation}.")

    def _find(self, task_id: str | None) -> TaskRecord:
        if not task_id:
            raise bad_params("The task's id is missing.")
        return self._store.find(task_id)

    async def _send(self, request: SendRequest, generation: Generation) -> Task | Message:
        outcome = await self._engine.take(request, generation)
        if isinstance(outcome, Message):
            return outcome
        configuration = request.configuration
        if configuration is None or not configuration.return_immediately:
            await outcome.settled.wait()
        return outcome.snapshot().task(configuration.history_length if configuration else None)

    def _list(self, request: ListTasksRequest) -> TaskList:
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
                record.snapshot().task(request.history_length, with_artifacts=bool(request.include_artifacts))
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
        self._pushes.forget(record.task_id, request.id)
        return Deleted()
