"""Look up the addresses of a host without blocking the end of the program, and connect to one of them."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

import aiohappyeyeballs

_NEXT_ADDRESS_SECONDS = 0.25
"""How long one address of a host is tried alone before the next address is tried as well (RFC 8305)."""

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


async def connect_to(host: str, port: int) -> socket.socket:
    """Return a socket that is connected to the first address of a host that accepts the connection.

    Raises `OSError` if every address failed, `ConnectionRefusedError` if one of them refused the connection: the others
    often fail only because this machine has no IPv6.
    """
    try:
        return await aiohappyeyeballs.start_connection(
            await look_up(host, port), happy_eyeballs_delay=_NEXT_ADDRESS_SECONDS
        )
    except OSError as error:
        # The error for different reasons has no number, only their texts.
        if error.errno is None and f"[Errno {errno.ECONNREFUSED}]" in str(error):
            raise ConnectionRefusedError(errno.ECONNREFUSED, str(error)) from error
        raise
