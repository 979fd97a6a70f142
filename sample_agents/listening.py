"""Listen for HTTP and gRPC requests, with or without TLS."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from inspector.lazy_dataclass import dataclass
from inspector.text.host import authority

if TYPE_CHECKING:
    from .tls import Tls

MAX_BODY = 10_000_000
WRITE_TIMEOUT = 30.0
_BACKLOG = 1024
_SHUTDOWN = 1.0
_GRACE = 0.2
"""Seconds that running calls have to finish when a gRPC server stops."""
_WILDCARDS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound to

_logger = logging.getLogger(__name__.rpartition(".")[0])
# Without a handler, Python would write warnings to stderr, over the TUI.
_logger.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The address of an agent; port 0 selects a free port, `grpc_port=None` disables gRPC."""

    host: str = "127.0.0.1"
    port: int = 0
    grpc_port: int | None = 0


class HttpListener:
    """An HTTP server that passes every request to one handler."""

    def __init__(self, runner: web.AppRunner, url: str) -> None:
        self.url = url
        self._runner = runner

    @classmethod
    async def start(
        cls,
        handle: Callable[[web.Request], Awaitable[web.StreamResponse]],
        host: str,
        port: int,
        tls: Tls | None,
        largest: int = MAX_BODY,
    ) -> HttpListener:
        """Listen; raises OSError if the port is in use. `largest` is the maximum size of a request in bytes."""
        application = web.Application(client_max_size=largest)
        application.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(
            application, access_log=None, logger=_logger, handler_cancellation=True, shutdown_timeout=_SHUTDOWN
        )
        await runner.setup()
        try:
            context = tls.context() if tls else None
            await web.TCPSite(runner, host, port, backlog=_BACKLOG, ssl_context=context).start()
        except BaseException:
            await runner.cleanup()
            raise
        shown = authority(_WILDCARDS.get(host, host), runner.addresses[0][1])
        return cls(runner, f"{'https' if tls else 'http'}://{shown}")

    async def refuse_connections(self) -> None:
        """Stop listening; open connections continue."""
        for site in tuple(self._runner.sites):
            await site.stop()

    async def close(self) -> None:
        """Close every connection."""
        await self._runner.cleanup()


class GrpcListener:
    """A gRPC server."""

    def __init__(self, server: Any, port: int) -> None:
        self.port = port
        self._server = server

    @classmethod
    async def start(
        cls, handlers: Callable[[Any], Iterable[Any]], host: str, port: int, tls: Tls | None, largest: int = MAX_BODY
    ) -> GrpcListener:
        """Listen; `handlers` returns the generic handlers, given the library. Raises OSError if the port is in use."""
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it logs to stderr directly, which would damage a TUI
        import grpc.aio  # noqa: PLC0415 - an agent without gRPC starts without it

        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", largest)]
        server = grpc.aio.server(options=options)
        server.add_generic_rpc_handlers(tuple(handlers(grpc)))
        try:
            where = authority(host, port)
            secured = tls.credentials() if tls else None
            bound = server.add_secure_port(where, secured) if secured else server.add_insecure_port(where)
        except RuntimeError as error:
            await server.stop(None)
            raise OSError(errno.EADDRNOTAVAIL, f"port {port} is not available for gRPC") from error
        await server.start()
        return cls(server, int(bound))

    async def stop(self) -> None:
        """Stop listening and end every call."""
        await self._server.stop(_GRACE)


def origin_of(request: web.Request) -> str:
    """Return the origin under which the client reached the server, `""` without a valid header Host."""
    try:
        return str(request.url.origin()) if request.headers.get("Host") else ""
    except ValueError:
        return ""


def cut_connection(request: web.Request) -> None:
    """Close the connection of a request within its response."""
    if request.transport is not None:
        request.transport.abort()


def grpc_metadata(context: Any) -> dict[str, str]:
    """Return the metadata of a gRPC call; the values of a repeated name are joined with commas."""
    metadata: dict[str, str] = {}
    for name, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            metadata[name] = f"{metadata[name]}, {value}" if name in metadata else value
    return metadata
