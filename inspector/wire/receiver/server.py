"""The webhook receiver: an HTTP server that reports every request, including rejected requests."""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Callable
from typing import TypeAlias, cast

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.streams import StreamReader

from inspector.protocol.errors import FaultError
from inspector.text.host import authority
from inspector.wire.client.observations import head_text
from inspector.wire.receiver.checks import BoundedCache, Report
from inspector.wire.receiver.connection import (
    Connection,
    ReceiverLimits,
    ReceiverState,
    accepted_response,
    make_response,
    next_bytes,
)
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, Delivery, RequestHead
from inspector.wire.receiver.listen_address import ListenAddress, listening_socket
from inspector.wire.receiver.loop_budget import LoopBudget
from inspector.wire.receiver.registration import Registration, WebhookAuth, path_of
from inspector.wire.receiver.response_override import ACCEPT, Manner, ResponseOverrides, WebhookResponse
from inspector.wire.receiver.verdict import PushBody, PushRequest, check_body, check_head

_BACKLOG = 512
"""How many connections the operating system may queue until they are accepted."""
_BEARER = WebhookAuth()
_MOST_JWTS = 10_000
_MOST_HEADS = 256
_HeadKey: TypeAlias = tuple[str, str, tuple[tuple[bytes, bytes], ...]]
"""A request head in aiohttp's types: method, target, headers."""
_TRUNCATED_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n{"


class Receiver:
    """Listens for push notifications and passes each of them, accepted or rejected, to `on_delivery`.

    - `on_delivery` is called in the event loop before the response. If it raises, the response is 500, and the event
      loop's exception handler gets the error.
    - `host` is an IP address; with `tls` the receiver serves https.
    - `public_url` is the url for agents that cannot use the address itself (tunnel, container).
    - `overrides` are the responses that the user set for accepted deliveries.

    Stopping the receiver removes all registrations.
    """

    def __init__(
        self,
        on_delivery: Callable[[Delivery], None],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        public_url: str | None = None,
        tls: ssl.SSLContext | None = None,
        limits: ReceiverLimits | None = None,
        overrides: ResponseOverrides | None = None,
    ) -> None:
        self.limits = limits or ReceiverLimits()
        self._bind_to = (host, port)
        self._public_url = public_url
        self._tls = tls
        self._state = ReceiverState(self.limits, on_delivery)
        self._address: ListenAddress | None = None
        self._server: asyncio.Server | None = None
        self._registrations: dict[str, Registration] = {}
        self._verified: BoundedCache[_HeadKey, PushRequest] = BoundedCache(_MOST_HEADS)
        self._budget = LoopBudget()
        self._count = 0
        self._used_jwts: BoundedCache[str, None] = BoundedCache(_MOST_JWTS)
        self.overrides = ResponseOverrides() if overrides is None else overrides
        self._buffered = 0
        self._pending = 0
        self._idle = asyncio.Event()

    @property
    def running(self) -> bool:
        """Return whether the receiver accepts connections."""
        return self._state.open

    @property
    def address(self) -> tuple[str, int]:
        """Return the IP address and the port; raises `RuntimeError` before the first start."""
        return self._at.host, self._at.port

    @property
    def authority(self) -> str:
        """Return the IP address and the port as in a URL; raises `RuntimeError` before the first start."""
        return authority(*self.address)

    @property
    def base_url(self) -> str:
        """Return the url of every registration without its path; raises `RuntimeError` before the first start."""
        return self._at.base_url

    @property
    def advertised(self) -> str:
        """Return the public url, `""` if agents use the address of the receiver."""
        return self._public_url or ""

    @property
    def _at(self) -> ListenAddress:
        if self._address is None:
            raise RuntimeError("the receiver has not been started")
        return self._address

    async def start(self) -> None:
        """Start listening, unless running; raises `FaultError` if the address or the public url cannot be used."""
        if self.running:
            return
        listener = listening_socket(*self._bind_to)
        host, port = listener.getsockname()[:2]
        try:
            self._address = ListenAddress.at(host, port, self._public_url, tls=self._tls is not None)
        except FaultError:
            listener.close()
            raise
        loop = asyncio.get_running_loop()
        manager = web.Server(self._handle, request_factory=self._begin)
        self._state.open = True
        self._server = await loop.create_server(
            lambda: Connection(self._state, manager, loop, self._tls), sock=listener, backlog=_BACKLOG
        )

    async def stop(self) -> None:
        """Stop listening and close all connections; requests that are being received are reported as incomplete."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._registrations.clear()
        self._verified.clear()
        await self._state.close()

    def register(self, auth: WebhookAuth = _BEARER, token: str = "") -> Registration:
        """Create a registration with a secret path, and with a random token unless `token` is set."""
        if not self.running:
            raise RuntimeError("the receiver is not running")
        self._count += 1
        path = f"/push/{secrets.token_urlsafe(24)}"
        token = token or _new_token()
        registration = Registration(self._count, path, token, self.base_url + path, time.time(), auth)
        self._registrations[path] = registration
        return registration

    def forget(self, registration: Registration) -> None:
        """Remove a registration; later requests to its path are rejected with 404."""
        self._registrations.pop(registration.path, None)
        self._verified.clear()

    async def all_answered(self) -> None:
        """Wait until every delivery was answered.

        aiohttp writes a response in the same step of the event loop in which `_handle` returns it.
        """
        while self._pending:
            self._idle.clear()
            await self._idle.wait()

    def yield_to_input(self) -> None:
        """Process fewer deliveries for a moment, because a key was pressed."""
        self._budget.yield_to_input()

    def _begin(
        self,
        message: RawRequestMessage,
        content: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        cast(Connection, protocol).begin_body(content)
        return web.BaseRequest(message, content, protocol, writer, task, asyncio.get_running_loop())

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Process a request, and count it as pending until its response is returned."""
        self._pending += 1
        try:
            return await self._respond(request)
        finally:
            self._pending -= 1
            if not self._pending:
                self._idle.set()

    async def _respond(self, http: web.BaseRequest) -> web.StreamResponse:
        """Run the checks, report the delivery and return its response."""
        if not self._budget.free:
            await self._budget.wait()
        connection = cast(Connection, http.protocol)
        request, head = self._check_head(http)
        body = await self._read_body(http, request, refused=bool(head.refused))
        checked = check_body(PushBody(request, body, bool(head.refused)))
        status, refused = head.status, head.refused
        if body.outcome is BodyOutcome.WHOLE:
            status, refused = (status, refused) if refused else (checked.status, checked.refused)
        elif not refused or not body.outcome.status:
            status, refused = body.outcome.status, refused or body.why
        override = ACCEPT
        if not refused:
            override = WebhookResponse(200) if request.echo else self.overrides.next_response(request.registration)
            status = override.status
        delivery = connection.current.delivery(
            request.head,
            body,
            status=status,
            refused=refused,
            registration=request.registration,
            checks=head.checks + checked.checks,
            response=override,
            challenge=bool(request.echo),
            head_known=request.known,
        )
        if request.jwt is not None and delivery.accepted:
            self._used_jwts.keep(request.jwt.identity, None)
        with self._budget:
            self._state.report(delivery)
        if override is ACCEPT and delivery.accepted:
            connection.end_body()
            return accepted_response(http)
        url = request.registration.url if request.registration else ""
        response = make_response(status, delivery.refused or request.echo, override.headers(url))
        if body.outcome is not BodyOutcome.WHOLE:
            await connection.respond_early(http, response)
            return response
        connection.end_body()
        await _apply(override, connection)
        return response

    def _check_head(self, http: web.BaseRequest) -> tuple[PushRequest, Report]:
        """Check the head of a request, reusing the results of an identical head."""
        key = (http.method, http.raw_path, http.raw_headers)
        known = self._verified.get(key)
        request = self._read_head(http) if known is None else known
        report = check_head(request)
        # Rejected heads must not displace accepted heads.
        if known is None and request.repeatable and not report.refused:
            self._verified.keep(key, request)
        return request, report

    def _read_head(self, http: web.BaseRequest) -> PushRequest:
        head = RequestHead(
            http.method,
            head_text(http.raw_path.encode("utf-8", "surrogateescape")),
            tuple((head_text(name), head_text(value)) for name, value in http.raw_headers),
        )
        path = path_of(head.target).removeprefix(self._at.prefix)
        return PushRequest(head, self._registrations.get(path), self._at, used=self._used_jwts)

    async def _read_body(self, http: web.BaseRequest, request: PushRequest, *, refused: bool) -> BodyRead:
        """Read the body; of a rejected or too long body, only the part that is recorded."""
        limits, declared, waits = self.limits, request.declared, request.expects_continue
        most, why = limits.rejected_body if refused else limits.body, ""
        content, fits = http.content, 0 < declared <= min(most, limits.all_bodies - self._buffered)
        if fits and not waits and content.is_eof() and content.exception() is None:
            return BodyRead(content.read_nowait(), BodyOutcome.WHOLE)  # most bodies arrive together with their head
        if refused and waits:
            why = "the body was not requested (no 100 Continue), because the head was rejected"
        elif declared > limits.body and not refused:
            why = f"Content-Length is {declared:,} bytes, the limit is {limits.body:,}"
        if why:
            came = await self._read(http, limits.rejected_body, 0)
            return BodyRead(came.data, BodyOutcome.CUT, why)
        return await self._read(http, most, limits.seconds, send_continue=waits)

    async def _read(
        self, request: web.BaseRequest, most: int, seconds: float, *, send_continue: bool = False
    ) -> BodyRead:
        content, read, outcome = request.content, bytearray(), BodyOutcome.WHOLE
        try:
            if send_continue:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(None if content.is_eof() else seconds):
                while outcome is BodyOutcome.WHOLE and not content.at_eof():
                    chunk = await next_bytes(request)
                    read += chunk
                    self._buffered += len(chunk)
                    if len(read) > most:
                        outcome = BodyOutcome.CUT
                    elif self._buffered > self.limits.all_bodies:
                        outcome = BodyOutcome.CROWDED
        except TimeoutError:
            outcome = BodyOutcome.SLOW
        except web.RequestPayloadError:
            outcome = BodyOutcome.MALFORMED
        except ConnectionError:
            outcome = BodyOutcome.BROKEN if self.running else BodyOutcome.STOPPED
        finally:
            self._buffered -= len(read)
        if outcome is BodyOutcome.WHOLE:
            return BodyRead(bytes(read), outcome)
        why = outcome.words.format(most=most, size=len(read), seconds=seconds)
        return BodyRead(bytes(read[: self.limits.rejected_body]), outcome, why)


async def _apply(response: WebhookResponse, connection: Connection) -> None:
    """Wait for the delay; then, depending on the `Manner`, send nothing, reset the connection, or truncate."""
    if response.delay:
        await connection.wait(response.delay)
    match response.manner:
        case Manner.NEVER:
            await connection.wait(None)
        case Manner.RESET:
            connection.cut_off()
        case Manner.TRUNCATED:
            connection.cut_off(_TRUNCATED_RESPONSE)
        case Manner.WHOLE:
            pass


def _new_token() -> str:
    """Return a random token without a leading dash, so that it can be the value of a command-line option."""
    return secrets.token_urlsafe(32).replace("-", "_")
