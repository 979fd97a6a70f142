"""One connection of the receiver: it enforces limits on time and size, and reports requests that are not HTTP."""

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
"""The headers that HTTP requires with a status."""
_NONE: Mapping[str, str] = MappingProxyType({})
_OURS: Mapping[str, str] = MappingProxyType({"Server": "a2a-inspect", "X-Content-Type-Options": "nosniff"})
"""The headers of every response; without `Server`, aiohttp would name its version and Python's."""
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing the socket resets the connection."""


@dataclass(frozen=True, slots=True)
class ReceiverLimits:
    """The limits of the receiver, in bytes, seconds and numbers.

    `body` is the longest body; `kept` how much of a refused one is kept; `held` the limit of all bodies that are being
    received; `head` the longest head and `headers` the most headers in it; `seconds` the time for a head and again for
    a body; `idle` the time between two requests of a connection; `linger` how long the rest of a refused body is
    discarded, so that the sender can read the response; `connections` the most at one time.
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
    """Return the next bytes of a body; ConnectionError if the sender has disconnected."""
    if not request.protocol.connected and not request.content.is_eof():
        raise ConnectionResetError  # aiohttp would raise a RuntimeError
    return await request.content.readany()


class Room:
    """The shared state of the connections of one receiver: limits, callback, open connections and their tasks."""

    def __init__(self, limits: ReceiverLimits, report: Callable[[Delivery], None]) -> None:
        self.limits = limits
        self.report = report
        self.open = False
        self.connections: set[Connection] = set()
        self.shaking: set[asyncio.Transport] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        """Return whether no more connections are allowed."""
        return max(len(self.connections), len(self.shaking)) >= self.limits.connections

    async def close(self) -> None:
        """Close every connection and wait for their tasks."""
        self.open = False
        for connection in tuple(self.connections):
            connection.drop()
        for transport in tuple(self.shaking):
            transport.abort()
        # The event loop closes the sockets in its next iteration, which ends the tasks that read from them.
        await asyncio.sleep(0)
        if self.tasks:
            await asyncio.wait(self.tasks)


class Connection(web.RequestHandler):
    """A connection of aiohttp's with a time limit for the head, which reports requests that aiohttp cannot read."""

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
        """Begin to serve the sender, after the TLS handshake if TLS is used."""
        # A sender that has disconnected has no address.
        self._peer = authority(*(transport.get_extra_info("peername") or ("", 0))[:2])
        if self._tls is None or self._room.full:
            self._begin(transport)
        else:
            shaking = asyncio.get_running_loop().create_task(self._shake_hands(transport, self._tls))
            self._room.tasks.add(shaking)
            shaking.add_done_callback(self._room.tasks.discard)

    async def _shake_hands(self, transport: asyncio.BaseTransport, tls: ssl.SSLContext) -> None:
        """Perform the TLS handshake, and report a failure: asyncio's own server would not."""
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
        """Begin to serve the sender, or refuse it if there are too many connections."""
        self._let_in = True
        if self._room.open and not self._room.full:
            self._room.connections.add(self)
            super().connection_made(transport)
            return
        self.transport = cast(asyncio.Transport, transport)
        self._refuse(IncomingRequest(self._peer), 503, "too many connections are open")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Clean up, and report a request whose head is incomplete."""
        if not self._let_in:
            return  # within the handshake, which reports it
        self._room.connections.discard(self)
        self.gone.set()
        super().connection_lost(exc)
        if self._coming:
            who = "the connection broke off" if self._room.open else "the receiver was stopped"
            self._refuse(self._coming, 0, f"{who} after {len(self._coming.seen):,} bytes of the head")

    def data_received(self, data: bytes) -> None:
        """Check the limits of the head, pass the bytes to aiohttp, and report malformed chunks to the reader."""
        if data and self._content is None and not self._messages:
            self._watch(data)
        super().data_received(data)
        # aiohttp's C parser does not report a malformed chunk to the reader of the body, but queues it as the next
        # message. While a body has not ended, a queued message can only be this error.
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
        """Report and refuse a request that is not HTTP; aiohttp would log the sender's bytes."""
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
        """Note that a head is complete: its body follows until `release`."""
        self._silence()
        self.taken, self._coming = self._coming or IncomingRequest(self._peer), None
        self._content = content

    def release(self) -> None:
        """Note that the body has been read, so that another head follows."""
        self._content = None

    async def part(self, request: web.BaseRequest, response: web.Response) -> None:
        """Respond before the body is complete, and discard the rest while the sender reads the response."""
        response.force_close()
        # From here on, errors concern a body that is already refused.
        with suppress(TimeoutError, ConnectionError, web.RequestPayloadError):
            await response.prepare(request)
            await response.write_eof()
            async with asyncio.timeout(self._room.limits.linger):
                while not request.content.at_eof():
                    await next_bytes(request)

    async def hold(self, seconds: float | None) -> None:
        """Wait for so many seconds (None: without limit), or until the sender disconnects."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.gone.wait()

    def break_off(self, sent: bytes = b"") -> None:
        """Reset the connection, or send some bytes and close it."""
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
        """Keep the beginning of a head and enforce its limits of time and length."""
        limits = self._room.limits
        if self._coming is None:
            if not data.strip(b"\r\n"):
                return  # RFC 9112 section 2.2: empty lines before a request are ignored
            self._coming = IncomingRequest(self._peer)
        seen = self._coming.seen
        seen += data[: limits.head - len(seen)]
        if b"\r\n\r\n" in seen:
            return
        if len(seen) >= limits.head:
            self._refuse(self._coming, 431, f"the head is longer than {limits.head:,} bytes")
        elif self._alarm is None:
            self.keep_alive(True)  # stops aiohttp's timer for idle connections
            why = f"the head had not come whole after {limits.seconds:g} s"
            self._alarm = asyncio.get_running_loop().call_later(limits.seconds, self._refuse, self._coming, 408, why)

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _refuse(self, arrival: IncomingRequest, status: int, why: str) -> None:
        """Report a request that aiohttp did not read, respond if the sender is connected, and close."""
        self._silence()
        self._coming = None
        if self.transport is not None:
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close", "Content-Length: 0"]
            lines += [f"{name}: {value}" for name, value in HEADERS.get(status, {}).items()]
            self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
            self.force_close()
        self._room.report(arrival.unreadable(status, why))


def answer(status: int, why: str, headers: Mapping[str, str] = _NONE) -> web.Response:
    """Return a response; `why` is its text, "" for none."""
    more = HEADERS.get(status, _NONE)
    # A response to a closed connection (status 0) is not sent.
    return web.Response(
        status=status or 400, text=why or None, headers={**_OURS, **more, **headers} if more or headers else _OURS
    )


class _Accepted(web.StreamResponse):
    """A 204 on a connection that stays open, encoded once a second for all its deliveries.

    A response of aiohttp's would cost a fifth of the time of a delivery.
    """

    def __init__(self, second: int) -> None:
        super().__init__(status=204)
        self.second = second
        lines = ["HTTP/1.1 204 No Content", *(f"{name}: {value}" for name, value in _OURS.items())]
        lines.append(f"Date: {formatdate(second, usegmt=True)}")
        self._spelled = "\r\n".join([*lines, "", ""]).encode("ascii")

    @property
    def keep_alive(self) -> bool:
        """Return whether the connection stays open."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send the response; ConnectionError if the sender has disconnected."""
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError
        request.transport.write(self._spelled)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: a 204 has no body."""


_accepted = _Accepted(0)


def accept(request: web.BaseRequest) -> web.StreamResponse:
    """Return the response to an accepted delivery without an override."""
    global _accepted  # noqa: PLW0603
    if not request.keep_alive or request.version != HttpVersion11:
        return answer(204, "")  # it has to say whether the connection stays open
    if (second := int(time.time())) != _accepted.second:
        _accepted = _Accepted(second)
    return _accepted


def _explain(error: HttpProcessingError) -> tuple[int, str]:
    """Return a status and words for a request that aiohttp could not parse, without bytes of the sender."""
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
