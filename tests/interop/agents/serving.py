"""Serve an agent's application over HTTP and gRPC on free ports of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import grpc
import uvicorn


def serve(application: Callable[[str, str, grpc.aio.Server], Any]) -> None:
    """Print the URL as the first line of stdout and serve until a signal.

    `application` receives the URL, the gRPC address and the gRPC server, to which it adds its service. Both servers
    listen before the URL is printed.
    """
    asyncio.run(_serve(application))


async def _serve(application: Callable[[str, str, grpc.aio.Server], Any]) -> None:
    calls = grpc.aio.server()
    target = f"127.0.0.1:{calls.add_insecure_port('127.0.0.1:0')}"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(application(url, target, calls), access_log=False))
        await calls.start()
        print(url, flush=True)
        await server.serve(sockets=[listener])
        await calls.stop(grace=None)
