"""Serve gRPC: one service for each version that has one, all on one port (1.0 section 10)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from inspector.protocol.bindings.grpc import read, write_answer
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation

from . import extension
from .access import ANYTHING, Access, MissingScopeError
from .authentication import Authenticator, credentials_in
from .checks import check_version
from .errors import CallError, abort_grpc, bad_params, internal_error
from .faults.segments import events_of
from .listening import GrpcListener, grpc_metadata
from .service import Call, Service
from .task_store import Subscription
from .tls import Tls
from .versions import Version

_logger = logging.getLogger(__name__)


class Grpc:
    """Serve protocol versions over gRPC.

    `log` receives one or two lines for each call. `write_timeout` is the limit of one write in seconds, `largest` the
    maximum size of a request in bytes.
    """

    def __init__(
        self,
        versions: Sequence[Version],
        service: Service,
        log: Callable[[str], None],
        write_timeout: float,
        largest: int,
        authenticator: Authenticator | None,
        tls: Tls | None = None,
    ) -> None:
        self._versions = versions
        self._service = service
        self._log = log
        self._write_timeout = write_timeout
        self._largest = largest
        self._authenticator = authenticator
        self._tls = tls
        self._listener: GrpcListener | None = None
        self._base = ""

    async def start(self, host: str, port: int, base: str) -> int:
        """Listen and return the port; `base` is the HTTP origin of the agent. Raises OSError if the port is in use."""
        self._base = base
        self._listener = await GrpcListener.start(
            lambda grpc: [self._handlers(grpc, version) for version in self._versions],
            host,
            port,
            self._tls,
            self._largest,
        )
        return self._listener.port

    async def stop(self) -> None:
        """Stop listening and end every call."""
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    def _handlers(self, grpc: Any, version: Version) -> Any:
        service = version.dialect.service
        if service is None:
            raise ValueError(f"{version.name} has no gRPC binding")
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
        """Return the handler of a method; it returns the response, or None if it has written a stream."""

        async def handle(raw: bytes, context: Any) -> bytes | None:
            version = self._requested(served, context)
            access = self._access(context)
            if access.problem:
                self._log(f"{version.name} refused: UNAUTHENTICATED")
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, access.problem)
            try:
                call = replace(self._open(raw, context, version, operation), access=access)
                self._service.check_scopes(call)
                if operation in STREAMING:
                    await self._stream(call, await self._service.open(call), context)
                    return None
                answer = version.dialect.encode_result(operation, await self._service.answer(call))
                if call.activated:
                    await context.send_initial_metadata(_metadata_of(call))
                message = write_answer(version.dialect, operation, answer)
            except CallError as refused:
                error = refused
            except MissingScopeError as missing:
                self._log(f"{version.name} refused: PERMISSION_DENIED")
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, str(missing))
            except Exception:
                _logger.exception("a call failed")
                error = internal_error()
            else:
                self._log(f"{version.name} {operation}")
                return message
            self._log(f"{version.name} refused: {error.kind.name}")
            await abort_grpc(grpc, context, error, version)
            return None

        return handle

    def _access(self, context: Any) -> Access:
        """Return what the credentials of a call allow."""
        if self._authenticator is None:
            return ANYTHING
        return self._authenticator.check(credentials_in(grpc_metadata(context)))

    def _requested(self, served: Version, context: Any) -> Version:
        """Return the version that a call names if it has the same gRPC service as `served`, else `served`."""
        version = grpc_metadata(context).get(served.version_header.lower(), "").strip()
        named = next((item for item in self._versions if item.name == version), served)
        service, shared = named.dialect.service, served.dialect.service
        return named if service and shared and service.name == shared.name else served

    def _open(self, raw: bytes, context: Any, version: Version, operation: Operation) -> Call:
        """Read a call; raises `CallError`. A call without a version has the version of its gRPC service."""
        metadata = grpc_metadata(context)
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
        dialect, rewrite, count = call.version.dialect, call.event_rewriter(), 0
        self._log(f"{title}: stream started")
        try:
            if call.activated:
                await context.send_initial_metadata(_metadata_of(call))
            async for event in events_of(subscription):
                message = write_answer(dialect, call.operation, dialect.encode_event(rewrite(event)))
                async with asyncio.timeout(self._write_timeout):
                    await context.write(message)
                count += 1
            self._log(f"{title}: stream ended after {count} events")
        except asyncio.CancelledError:
            self._log(f"{title}: client disconnected")
            raise
        except TimeoutError as error:
            self._log(f"{title}: client stopped reading")
            raise CallError("InternalError", "The client did not read the stream in time.") from error
        finally:
            subscription.end()


def _metadata_of(call: Call) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a response with the extensions that its call activated."""
    return ((call.version.dialect.extensions_header.lower(), ", ".join(call.activated)),)


def _read(dialect: Dialect, operation: Operation, raw: bytes) -> Any:
    value: Json | Unreadable = read(dialect, operation, raw, is_request=True)
    return value if isinstance(value, Unreadable) else dialect.decode_request(operation, value)
