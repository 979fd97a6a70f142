"""One connection of the webhook receiver: enforce limits on time and size, report requests that are not HTTP."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpProcessingError
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from aiohttp.streams import StreamReader

from inspector.lazy_dataclass import dataclass
from inspector.text.host import authority
from inspector.wire.receiver.delivery import Delivery, IncomingRequest
from inspector.wire.receiver.listen_address import why_no_tls

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
    """The limits of the receiver, in bytes and seconds.

    - `body`: the length of a body; `rejected_body`: how much of a rejected body is recorded.
    - `all_bodies`: the length of all bodies that are being received.
    - `head`: the length of a head; `headers`: the number of headers in it.
    - `seconds`: the time for a head, and separately for a body; `idle`: the time between two requests of a connection.
    - `linger`: how long the rest of a rejected body is read and discarded, so that the sender can read the response.
    - `connections`: the number of connections at the same time.
    """

    body: int = 10 * 1024 * 1024
    rejected_body: int = 64 * 1024
    all_bodies: int = 64 * 1024 * 1024
    head: int = 32 * 1024
    headers: int = 128
    seconds: float = 10.0
    idle: float = 15.0
    linger: float = 1.0
    connections: int = 512


async def next_bytes(request: web.BaseRequest) -> bytes:
    """Return the next bytes of a body; raises `ConnectionError` if the sender has disconnected."""
    if not request.protocol.connected and not request.content.is_eof():
        raise ConnectionResetError  # aiohttp would raise a RuntimeError
    return await request.content.readany()


class ReceiverState:
    """What the connections of a receiver share: limits, the callback for deliveries, open connections and tasks.

    `handshakes` are the transports whose TLS handshake is not complete.
    """

    def __init__(self, limits: ReceiverLimits, report: Callable[[Delivery], None]) -> None:
        self.limits = limits
        self.report = report
        self.open = False
        self.connections: set[Connection] = set()
        self.handshakes: set[asyncio.Transport] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        """Return whether no more connections are allowed."""
        return max(len(self.connections), len(self.handshakes)) >= self.limits.connections

    async def close(self) -> None:
        """Close every connection, and wait until its task has ended."""
        self.open = False
        for connection in tuple(self.connections):
            connection.abort()
        for transport in tuple(self.handshakes):
            transport.abort()
        # The event loop closes the sockets in its next iteration, which ends the tasks that read from them.
        await asyncio.sleep(0)
        if self.tasks:
            await asyncio.wait(self.tasks)


class Connection(web.RequestHandler):
    """An aiohttp connection with a time limit for the head; requests that aiohttp cannot read are reported.

    `current` is the request whose head was read last. `closed` is set when the connection is closed.
    """

    def __init__(
        self,
        state: ReceiverState,
        manager: web.Server,
        loop: asyncio.AbstractEventLoop,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        options: dict[str, Any] = {
            "access_log": None,
            "auto_decompress": False,
            "keepalive_timeout": state.limits.idle,
            "lingering_time": 0,
            "max_line_size": state.limits.head,
            "max_field_size": state.limits.head,
            "max_headers": state.limits.headers,
        }
        super().__init__(manager, loop=loop, **options)
        self._state = state
        self._tls = tls
        self._admitted = False
        self._peer = ""
        self._incoming: IncomingRequest | None = None
        self.current = IncomingRequest("")
        self.closed = asyncio.Event()
        self._content: StreamReader | None = None
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start serving the sender, after the TLS handshake if TLS is used."""
        # A sender that has disconnected has no address.
        self._peer = authority(*(transport.get_extra_info("peername") or ("", 0))[:2])
        if self._tls is None or self._state.full:
            self._begin(transport)
        else:
            task = asyncio.get_running_loop().create_task(self._tls_handshake(transport, self._tls))
            self._state.tasks.add(task)
            task.add_done_callback(self._state.tasks.discard)

    async def _tls_handshake(self, transport: asyncio.BaseTransport, tls: ssl.SSLContext) -> None:
        """Perform the TLS handshake and report a failure, which asyncio's own server does not do."""
        incoming, plain = IncomingRequest(self._peer), cast(asyncio.Transport, transport)
        seconds = self._state.limits.seconds
        self._state.handshakes.add(plain)
        try:
            # asyncio's own limit is longer, because its error is that of a sender that closes the connection.
            async with asyncio.timeout(seconds):
                secured = await asyncio.get_running_loop().start_tls(
                    plain, self, tls, server_side=True, ssl_handshake_timeout=2 * seconds
                )
            if secured is None:
                raise ConnectionAbortedError
        except (ssl.SSLError, OSError) as error:
            plain.abort()
            here = authority(*(transport.get_extra_info("sockname") or ("", 0))[:2])
            why = why_no_tls(error) if self._state.open else "the receiver was stopped during the TLS handshake"
            self._state.report(incoming.tls_failed(here, why))
        else:
            self._state.handshakes.discard(plain)  # before `_begin`, for which it would be another connection
            self._begin(secured)
        finally:
            self._state.handshakes.discard(plain)

    def _begin(self, transport: asyncio.BaseTransport) -> None:
        """Start serving the sender, or respond with 503 if there are too many connections."""
        self._admitted = True
        if self._state.open and not self._state.full:
            self._state.connections.add(self)
            super().connection_made(transport)
            return
        self.transport = cast(asyncio.Transport, transport)
        self._refuse(IncomingRequest(self._peer), 503, "too many connections are open")

    def connection_lost(self, exc: BaseException | None) -> None:
        """Clean up after the connection was closed, and report a request whose head is incomplete."""
        if not self._admitted:
            return  # during the TLS handshake: `_tls_handshake` reports the failure
        self._state.connections.discard(self)
        self.closed.set()
        super().connection_lost(exc)
        if self._incoming:
            what = "the connection was closed" if self._state.open else "the receiver was stopped"
            self._refuse(self._incoming, 0, f"{what} after {len(self._incoming.seen):,} bytes of the head")

    def data_received(self, data: bytes) -> None:
        """Check the limits of the head, pass the bytes to aiohttp, and report malformed chunks of a body."""
        if data and self._content is None and not self._messages:
            self._check_head_size(data)
        super().data_received(data)
        # aiohttp's C parser does not report a malformed chunk to the reader of the body, but queues it as the next
        # message. While a body has not ended, a queued message can only be this error.
        if self._content is not None and self._messages and not self._content.is_eof():
            self._content.set_exception(web.RequestPayloadError())

    async def start(self) -> None:
        """Serve the requests of this connection in order."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._state.tasks.add(task)
        try:
            await super().start()
        finally:
            self._state.tasks.discard(task)

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 - aiohttp's signature
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        """Report a request that is not HTTP and respond with an error; aiohttp would log the sender's bytes."""
        why = "an internal error of the inspector occurred on this delivery"
        if isinstance(exc, HttpProcessingError):
            status, why = _explain(exc)
            self._state.report(self.current.unreadable(status, why))
        else:
            asyncio.get_running_loop().call_exception_handler({"message": why, "exception": exc})
        response = make_response(status, why)
        response.force_close()
        return response

    def begin_body(self, content: StreamReader) -> None:
        """Note that the head is complete, so that further bytes belong to the body until `end_body`."""
        self._stop_head_timer()
        self.current, self._incoming = self._incoming or IncomingRequest(self._peer), None
        self._content = content

    def end_body(self) -> None:
        """Note that the body was read, so that further bytes belong to the next head."""
        self._content = None

    async def respond_early(self, request: web.BaseRequest, response: web.Response) -> None:
        """Respond before the body is complete, then discard the rest of the body for at most `linger` seconds."""
        response.force_close()
        # The delivery is already rejected, so errors in the rest of its body are not reported.
        with suppress(TimeoutError, ConnectionError, web.RequestPayloadError):
            await response.prepare(request)
            await response.write_eof()
            async with asyncio.timeout(self._state.limits.linger):
                while not request.content.at_eof():
                    await next_bytes(request)

    async def wait(self, seconds: float | None) -> None:
        """Wait until the sender disconnects, at most `seconds` (None: without limit)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.closed.wait()

    def cut_off(self, sent: bytes = b"") -> None:
        """Send some bytes and close the connection; if there are no bytes to send, reset it."""
        transport = self.transport
        if transport is None:
            return
        if sent:
            transport.write(sent)
            self.force_close()
            transport.close()
            return
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.abort()

    def abort(self) -> None:
        """Close the connection immediately."""
        transport = self.transport
        self.force_close()
        if transport is not None:
            transport.abort()

    def _check_head_size(self, data: bytes) -> None:
        """Store the first bytes of a head, and enforce its limits of time and length."""
        limits = self._state.limits
        if self._incoming is None:
            if not data.strip(b"\r\n"):
                return  # RFC 9112 section 2.2: empty lines before a request are ignored
            self._incoming = IncomingRequest(self._peer)
        seen = self._incoming.seen
        seen += data[: limits.head - len(seen)]
        if b"\r\n\r\n" in seen:
            return
        if len(seen) >= limits.head:
            self._refuse(self._incoming, 431, f"the head is longer than {limits.head:,} bytes")
        elif self._head_timer is None:
            self.keep_alive(True)  # stops aiohttp's timer for idle connections
            why = f"the head was incomplete after {limits.seconds:g} s"
            self._head_timer = asyncio.get_running_loop().call_later(
                limits.seconds, self._refuse, self._incoming, 408, why
            )

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, incoming: IncomingRequest, status: int, why: str) -> None:
        """Report a request that aiohttp has not read, respond if the sender is connected, and close the connection."""
        self._stop_head_timer()
        self._incoming = None
        if self.transport is not None:
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close", "Content-Length: 0"]
            lines += [f"{name}: {value}" for name, value in HEADERS.get(status, {}).items()]
            self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
            self.force_close()
        self._state.report(incoming.unreadable(status, why))


def make_response(status: int, why: str, headers: Mapping[str, str] = _NONE) -> web.Response:
    """Return a response with the text `why`, "" for no body."""
    more = HEADERS.get(status, _NONE)
    # A response to a closed connection (status 0) is not sent.
    return web.Response(
        status=status or 400, text=why or None, headers={**_OURS, **more, **headers} if more or headers else _OURS
    )


class _Accepted(web.StreamResponse):
    """A 204 on a connection that stays open; its bytes are the same for all deliveries of one second.

    aiohttp's own response would cost a fifth of the time of a delivery.
    """

    def __init__(self, second: int) -> None:
        super().__init__(status=204)
        self.second = second
        lines = ["HTTP/1.1 204 No Content", *(f"{name}: {value}" for name, value in _OURS.items())]
        lines.append(f"Date: {formatdate(second, usegmt=True)}")
        self._bytes = "\r\n".join([*lines, "", ""]).encode("ascii")

    @property
    def keep_alive(self) -> bool:
        """Return whether the connection stays open."""
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send the response; raises `ConnectionError` if the sender has disconnected."""
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError
        request.transport.write(self._bytes)
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: a 204 has no body."""


_accepted = _Accepted(0)


def accepted_response(request: web.BaseRequest) -> web.StreamResponse:
    """Return the response to an accepted delivery without an override."""
    global _accepted  # noqa: PLW0603
    if not request.keep_alive or request.version != HttpVersion11:
        return make_response(204, "")  # the response needs another HTTP version, or `Connection: close`
    if (second := int(time.time())) != _accepted.second:
        _accepted = _Accepted(second)
    return _accepted


def _explain(error: HttpProcessingError) -> tuple[int, str]:
    """Return the status and the reason for a request that aiohttp could not parse, without the sender's bytes."""
    message = error.message
    if isinstance(error, LineTooLong) or "Too many headers" in message:
        return 431, "the head has a line that is too long, or too many headers"
    if "HTTPS traffic" in message:
        return 400, "the sender uses TLS, but this receiver uses plain http"
    if "\n\n" in message:  # the parser's message, then the bytes
        words = message.partition("\n\n")[0].splitlines()[-1].strip(" :")
    else:
        words = message.rstrip(".") if type(error) is BadHttpMessage else "the head is malformed"
    return 400, f"not valid HTTP: {words}"
