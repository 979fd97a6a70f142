"""The HTTP client: yields observations of an exchange and enforces limits. Failures are observed, never raised."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

import h11
import httpx

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import INVALID_RESPONSE, Fault, FaultCode, FaultError, Whose, usage_error
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.sse import DEFAULT_LIMIT, Decoder
from inspector.text.limited_file import LARGEST_DOCUMENT
from inspector.wire.client.client_certificate import CertificateFor, ClientCertificate, no_certificate
from inspector.wire.client.credentials import basic, split_userinfo
from inspector.wire.client.faults import TOO_LARGE, TrustError, after_events, explain
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Headers, Observation, Sent, head_text
from inspector.wire.client.transport import IDLE_SECONDS, MOST_IDLE, Transport
from inspector.wire.client.upload import Upload, UploadError, body_of

if TYPE_CHECKING:
    import httpcore

_EVENT_STREAM = "text/event-stream"
_HEADERS = "inspector.headers"
_FRAMING = (b"content-length", b"transfer-encoding")
_AT_ONCE = 50
"""How many frames of one read are passed on together; after each batch `_HOG_SECONDS` is checked."""
_HOG_SECONDS = 0.002
"""How many seconds a busy stream may run before it yields: the effect of a key must be drawn within 100 ms."""
_ITERATIONS = 4
"""For how many event-loop iterations a busy stream yields: drawing the effect of a key needs several."""
_KEPT_OF_OVERRUN = 64 * 1024
"""How many bytes are kept of a body or an event that exceeds the limit."""
_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""The supported codings."""
_GZIP = b"\x1f"
"""The first byte of each member of a gzip body."""

_PIECE = 256 * 1024
_FREE = 64 * 1024
"""A shorter compressed body is treated as this long (in bytes) when `Limits.ratio` is checked."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a response.

    Bytes of a body, of a card or another document, and of one SSE block; the number of consecutive SSE blocks without
    data; growth by decompression; seconds.
    """

    body: int = 64 * 1024 * 1024
    document: int = LARGEST_DOCUMENT
    block: int = DEFAULT_LIMIT
    empty_blocks: int = 100_000
    ratio: int = 100
    connect_seconds: float = 10.0
    read_seconds: float | None = None


@dataclass(slots=True)
class Tally:
    """What an exchange received so far: the head, events and bytes; `rest` has the bytes that belong to no event."""

    headed: bool = False
    events: int = 0
    size: int = 0
    rest: bytes = b""


class Client:
    """Sends requests and observes the responses; redirects are never followed and cookies never kept.

    The environment may name a proxy; if it cannot be used, `FaultError` is raised when the client is made.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        verify: bool = True,
        clock: Callable[[], float] = time.time,
        transport: httpx.AsyncBaseTransport | None = None,
        certificate_for: CertificateFor = no_certificate,
    ) -> None:
        self.limits = limits or Limits()
        self._verify = verify
        self._clock = clock
        self._transport = transport
        self._certificate_for = certificate_for
        self._clients: dict[ClientCertificate | None, httpx.AsyncClient] = {}
        try:
            self._http = self._client(None)
        except TrustError as error:
            raise FaultError(explain(error, "")) from error
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            why = str(error).partition(". ")[0].rstrip(".")
            seen = f"The proxy that the environment names cannot be used: {why}."
            raise usage_error(seen, "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.") from error

    def _client(self, certificate: ClientCertificate | None) -> httpx.AsyncClient:
        """Return the HTTP client for a client certificate, or for none.

        Each has connections of its own, so that no request reuses a connection with another certificate.
        """
        if certificate not in self._clients:
            self._clients[certificate] = self._new_client(certificate)
        return self._clients[certificate]

    def _new_client(self, certificate: ClientCertificate | None) -> httpx.AsyncClient:
        chosen = {"transport": self._transport} if self._transport else _transport(certificate, verify=self._verify)
        return httpx.AsyncClient(
            **chosen,
            follow_redirects=False,
            timeout=httpx.Timeout(self.limits.read_seconds, connect=self.limits.connect_seconds, pool=None),
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=MOST_IDLE, keepalive_expiry=IDLE_SECONDS
            ),
            headers={"User-Agent": "a2a-inspect", "Accept-Encoding": "identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            auth=httpx.Auth(),  # without this, httpx would take userinfo out of the url and send it unobserved
            event_hooks={"response": [_keep_head]},
        )

    async def aclose(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.aclose()

    def preview(self, request: HttpRequest) -> Sent:
        """Return the request as `exchange` would send it; raises `ValueError` or `httpx.InvalidURL` for a bad url."""
        return self._seen(request, self._build(request, body_of(request, Upload())))

    def _build(self, request: HttpRequest, body: AsyncIterator[bytes]) -> httpx.Request:
        headers = _encoded(request)
        if request.splices and not any(name.lower() in _FRAMING for name, _ in headers):
            headers.append((b"Content-Length", str(request.length).encode("ascii")))
        # httpx adds a Content-Length to a body in one piece; with a Transfer-Encoding in the request, that is invalid.
        pieces = request.splices or any(name.lower() == b"transfer-encoding" for name, _ in headers)
        content = body if pieces else request.body or None
        return self._http.build_request(request.method, request.url, headers=headers, content=content)

    def _seen(self, request: HttpRequest, built: httpx.Request) -> Sent:
        return Sent(self._clock(), request.method, str(built.url), _pairs(built.headers), request.shown)

    async def exchange(
        self, request: HttpRequest, upload: Upload | None = None, *, document: bool = False
    ) -> AsyncGenerator[Observation, None]:
        """Send a request and yield observations from `Sent` to `Ended`; closing the iterator ends the exchange.

        While a body with files is sent, `upload` counts the bytes that were sent. `document` is whether the response is
        a card or another document, which has a lower limit.
        """
        started = time.perf_counter()
        tally = Tally()
        certificate = self._certificate_for(request.url)
        try:
            async with aclosing(body_of(request, upload or Upload())) as body:
                built = self._build(request, body)
                yield self._seen(request, built)
                response = await self._send(self._client(certificate), built)
                try:
                    async with aclosing(
                        self._response(response, tally, self.limits.document if document else self.limits.body)
                    ) as observed:
                        async for seen in observed:
                            yield seen
                finally:
                    await response.aclose()
            how, fault = Ending.COMPLETE, None
        except TooMuchError as error:
            how = Ending.LIMIT
            fault = Fault(Whose.AGENT, INVALID_RESPONSE, f"Stopped reading: {error}.", TOO_LARGE)
        except CodingError as error:
            how, what = Ending.BROKEN, f"The body of the response cannot be read: {error}."
            hint = "The request accepts identity only; name any other coding in Content-Encoding."
            fault = Fault(Whose.AGENT, INVALID_RESPONSE, what, hint)
        except UploadError as error:
            how = Ending.BROKEN
            fault = Fault(Whose.YOURS, FaultCode.USAGE, f"{error}.", "The agent received only a part of the message.")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            how, fault = Ending.BROKEN, explain(error, request.url, certificate, headed=tally.headed)
            fault = after_events(tally.events, fault)
        seconds = time.perf_counter() - started
        yield Ended(self._clock(), how, seconds, tally.events, tally.size, tally.rest, fault)

    async def _send(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for the response head.

        httpx's own transport keeps a socket open if the task is canceled between connecting and the first request.
        """
        opened: list[httpcore.AsyncNetworkStream] = []

        async def watch(event: str, info: dict[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                opened.append(info["return_value"])

        request.extensions["trace"] = watch
        try:
            return await client.send(request, stream=True)
        except asyncio.CancelledError:
            for connection in opened:
                await connection.aclose()
            raise
        except h11.LocalProtocolError as error:  # a wrong Content-Length; httpcore does not convert this error
            raise httpx.LocalProtocolError(str(error)) from error

    async def _response(
        self, response: httpx.Response, tally: Tally, longest: int
    ) -> AsyncGenerator[Observation, None]:
        content_type = without_parameters(response.headers.get("content-type", ""))
        streamed = content_type == _EVENT_STREAM
        tally.headed = True
        yield Head(
            self._clock(),
            response.status_code,
            response.reason_phrase,
            response.http_version,
            _pairs(response.extensions[_HEADERS]),
            streamed,
        )
        async with aclosing(self._decoded(response, tally)) as chunks:
            read = self._frames(chunks, tally) if streamed else self._body(chunks, longest)
            async with aclosing(read) as observed:
                async for seen in observed:
                    yield seen

    async def _body(self, chunks: AsyncIterator[bytes], longest: int) -> AsyncGenerator[Observation, None]:
        body = bytearray()
        try:
            async for chunk in chunks:
                body += chunk
                if len(body) > longest:
                    raise TooMuchError(f"the body is larger than {longest:,} bytes")
        except TooMuchError:
            yield Body(self._clock(), bytes(body[:_KEPT_OF_OVERRUN]), complete=False)
            raise
        except (CodingError, httpx.HTTPError):
            yield Body(self._clock(), bytes(body), complete=False)
            raise
        yield Body(self._clock(), bytes(body))

    async def _frames(self, chunks: AsyncIterator[bytes], tally: Tally) -> AsyncGenerator[Observation, None]:
        decoder = Decoder(self.limits.block)
        rested, empty = time.perf_counter(), 0
        try:
            async for chunk in chunks:
                at, frames = self._clock(), decoder.feed(chunk)
                for start in range(0, len(frames) or 1, _AT_ONCE):
                    if some := frames[start : start + _AT_ONCE]:
                        tally.events += len([frame for frame in some if frame.data is not None])
                        yield Frames(at, some)
                        empty = 0 if any(frame.data for frame in some) else empty + len(some)
                        if empty > self.limits.empty_blocks:
                            raise TooMuchError(f"{empty:,} events in a row are without data")
                    if time.perf_counter() - rested > _HOG_SECONDS:
                        for _ in range(_ITERATIONS):
                            await asyncio.sleep(0)
                        rested = time.perf_counter()
                if decoder.overrun:
                    raise TooMuchError(f"one event of the stream is larger than {self.limits.block:,} bytes")
        finally:
            tally.rest = decoder.rest[:_KEPT_OF_OVERRUN] if decoder.overrun else decoder.rest

    async def _decoded(self, response: httpx.Response, tally: Tally) -> AsyncGenerator[bytes, None]:
        """Yield the body without its content coding, or as received if the coding is unknown.

        Growth beyond the limits raises `TooMuchError`; an unknown or wrong coding raises `CodingError`.
        """
        coding = response.headers.get("content-encoding", "").strip().lower()
        inflater = Inflater(coding, self.limits.ratio) if coding in _CODINGS else None
        async for chunk in response.aiter_raw():
            tally.size += len(chunk)
            if inflater is None:
                yield chunk
                continue
            for piece in inflater.feed(chunk):
                yield piece
        if inflater is not None:
            yield inflater.finish()
        elif coding not in ("", "identity"):
            raise CodingError(f"it is encoded as {coding!r}")


class TooMuchError(Exception):
    """Raised when a limit is reached; the message names the limit."""


class CodingError(Exception):
    """Raised when a body does not have its declared content coding; the message has the reason."""


class Inflater:
    """Decodes gzip and deflate piece by piece; growth by more than the factor `ratio` raises `TooMuchError`."""

    def __init__(self, coding: str, ratio: int) -> None:
        self._coding = coding
        self._ratio = ratio
        self._stream = _decompressor()
        self._taken = 0
        self._grown = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the next bytes decoded; raises `CodingError`."""
        self._taken += len(chunk)
        while chunk:
            if self._stream.eof and self._coding != "deflate" and chunk.startswith(_GZIP):
                self._stream = _decompressor()  # RFC 1952 section 2.2: a gzip body may have several members
            if self._stream.eof:
                raise CodingError(f"the {self._coding} body continues after its end")
            try:
                piece = self._stream.decompress(chunk, _PIECE)
            except zlib.error as error:
                raise CodingError(f"Content-Encoding is {self._coding}, but the body is not: {error}") from error
            self._grown += len(piece)
            if self._grown > self._ratio * max(self._taken, _FREE):
                raise TooMuchError(f"the {self._coding} body grew more than {self._ratio} times")
            yield piece
            chunk = self._stream.unconsumed_tail or self._stream.unused_data

    def finish(self) -> bytes:
        """Return the rest at the end of the body; raises `CodingError` if the coding is incomplete."""
        left = self._stream.flush()
        if self._taken and not self._stream.eof:
            raise CodingError(f"the {self._coding} body breaks off")
        return left


def _decompressor() -> zlib._Decompress:
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: a gzip or a zlib header


def _transport(certificate: ClientCertificate | None, *, verify: bool) -> dict[str, Any]:
    """Return the arguments that make httpx use our transport or, if the environment names a proxy, its own."""

    @cache
    def with_certificate(own: ClientCertificate) -> ssl.SSLContext:
        context = tls_context(verify=verify)
        own.load_into(context)
        return context

    def trust() -> ssl.SSLContext:
        if certificate is not None:
            return with_certificate(certificate)
        if not verify:
            return tls_context(verify=False)
        return _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    proxies = getproxies()
    if any(proxies.get(scheme) for scheme in ("http", "https", "all")):
        return {"verify": trust()}
    return {"transport": Transport(trust)}


def tls_context(*, verify: bool) -> ssl.SSLContext:
    """Return a TLS context that trusts the usual authorities, or without `verify` all; raises `TrustError`."""
    try:
        return httpx.create_ssl_context(verify=verify)
    except OSError as error:  # ssl.SSLError is an OSError
        place = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or "the authorities of the system"
        raise TrustError(f"{place}: {error.strerror or error}") from error


@cache
def _trusted(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Read the trusted certificate authorities once, because this is slow; the arguments are only the cache key."""
    return tls_context(verify=True)


async def _keep_head(response: httpx.Response) -> None:
    """Keep the headers and hide the Location: httpx would parse it, and raise an error if it is not a url."""
    response.extensions[_HEADERS] = response.headers.copy()
    response.headers.pop("location", None)


def _encoded(request: HttpRequest) -> list[tuple[bytes, bytes]]:
    """Return the headers as bytes; userinfo in the url becomes an Authorization header."""
    headers = [
        (name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape"))
        for name, value in request.headers.items()
    ]
    _, userinfo = split_userinfo(request.url)
    if userinfo and not any(name.lower() == b"authorization" for name, _ in headers):
        headers.append((b"Authorization", basic(userinfo).encode("ascii")))
    return headers


def _pairs(headers: httpx.Headers) -> Headers:
    return tuple((head_text(name), head_text(value)) for name, value in headers.raw)
