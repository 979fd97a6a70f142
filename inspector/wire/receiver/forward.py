"""Sending a delivery on to another url, as it came: the bytes of its body and its headers, but for those of the hop."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import aiohttp

_OF_THE_HOP = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that are about the connection on which a delivery came, or that the next one writes itself."""
_OURS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""What the client would add where the delivery has none of it."""
_SECONDS = 10.0
_QUOTED = 200


class Parcel(NamedTuple):
    """What of a delivery is sent on."""

    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What became of a delivery that was sent on: the status, 0 where there was no answer, and how long it took.

    `said` is why there was none.
    """

    url: str
    status: int
    seconds: float
    said: str = ""

    @property
    def words(self) -> str:
        """Say it in a line."""
        return f"{self.status or self.said} after {self.seconds * 1000:.0f} ms"


class Forwarder:
    """Sends deliveries on; redirects are not followed, and cookies not kept."""

    def __init__(self) -> None:
        self._client: aiohttp.ClientSession | None = None

    async def send(self, parcel: Parcel, url: str) -> Forwarded:
        """Send a parcel to a url that the user gave, and say what came of it; what fails is a value."""
        import aiohttp  # noqa: PLC0415 - which takes a while to load, and many sessions never need

        if self._client is None:
            self._client = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=_OURS,
            )
        headers = [pair for pair in parcel.headers if pair[0].lower() not in _OF_THE_HOP]
        began = time.perf_counter()
        try:
            async with self._client.request(
                parcel.method, url, data=parcel.body, headers=headers, allow_redirects=False
            ) as answer:
                return Forwarded(url, answer.status, time.perf_counter() - began)
        except TimeoutError:
            return Forwarded(url, 0, time.perf_counter() - began, f"no answer within {_SECONDS:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: a header that no request can carry
            return Forwarded(url, 0, time.perf_counter() - began, f"{type(error).__name__}: {error}"[:_QUOTED])

    async def close(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None
