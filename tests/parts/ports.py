"""Ports for servers that a test starts later, or again."""

from __future__ import annotations

import os
import random
import socket

_FIRST, _END = 20_000, 32_768
"""The ports of the range below the one from which Linux takes the ports of connections and of servers without a port.

A port that the system chose is free once its socket is closed, so that another process can get it at any moment.
"""
_MOST_WORKERS = 64


def _ports_of_worker() -> list[int]:
    """Return the ports of this process in a random order; those of two workers differ."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _MOST_WORKERS
    ports = range(_FIRST + worker, _END, _MOST_WORKERS)
    return random.SystemRandom().sample(ports, len(ports))


_unused = iter(_ports_of_worker())
"""The ports that were not used yet: each is used once."""


def unused_port() -> int:
    """Return a port of the loopback address that no other process gets by chance while nothing listens at it."""
    for port in _unused:
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:  # in use
            continue
    raise RuntimeError("all ports of this process have been used")
