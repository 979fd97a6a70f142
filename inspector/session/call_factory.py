"""Prepare the calls of a session; a session that only connects does not load this module."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.capture.records import Record
from inspector.protocol.bindings.base import HttpRequest, WireRequest
from inspector.protocol.errors import usage_error
from inspector.protocol.model import Request, SendRequest
from inspector.protocol.operations import CHANGING, Operation
from inspector.session import lazy_loading
from inspector.session.call import Call, Renewer
from inspector.session.connection import Target, not_offered
from inspector.session.exchange import CallContext, Exchange
from inspector.session.journal import Journal
from inspector.session.tasks import TaskFold
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client

if TYPE_CHECKING:  # features that are loaded on first use
    from inspector.session.compose.checks import MessageWarning
    from inspector.session.compose.draft import Draft
    from inspector.session.push.service import PushService
    from inspector.session.push.webhook_registration import WebhookRegistration


class CallFactory:
    """Makes calls with the clients of a session.

    `push` returns the push service, None if it was not used. `renewer` renews tokens before a call. If `read_only`,
    calls that may change something at the agent raise `FaultError`.
    """

    def __init__(
        self,
        journal: Journal,
        tasks: TaskFold,
        client: Client,
        grpc: GrpcClient,
        push: Callable[[], PushService | None],
        renewer: Renewer,
        *,
        read_only: bool = False,
    ) -> None:
        self._journal = journal
        self._tasks = tasks
        self._client = client
        self._grpc = grpc
        self._push = push
        self._renewer = renewer
        self._read_only = read_only

    def message(self, draft: Draft, target: Target, *, stream: bool, keep_warnings: bool) -> Call:
        """Prepare a message, with a webhook if push is on; raises `FaultError`."""
        choice, push = target.choice, self._push()
        webhook = push.plan(draft.message_id, draft.task_id, choice.dialect.version) if push and push.on else None
        config = webhook.config if webhook else None
        composed = lazy_loading.compose(draft, tenant=choice.interface.tenant, push=config, whole=choice.binding.whole)
        composed.check()
        request, operation = composed.request, Operation.STREAM if stream else Operation.SEND
        context = _context(target, operation, request, draft.request_id, draft.task_id, draft.context_id, draft.label)
        wire = composed.encode(target.url, choice, operation)
        warnings: tuple[MessageWarning, ...] = ()
        if target.card is not None:
            card, tasks = target.card, self._tasks
            warnings = lazy_loading.check_message(request, stream=stream, choice=choice, card=card, tasks=tasks)
        if keep_warnings:
            context = replace(context, deliberate=tuple(warning.words for warning in warnings))
        return self._call(context, request, wire, target.credentials, webhook=webhook, warnings=warnings)

    def raw(self, text: str, like: Call, credentials: Credentials) -> Call:
        """Prepare a raw request, whose response is read like that to the call `like`; raises `FaultError`."""
        wire, context = lazy_loading.raw_request(text, like.wire, like.exchange.context)
        return self._call(context, like.request, wire, credentials, webhook=like.webhook, raw=True)

    def http(self, wire: HttpRequest, target: Target, *, label: str, signed: bool) -> Call:
        """Prepare an HTTP request; without `signed`, no credentials are added."""
        choice = target.choice
        like = CallContext(
            Operation.SEND, choice.dialect, choice.binding, None, card=target.card, interface=choice.interface
        )
        context = replace(lazy_loading.raw_context(wire, like), label=label)
        if signed:
            return self._call(context, SendRequest(), wire, target.credentials, raw=True)
        # Renewing a token would add the credentials.
        return self._call(context, SendRequest(), wire, target.credentials.withheld(), raw=True, renewer=None)

    def again(self, sent: Record, target: Target) -> Call:
        """Prepare the message of a recorded request as a new message; raises `FaultError`."""
        request = lazy_loading.message_to_resend(sent)
        return self.operation(
            Operation(sent.operation),
            request,
            target,
            task_id=request.message.task_id or "",
            context_id=request.message.context_id or "",
            label=sent.label,
        )

    def operation(
        self,
        operation: Operation,
        request: Request,
        target: Target,
        task_id: str = "",
        context_id: str = "",
        label: str = "",
        webhook: WebhookRegistration | None = None,
        *,
        whole_body: bool = False,
    ) -> Call:
        """Prepare an operation; the tenant is that of the interface unless the request has one; raises `FaultError`.

        With `whole_body`, the body has all members of the request, also over HTTP+JSON.
        """
        choice = target.choice
        if choice.interface.tenant and not request.tenant:
            request = request.model_copy(update={"tenant": choice.interface.tenant})
        request_id = str(uuid.uuid4())
        context = _context(target, operation, request, request_id, task_id, context_id, label)
        dialect = choice.dialect.with_whole_body(operation) if whole_body else choice.dialect
        wire = choice.binding.encode(target.url, dialect, operation, request, request_id)
        return self._call(context, request, wire, target.credentials, webhook=webhook)

    def _call(
        self, context: CallContext, request: Request, wire: WireRequest, credentials: Credentials, **members: Any
    ) -> Call:
        # A raw request can be anything.
        if self._read_only and (members.get("raw") or context.operation in CHANGING):
            what = "a request of your own" if members.get("raw") else context.operation
            raise usage_error(f"Read-only: {what} is not sent.", "Start a2a-inspect without --read-only.")
        exchange = Exchange(self._journal, context.operation.value, context, self._tasks)
        members.setdefault("renewer", self._renewer)
        return Call(exchange, request, wire, self._client, self._grpc, credentials, self._push, **members)


def _context(
    target: Target, operation: Operation, request: Request, request_id: str, task_id: str, context_id: str, label: str
) -> CallContext:
    """Return the `CallContext` of a call; raises `FaultError` if the interface does not have the operation."""
    choice = target.choice
    dialect, binding = choice.dialect, choice.binding
    if not binding.offers(dialect, operation):
        raise usage_error(f"{not_offered(operation, choice)}.")
    return CallContext(
        operation,
        dialect,
        binding,
        request_id,
        task_id,
        context_id,
        request,
        card=target.card,
        interface=choice.interface,
        label=label,
    )
