"""Find out which protocol a port uses, if it does not use the one in its URL."""

from __future__ import annotations

import asyncio
import ssl
from enum import Enum

from inspector.text.host import authority
from inspector.wire.endpoint import Endpoint
from inspector.wire.reach import open_connection

_SECONDS = 3.0
"""The time limit of each attempt."""
_REQUEST = b"HEAD / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
_HTTP2_REQUEST = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""The preface of a client of HTTP/2, with empty settings (RFC 9113 section 3.4)."""
_FRAME_HEAD = 9
_SETTINGS = 4


class PortProtocol(Enum):
    """What a port uses; a port that also accepts HTTP/1.1 is not one of the two for HTTP/2 only."""

    HTTP = "HTTP without TLS"
    HTTPS = "TLS"
    HTTP2 = "only HTTP/2, without TLS"
    HTTP2_TLS = "only HTTP/2, with TLS"
    UNKNOWN = ""

    @property
    def tls(self) -> bool:
        """Return whether the port uses TLS."""
        return self in (PortProtocol.HTTPS, PortProtocol.HTTP2_TLS)

    @property
    def http2_only(self) -> bool:
        """Return whether the port does not accept HTTP/1.1."""
        return self in (PortProtocol.HTTP2, PortProtocol.HTTP2_TLS)


async def port_protocol(endpoint: Endpoint) -> PortProtocol:
    """Connect to a port with each protocol and return the one that it uses; sends `HEAD /`, without credentials.

    A port with TLS that requires a client certificate does not respond to `HEAD /`.
    """
    uses_tls = False
    request = _REQUEST % authority(endpoint.host, endpoint.port).encode("ascii", "replace")
    for context, http1, http2 in (
        (_context("http/1.1"), PortProtocol.HTTPS, PortProtocol.HTTP2_TLS),
        (_context("h2"), PortProtocol.UNKNOWN, PortProtocol.HTTP2_TLS),
        (None, PortProtocol.HTTP, PortProtocol.HTTP2),
    ):
        if context is None and uses_tls:  # some servers with TLS respond to plain HTTP with an error
            return PortProtocol.HTTPS
        only_http2 = http1 is PortProtocol.UNKNOWN
        for sent in (_HTTP2_REQUEST,) if only_http2 else (request, _HTTP2_REQUEST):
            received = await _response(endpoint, sent, context)
            if received is None:
                break
            uses_tls = uses_tls or context is not None
            if received.startswith(b"HTTP/1.") and sent is request:
                return http1
            if _is_http2(received):
                return http2
    return PortProtocol.UNKNOWN


def _context(application_protocol: str) -> ssl.SSLContext:
    """Return a TLS context that accepts every certificate, because nothing secret is sent."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([application_protocol])
    return context


async def _response(endpoint: Endpoint, sent: bytes, context: ssl.SSLContext | None) -> bytes | None:
    """Return the first bytes that the port sends after a request, None if the connection or the handshake failed.

    A handshake that the port ended with a TLS alert did not fail: the port uses TLS.
    """
    received: bytes | None = None
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await open_connection(endpoint, context)
            received = b""
            try:
                writer.write(sent)
                while len(received) < _FRAME_HEAD and (more := await reader.read(_FRAME_HEAD)):
                    received += more
            finally:
                writer.transport.abort()
    except (OSError, UnicodeError) as error:  # an ssl.SSLError and a TimeoutError are OSErrors
        has_alert = isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")
        return b"" if received is None and has_alert else received
    return received


def _is_http2(received: bytes) -> bool:
    """Return whether the bytes start with the SETTINGS frame with which each side of HTTP/2 begins."""
    return len(received) >= _FRAME_HEAD and received[3] == _SETTINGS and not any(received[5:_FRAME_HEAD])


def port_remedy(found: PortProtocol, *, tls: bool, grpc: bool = False) -> tuple[str, str]:
    """Return what a port uses instead of the protocol of its URL, and the remedy; `("", "")` if it uses this protocol.

    `tls` is whether the URL has TLS, `grpc` whether gRPC is expected.
    """
    if found is PortProtocol.UNKNOWN or (found.tls == tls and (grpc or not found.http2_only)):
        return "", ""
    plain, secure = ("grpc:// or http://", "grpcs:// or https://") if grpc else ("http://", "https://")
    scheme = ""
    if found.tls != tls:
        scheme = f"Use {secure if found.tls else plain} instead of {plain if found.tls else secure}."
    if grpc and not found.tls and not found.http2_only:
        return "The port uses HTTP/1.1 without TLS.", "gRPC needs HTTP/2: check that this is the gRPC port."
    if found.http2_only and not grpc:
        remedy = (
            "Cards, JSON-RPC and HTTP+JSON use HTTP/1.1 here. If this is the gRPC port of the agent, use the port for "
            f"HTTP, or {'grpcs' if found.tls else 'grpc'}:// to read its card over gRPC; else allow HTTP/1.1 at the "
            "agent or the proxy."
        )
        return f"The port uses {found.value}.", remedy
    return f"The port uses {'TLS' if found.tls else 'no TLS'}.", scheme
