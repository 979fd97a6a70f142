"""Read a stream with httpx-sse, for the rule about events that other clients read differently."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, SSEError


def read_with_httpx_sse(raw: bytes) -> list[tuple[str, str]]:
    """Return the name and the data of each event as read by httpx-sse, which many Python clients use."""
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=raw)
    try:
        return [(event.event, event.data) for event in EventSource(response).iter_sse()]
    except SSEError:
        return []
