"""The webhook receiver: an HTTP server that reports every push request, including rejected ones."""

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
from inspector.wire.client.observations import head_text
from inspector.wire.receiver.checks import Report, VerifiedCache
from inspector.wire.receiver.connection import Connection, ReceiverLimits, Room, accept, answer, next_bytes
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, Delivery, RequestHead
from inspector.wire.receiver.listen_address import ListenAddress, listening_socket
from inspector.wire.receiver.loop_budget import LoopBudget
from inspector.wire.receiver.registration import Registration, WebhookAuth
from inspector.wire.receiver.response_override import ACCEPT, Manner, ResponseOverrides, WebhookResponse
from inspector.wire.receiver.verdict import PushBody, PushRequest, check_body, check_head

_BACKLOG = 512
"""How many connections the system may queue for us."""
_BEARER = WebhookAuth()
_MOST_JWTS = 10_000
_MOST_HEADS = 256
_Head: TypeAlias = tuple[str, str, tuple[tuple[bytes, bytes], ...]]
"""A head as aiohttp has it: method, target, headers."""
_CUT_SHORT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n{"


class Receiver:
    """Listens for push notifications and passes every one, refused or not, to `on_delivery`.

    `on_delivery` is called in the event loop, once for each delivery and before the response; if it raises, the
    sender gets a 500 and the event loop's exception handler the error. `host` is an IP address, `public_url` the url
    for agents if they need another one (a tunnel, a container); with `tls` it serves https. `stop` ends all
    registrations. `overrides` has the responses that the user set for accepted deliveries.
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
        self._wanted = (host, port)
        self._public_url = public_url
        self._tls = tls
        self._room = Room(self.limits, on_delivery)
        self._address: ListenAddress | None = None
        self._server: asyncio.Server | None = None
        self._registrations: dict[str, Registration] = {}
        self._verified: VerifiedCache[_Head, PushRequest] = VerifiedCache(_MOST_HEADS)
        self._budget = LoopBudget()
        self._made = 0
        self._used: VerifiedCache[str, None] = VerifiedCache(_MOST_JWTS)
        self.overrides = ResponseOverrides() if overrides is None else overrides
        self._held = 0
        self._taking = 0
        self._idle = asyncio.Event()

    @property
    def running(self) -> bool:
        """Return whether the receiver accepts connections."""
        return self._room.open

    @property
    def address(self) -> tuple[str, int]:
        """Return the IP address and the port of the receiver; RuntimeError before the first start."""
        return self._at.host, self._at.port

    @property
    def base_url(self) -> str:
        """Return the beginning of the url of every registration; RuntimeError before the first start."""
        return self._at.base_url

    @property
    def advertised(self) -> str:
        """Return the public url for agents, `""` if that is the address itself."""
        return self._public_url or ""

    @property
    def _at(self) -> ListenAddress:
        if self._address is None:
            raise RuntimeError("the receiver has not been started")
        return self._address

    async def start(self) -> None:
        """Listen, unless running; raises `FaultError` if the address or the public url is not usable."""
        if self.running:
            return
        listener = listening_socket(*self._wanted)
        host, port = listener.getsockname()[:2]
        try:
            self._address = ListenAddress.at(host, port, self._public_url, tls=self._tls is not None)
        except FaultError:
            listener.close()
            raise
        loop = asyncio.get_running_loop()
        manager = web.Server(self._take, request_factory=self._begin)
        self._room.open = True
        self._server = await loop.create_server(
            lambda: Connection(self._room, manager, loop, self._tls), sock=listener, backlog=_BACKLOG
        )

    async def stop(self) -> None:
        """Stop listening, and close all connections; requests that were being received are reported."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._registrations.clear()
        self._verified.clear()
        await self._room.close()

    def register(self, auth: WebhookAuth = _BEARER, token: str = "") -> Registration:
        """Make a registration with a secret path, and with a secret token unless one is given."""
        if not self.running:
            raise RuntimeError("the receiver is not running")
        self._made += 1
        path = f"/push/{secrets.token_urlsafe(24)}"
        token = token or _new_token()
        made = Registration(self._made, path, token, self.base_url + path, time.time(), auth)
        self._registrations[path] = made
        return made

    def forget(self, registration: Registration) -> None:
        """Remove a registration: later requests to its path have none."""
        self._registrations.pop(registration.path, None)
        self._verified.clear()

    async def answered(self) -> None:
        """Wait until every delivery has its response.

        aiohttp writes a response in the step of the event loop in which `_take` returns it, before this continues.
        """
        while self._taking:
            self._idle.clear()
            await self._idle.wait()

    def yield_to_input(self) -> None:
        """Work more slowly on deliveries for a moment, because a key was pressed."""
        self._budget.yield_to_input()

    def _begin(
        self,
        message: RawRequestMessage,
        content: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        cast(Connection, protocol).take_head(content)
        return web.BaseRequest(message, content, protocol, writer, task, asyncio.get_running_loop())

    async def _take(self, request: web.BaseRequest) -> web.StreamResponse:
        """Judge a request, report it and respond."""
        self._taking += 1
        try:
            return await self._judge(request)
        finally:
            self._taking -= 1
            if not self._taking:
                self._idle.set()

    async def _judge(self, http: web.BaseRequest) -> web.StreamResponse:
        if not self._budget.free:
            await self._budget.wait()
        connection = cast(Connection, http.protocol)
        request, head = self._examine(http)
        body = await self._read_body(http, request, refused=bool(head.refused))
        checked = check_body(PushBody(request, body, bool(head.refused)))
        status, refused = head.status, head.refused
        if body.outcome is BodyOutcome.WHOLE:
            status, refused = (status, refused) if refused else (checked.status, checked.refused)
        elif not refused or not body.outcome.status:
            status, refused = body.outcome.status, refused or body.why
        given = ACCEPT
        if not refused:
            given = WebhookResponse(200) if request.echo else self.overrides.take(request.registration)
            status = given.status
        delivery = connection.taken.delivery(
            request.head,
            body,
            status=status,
            refused=refused,
            registration=request.registration,
            checks=head.checks + checked.checks,
            response=given,
            challenge=bool(request.echo),
            head_known=request.known,
        )
        if request.jwt is not None and delivery.taken:
            self._used.keep(request.jwt.identity, None)
        with self._budget:
            self._room.report(delivery)
        if given is ACCEPT and delivery.taken:
            connection.release()
            return accept(http)
        url = request.registration.url if request.registration else ""
        response = answer(status, delivery.refused or request.echo, given.headers(url))
        if body.outcome is not BodyOutcome.WHOLE:
            await connection.part(http, response)
            return response
        connection.release()
        await _apply(given, connection)
        return response

    def _examine(self, http: web.BaseRequest) -> tuple[PushRequest, Report]:
        """Check the head of a request, with the results of an equal head before it."""
        spelled = (http.method, http.raw_path, http.raw_headers)
        known = self._verified.get(spelled)
        request = self._request(http) if known is None else known
        report = check_head(request)
        if known is None and request.repeatable and not report.refused:  # refused senders cannot displace the others
            self._verified.keep(spelled, request)
        return request, report

    def _request(self, http: web.BaseRequest) -> PushRequest:
        head = RequestHead(
            http.method,
            head_text(http.raw_path.encode("utf-8", "surrogateescape")),
            tuple((head_text(name), head_text(value)) for name, value in http.raw_headers),
        )
        path = head.target.partition("?")[0].removeprefix(self._at.prefix)
        return PushRequest(head, self._registrations.get(path), self._at, used=self._used)

    async def _read_body(self, http: web.BaseRequest, request: PushRequest, *, refused: bool) -> BodyRead:
        """Read a body as far as the limits and an earlier refusal allow."""
        limits, declared, waits = self.limits, request.declared, request.expects_continue
        most, unwanted = limits.kept if refused else limits.body, ""
        content, fits = http.content, 0 < declared <= min(most, limits.held - self._held)
        if fits and not waits and content.is_eof() and content.exception() is None:
            return BodyRead(content.read_nowait(), BodyOutcome.WHOLE)  # it came with its head, as most do
        if refused and waits:
            unwanted = "the sender was not told to send the body"
        elif declared > limits.body and not refused:
            unwanted = f"the head declares {declared:,} bytes of body, and at most {limits.body:,} are taken"
        if unwanted:
            came = await self._read(http, limits.kept, 0)
            return BodyRead(came.data, BodyOutcome.CUT, unwanted)
        return await self._read(http, most, limits.seconds, invite=waits)

    async def _read(self, request: web.BaseRequest, most: int, seconds: float, *, invite: bool = False) -> BodyRead:
        content, read, outcome = request.content, bytearray(), BodyOutcome.WHOLE
        try:
            if invite:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(None if content.is_eof() else seconds):
                while outcome is BodyOutcome.WHOLE and not content.at_eof():
                    chunk = await next_bytes(request)
                    read += chunk
                    self._held += len(chunk)
                    if len(read) > most:
                        outcome = BodyOutcome.CUT
                    elif self._held > self.limits.held:
                        outcome = BodyOutcome.CROWDED
        except TimeoutError:
            outcome = BodyOutcome.SLOW
        except web.RequestPayloadError:
            outcome = BodyOutcome.MALFORMED
        except ConnectionError:
            outcome = BodyOutcome.BROKEN if self.running else BodyOutcome.STOPPED
        finally:
            self._held -= len(read)
        if outcome is BodyOutcome.WHOLE:
            return BodyRead(bytes(read), outcome)
        why = outcome.words.format(most=most, size=len(read), seconds=seconds)
        return BodyRead(bytes(read[: self.limits.kept]), outcome, why)


async def _apply(response: WebhookResponse, connection: Connection) -> None:
    """Apply the parts of an override that are not the status: delay, reset, cut response."""
    if response.delay:
        await connection.hold(response.delay)
    match response.manner:
        case Manner.NEVER:
            await connection.hold(None)
        case Manner.RESET:
            connection.break_off()
        case Manner.TRUNCATED:
            connection.break_off(_CUT_SHORT)
        case Manner.WHOLE:
            pass


def _new_token() -> str:
    """Return a random token that can be given as the value of an option: it does not begin with a dash."""
    return secrets.token_urlsafe(32).replace("-", "_")
