"""How httpx-sse reads a stream, which is what many Python clients see of it."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, SSEError


def read_with_httpx_sse(raw: bytes) -> list[tuple[str, str]]:
    """Return the name and the data of each event that httpx-sse reads from these bytes."""
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=raw)
    try:
        return [(one.event, one.data) for one in EventSource(response).iter_sse()]
    except SSEError:
        return []
