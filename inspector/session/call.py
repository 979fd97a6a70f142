"""A call to an agent: its request, its exchange, and its fault if it failed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

import httpx

from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import BY_NAME, INVALID_RESPONSE, Fault, FaultCode, FaultKind, ProtocolError, Whose
from inspector.protocol.http_status import REDIRECTING, UNROUTED
from inspector.protocol.jsonvalue import WEB_PAGE
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Request, Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import unframed_events
from inspector.session.denial import denial, explain_head, explain_rejected, explain_token
from inspector.session.exchange import UNANSWERED, Exchange
from inspector.session.hints import (
    CHECK_GATEWAY,
    CHECK_LOG,
    CHECK_RESPONSE,
    SEND_EVENT_STREAM,
    STREAM_LEFT_OPEN,
    Situation,
    hint_of,
)
from inspector.session.payload import error_text
from inspector.session.retry_after import retry_hint
from inspector.session.stall_meter import StallMeter
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.faults import explain
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Ending, Head, Observation, Sent
from inspector.wire.client.upload import Upload

if TYPE_CHECKING:  # most commands use neither
    from inspector.session.compose.checks import MessageWarning
    from inspector.session.push.service import PushService
    from inspector.session.push.webhook_registration import WebhookRegistration

_GATEWAY = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
"""The statuses with which a proxy reports that it did not reach the agent."""
_STATUS_CODES = {
    "UNAVAILABLE": FaultCode.UNREACHABLE,
    "DEADLINE_EXCEEDED": FaultCode.UNREACHABLE,
    "INTERNAL": "InternalError",
}
"""The codes for statuses of gRPC without details: the same as for 503, 504 and 500 over HTTP."""
_DENYING_STATUSES = {"UNAUTHENTICATED": HTTPStatus.UNAUTHORIZED, "PERMISSION_DENIED": HTTPStatus.FORBIDDEN}
"""The gRPC statuses that deny a call, with the HTTP statuses of the same meaning."""


class Renewer(Protocol):
    """Renews tokens before they expire."""

    async def renew(self, url: str) -> Credentials | None:
        """Return other credentials for a URL if its token expires soon, None if nothing has changed."""

    def why_not_renewed(self, url: str) -> str:
        """Return why the token for a URL could not be renewed, `""` if it was not tried or succeeded."""


@dataclass(slots=True, eq=False)
class Call:
    """A request to send: iterate over it to send it, then read `exchange` and `fault`.

    `wire` is the request without credentials, `webhook` the webhook that it registers. `push` returns the push service,
    None if the session has not used it. If `raw`, credentials do not replace headers of `wire`.
    `renewer` renews a token that expires, None for credentials that stay as they are. `upload` counts the bytes of the
    body that were sent.
    """

    exchange: Exchange
    request: Request
    wire: WireRequest
    http: Client
    grpc: GrpcClient
    credentials: Credentials
    push: Callable[[], PushService | None]
    webhook: WebhookRegistration | None = None
    warnings: tuple[MessageWarning, ...] = ()
    raw: bool = False
    renewer: Renewer | None = None
    upload: Upload = field(default_factory=Upload, init=False)

    @property
    def length(self) -> int:
        """Return the length of the body in bytes, files included."""
        return self.wire.length if isinstance(self.wire, HttpRequest) else len(self.wire.body)

    def signed(self) -> WireRequest:
        """Return the request with the credentials, which are secret."""
        if isinstance(self.wire, GrpcRequest):
            return self.credentials.sign_call(self.wire, keep_headers=self.raw)
        return self.credentials.sign(self.wire, keep_headers=self.raw)

    def preview(self) -> Sent | Fault:
        """Return the request as it will be recorded, with masked secrets, or the reason why it cannot be sent."""
        wire = self.signed()
        try:
            seen = self.grpc.preview(wire) if isinstance(wire, GrpcRequest) else self.http.preview(wire)
        except (httpx.InvalidURL, ValueError) as error:
            return explain(error, wire.url)
        redactor = self.exchange.journal.redactor
        body = self.exchange.mask(seen.body, asked=True)
        return replace(seen, url=redactor.url(seen.url), headers=redactor.headers(seen.headers), body=body)

    def _observe(self) -> AsyncGenerator[Observation, None]:
        wire = self.signed()
        if isinstance(wire, GrpcRequest):
            return self.grpc.exchange(wire)
        self.upload = Upload(wire.length)
        return self.http.exchange(wire, self.upload)

    async def __aiter__(self) -> AsyncGenerator[Sequence[Answer | TextAppended], None]:
        """Send the request and yield the answers that arrive together once they are recorded.

        Closing the iterator ends the call.
        """
        exchange, webhook, push, stalls = self.exchange, self.webhook, self.push(), StallMeter()
        if self.renewer is not None:
            self.credentials = await self.renewer.renew(self.wire.url) or self.credentials
        if webhook is not None and push is not None:
            push.confirm(webhook)
        try:
            async with aclosing(self._observe()) as seen:
                async for observation in seen:
                    exchange.stalled = stalls.seconds
                    exchange.take(observation)
                    if exchange.has_ended_task:
                        stalls.start(observation.at)  # handling it may already have been delayed
                    if webhook is not None and exchange.task_id:
                        webhook.task_id = exchange.task_id
                    if exchange.answers:
                        yield tuple(exchange.answers)
                    exchange.journal.notify()  # called last, so that findings are printed after their events
        finally:
            stalls.stop()
            exchange.stalled = stalls.seconds
            exchange.stop(time.time())
            push = self.push()
            if push is not None:
                push.registrations.update(self.request, exchange.answer, self.fault, webhook, exchange.task_id)
            exchange.journal.notify()

    async def finish(self) -> Fault | None:
        """Send the request, wait for the end of the exchange and return the fault, or None."""
        async for _ in self:
            pass
        return self.fault

    @property
    def fault(self) -> Fault | None:
        """Return the reason why the call failed, None if it did not."""
        fault = fault_of(self.exchange)
        if fault is None or not self.credentials.are_for(self.wire.url):
            return fault
        fault = explain_rejected(fault, self.exchange.circumstances.card)
        why = self.renewer.why_not_renewed(self.wire.url) if self.renewer is not None and fault.denied else ""
        seen = f"{fault.seen} The token was not renewed: {why}"
        return replace(fault, seen=self.exchange.journal.redactor.text(seen)) if why else fault


def fault_of(exchange: Exchange) -> Fault | None:
    """Return the reason why a call failed, with masked secrets; None if it succeeded or was stopped by us."""
    fault, head = _fault_of(exchange), exchange.head
    if fault is None:
        return None
    hint = (retry_hint(head) if head is not None else "") or fault.hint
    return replace(fault, seen=exchange.journal.redactor.text(fault.seen), hint=hint)


def _fault_of(exchange: Exchange) -> Fault | None:
    answer, head = exchange.answer, exchange.head
    if head is not None and head.status in UNANSWERED:
        return _of_status(exchange, head)
    if isinstance(answer, ProtocolError):
        return _of_error(exchange, answer)
    if head is not None and head.status >= 300:
        return _of_status(exchange, head)
    if exchange.fault is not None:
        return _of_timeout(exchange, _of_interface(exchange, _of_url(exchange, exchange.fault)))
    if isinstance(answer, Unreadable):
        return _of_unreadable(exchange, answer)
    if answer is None and exchange.ending is not Ending.STOPPED:
        streamed = head is not None and head.streamed
        seen = "The stream ended without an event." if streamed else "The response has neither a result nor an error."
        return Fault(Whose.AGENT, INVALID_RESPONSE, seen, CHECK_LOG)
    return None


def _of_unreadable(exchange: Exchange, answer: Unreadable) -> Fault:
    hint, head = CHECK_RESPONSE, exchange.head
    should_stream = exchange.context.operation in STREAMING and head is not None and not head.streamed
    if answer.why == WEB_PAGE:
        hint = "The URL of the interface may be wrong: check it on the card."
    elif should_stream and (events := unframed_events(str(answer.value).encode("utf-8", "replace"))):
        named = f"has the Content-Type {exchange.content_type}" if exchange.content_type else "has no Content-Type"
        seen = f"The response to a streaming call {named}, but its body is {events}."
        return Fault(Whose.AGENT, INVALID_RESPONSE, seen, SEND_EVENT_STREAM, kind=FaultKind.UNFRAMED_EVENTS)
    return Fault(Whose.AGENT, INVALID_RESPONSE, f"The response could not be read: {answer.why}.", hint)


def _of_url(exchange: Exchange, fault: Fault) -> Fault:
    """Attribute a fault to the card if the URL of the interface on the card is not valid for a request."""
    if exchange.context.request is None or fault.kind is not FaultKind.INVALID_URL:  # a raw request has its own URL
        return fault
    return replace(fault, whose=Whose.AGENT, code=FaultCode.CARD_INVALID, hint="Correct the URL on the card.")


def _of_interface(exchange: Exchange, fault: Fault) -> Fault:
    """Add to a fault that the card has the address that could not be reached, unless the card is from this server."""
    context, card = exchange.context, exchange.context.card
    is_from_card = context.request is not None and card and context.interface in card.supported_interfaces
    if fault.code != FaultCode.UNREACHABLE or exchange.head is not None or not is_from_card or _is_reached(exchange):
        return fault
    hint = f"This is the address of the interface on the card: correct it there if it is wrong. {fault.hint}"
    return replace(fault, hint=hint.strip())


def _of_timeout(exchange: Exchange, fault: Fault) -> Fault:
    """Return a fault with what is known about the task if the response did not end in time."""
    if fault.code != FaultCode.TIMEOUT:
        return fault
    tracked = exchange.tasks.get(exchange.task_id)
    if tracked is not None and is_terminal(tracked.now.state):
        state = short(tracked.now.state)
        return replace(fault, seen=f"The task is {state}, but the agent did not end the stream.", hint=STREAM_LEFT_OPEN)
    streams = not exchange.circumstances.undeclared_capability(Operation.STREAM)
    if streams and exchange.context.operation is Operation.SEND:
        return replace(fault, hint=f"{fault.hint.removesuffix('.')} or with streaming.")
    return fault


def _of_error(exchange: Exchange, error: ProtocolError) -> Fault:
    """Return the fault for an error response."""
    kind = BY_NAME.get(error.name)
    meaning = f"{kind.meaning[0].upper()}{kind.meaning[1:]}" if kind else "The agent returned an error"
    if error.name in _DENYING_STATUSES:
        status = _DENYING_STATUSES[error.name]
        return denial(status, f" ({error.words})", explain_token(status, (), error.message, exchange.sent_token))
    context, tracked = exchange.context, exchange.tasks.get(exchange.context.task_id)
    state = tracked.now.state if tracked else ""
    about = Situation(context.operation, context.dialect, context.request, error, exchange.circumstances, state)
    code = _STATUS_CODES.get(error.name, error.name)
    number = f", code {error.code}" if kind is None and not error.called and error.code is not None else ""
    return Fault(Whose.AGENT, code, f"{meaning} ({error.words}{number}).", hint_of(about), error)


def _of_status(exchange: Exchange, head: Head) -> Fault:
    answer = exchange.answer
    reason = error_text(answer).rstrip(".") if isinstance(answer, Unreadable) else ""
    if fault := explain_head(head, exchange.sent_token):
        unexplained = reason and fault.kind is FaultKind.UNEXPLAINED_DENIAL
        return replace(fault, seen=f"{fault.seen.removesuffix('.')}: {reason}.") if unexplained else fault
    if head.status in REDIRECTING:
        seen = f"The interface redirects ({head.status}) to {head.header('location') or 'no location'}."
        hint = "Redirects of calls are not followed: correct the URL on the card, for example its trailing slash."
        return Fault(Whose.AGENT, INVALID_RESPONSE, seen, hint)
    seen = f"The interface returned {head.status} {head.reason}{f': {reason}' if reason else ''}."
    if head.status in _GATEWAY:
        return Fault(Whose.AGENT, FaultCode.UNREACHABLE, seen, CHECK_GATEWAY)
    if head.status not in UNROUTED:
        return Fault(Whose.AGENT, "InternalError" if head.status >= 500 else INVALID_RESPONSE, seen, CHECK_LOG)
    hint = "Check that the card has the URL where the agent listens."
    if _is_reached(exchange):
        hint = f"The agent may not have the operation {exchange.context.operation}, or the card has a wrong URL."
    return Fault(Whose.AGENT, INVALID_RESPONSE, seen, hint)


def _is_reached(exchange: Exchange) -> bool:
    """Return whether the server of the interface has served the card or answered another call before."""
    exchanges = exchange.journal.exchanges
    summary = exchanges.get(exchange.number)
    return summary is not None and exchanges.has_succeeded(summary.url)
