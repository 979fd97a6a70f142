"""The webhook receiver: an HTTP server that makes every push notification visible, those that it refuses above all."""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, cast

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpProcessingError, RawRequestMessage
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from aiohttp.streams import StreamReader

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.wire.delivery import (
    Arrival,
    Check,
    Delivery,
    Intake,
    Outcome,
    Place,
    Registration,
    RequestHead,
    authority,
    examine,
    refusal,
    text,
    weigh,
)

__all__ = ["Check", "Delivery", "Receiver", "ReceiverLimits", "Registration"]

_HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    405: {"Allow": "POST"},
    415: {"Accept-Encoding": "identity"},
    503: {"Retry-After": "1"},
}
"""What HTTP asks an answer to carry beside its status."""

_BACKLOG = 512
"""How many connections the system may queue for us."""


@dataclass(frozen=True, slots=True)
class ReceiverLimits:
    """How much the receiver takes from a sender, in bytes, seconds and numbers.

    `body` is the longest body; `kept` how much of a refused one is kept; `held` how much all bodies on their way in
    may hold together; `head` the longest head and `headers` the most headers in it; `seconds` the time for a head and
    again for a body; `idle` the time between two requests of a connection; `linger` how long the rest of a refused
    body is thrown away, so that the sender gets to read the answer; `connections` the most at one time.
    """

    body: int = 10 * 1024 * 1024
    kept: int = 64 * 1024
    held: int = 64 * 1024 * 1024
    head: int = 32 * 1024
    headers: int = 128
    seconds: float = 10.0
    idle: float = 15.0
    linger: float = 1.0
    connections: int = 512


class Receiver:
    """Listens for push notifications and hands every one of them, refused or not, to `on_delivery`.

    `on_delivery` is called in the event loop, once for each delivery and before it is answered; where it raises, the
    sender gets a 500 and the event loop's exception handler the error. `host` is an IP address; `public_url` is what
    agents are told instead of it, for a tunnel or a container. Registrations end with `stop`.
    """

    def __init__(
        self,
        on_delivery: Callable[[Delivery], None],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        public_url: str | None = None,
        limits: ReceiverLimits | None = None,
    ) -> None:
        self.limits = limits or ReceiverLimits()
        self._wanted = (host, port)
        self._public_url = public_url
        self._room = _Room(self.limits, on_delivery)
        self._place: Place | None = None
        self._server: asyncio.Server | None = None
        self._registrations: dict[str, Registration] = {}
        self._made = 0
        self._held = 0

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
    def _at(self) -> Place:
        if self._place is None:
            raise RuntimeError("the receiver has not been started")
        return self._place

    async def start(self) -> None:
        """Listen, unless it does already; raises `FaultError` where the address or the public url is no good."""
        if self.running:
            return
        listener = _bind(*self._wanted)
        host, port = listener.getsockname()[:2]
        try:
            self._place = Place.at(host, port, self._public_url)
        except FaultError:
            listener.close()
            raise
        loop = asyncio.get_running_loop()
        manager = web.Server(self._take, request_factory=self._begin)
        self._room.open = True
        self._server = await loop.create_server(
            lambda: _Connection(self._room, manager, loop), sock=listener, backlog=_BACKLOG
        )

    async def stop(self) -> None:
        """Stop listening, break off what is on its way in (it is reported) and leave no socket and no task."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self._registrations.clear()
        await self._room.close()

    def register(self) -> Registration:
        """Open a new address with a path and a token that nobody can guess; RuntimeError unless running."""
        if not self.running:
            raise RuntimeError("the receiver is not running")
        self._made += 1
        path = f"/push/{secrets.token_urlsafe(24)}"
        made = Registration(self._made, path, secrets.token_urlsafe(32), self.base_url + path, time.time())
        self._registrations[path] = made
        return made

    def forget(self, registration: Registration) -> None:
        """Close an address: what is posted there from now on has no registration."""
        self._registrations.pop(registration.path, None)

    def _begin(
        self,
        message: RawRequestMessage,
        content: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: asyncio.Task[None],
    ) -> web.BaseRequest:
        cast(_Connection, protocol).take_head(content)
        return web.BaseRequest(message, content, protocol, writer, task, asyncio.get_running_loop())

    async def _take(self, request: web.BaseRequest) -> web.StreamResponse:
        """Judge one request, report it and answer it."""
        connection = cast(_Connection, request.protocol)
        head = RequestHead(
            request.method,
            text(request.raw_path.encode("utf-8", "surrogateescape")),
            tuple((text(name), text(value)) for name, value in request.raw_headers),
        )
        path = head.target.partition("?")[0].removeprefix(self._at.prefix)
        registration = self._registrations.get(path)
        checks = examine(head, registration, self._at)
        status, refused = refusal(checks)
        intake = await self._take_body(request, head, bool(refused))
        checks += weigh(intake, bool(refused))
        if not refused or not intake.outcome.status:
            status, refused = intake.outcome.status, refused or intake.why
        delivery = connection.taken.delivery(
            head, intake.data, status=status, refused=refused, registration=registration, checks=checks
        )
        self._room.report(delivery)
        response = _answer(status, delivery.refused)
        if intake.outcome is Outcome.WHOLE:
            connection.release()
        else:
            await connection.part(request, response)
        return response

    async def _take_body(self, request: web.BaseRequest, head: RequestHead, refused: bool) -> Intake:
        """Read a body as far as the limits and an earlier refusal allow."""
        limits = self.limits
        declared = int(next(iter(head.values("content-length")), "0"))
        asks = "100-continue" in (value.lower() for value in head.values("expect"))
        unwanted = ""
        if refused and asks:
            unwanted = "the sender was not told to send the body"
        elif declared > limits.body and not refused:
            unwanted = f"the head declares {declared:,} bytes of body, and at most {limits.body:,} are taken"
        if unwanted:
            came = await self._read(request, limits.kept, 0)
            return Intake(came.data, Outcome.CUT, unwanted)
        return await self._read(request, limits.kept if refused else limits.body, limits.seconds, invite=asks)

    async def _read(self, request: web.BaseRequest, most: int, seconds: float, *, invite: bool = False) -> Intake:
        content, read, outcome = request.content, bytearray(), Outcome.WHOLE
        try:
            if invite:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(None if content.is_eof() else seconds):
                while outcome is Outcome.WHOLE and not content.at_eof():
                    chunk = await _next_bytes(request)
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


async def _next_bytes(request: web.BaseRequest) -> bytes:
    if not request.protocol.connected and not request.content.is_eof():
        raise ConnectionResetError  # aiohttp raises a RuntimeError here while the loss is not yet known to the body
    return await request.content.readany()


class _Room:
    """What the connections of one receiver share: the limits, who hears of deliveries, and who is there."""

    def __init__(self, limits: ReceiverLimits, report: Callable[[Delivery], None]) -> None:
        self.limits = limits
        self.report = report
        self.open = False
        self.connections: set[_Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        """Tell whether no more connections are allowed."""
        return len(self.connections) >= self.limits.connections

    async def close(self) -> None:
        """Break off every connection and wait until nothing of them is left."""
        self.open = False
        for connection in tuple(self.connections):
            connection.drop()
        # The event loop closes the sockets in its next turn, which ends the tasks that read from them.
        await asyncio.sleep(0)
        if self.tasks:
            await asyncio.wait(self.tasks)


class _Connection(web.RequestHandler):
    """One connection of aiohttp's, with a clock on the head and an eye on what aiohttp cannot read."""

    def __init__(self, room: _Room, manager: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        options: dict[str, Any] = {
            "access_log": None,
            "auto_decompress": False,
            "keepalive_timeout": room.limits.idle,
            "lingering_time": 0,
            "max_line_size": room.limits.head,
            "max_field_size": room.limits.head,
            "max_headers": room.limits.headers,
        }
        super().__init__(manager, loop=loop, **options)
        self._room = room
        self._peer = ""
        self._coming: Arrival | None = None
        self.taken = Arrival("")
        self._content: StreamReader | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the sender in, or tell it that there is no room."""
        # A sender that is gone already has no name any more.
        self._peer = authority(*(transport.get_extra_info("peername") or ("", 0))[:2])
        if self._room.open and not self._room.full:
            self._room.connections.add(self)
            super().connection_made(transport)
            return
        self.transport = cast(asyncio.Transport, transport)
        self._refuse(Arrival(self._peer), 503, "too many connections are open")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Let go, and report a request that broke off within its head."""
        self._room.connections.discard(self)
        super().connection_lost(exc)
        if self._coming:
            who = "the connection broke off" if self._room.open else "the receiver was stopped"
            self._refuse(self._coming, 0, f"{who} after {len(self._coming.seen):,} bytes of the head")

    def data_received(self, data: bytes) -> None:
        """Watch the head come in, let aiohttp read it, and wake who waits for a body that cannot go on."""
        if data and self._content is None and not self._messages:
            self._watch(data)
        super().data_received(data)
        # aiohttp's C parser does not tell the reader of a body that a chunk is malformed: it queues an error as if it
        # were the next message. No message can be next while a body has not ended, so that is how it is told apart.
        if self._content is not None and self._messages and not self._content.is_eof():
            self._content.set_exception(web.RequestPayloadError())

    async def start(self) -> None:
        """Serve the requests of this connection, one after the other."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._room.tasks.add(task)
        try:
            await super().start()
        finally:
            self._room.tasks.discard(task)

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 - aiohttp's signature
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """Report and answer what is no HTTP; aiohttp's own way would print the sender's bytes into the log."""
        why = "the inspector failed on this delivery"
        if isinstance(exc, HttpProcessingError):
            status, why = _explain(exc)
            self._room.report(self.taken.unreadable(status, why))
        else:
            asyncio.get_running_loop().call_exception_handler({"message": why, "exception": exc})
        response = _answer(status, why)
        response.force_close()
        return response

    def take_head(self, content: StreamReader) -> None:
        """Note that a head is complete and that its body follows, until `release` or the end of the connection."""
        self._silence()
        self.taken, self._coming = self._coming or Arrival(self._peer), None
        self._content = content

    def release(self) -> None:
        """Note that the body has been read, so that what comes now is another head."""
        self._content = None

    async def part(self, request: web.BaseRequest, response: web.Response) -> None:
        """Answer before the body has come whole, and give the sender time to read that; the rest is thrown away."""
        response.force_close()
        # Whatever goes wrong from here on happens to bytes that are refused already.
        with suppress(TimeoutError, ConnectionError, web.RequestPayloadError):
            await response.prepare(request)
            await response.write_eof()
            async with asyncio.timeout(self._room.limits.linger):
                while not request.content.at_eof():
                    await _next_bytes(request)

    def drop(self) -> None:
        """Close the connection at once."""
        transport = self.transport
        self.force_close()
        if transport is not None:
            transport.abort()

    def _watch(self, data: bytes) -> None:
        """Keep the beginning of a head and see that it is neither slow nor endless."""
        limits = self._room.limits
        if self._coming is None:
            if not data.strip(b"\r\n"):
                return  # RFC 9112 section 2.2: an empty line before a request is nothing
            self._coming = Arrival(self._peer)
            self.keep_alive(True)  # stops aiohttp's clock for an idle connection: it is not idle any more
            self._alarm = asyncio.get_running_loop().call_later(limits.seconds, self._be_slow, self._coming)
        seen = self._coming.seen
        seen += data[: limits.head - len(seen)]
        if len(seen) >= limits.head and b"\r\n\r\n" not in seen:
            self._refuse(self._coming, 431, f"the head is longer than {limits.head:,} bytes")

    def _be_slow(self, arrival: Arrival) -> None:
        self._refuse(arrival, 408, f"the head had not come whole after {self._room.limits.seconds:g} s")

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _refuse(self, arrival: Arrival, status: int, why: str) -> None:
        """Report what never became a request of aiohttp's, answer it if anybody is there, and close."""
        self._silence()
        self._coming = None
        if self.transport is not None:
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close", "Content-Length: 0"]
            lines += [f"{name}: {value}" for name, value in _HEADERS.get(status, {}).items()]
            self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
            self.force_close()
        self._room.report(arrival.unreadable(status, why))


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises `FaultError` that says what is wrong with the address."""
    if port not in range(65536):
        raise _no_place(f"{port} is not a port.", "A port is a number from 0 to 65535; 0 takes a free one.")
    try:
        family = socket.AF_INET6 if ip_address(host).version == 6 else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (ValueError, OSError) as error:
        raise _no_place(*_explain_bind(error, host, port)) from error


def _no_place(seen: str, hint: str) -> FaultError:
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))


def _explain_bind(error: Exception, host: str, port: int) -> tuple[str, str]:
    where = authority(host, port)
    match error:
        case OSError(errno=errno.EADDRINUSE):
            hint = "Stop the program that listens there, or choose another port; 0 takes a free one."
            return f"Port {port} of {host} is in use.", hint
        case OSError(errno=errno.EADDRNOTAVAIL):
            return f"{host} is not an address of this machine.", "127.0.0.1 always is; 0.0.0.0 means all of them."
        case OSError(errno=errno.EACCES):
            return f"Listening at {where} is not permitted.", "Ports below 1024 are reserved; choose a higher one."
        case OSError():
            return f"Listening at {where} failed: {error.strerror}.", "Choose another address or port."
        case _:
            return f"{host} is not an IP address.", "Give an address such as 127.0.0.1 instead of a name."


def _answer(status: int, why: str) -> web.Response:
    # aiohttp names its version and Python's unless it is told a name.
    headers = {"Server": "a2a-inspect", **_HEADERS.get(status, {})}
    # Nobody reads an answer to a connection that is gone (status 0).
    return web.Response(status=status or 400, text=why or None, headers=headers)


def _explain(error: HttpProcessingError) -> tuple[int, str]:
    """Return a status and words for what aiohttp could not parse; never with the sender's bytes in it."""
    message = error.message
    if isinstance(error, LineTooLong) or "Too many headers" in message:
        return 431, "the head has a line that is too long, or too many headers"
    if "HTTPS traffic" in message:
        return 400, "TLS came to a port that speaks plain http"
    if "\n\n" in message:  # the parser's own words, then the bytes
        words = message.partition("\n\n")[0].splitlines()[-1].strip(" :")
    else:
        words = message.rstrip(".") if type(error) is BadHttpMessage else "the head is malformed"
    return 400, f"not valid HTTP: {words}"
