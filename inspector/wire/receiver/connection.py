"""The receiver's end of one connection: a clock on the head, a limit on everything, an eye on what is no HTTP."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpProcessingError
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from aiohttp.streams import StreamReader

from inspector.wire.receiver.delivery import Delivery, IncomingRequest
from inspector.wire.receiver.listen_address import authority, why_no_tls

HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    405: {"Allow": "POST"},
    415: {"Accept-Encoding": "identity"},
    503: {"Retry-After": "1"},
}
"""What HTTP asks an answer to carry beside its status."""
_NONE: Mapping[str, str] = MappingProxyType({})
_OURS: Mapping[str, str] = MappingProxyType({"Server": "a2a-inspect", "X-Content-Type-Options": "nosniff"})
"""What every answer says; aiohttp names its version and Python's unless it is told a name."""
_RESET = struct.pack("ii", 1, 0)
"""Linger on, for no time: closing a socket with this resets the connection."""


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


async def next_bytes(request: web.BaseRequest) -> bytes:
    """Return the next bytes of a body; ConnectionError where the sender is gone."""
    if not request.protocol.connected and not request.content.is_eof():
        raise ConnectionResetError  # aiohttp raises a RuntimeError here while the loss is not yet known to the body
    return await request.content.readany()


class Room:
    """What the connections of one receiver share: the limits, who hears of deliveries, and who is there."""

    def __init__(self, limits: ReceiverLimits, report: Callable[[Delivery], None]) -> None:
        self.limits = limits
        self.report = report
        self.open = False
        self.connections: set[Connection] = set()
        self.shaking: set[asyncio.Transport] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        """Tell whether no more connections are allowed."""
        return max(len(self.connections), len(self.shaking)) >= self.limits.connections

    async def close(self) -> None:
        """Break off every connection and wait until nothing of them is left."""
        self.open = False
        for connection in tuple(self.connections):
            connection.drop()
        for transport in tuple(self.shaking):
            transport.abort()
        # The event loop closes the sockets in its next turn, which ends the tasks that read from them.
        await asyncio.sleep(0)
        if self.tasks:
            await asyncio.wait(self.tasks)


class Connection(web.RequestHandler):
    """One connection of aiohttp's, with a clock on the head and an eye on what aiohttp cannot read."""

    def __init__(
        self, room: Room, manager: web.Server, loop: asyncio.AbstractEventLoop, tls: ssl.SSLContext | None = None
    ) -> None:
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
        self._tls = tls
        self._let_in = False
        self._peer = ""
        self._coming: IncomingRequest | None = None
        self.taken = IncomingRequest("")
        self.gone = asyncio.Event()
        self._content: StreamReader | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the sender in, behind TLS where that is spoken."""
        # A sender that is gone already has no name any more.
        self._peer = authority(*(transport.get_extra_info("peername") or ("", 0))[:2])
        if self._tls is None or self._room.full:
            self._begin(transport)
        else:
            shaking = asyncio.get_running_loop().create_task(self._shake_hands(transport, self._tls))
            self._room.tasks.add(shaking)
            shaking.add_done_callback(self._room.tasks.discard)

    async def _shake_hands(self, transport: asyncio.BaseTransport, tls: ssl.SSLContext) -> None:
        """Begin TLS, and report a failed handshake: asyncio's own server would not."""
        arrival, plain = IncomingRequest(self._peer), cast(asyncio.Transport, transport)
        self._room.shaking.add(plain)
        try:
            secured = await asyncio.get_running_loop().start_tls(
                plain, self, tls, server_side=True, ssl_handshake_timeout=self._room.limits.seconds
            )
            if secured is None:
                raise ConnectionAbortedError
        except (ssl.SSLError, OSError) as error:
            plain.abort()
            here = authority(*(transport.get_extra_info("sockname") or ("", 0))[:2])
            self._room.report(arrival.tls_failed(here, why_no_tls(error)))
        else:
            self._begin(secured)
        finally:
            self._room.shaking.discard(plain)

    def _begin(self, transport: asyncio.BaseTransport) -> None:
        """Let the sender in, or tell it that there is no room."""
        self._let_in = True
        if self._room.open and not self._room.full:
            self._room.connections.add(self)
            super().connection_made(transport)
            return
        self.transport = cast(asyncio.Transport, transport)
        self._refuse(IncomingRequest(self._peer), 503, "too many connections are open")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Let go, and report a request that broke off within its head."""
        if not self._let_in:
            return  # within the handshake, which is told by that
        self._room.connections.discard(self)
        self.gone.set()
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
        response = answer(status, why)
        response.force_close()
        return response

    def take_head(self, content: StreamReader) -> None:
        """Note that a head is complete and that its body follows, until `release` or the end of the connection."""
        self._silence()
        self.taken, self._coming = self._coming or IncomingRequest(self._peer), None
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
                    await next_bytes(request)

    async def hold(self, seconds: float | None) -> None:
        """Wait so long, None for ever, but not longer than the sender does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.gone.wait()

    def break_off(self, sent: bytes = b"") -> None:
        """Reset the connection, or, where something is still `sent`, close it behind that."""
        transport = self.transport
        if transport is None:
            return
        if sent:
            transport.write(sent)
            self.force_close()
            transport.close()
            return
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.drop()

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
            self._coming = IncomingRequest(self._peer)
        seen = self._coming.seen
        seen += data[: limits.head - len(seen)]
        if b"\r\n\r\n" in seen:
            return
        if len(seen) >= limits.head:
            self._refuse(self._coming, 431, f"the head is longer than {limits.head:,} bytes")
        elif self._alarm is None:
            self.keep_alive(True)  # stops aiohttp's clock for an idle connection: it is not idle any more
            self._alarm = asyncio.get_running_loop().call_later(limits.seconds, self._be_slow, self._coming)

    def _be_slow(self, arrival: IncomingRequest) -> None:
        self._refuse(arrival, 408, f"the head had not come whole after {self._room.limits.seconds:g} s")

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _refuse(self, arrival: IncomingRequest, status: int, why: str) -> None:
        """Report what never became a request of aiohttp's, answer it if anybody is there, and close."""
        self._silence()
        self._coming = None
        if self.transport is not None:
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close", "Content-Length: 0"]
            lines += [f"{name}: {value}" for name, value in HEADERS.get(status, {}).items()]
            self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
            self.force_close()
        self._room.report(arrival.unreadable(status, why))


def answer(status: int, why: str, headers: Mapping[str, str] = _NONE) -> web.Response:
    """Make an answer; `why` is its text, "" for none."""
    more = HEADERS.get(status, _NONE)
    # Nobody reads an answer to a connection that is gone (status 0).
    return web.Response(
        status=status or 400, text=why or None, headers={**_OURS, **more, **headers} if more or headers else _OURS
    )


class _Accepted(web.StreamResponse):
    """A 204 on a connection that stays open, spelled out once a second and given to all deliveries of it.

    An answer of aiohttp's own costs a fifth of what a delivery costs.
    """

    def __init__(self, second: int) -> None:
        super().__init__(status=204)
        self.second = second
        lines = ["HTTP/1.1 204 No Content", *(f"{name}: {value}" for name, value in _OURS.items())]
        lines.append(f"Date: {formatdate(second, usegmt=True)}")
        self._spelled = "\r\n".join([*lines, "", ""]).encode("ascii")

    @property
    def keep_alive(self) -> bool:
        """Say that the connection stays open."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send it; ConnectionError where nobody is there any more."""
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError
        request.transport.write(self._spelled)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Leave it at that: a 204 has no body."""


_accepted = _Accepted(0)


def accept(request: web.BaseRequest) -> web.StreamResponse:
    """Answer an accepted delivery without an override."""
    global _accepted  # noqa: PLW0603
    if not request.keep_alive or request.version != HttpVersion11:
        return answer(204, "")  # it has to say what becomes of the connection
    if (second := int(time.time())) != _accepted.second:
        _accepted = _Accepted(second)
    return _accepted


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
