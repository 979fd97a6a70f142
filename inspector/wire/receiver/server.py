"""The webhook receiver: an HTTP server that makes every push notification visible, those that it refuses above all."""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Callable
from typing import cast

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from aiohttp.streams import StreamReader

from inspector.protocol.errors import FaultError
from inspector.wire.receiver.check import Check
from inspector.wire.receiver.connection import Connection, ReceiverLimits, Room, accept, answer, next_bytes
from inspector.wire.receiver.delivery import Delivery, Intake, Outcome, RequestHead, text
from inspector.wire.receiver.listen_address import Place, listening_socket
from inspector.wire.receiver.loop_budget import Turns
from inspector.wire.receiver.registration import Demand, Registration
from inspector.wire.receiver.response_override import ACCEPT, Answer, Dials, Manner
from inspector.wire.receiver.verdict import examine, prove, refusal, weigh
from inspector.wire.receiver.verified_heads import Examined, Heads

__all__ = ["Check", "Delivery", "Receiver", "ReceiverLimits", "Registration"]

_BACKLOG = 512
"""How many connections the system may queue for us."""
_BEARER = Demand()
_MOST_REMEMBERED = 10_000
_CUT_SHORT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n{"


class Receiver:
    """Listens for push notifications and hands every one of them, refused or not, to `on_delivery`.

    `on_delivery` is called in the event loop, once for each delivery and before it is answered; where it raises, the
    sender gets a 500 and the event loop's exception handler the error. `host` is an IP address; `public_url` is what
    agents are told instead of it, for a tunnel or a container; `tls` makes it speak https. Registrations end with
    `stop`. `dials` has the answers that the user dialled in for good deliveries.
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
        dials: Dials | None = None,
    ) -> None:
        self.limits = limits or ReceiverLimits()
        self._wanted = (host, port)
        self._public_url = public_url
        self._tls = tls
        self._room = Room(self.limits, on_delivery)
        self._place: Place | None = None
        self._server: asyncio.Server | None = None
        self._registrations: dict[str, Registration] = {}
        self._heads = Heads()
        self._turns = Turns()
        self._made = 0
        self._used = _Memory()
        self.dials = Dials() if dials is None else dials
        self._held = 0
        self._taking = 0
        self._idle = asyncio.Event()

    @property
    def running(self) -> bool:
        """Tell whether the receiver takes deliveries."""
        return self._room.open

    @property
    def address(self) -> tuple[str, int]:
        """Return the IP address and the port that the receiver listens at; RuntimeError before the first start."""
        return self._at.host, self._at.port

    @property
    def base_url(self) -> str:
        """Return what the url of every registration starts with; RuntimeError before the first start."""
        return self._at.base_url

    @property
    def advertised(self) -> str:
        """Return the public url that agents are told, `""` where that is the address itself."""
        return self._public_url or ""

    @property
    def _at(self) -> Place:
        if self._place is None:
            raise RuntimeError("the receiver has not been started")
        return self._place

    async def start(self) -> None:
        """Listen, unless it does already; raises `FaultError` where the address or the public url is no good."""
        if self.running:
            return
        listener = listening_socket(*self._wanted)
        host, port = listener.getsockname()[:2]
        try:
            self._place = Place.at(host, port, self._public_url, tls=self._tls is not None)
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
        """Stop listening, break off what is on its way in (it is reported) and leave no socket and no task."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._registrations.clear()
        self._heads.clear()
        await self._room.close()

    def register(self, demand: Demand = _BEARER, token: str = "") -> Registration:
        """Open a new address with a path that nobody can guess, and such a token unless one is given.

        RuntimeError unless running.
        """
        if not self.running:
            raise RuntimeError("the receiver is not running")
        self._made += 1
        path = f"/push/{secrets.token_urlsafe(24)}"
        token = token or secrets.token_urlsafe(32)
        made = Registration(self._made, path, token, self.base_url + path, time.time(), demand)
        self._registrations[path] = made
        return made

    def forget(self, registration: Registration) -> None:
        """Close an address: what is posted there from now on has no registration."""
        self._registrations.pop(registration.path, None)
        self._heads.clear()

    async def answered(self) -> None:
        """Wait until every delivery that came has its answer.

        aiohttp writes an answer in the step of the loop in which `_take` returns it, so before anybody is woken here.
        """
        while self._taking:
            self._idle.clear()
            await self._idle.wait()

    def give_way(self) -> None:
        """Take deliveries more slowly for a moment, because somebody waits for a key that was pressed."""
        self._turns.give_way()

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
        """Judge one request, report it and answer it."""
        self._taking += 1
        try:
            return await self._judge(request)
        finally:
            self._taking -= 1
            if not self._taking:
                self._idle.set()

    async def _judge(self, request: web.BaseRequest) -> web.StreamResponse:
        await self._turns.mine()
        connection = cast(Connection, request.protocol)
        examined = self._examined(request)
        head, registration, verdict, status, refused, _, _ = examined
        intake = await self._take_body(request, examined)
        checks = verdict.checks + weigh(intake, bool(refused), challenge=bool(verdict.echo))
        if not refused and intake.outcome is Outcome.WHOLE:
            proofs = prove(head, registration, verdict, intake.data)
            checks += proofs
            status, refused = refusal(proofs) if proofs else (status, refused)
        elif not refused or not intake.outcome.status:
            status, refused = intake.outcome.status, refused or intake.why
        given = ACCEPT
        if not refused:
            given = Answer(200) if verdict.echo else self.dials.take(registration)
            status = given.status
        delivery = connection.taken.delivery(
            head,
            intake,
            status=status,
            refused=refused,
            registration=registration,
            checks=checks,
            answer=given,
            challenge=bool(verdict.echo),
        )
        if verdict.jwt is not None and delivery.taken:
            self._used.add(verdict.jwt.identity)
        with self._turns:
            self._room.report(delivery)
        if given is ACCEPT and delivery.taken and not verdict.echo:
            connection.release()
            return accept(request)
        response = answer(
            status, delivery.refused or verdict.echo, given.headers(registration.url if registration else "")
        )
        if intake.outcome is not Outcome.WHOLE:
            await connection.part(request, response)
            return response
        connection.release()
        await _give(given, connection)
        return response

    def _examined(self, request: web.BaseRequest) -> Examined:
        """Return what a head allows to say."""
        spelled = (request.method, request.raw_path, request.raw_headers)
        known = self._heads.get(spelled)
        if known is not None:
            return known
        head = RequestHead(
            request.method,
            text(request.raw_path.encode("utf-8", "surrogateescape")),
            tuple((text(name), text(value)) for name, value in request.raw_headers),
        )
        path = head.target.partition("?")[0].removeprefix(self._at.prefix)
        registration = self._registrations.get(path)
        verdict = examine(head, registration, self._at, used=self._used)
        declared = int(next(iter(head.values("content-length")), "0"))
        asks = "100-continue" in (value.lower() for value in head.values("expect"))
        found = Examined(head, registration, verdict, *refusal(verdict.checks), declared, asks)
        self._heads.keep(spelled, found)
        return found

    async def _take_body(self, request: web.BaseRequest, examined: Examined) -> Intake:
        """Read a body as far as the limits and an earlier refusal allow."""
        limits, refused, declared, asks = self.limits, bool(examined.refused), examined.declared, examined.asks
        most, unwanted = limits.kept if refused else limits.body, ""
        content, fits = request.content, 0 < declared <= min(most, limits.held - self._held)
        if fits and not asks and content.is_eof() and content.exception() is None:
            return Intake(content.read_nowait(), Outcome.WHOLE)  # it came with its head, as most do
        if refused and asks:
            unwanted = "the sender was not told to send the body"
        elif declared > limits.body and not refused:
            unwanted = f"the head declares {declared:,} bytes of body, and at most {limits.body:,} are taken"
        if unwanted:
            came = await self._read(request, limits.kept, 0)
            return Intake(came.data, Outcome.CUT, unwanted)
        return await self._read(request, most, limits.seconds, invite=asks)

    async def _read(self, request: web.BaseRequest, most: int, seconds: float, *, invite: bool = False) -> Intake:
        content, read, outcome = request.content, bytearray(), Outcome.WHOLE
        try:
            if invite:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(None if content.is_eof() else seconds):
                while outcome is Outcome.WHOLE and not content.at_eof():
                    chunk = await next_bytes(request)
                    read += chunk
                    self._held += len(chunk)
                    if len(read) > most:
                        outcome = Outcome.CUT
                    elif self._held > self.limits.held:
                        outcome = Outcome.CROWDED
        except TimeoutError:
            outcome = Outcome.SLOW
        except web.RequestPayloadError:
            outcome = Outcome.MALFORMED
        except ConnectionError:
            outcome = Outcome.BROKEN if self.running else Outcome.STOPPED
        finally:
            self._held -= len(read)
        if outcome is Outcome.WHOLE:
            return Intake(bytes(read), outcome)
        why = outcome.words.format(most=most, size=len(read), seconds=seconds)
        return Intake(bytes(read[: self.limits.kept]), outcome, why)


async def _give(given: Answer, connection: Connection) -> None:
    """Do to a connection what was dialled in beside a status."""
    if given.delay:
        await connection.hold(given.delay)
    match given.manner:
        case Manner.NEVER:
            await connection.hold(None)
        case Manner.RESET:
            connection.break_off()
        case Manner.TRUNCATED:
            connection.break_off(_CUT_SHORT)
        case Manner.WHOLE:
            pass


class _Memory:
    """The identities of JWTs that were accepted, the last of them."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def __contains__(self, identity: object) -> bool:
        return identity in self._known

    def add(self, identity: str) -> None:
        """Remember one more, and forget the first of too many."""
        self._known[identity] = None
        if len(self._known) > _MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
