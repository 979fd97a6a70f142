"""Serve connections with a function that reads and writes bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def serving_bytes(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], **options: Any
) -> AsyncIterator[str]:
    """Serve connections on a free port of 127.0.0.1, and yield `host:port`; `options` are those of `start_server`.

    Open connections are left to the clients: from Python 3.12 on, `async with server` would wait for their end.
    """
    server = await asyncio.start_server(serve, "127.0.0.1", 0, **options)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read until the client leaves, and send nothing."""
    await reader.read()
    writer.close()
