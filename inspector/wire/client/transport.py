"""An HTTP/1.1 transport for httpx on asyncio's own connections.

h11 writes requests and reads response heads, as in httpx's own transport. The chunks of a body are read by httptools,
whose parser is written in C, because a stream arrives as thousands of small chunks. The chunks in the bytes of one
socket read are passed on as one piece.
"""

from __future__ import annotations

import asyncio
import selectors
import ssl
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from http.client import NO_CONTENT, NOT_MODIFIED, SWITCHING_PROTOCOLS
from typing import TypeAlias

import h11
import httptools
import httpx

from inspector.wire.resolve import connect_to

MOST_IDLE = 20
IDLE_SECONDS = 4.0
"""How many unused connections are kept for further requests, and for how long.

Many servers close them after 5 s; a request that is sent at that moment would fail.
"""
_LARGEST_HEAD = 100 * 1024
"""The limit of a response head, and of what is between two chunks of a body, in bytes."""
_MOST_INFORMATIONAL = 100
"""The most heads with a status of 1xx before a response."""
_QUOTED = 60
"""How many bytes of an unfinished head are quoted in an error."""
_LARGEST_PORT = 65_535
_MOST_BUFFERED = 512 * 1024
"""The connection is not read while more than this many bytes wait, so that a fast server cannot fill the memory."""
_PIECE = 64 * 1024
"""How many bytes are written at once, each time with the timeout."""
_WITHOUT_BODY = frozenset({SWITCHING_PROTOCOLS, NO_CONTENT, NOT_MODIFIED})

_Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port."""
_Head: TypeAlias = h11.Response | h11.InformationalResponse
"""The head of a response; of the informational responses, only those with status 101."""


class Transport(httpx.AsyncBaseTransport):
    """Sends requests over HTTP/1.1 and reuses idle connections; `trust` creates the TLS context when it is needed.

    Raises the errors of httpx. Does not support proxies and HTTP/2.
    """

    def __init__(self, trust: Callable[[], ssl.SSLContext]) -> None:
        self._trust = trust
        self._open: set[_Connection] = set()
        self._idle: list[tuple[_Origin, float, _Connection]] = []
        self._opening: set[asyncio.Task[_Connection]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response as soon as its head is complete."""
        origin, timeouts = _origin_of(request.url), request.extensions["timeout"]
        connection = self._reused(origin) or await self._connect(origin, timeouts["connect"])
        exchange = _Exchange(connection, request.method, timeouts["read"])
        try:
            await exchange.send(request)
            head = await exchange.head()
        except BaseException:
            self._drop(connection)
            raise
        return httpx.Response(
            head.status_code,
            headers=head.headers.raw_items(),
            stream=_Body(exchange, head, lambda reusable: self._release(origin, connection, reusable)),
            extensions={"http_version": b"HTTP/" + head.http_version, "reason_phrase": head.reason},
        )

    async def aclose(self) -> None:
        """Close all connections and cancel those that are being opened: the requests that wait for them fail."""
        opening = tuple(self._opening)
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for connection in tuple(self._open):
            self._drop(connection)

    def _reused(self, origin: _Origin) -> _Connection | None:
        oldest = time.monotonic() - IDLE_SECONDS
        for _, since, connection in tuple(self._idle):
            if since < oldest or connection.spent:
                self._drop(connection)
        for entry in reversed(self._idle):
            if entry[0] == origin:
                self._idle.remove(entry)
                return entry[2]
        return None

    def _release(self, origin: _Origin, connection: _Connection, reusable: bool) -> None:
        if not reusable:
            self._drop(connection)
            return
        self._idle.append((origin, time.monotonic(), connection))
        if len(self._idle) > MOST_IDLE:
            self._drop(self._idle[0][2])

    def _drop(self, connection: _Connection) -> None:
        self._open.discard(connection)
        self._idle = [entry for entry in self._idle if entry[2] is not connection]
        connection.abort()

    async def _connect(self, origin: _Origin, seconds: float | None) -> _Connection:
        """Open a connection in a task of its own, so that `aclose` can stop it."""
        task = asyncio.create_task(self._open_connection(origin, seconds))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled() and task.exception() is None:  # opened and canceled at the same time
                self._drop(task.result())
            if _is_cancelled():
                raise
        raise httpx.ConnectError("the client was closed")

    async def _open_connection(self, origin: _Origin, seconds: float | None) -> _Connection:
        scheme, host, port = origin
        context = self._trust() if scheme == "https" else None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                sock = await connect_to(host, port)
                name = host if context else None
                _, connection = await loop.create_connection(_Connection, sock=sock, ssl=context, server_hostname=name)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        self._open.add(connection)
        return connection


def _is_cancelled() -> bool:
    """Return whether the current task is being canceled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _origin_of(url: httpx.URL) -> _Origin:
    if url.scheme not in ("http", "https"):
        problem = f"has the unsupported scheme {url.scheme!r}" if url.scheme else "has no scheme"
        raise httpx.UnsupportedProtocol(f"The URL {problem}.")
    if url.port is not None and not 1 <= url.port <= _LARGEST_PORT:  # the system would use another port
        raise httpx.InvalidURL(f"The port {url.port} is not between 1 and {_LARGEST_PORT}.")
    return url.scheme, url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80)


class _Connection(asyncio.Protocol):
    """The bytes of one connection; reading from the socket stops while too many bytes wait."""

    def __init__(self) -> None:
        self.closed = False
        self._error: Exception | None = None
        self._received = bytearray()
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream socket has no other
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._news.set()
        if len(self._received) > _MOST_BUFFERED and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed, self._error = True, exc
        self._news.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    @property
    def spent(self) -> bool:
        """Return whether an idle connection was closed by the server, or has bytes that belong to no response."""
        if self.closed or self._received:
            return True
        with selectors.DefaultSelector() as selector:  # the event loop may not have noticed this yet
            selector.register(self._transport.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))

    async def write(self, data: bytes, seconds: float | None) -> None:
        """Write bytes; nothing happens on a closed connection, whose response may still be read.

        Raises httpx.WriteTimeout if nothing is sent for some seconds.
        """
        for start in range(0, len(data), _PIECE):
            if self.closed:
                return
            self._transport.write(data[start : start + _PIECE])
            try:
                async with asyncio.timeout(seconds):
                    await self._writable.wait()
            except TimeoutError as error:
                raise httpx.WriteTimeout(str(error)) from error

    async def read(self, seconds: float | None) -> bytes:
        """Return what was received, at least one byte; `b""` at the end. Raises httpx.ReadTimeout, httpx.ReadError."""
        if not self._received and not self.closed:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait()
            except TimeoutError as error:
                raise httpx.ReadTimeout(str(error)) from error
        if not self._received and self._error is not None:
            raise httpx.ReadError(str(self._error)) from self._error
        data, self._received = bytes(self._received), bytearray()
        self._news.clear()
        if self._paused:
            self._paused = False
            with suppress(RuntimeError):  # closed in the meantime
                self._transport.resume_reading()
        return data

    def abort(self) -> None:
        self._transport.abort()


class _Exchange:
    """One request and its response on a connection."""

    def __init__(self, connection: _Connection, method: str, seconds: float | None) -> None:
        self._connection = connection
        self._method = method
        self._seconds = seconds
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LARGEST_HEAD)
        self._complete = False
        self._closing = False

    async def send(self, request: httpx.Request) -> None:
        """Write a request; raises httpx.LocalProtocolError if it is not valid HTTP."""
        assert isinstance(request.stream, httpx.AsyncByteStream)  # noqa: S101 - of an AsyncClient
        target, headers = request.url.raw_path, request.headers.raw
        self._closing = "close" in request.headers.get("connection", "").lower()
        try:
            await self._write(h11.Request(method=request.method, target=target, headers=headers))
            async for piece in request.stream:
                await self._write(h11.Data(data=piece))
            await self._write(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error

    async def _write(self, event: h11.Event) -> None:
        if data := self._http.send(event):
            await self._connection.write(data, self._seconds)

    async def head(self) -> _Head:
        """Read the head of the response; a limited number of informational heads before it is skipped."""
        for _ in range(_MOST_INFORMATIONAL + 1):
            event = await self._event()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse) and event.status_code == SWITCHING_PROTOCOLS:
                return event
        raise httpx.RemoteProtocolError(f"more than {_MOST_INFORMATIONAL} responses with a status of 1xx")

    async def _event(self) -> h11.Event | None:
        """Return the next event, None if the response has no more events, as after a 101."""
        try:
            while True:
                event = self._http.next_event()
                if event is not h11.NEED_DATA:
                    return event if isinstance(event, h11.Event) else None
                data = await self._connection.read(self._seconds)
                if not data and self._http.their_state is h11.SEND_RESPONSE:
                    begun = self._http.trailing_data[0]
                    within = f"within the head of the response, after {begun[:_QUOTED]!r}" if begun else ""
                    raise httpx.RemoteProtocolError(f"Server disconnected {within or 'without sending a response'}.")
                self._http.receive_data(data)
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error

    async def body(self, head: _Head) -> AsyncGenerator[bytes, None]:
        """Yield the body without its framing, in pieces as they arrive."""
        chunked = any(name == b"transfer-encoding" for name, _ in head.headers)
        if not chunked or self._method == "HEAD" or head.status_code in _WITHOUT_BODY:
            while isinstance(event := await self._event(), h11.Data):
                yield bytes(event.data)
            self._complete = isinstance(event, h11.EndOfMessage) and not self._http.trailing_data[0]
            return
        chunks, data = _Chunks(), self._http.trailing_data[0]
        while True:
            if piece := chunks.feed(data):
                yield piece
            if chunks.error:
                raise httpx.RemoteProtocolError(chunks.error)
            if chunks.complete:
                self._complete = not chunks.surplus
                return
            data = await self._connection.read(self._seconds)
            if not data:
                what = "peer closed connection without sending complete message body (incomplete chunked read)"
                raise httpx.RemoteProtocolError(what)

    def reusable(self, head: _Head) -> bool:
        """Return whether the connection may carry another request: both sides have completed this exchange."""
        words = b",".join(value for name, value in head.headers if name == b"connection").lower()
        keeps = isinstance(head, h11.Response) and head.http_version == b"1.1" and b"close" not in words
        return keeps and self._complete and not self._closing and not self._connection.closed


class _Chunks:
    """Reads a chunked body; the callbacks are those of httptools.

    `error` describes invalid framing, `surplus` is true if bytes follow the body.
    """

    def __init__(self) -> None:
        self.complete = self.surplus = False
        self.error = ""
        self._pieces: list[bytes] = []
        self._framing = 0
        self._parser = httptools.HttpResponseParser(self)
        self._parser.feed_data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    def feed(self, data: bytes) -> bytes:
        """Return the part of the body that the next bytes contain."""
        self._pieces.clear()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self.surplus = self.complete
            self.error = "" if self.complete else str(error)
        self._framing = 0 if self._pieces else self._framing + len(data)
        if self._framing > _LARGEST_HEAD:
            self.error = "more than 100 KB of chunk extensions or trailers"
        return b"".join(self._pieces)

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_begin(self) -> None:
        self.surplus = self.complete

    def on_message_complete(self) -> None:
        self.complete = True


class _Body(httpx.AsyncByteStream):
    """The body of a response; `release` is called once, with whether the connection may be used again."""

    def __init__(
        self,
        exchange: _Exchange,
        head: _Head,
        release: Callable[[bool], None],
    ) -> None:
        self._exchange = exchange
        self._head = head
        self._release: Callable[[bool], None] | None = release

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._exchange.body(self._head)) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        """Keep the connection for the next request if the body was read to its end, or else close it."""
        if self._release is not None:
            release, self._release = self._release, None
            release(self._exchange.reusable(self._head))
