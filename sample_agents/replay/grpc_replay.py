"""Serve a recording over gRPC."""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.grpc import DETAILS, OK

from ..errors import CallError, abort_grpc
from ..listening import grpc_metadata
from .call_content import RawRequest
from .playback import Miss, Playback, Player, stays_open
from .rewriting import Addresses

_BINARY = "-bin"
_OF_TRANSPORT = frozenset({"content-type", "te", "user-agent", "trailer", "date", "server"})
_LONGEST_MESSAGE = 2_500
"""The maximum length of a percent-encoded error message: trailers, which contain it twice, are limited to 8 kB."""
_ENDED = "The recorded call ended without a status."


class GrpcReplay:
    """Handle calls of every method; `addresses` returns where this server is reached."""

    def __init__(self, player: Player, addresses: Callable[[str], Addresses], log: Callable[[str], None]) -> None:
        self.streams = 0
        self._player = player
        self._addresses = addresses
        self._log = log

    def handlers(self, grpc: Any) -> list[Any]:
        """Return the handler of all methods, given the library."""
        replay = self

        class Methods(grpc.GenericRpcHandler):  # type: ignore[misc]
            """Accepts every method: on the wire, a call with a single response is a stream of one message."""

            def service(self, details: Any) -> Any:
                async def handle(raw: bytes, context: Any) -> AsyncIterator[bytes]:
                    async for message in replay.messages(grpc, str(details.method), raw, context):
                        yield message

                return grpc.unary_stream_rpc_method_handler(handle)

        return [Methods()]

    async def messages(self, grpc: Any, method: str, raw: bytes, context: Any) -> AsyncIterator[bytes]:
        """Yield the messages of the response to a call, then end it with the recorded status."""
        request = RawRequest("POST", method, "", {k.lower(): v for k, v in grpc_metadata(context).items()}, raw)
        found = self._player.find(request, ["GRPC"])
        if isinstance(found, Miss):
            await _refuse(grpc, context, found)
            return
        self.streams += 1
        try:
            async for message in self._play(grpc, context, found):
                yield message
        except asyncio.CancelledError:
            self._log(f"#{found.exchange.number}: client disconnected")
            raise
        finally:
            self.streams -= 1

    async def _play(self, grpc: Any, context: Any, playback: Playback) -> AsyncIterator[bytes]:
        status: Record | None = None
        last: Record | None = None
        async for record in playback.records():
            last = record
            match record.kind:
                case Kind.RESPONSE:
                    await context.send_initial_metadata(tuple(_metadata(record.meta["headers"])))
                case Kind.BODY | Kind.FRAME:
                    yield playback.payload(record, self._addresses(""))
                case Kind.TRAILERS:
                    status = record
                case _:
                    pass
        if status is not None:
            await _end(grpc, context, status)
        elif last is not None and stays_open(last):
            await asyncio.Event().wait()
        else:
            await context.abort(grpc.StatusCode.UNAVAILABLE, _ENDED)


async def _end(grpc: Any, context: Any, status: Record) -> None:
    """End a call with a recorded status."""
    code, trailing = int(status.meta["code"]), tuple(_metadata(status.meta["headers"]))
    if code == OK:
        context.set_trailing_metadata(trailing)
        return
    known = next((item for item in grpc.StatusCode if item.value[0] == code), grpc.StatusCode.UNKNOWN)
    await context.abort(known, str(status.meta["message"]), trailing)


async def _refuse(grpc: Any, context: Any, miss: Miss) -> None:
    """End a call with the error for a request that was not recorded."""
    version, message = miss.call.version, miss.message
    while len(quote(message)) > _LONGEST_MESSAGE:
        message = message[: len(message) * 9 // 10]
    await abort_grpc(grpc, context, CallError("UnsupportedOperationError", message), version)


def _metadata(headers: Iterable[Any]) -> Iterator[tuple[str, str | bytes]]:
    """Yield the recorded metadata that the library accepts; binary values are recorded in base64."""
    for name, value in ((str(name).lower(), str(value)) for name, value in headers):
        if name in _OF_TRANSPORT or (name.startswith(("grpc-", ":")) and name != DETAILS):
            continue
        if not name.endswith(_BINARY):
            if value.isascii() and value.isprintable():
                yield name, value
            continue
        try:
            yield name, b64decode(value, validate=True)
        except binascii.Error:  # masking a secret has changed the value
            continue
