"""The gRPC client: yields observations of a call and enforces limits. Failures are observed, never raised."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx

from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.bindings.grpc import STATUSES
from inspector.protocol.sse import Frame
from inspector.text.binary_metadata import BINARY, bytes_of
from inspector.wire.client.client_certificate import CertificateFor, ClientCertificate, no_certificate
from inspector.wire.client.faults import (
    LostError,
    TrustError,
    connect_timeout,
    explain,
    invalid_metadata,
    is_local_status,
    lost,
)
from inspector.wire.client.http import Limits, Tally
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Headers, Observation, Sent, Trailers

_Key: TypeAlias = tuple[str, bool, ClientCertificate | None]
"""The host and port of a connection, whether it uses TLS, and its client certificate."""
_DEFAULT_PORT = 443
"""The port that the library uses for a target without a port."""
_CLOSE_SECONDS = 0.2
"""How many seconds running calls have to end when the client is closed."""


@cache
def _library() -> Any:
    """Load grpc with its own log disabled, which would write over the screen."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc.aio  # noqa: PLC0415 - most sessions need no gRPC

    return grpc


class GrpcClient:
    """Makes gRPC calls and observes the responses, without retries and without compression.

    With `verify=False`, the certificate of the server is trusted; its name still has to match.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        verify: bool = True,
        clock: Callable[[], float] = time.time,
        certificate_for: CertificateFor = no_certificate,
    ) -> None:
        self.limits = limits or Limits()
        self._verify = verify
        self._clock = clock
        self._certificate_for = certificate_for
        self._channels: dict[_Key, Any] = {}
        self._calls: Counter[Any] = Counter()
        """How many calls each connection has."""

    async def aclose(self) -> None:
        """Close every connection and end all running calls."""
        channels = {*self._channels.values(), *self._calls}
        self._channels.clear()
        for channel in channels:
            await channel.close(_CLOSE_SECONDS)

    def preview(self, request: GrpcRequest) -> Sent:
        """Return the request as `exchange` would pass it to the library."""
        url = f"{'grpcs' if request.tls else 'grpc'}://{request.target}{request.path}"
        return Sent(self._clock(), "POST", url, tuple(request.metadata.items()), request.body)

    async def exchange(self, request: GrpcRequest) -> AsyncGenerator[Observation, None]:
        """Make a call and yield observations from `Sent` to `Ended`; closing the iterator ends the call.

        Each message of a stream is a frame; the message of a unary call is the body. If the server sends no status,
        `Ended` has a fault.
        """
        started = time.perf_counter()
        tally = Tally()
        how, fault = Ending.COMPLETE, invalid_metadata(request.metadata)
        yield self.preview(request)
        if fault is not None:
            how = Ending.BROKEN
        else:
            try:
                async with aclosing(self._call(request, tally)) as observed:
                    async for seen in observed:
                        yield seen
            except LostError as error:
                how, fault = error.how, error.fault
            except (OSError, ValueError, httpx.InvalidURL) as error:
                how, fault = Ending.BROKEN, explain(error, request.url)
        yield Ended(self._clock(), how, time.perf_counter() - started, tally.events, tally.size, b"", fault)

    async def _call(self, request: GrpcRequest, tally: Tally) -> AsyncGenerator[Observation, None]:
        library, key = _library(), self._key(request)
        async with self._connection(key) as channel:
            connected = await self._connect(channel)
            if connected is None:
                raise connect_timeout(request)
            method = channel.unary_stream if request.streaming else channel.unary_unary
            call = method(request.path)(request.body, metadata=_metadata(request.metadata))
            try:
                head = await call.initial_metadata()
                await _check(call, request, tally, key[2], connected=connected)
                yield Head(self._clock(), 200, "OK", "HTTP/2", _pairs(head), request.streaming)
                with suppress(library.aio.AioRpcError):  # the status is read below
                    async for message in _messages(call, library.aio.EOF, request):
                        tally.events += 1
                        tally.size += len(message)
                        at = self._clock()
                        yield Frames(at, [Frame(message, message)]) if request.streaming else Body(at, message)
                await _check(call, request, tally, key[2], connected=connected)
                code, words = (await call.code()).value[0], await call.details()
                trailing = await call.trailing_metadata()
                yield Trailers(self._clock(), code, STATUSES[code], words or "", _pairs(trailing))
            finally:
                call.cancel()

    @asynccontextmanager
    async def _connection(self, key: _Key) -> AsyncIterator[Any]:
        """Use a connection for a call; one that failed is not used again, as the library would delay the next call.

        Closing a connection cancels its calls, so it is closed after the last of them.
        """
        channel = await self._channel(key)
        self._calls[channel] += 1
        try:
            yield channel
        except LostError:
            if self._channels.get(key) is channel:
                del self._channels[key]
            raise
        finally:
            self._calls[channel] -= 1
            if not self._calls[channel]:
                del self._calls[channel]
                if self._channels.get(key) is not channel:
                    await channel.close()

    async def _channel(self, key: _Key) -> Any:
        target, tls, own = key
        if key not in self._channels:
            library = _library()
            options = (
                ("grpc.max_receive_message_length", self.limits.body),
                ("grpc.enable_retries", 0),
                ("grpc.use_local_subchannel_pool", 1),  # a new channel does not reuse a failed connection
                ("grpc.compression_enabled_algorithms_bitset", 1),  # identity only: no decompression
                ("grpc.primary_user_agent", "a2a-inspect"),
            )
            place = f"dns:///{target}"  # without the scheme, a host named `unix` would be a path
            if tls:
                authorities = await self._authorities(target)
                pair = (own.key, own.chain) if own else (None, None)
                credentials = library.ssl_channel_credentials(authorities, *pair)
                self._channels[key] = library.aio.secure_channel(place, credentials, options)
            else:
                self._channels[key] = library.aio.insecure_channel(place, options)
        return self._channels[key]

    def _key(self, request: GrpcRequest) -> _Key:
        """Return what a connection depends on."""
        return request.target, request.tls, self._certificate_for(request.url) if request.tls else None

    async def _authorities(self, target: str) -> bytes | None:
        """Return the certificates to trust, None for the default of the library."""
        if not self._verify:
            seconds = self.limits.connect_seconds
            shown = await asyncio.to_thread(ssl.get_server_certificate, _address(target), timeout=seconds)
            return shown.encode("ascii")
        path = os.environ.get("SSL_CERT_FILE")  # which the HTTP client uses, too
        try:
            return await asyncio.to_thread(Path(path).read_bytes) if path else None
        except OSError as error:
            raise TrustError(f"{path}: {error.strerror or error}") from error

    async def _connect(self, channel: Any) -> bool | None:
        """Wait for the connection; return True if it is open, False if it failed, None after a timeout."""
        states = _library().ChannelConnectivity
        state = channel.get_state(try_to_connect=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.connect_seconds):
                while state not in (states.READY, states.TRANSIENT_FAILURE):
                    await channel.wait_for_state_change(state)
                    state = channel.get_state(try_to_connect=True)
        return {states.READY: True, states.TRANSIENT_FAILURE: False}.get(state)


def _address(target: str) -> tuple[str, int]:
    """Return the host and the port of a target with TLS; raises `httpx.InvalidURL`."""
    try:
        parts = urlsplit(f"//{target}")
        return parts.hostname or "", _DEFAULT_PORT if parts.port is None else parts.port
    except ValueError as error:
        raise httpx.InvalidURL(str(error)) from error


async def _check(
    call: Any, request: GrpcRequest, tally: Tally, certificate: ClientCertificate | None, *, connected: bool
) -> None:
    """Raise `LostError` if a call ended without a status from the server."""
    if call.done():
        words = await call.details() or ""
        if is_local_status((await call.code()).name, words, connected=connected):
            raise lost(words, request, tally.events, certificate, connected=connected)


async def _messages(call: Any, end: Any, request: GrpcRequest) -> AsyncGenerator[bytes, None]:
    """Yield the messages of a stream, or the message of a unary call; raises `LostError` if a unary call has none."""
    if not request.streaming:
        message = await call
        if message is None:  # the library accepts this
            raise lost("the status is OK, but there is no message", request, 0, connected=True)
        yield message
        return
    while (message := await call.read()) is not end:
        yield message


def _metadata(given: Mapping[str, str]) -> tuple[tuple[str, str | bytes], ...]:
    """Return metadata in the types of the library; binary values are decoded from base64."""
    return tuple((name, bytes_of(value) if name.endswith(BINARY) else value) for name, value in given.items())


def _pairs(metadata: Iterable[tuple[str, str | bytes]] | None) -> Headers:
    """Return metadata as text, binary values in base64."""
    return tuple(
        (name, b64encode(value).decode("ascii") if isinstance(value, bytes) else value)
        for name, value in metadata or ()
    )
