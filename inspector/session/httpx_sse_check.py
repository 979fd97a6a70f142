"""The second opinion: how httpx-sse reads a stream, which is what many Python clients see of it."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, SSEError

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.sse import Frame

_BOM = b"\xef\xbb\xbf"
_LIMIT = 1_000_000
"""Frames beyond this are not read a second time."""


class HttpxSseCheck:
    """Says of the frames of one stream which httpx-sse reads as something else than the specification of SSE does.

    Only frames that it is known to stumble over are read twice: behind a byte order mark, and without data. That it
    makes events of the latter is said once a stream. `last_id` is the id that holds for it, `""` for none.
    """

    def __init__(self) -> None:
        self.last_id = ""
        self._told = False

    def of(self, frame: Frame) -> tuple[Finding, ...]:
        """Name what it reads otherwise in the next frame."""
        before = self.last_id
        if frame.id is not None:
            self.last_id = frame.id
        if len(frame.raw) > _LIMIT:
            return ()
        return _of_event(frame, frame.data) if frame.data is not None else self._of_keepalive(frame, before)

    def _of_keepalive(self, frame: Frame, before: str) -> tuple[Finding, ...]:
        fields = bool(frame.event or frame.id or b"retry" in frame.raw)
        if self._told or not (fields or before) or not _read(f"id: {before}\n".encode() + frame.raw):
            return ()
        self._told = True
        why = "" if fields else ", as of every block after an id"
        return (broken("STREAM-025", f"httpx-sse makes an event without data of this{why}"),)


def _of_event(frame: Frame, data: bytes) -> tuple[Finding, ...]:
    if not frame.raw.startswith(_BOM):
        return ()
    read = _read(frame.raw)
    if read == [(frame.event or "message", data.decode("utf-8", "replace"))]:
        return ()
    return (broken("STREAM-021", f"httpx-sse reads {'other data' if read else 'nothing'}"),)


def _read(raw: bytes) -> list[tuple[str, str]]:
    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=raw)
    try:
        return [(one.event, one.data) for one in EventSource(response).iter_sse()]
    except SSEError:
        return []
