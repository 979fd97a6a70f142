"""A call to an agent: the request that goes out, the records of the exchange, and the fault if it failed."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import httpx

from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import BY_NAME, Fault, FaultCode, ProtocolError, Whose
from inspector.protocol.model import Request, Unreadable
from inspector.protocol.operations import Operation
from inspector.session.compose.checks import MessageWarning
from inspector.session.exchange import UNANSWERED, Exchange
from inspector.session.push.service import PushService
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.faults import explain
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Ending, Observation, Sent
from inspector.wire.client.upload import Upload
from inspector.wire.discovery import REDIRECTS

_HINTS = {
    "VersionNotSupportedError": "Connect again with another generation: --a2a-version 0.3 or 1.0.",
    "MethodNotFoundError": "The agent may speak another generation than its card says: try --a2a-version.",
    "TaskNotFoundError": "Agents forget tasks when they restart; check the id.",
    "TaskNotCancelableError": "The task has ended; its state tells how.",
    "PushNotificationNotSupportedError": "Send without push; the card should say pushNotifications: false.",
    "InvalidParamsError": "The error's data, where there is any, names the member.",
    "ContentTypeNotSupportedError": "Compare the parts with the input modes on the card.",
    "ExtensionSupportRequiredError": "The card names the extension; activate it with --svc-param.",
}
_ENDED = "A task that has ended takes no more messages: start a new one in the same context."
"""The usual meaning of an UnsupportedOperationError for a message."""
_LOOK = "The agent's log may tell more."
_DENIED = {"UNAUTHENTICATED": FaultCode.CREDENTIALS_MISSING, "PERMISSION_DENIED": FaultCode.AUTH_FAILED}
"""The gRPC statuses that correspond to HTTP 401 and 403."""
_GIVE = "Give them with --bearer or --header; they go to the origin that you typed, and to no other."
_SENDABLE = ("http://", "https://", "grpc://", "grpcs://")
_BODY_QUOTE = 120


@dataclass(slots=True, eq=False)
class Call:
    """A request that is ready to be sent; iterate over it to send it, then read `exchange` and `fault`.

    `wire` is the request without credentials: exactly its bytes are previewed and sent. `webhook` is the registration
    that it contains, `warnings` what the card and the protocol say against it. A `raw` request keeps its own headers
    where the credentials have the same ones. `upload` counts the bytes of a large body that were sent.
    """

    exchange: Exchange
    request: Request
    wire: WireRequest
    http: Client
    grpc: GrpcClient
    credentials: Credentials
    push: PushService
    webhook: WebhookRegistration | None = None
    warnings: tuple[MessageWarning, ...] = ()
    raw: bool = False
    upload: Upload = field(default_factory=Upload, init=False)

    @property
    def length(self) -> int:
        """Return the length of the body in bytes, files included."""
        return self.wire.length if isinstance(self.wire, HttpRequest) else len(self.wire.body)

    def signed(self) -> WireRequest:
        """Return the request with the credentials, which are secret."""
        if isinstance(self.wire, GrpcRequest):
            return self.credentials.sign_call(self.wire, theirs=self.raw)
        return self.credentials.sign(self.wire, theirs=self.raw)

    def preview(self) -> Sent | Fault:
        """Return the request as it will be recorded, secrets masked, or why it cannot be sent."""
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

    async def __aiter__(self) -> AsyncGenerator[Answer | TextAppended, None]:
        """Send the request and yield each answer once it is recorded; leaving early ends the call on the wire."""
        exchange, webhook = self.exchange, self.webhook
        if webhook is not None:
            self.push.keep(webhook)
        try:
            async with aclosing(self._observe()) as seen:
                async for observation in seen:
                    exchange.take(observation)
                    if webhook is not None and exchange.task_id:
                        webhook.task_id = exchange.task_id
                    exchange.journal.notify()
                    for said in tuple(exchange.said):
                        yield said
        finally:
            exchange.stop(time.time())
            self.push.hooks.learn(self.request, exchange.answer, self.fault, webhook, exchange.task_id)
            exchange.journal.notify()

    async def finish(self) -> Fault | None:
        """Send the request, wait for the end of the exchange and return the fault, or None."""
        async for _ in self:
            pass
        return self.fault

    @property
    def fault(self) -> Fault | None:
        """Return what went wrong, or None where the agent answered."""
        return fault_of(self.exchange)


def fault_of(exchange: Exchange) -> Fault | None:
    """Return what went wrong, secrets masked, or None where the agent answered or we stopped the call.

    An error of the agent keeps its protocol name. A stream that broke off after events is a fault, too.
    """
    fault = _fault_of(exchange)
    return replace(fault, seen=exchange.journal.redactor.text(fault.seen)) if fault else None


def _fault_of(exchange: Exchange) -> Fault | None:
    answer, status = exchange.answer, exchange.head.status if exchange.head else 0
    if status in UNANSWERED:
        return _of_status(exchange)
    if isinstance(answer, ProtocolError):
        fault = of_error(answer)
        sending = exchange.call.operation in (Operation.SEND, Operation.STREAM)
        unsupported = fault.code == "UnsupportedOperationError"
        return replace(fault, hint=_ENDED) if unsupported and sending else fault
    if status >= 300:
        return _of_status(exchange)
    if exchange.fault is not None:
        by_card = exchange.call.request is not None  # a raw request has its own URL
        return _of_url(exchange.fault) if by_card and _is_no_url(exchange) else exchange.fault
    if isinstance(answer, Unreadable):
        return Fault(
            Whose.AGENT,
            "InvalidAgentResponseError",
            f"The answer cannot be read: {answer.why}.",
            "The raw bytes are in the capture; is this the url of the interface?",
        )
    if answer is None and exchange.ending is not Ending.STOPPED:
        return Fault(
            Whose.AGENT,
            "InvalidAgentResponseError",
            "The agent answered with nothing.",
            "A call is answered with a result or an error; look at the agent's log.",
        )
    return None


def _is_no_url(exchange: Exchange) -> bool:
    """Return whether a call failed because the URL of the interface is not valid for a request."""
    summary = exchange.journal.exchanges.get(exchange.number)
    sendable = summary is not None and summary.url.startswith(_SENDABLE)
    return exchange.fault is not None and exchange.fault.code == FaultCode.USAGE and not sendable


def _of_url(fault: Fault) -> Fault:
    """Return the fault with the card as its cause, because the card contains the URL."""
    return replace(fault, whose=Whose.AGENT, code=FaultCode.UNREACHABLE, hint="The card has to name another url.")


def of_error(error: ProtocolError) -> Fault:
    """Return the fault for an error response."""
    kind = BY_NAME.get(error.name)
    meaning = f"{kind.meaning[0].upper()}{kind.meaning[1:]}" if kind else "The agent answered with an error"
    if error.name in _DENIED:
        return Fault(Whose.YOURS, _DENIED[error.name], f"The agent demands credentials ({error.words}).", _GIVE)
    return Fault(Whose.AGENT, error.name, f"{meaning} ({error.words}).", _HINTS.get(error.name, _LOOK), error)


def _of_status(exchange: Exchange) -> Fault:
    head = exchange.head
    if head is None:
        raise ValueError("an exchange without a response has no status")
    if head.status in (401, 403):
        missing = head.status == 401
        asked = head.header("www-authenticate")
        return Fault(
            Whose.YOURS,
            FaultCode.CREDENTIALS_MISSING if missing else FaultCode.AUTH_FAILED,
            f"The agent demands credentials: {head.status} {head.reason}{f', {asked}' if asked else ''}.",
            _GIVE,
        )
    if head.status in REDIRECTS:
        return Fault(
            Whose.AGENT,
            FaultCode.UNREACHABLE,
            f"The interface redirects ({head.status}) to {head.header('location') or 'nowhere'}.",
            "A POST is not sent on unasked: correct the url on the card, often a slash at its end.",
        )
    why = f": {exchange.answer.why}" if isinstance(exchange.answer, Unreadable) else ""
    return Fault(
        Whose.AGENT,
        FaultCode.UNREACHABLE if head.status in (404, 405, 502, 503, 504) else FaultCode.INTERNAL,
        f"The interface answered {head.status} {head.reason}{why[:_BODY_QUOTE]}.",
        "Is the url on the card the one where the agent listens?" if head.status in (404, 405) else _LOOK,
    )
