"""Serve an agent's application on a free port of this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn


def serve(application: Callable[[str], Any]) -> None:
    """Make the application for its url, print the url as the first line of stdout and serve until a signal comes.

    The socket listens before the url is printed, so that whoever reads it can connect at once.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(application(url), access_log=False))
        print(url, flush=True)
        server.run(sockets=[listener])
