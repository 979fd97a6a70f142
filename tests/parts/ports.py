"""Ports for servers that a test starts later, or again."""

from __future__ import annotations

import secrets
import socket

_FIRST, _END = 20_000, 32_768
"""The ports of the range below the one from which Linux takes the ports of connections and of servers without a port.

A port that the system chose is free once its socket is closed, so that another process can get it at any moment.
"""


def unused_port() -> int:
    """Return a port of the loopback address that no other process gets by chance while nothing listens at it."""
    while True:
        port = _FIRST + secrets.randbelow(_END - _FIRST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:  # in use
            continue
