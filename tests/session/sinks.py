"""A server over bare sockets that reads large requests without storing them."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

DONE = (
    b'{"jsonrpc":"2.0","id":"r","result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}}'
)


@dataclass
class Sink:
    """A server that hashes a body and stores it if `keeps`; if `answer` is set, it handles the request instead."""

    url: str = ""
    head: bytes = b""
    length: int = 0
    digest: str = ""
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    on_piece: Callable[[int], None] | None = None
    keeps: bool = False
    body: bytes = b""
    lost: list[int] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = await reader.readuntil(b"\r\n\r\n")
        if self.answer is not None:
            await self.answer(reader, writer)
            writer.close()
            return
        expected = int(re.search(rb"(?i)content-length: *(\d+)", self.head)[1])
        seen, known, kept = 0, hashlib.sha256(), bytearray()
        while seen < expected and (piece := await reader.read(65536)):
            seen += len(piece)
            known.update(piece)
            if self.keeps:
                kept += piece
            if self.on_piece is not None:
                self.on_piece(seen)
        if seen < expected:
            self.lost.append(expected - seen)
        else:
            self.length, self.digest, self.body = seen, known.hexdigest(), bytes(kept)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(DONE))
            writer.write(DONE)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def running(sink: Sink) -> AsyncIterator[Sink]:
    """Run the server while the context lasts."""
    server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
    sink.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield sink
    finally:
        server.close()
