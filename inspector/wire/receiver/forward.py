"""Forward deliveries to another url: the bytes of the body, and the headers except hop-by-hop headers."""

from __future__ import annotations

import os
import socket
import ssl
import time
from typing import TYPE_CHECKING, NamedTuple

from inspector.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import aiohttp

_HOP_BY_HOP = {
    *("connection", "keep-alive", "proxy-authorization", "proxy-connection"),
    *("te", "trailer", "transfer-encoding", "upgrade"),
}
_WRITTEN_BY_CLIENT = {"content-length", "expect", "host"}
_NOT_FORWARDED = _HOP_BY_HOP | _WRITTEN_BY_CLIENT
_OURS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""Headers that aiohttp would add to a delivery without them."""
_SECONDS = 10.0
_QUOTED = 200


class ForwardedRequest(NamedTuple):
    """The method, the headers and the body of a delivery that is forwarded."""

    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """The result of forwarding: the status (0 without a response), the duration, and the error (`problem`)."""

    status: int
    seconds: float
    problem: str = ""

    @property
    def words(self) -> str:
        """Describe the result in one line."""
        return f"{self.status or self.problem} after {self.seconds * 1000:.0f} ms"


class Forwarder:
    """Forwards deliveries without following redirects and without storing cookies."""

    def __init__(self) -> None:
        self._client: aiohttp.ClientSession | None = None

    async def send(self, delivery: ForwardedRequest, url: str) -> ForwardResult:
        """Send a delivery to a url; a failure is part of the result, never raised."""
        import aiohttp  # noqa: PLC0415 - slow to load, and rarely needed

        if self._client is None:
            self._client = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=_OURS,
            )
        headers = _forwarded(delivery.headers)
        began, status, problem = time.perf_counter(), 0, ""
        request = self._client.request(delivery.method, url, data=delivery.body, headers=headers, allow_redirects=False)
        try:
            async with request as response:
                status = response.status
        except TimeoutError:
            problem = f"no response within {_SECONDS:g} s"
        except aiohttp.ClientConnectorError as error:
            problem = f"no connection to {error.host}:{error.port} ({_reason(error.os_error)})"[:_QUOTED]
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: an invalid header
            problem = f"{type(error).__name__}: {error}"[:_QUOTED]
        return ForwardResult(status, time.perf_counter() - began, problem)

    async def close(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _reason(error: OSError) -> str:
    """Return why a connection failed; the numbers of TLS and DNS errors are not those of the system."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    if isinstance(error, ssl.SSLError | socket.gaierror) or not error.errno:
        return error.strerror or str(error)
    return os.strerror(error.errno)


def _forwarded(headers: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the headers that are not only for this connection; Connection names others (RFC 9110 7.6.1)."""
    named = {
        word.strip().lower() for name, value in headers if name.lower() == "connection" for word in value.split(",")
    }
    return [(name, value) for name, value in headers if name.lower() not in _NOT_FORWARDED | named]
