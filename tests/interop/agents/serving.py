"""Serve an agent's application on a free port of this machine."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import uvicorn


def serve(application: Callable[[str], Any]) -> None:
    """Make the application for its url, print the url as the first line of stdout and serve until stdin ends.

    Whoever holds stdin may vanish in any way, and leaves no agent behind. The socket listens before the url is printed, so that whoever reads it can connect at once.
    """
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(application(url), access_log=False))
        print(url, flush=True)
        server.run(sockets=[listener])


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)
