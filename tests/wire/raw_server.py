"""A server that sends exactly the bytes that a test defines, valid or not, and records the requests."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

PATIENCE = 30.0

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


def response(body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return a response, by default with the correct Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def stream_head(*headers: str) -> bytes:
    """Return the head of a chunked event stream."""
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Return a chunk of a chunked body; the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass
class Peer:
    """The client's end of one connection, as a script sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    heard: list[bytes]

    async def request(self) -> bytes:
        """Read one request to its end and return its bytes."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await self.reader.readexactly(int(length[1])) if length else b""
        self.heard.append(head + body)
        return head + body

    async def send(self, data: bytes) -> None:
        """Send bytes at once."""
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Break the connection with a RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the client has closed the connection."""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while await self.reader.read(65536):
                    pass


Script = Callable[[Peer], Awaitable[None]]


@dataclass
class RawServer:
    """Where the server listens, the requests that it heard, and how many of its connections are open."""

    url: str
    heard: list[bytes] = field(default_factory=list)
    open: int = 0

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self.url.rpartition(":")[2])


@asynccontextmanager
async def serve(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """Run a script for each connection while the context lasts; an error in one fails the test."""
    running: list[asyncio.Task[None]] = []

    async def run(peer: Peer) -> None:
        server.open += 1
        try:
            # That the client goes away, or the test ends, is for the test to look at.
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await script(peer)
        finally:
            server.open -= 1
            peer.writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.append(asyncio.create_task(run(Peer(reader, writer, server.heard))))

    listening = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=tls, backlog=512)
    port = listening.sockets[0].getsockname()[1]
    server = RawServer(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    try:
        yield server
    finally:
        listening.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running)


def answering(*answers: bytes) -> Script:
    """Return a script that sends these responses to the requests of a connection, then closes it."""

    async def script(peer: Peer) -> None:
        for answer in answers:
            await peer.request()
            await peer.send(answer)

    return script


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)
