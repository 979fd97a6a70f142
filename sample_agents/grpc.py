"""gRPC as the agent serves it: a service for each version that has one, all on one port (1.0 section 10)."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from inspector.protocol.bindings.grpc import DETAILS, encode_error, read, write_answer
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation

from . import extension
from .authentication import Guard, Visitor
from .checks import check_version
from .errors import CallError, bad_params, failed
from .faults.segments import events_of
from .service import Call, Service
from .task_store import Subscription
from .tls import Tls
from .versions import Version

_GRACE = 0.2
"""How many seconds calls that are under way get to end when the server stops."""

_logger = logging.getLogger(__name__)


class Grpc:
    """Serves versions over gRPC; `log` gets a line or two a call, `patience` is how long one write may take."""

    def __init__(
        self,
        versions: Sequence[Version],
        service: Service,
        log: Callable[[str], None],
        patience: float,
        largest: int,
        guard: Guard | None,
        tls: Tls | None = None,
    ) -> None:
        self._versions = versions
        self._service = service
        self._log = log
        self._patience = patience
        self._largest = largest
        self._guard = guard
        self._tls = tls
        self._server: Any = None
        self._base = ""

    async def start(self, host: str, port: int, base: str) -> int:
        """Listen, and return the port; `base` is where HTTP is served. Raises OSError where the port is taken."""
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it writes to stderr past Python, and so over a screen
        import grpc.aio  # noqa: PLC0415 - an agent without gRPC starts without it

        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", self._largest)]
        server = grpc.aio.server(options=options)
        for version in self._versions:
            server.add_generic_rpc_handlers((self._handlers(grpc, version),))
        try:
            where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            secured = self._tls.credentials() if self._tls else None
            bound = server.add_secure_port(where, secured) if secured else server.add_insecure_port(where)
        except RuntimeError as error:
            await server.stop(None)
            raise OSError(errno.EADDRNOTAVAIL, f"port {port} is not to be had for gRPC") from error
        self._base = base
        self._server = server
        await server.start()
        return int(bound)

    async def stop(self) -> None:
        """Stop listening and end every call."""
        if self._server is not None:
            await self._server.stop(_GRACE)
            self._server = None

    def _handlers(self, grpc: Any, version: Version) -> Any:
        service = version.dialect.service
        if service is None:
            raise ValueError(f"{version.name} does not travel over gRPC")
        handlers = {}
        for operation, method in service.methods.items():
            make = (
                grpc.unary_stream_rpc_method_handler if operation in STREAMING else grpc.unary_unary_rpc_method_handler
            )
            handlers[method.name] = make(self._handler(grpc, version, operation))
        return grpc.method_handlers_generic_handler(service.name, handlers)

    def _handler(
        self, grpc: Any, served: Version, operation: Operation
    ) -> Callable[[bytes, Any], Awaitable[bytes | None]]:
        """Return what answers one method: a message, or None where the messages of a stream were written."""

        async def handle(raw: bytes, context: Any) -> bytes | None:
            version = self._asked(served, context)
            if self._guard is not None and not self._guard.admits(Visitor(_metadata(context))):
                self._log(f"{version.name} refused: UNAUTHENTICATED")
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "The card says how to come in.")
            try:
                call = self._open(raw, context, version, operation)
                if operation in STREAMING:
                    await self._stream(call, await self._service.open(call), context)
                    return None
                answer = version.dialect.encode_result(operation, await self._service.answer(call))
                message = write_answer(version.dialect, operation, answer)
            except CallError as refused:
                error = refused
            except Exception:
                _logger.exception("a call could not be answered")
                error = failed()
            else:
                self._log(f"{version.name} {operation}")
                return message
            self._log(f"{version.name} refused: {error.kind.name}")
            await _abort(grpc, context, error, version)
            return None

        return handle

    def _asked(self, served: Version, context: Any) -> Version:
        """Return the version that a call names, of those that share a service; else the one served under its name."""
        version = _metadata(context).get(served.version_header.lower(), "").strip()
        named = next((one for one in self._versions if one.name == version), served)
        service, shared = named.dialect.service, served.dialect.service
        return named if service and shared and service.name == shared.name else served

    def _open(self, raw: bytes, context: Any, version: Version, operation: Operation) -> Call:
        """Read a call, or refuse it; the service's name says the version of one that says no version."""
        metadata = _metadata(context)
        requested = metadata.get(version.version_header.lower(), "").strip()
        if requested:
            check_version(version, requested)
        request = _read(version.dialect, operation, raw)
        if isinstance(request, Unreadable):
            raise bad_params(request.why)
        named = extension.named_in([metadata.get(version.dialect.extensions_header.lower(), "")])
        return Call(operation, request, version, self._base, named)

    async def _stream(self, call: Call, subscription: Subscription, context: Any) -> None:
        title = f"{call.version.name} {call.operation}"
        dialect, written, count = call.version.dialect, call.written(), 0
        self._log(f"{title}: the stream begins")
        try:
            if call.numbers:
                await context.send_initial_metadata(((dialect.extensions_header.lower(), extension.URI),))
            async for event in events_of(subscription):
                message = write_answer(dialect, call.operation, dialect.encode_event(written(event)))
                async with asyncio.timeout(self._patience):
                    await context.write(message)
                count += 1
            self._log(f"{title}: the stream ends after {count} events")
        except asyncio.CancelledError:
            self._log(f"{title}: the client went away")
            raise
        except TimeoutError as error:
            self._log(f"{title}: the client does not read any more")
            raise CallError("InternalError", "The messages of the stream were not taken.") from error
        finally:
            subscription.end()


def _metadata(context: Any) -> dict[str, str]:
    """Return what came with a call, a name that came several times with all its values."""
    metadata: dict[str, str] = {}
    for name, value in context.invocation_metadata() or ():
        if isinstance(value, str):
            metadata[name] = f"{metadata[name]}, {value}" if name in metadata else value
    return metadata


def _read(dialect: Dialect, operation: Operation, raw: bytes) -> Any:
    value: Json | Unreadable = read(dialect, operation, raw, is_request=True)
    return value if isinstance(value, Unreadable) else dialect.decode_request(operation, value)


async def _abort(grpc: Any, context: Any, error: CallError, version: Version) -> None:
    """End a call with the status of a refusal; before 1.0, it said its name at the head of the message."""
    word = error.kind.statuses(version.release)[1]
    code, details = encode_error(error.kind, error.message, word)
    status = next(one for one in grpc.StatusCode if one.value[0] == code)
    if version.traits.details_errors:
        await context.abort(status, error.message, ((DETAILS, details),))
    await context.abort(status, f"{error.kind.name}: {error.message}")
