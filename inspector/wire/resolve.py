"""Look up the addresses of a host without blocking the end of the program."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

Addresses: TypeAlias = Sequence[
    tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]
]
"""What `socket.getaddrinfo` returns."""


async def look_up(host: str, port: int | None = None) -> Addresses:
    """Return the addresses of a host; raises `OSError`, and `UnicodeError` for an invalid name.

    A name is looked up in a thread of its own: the end of an event loop waits for the threads of its executor, and a
    look-up without an answer can last 30 seconds.
    """
    with suppress(socket.gaierror):  # not an address
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Addresses] = loop.create_future()

    def finish(addresses: Addresses, error: OSError | None) -> None:
        if error is not None and not found.done():
            found.set_exception(error)
        elif not found.done():
            found.set_result(addresses)

    def in_thread() -> None:
        addresses: Addresses = []
        problem = None
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            problem = error
        with suppress(RuntimeError):  # the loop was closed in the meantime
            loop.call_soon_threadsafe(finish, addresses, problem)

    threading.Thread(target=in_thread, name=f"look up {host}", daemon=True).start()
    return await found
