"""One call under way: what goes out, the records that come of it, and what it came to."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.errors import Fault
from inspector.protocol.model import Request
from inspector.session.exchange import Exchange
from inspector.session.outcome import fault_of
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.wire.client.faults import explain
from inspector.wire.client.observations import Observation, Sent
from inspector.wire.client.upload import Upload

if TYPE_CHECKING:
    from inspector.session.session import Session


class Turn:
    """One call: iterate over it to drive it, and read from it afterwards what it came to.

    `wire` is what goes out, before the credentials are on it; `by_hand` says that its headers stand above those of the
    credentials. `hook` is the webhook that was registered with it. `upload` tells how much of a large body is on its
    way.
    """

    def __init__(self, session: Session, exchange: Exchange, request: Request, wire: WireRequest) -> None:
        self._session = session
        self.exchange = exchange
        self.request = request
        self.wire = wire
        self.by_hand = False
        self.hook: WebhookRegistration | None = None
        self.upload = Upload()

    @property
    def length(self) -> int:
        """Return how many bytes the body has, files included."""
        return self.wire.length if isinstance(self.wire, HttpRequest) else len(self.wire.body)

    def signed(self) -> WireRequest:
        """Return what goes out, with the credentials on it: they are secret."""
        credentials = self._session.credentials
        if isinstance(self.wire, GrpcRequest):
            return credentials.sign_call(self.wire, theirs=self.by_hand)
        return credentials.sign(self.wire, theirs=self.by_hand)

    def know(self, *words: str) -> None:
        """Keep beside the request, in the capture, what spoke against it when it was sent all the same."""
        call = self.exchange.call
        self.exchange.call = replace(call, knowing=(*call.knowing, *words))

    def preview(self) -> Sent | Fault:
        """Return what the tap will record of the request, secrets masked, or why it cannot go out at all."""
        session, wire = self._session, self.signed()
        try:
            seen = session.grpc.preview(wire) if isinstance(wire, GrpcRequest) else session.client.preview(wire)
        except (httpx.InvalidURL, ValueError) as error:
            return explain(error, wire.url)
        redactor = session.journal.redactor
        return replace(
            seen,
            url=redactor.url(seen.url),
            headers=redactor.headers(seen.headers),
            body=self.exchange.mask(seen.body, asked=True),
        )

    def _observe(self) -> AsyncGenerator[Observation, None]:
        wire = self.signed()
        if isinstance(wire, GrpcRequest):
            return self._session.grpc.exchange(wire)
        self.upload = Upload(wire.length)
        return self._session.client.exchange(wire, self.upload)

    async def __aiter__(self) -> AsyncGenerator[Answer | TextAppended, None]:
        """Send the call and yield what the agent says, once it is recorded; leaving early ends the call on the wire."""
        exchange, session = self.exchange, self._session
        if self.hook is not None:
            session.push.keep(self.hook)
        try:
            async with aclosing(self._observe()) as seen:
                async for observation in seen:
                    exchange.take(observation)
                    if self.hook is not None and exchange.task_id:
                        self.hook.task_id = exchange.task_id
                    session.journal.notify()
                    for said in tuple(exchange.said):
                        yield said
        finally:
            exchange.stop(time.time())
            session.push.hooks.learn(self.request, exchange.answer, self.fault, self.hook, exchange.task_id)
            session.journal.notify()

    async def finish(self) -> Fault | None:
        """Drive the call to its end and return what went wrong, or None."""
        async for _ in self:
            pass
        return self.fault

    @property
    def fault(self) -> Fault | None:
        """Return what went wrong, or None where the agent answered."""
        return fault_of(self.exchange)
