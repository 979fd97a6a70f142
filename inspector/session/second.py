"""The second opinion: how httpx-sse reads a frame, which is what users of the official Python client see."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, SSEError

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.sse import Frame

_BOM = b"\xef\xbb\xbf"
_LIMIT = 1_000_000
"""Frames beyond this are not read a second time."""


def second_opinion(frame: Frame) -> tuple[Finding, ...]:
    """Name a frame that httpx-sse reads as something else than the specification of Server-Sent Events does.

    Only frames that it is known to stumble over are read twice: behind a byte order mark, and without data.
    """
    without_data = frame.data is None and bool(frame.event or frame.id or b"retry" in frame.raw)
    if len(frame.raw) > _LIMIT or not (without_data or frame.raw.startswith(_BOM)):
        return ()
    due = [] if frame.data is None else [(frame.event or "message", frame.data.decode("utf-8", "replace"))]
    read = _read(frame.raw)
    if read == due:
        return ()
    seen = "an event without data" if len(read) > len(due) else "nothing" if not read else "other data"
    return (broken("STREAM-021", f"httpx-sse reads {seen}"),)


def _read(raw: bytes) -> list[tuple[str, str]]:
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=raw)
    try:
        return [(one.event, one.data) for one in EventSource(response).iter_sse()]
    except SSEError:
        return []
