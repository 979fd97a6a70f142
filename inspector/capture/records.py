"""The record: one immutable fact, something that was sent or received or a note of the session."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from inspector.findings.finding import Finding

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The `meta` of a record that has none."""

Payload: TypeAlias = tuple[int, bytes]
"""The bytes that a record keeps, and their size on the wire, which masking does not change."""

EMPTY: tuple[Payload, ...] = ((0, b""),)
"""The payloads of one record without bytes."""


class Kind(StrEnum):
    """What sort of fact a record is."""

    REQUEST = "request"
    """A request that we sent: head in `meta`, body in `raw`."""
    RESPONSE = "response"
    """The head of a response: status and headers in `meta`."""
    BODY = "body"
    """The whole body of a response that was not a stream."""
    FRAME = "frame"
    """One SSE frame that carries data: its bytes in `raw`."""
    KEEPALIVE = "keepalive"
    """One SSE block without data."""
    TRAILERS = "trailers"
    """The status that ended a gRPC call: `meta` has `code`, `name`, `message` and the `headers` that came with it."""
    END = "end"
    """How an exchange ended: `meta` has `how`, `events`, `bytes`, `seconds`; on failure `whose`, `seen`, `hint`."""
    DELIVERY = "delivery"
    """One request at the webhook receiver, refused or not: head, verdict and response in `meta`, body in `raw`."""
    NOTE = "note"
    """An action or observation of the session itself (connected, push on, a failure without an exchange)."""


class Record(NamedTuple):
    """One fact; a named tuple, because a busy stream makes tens of thousands of them a second.

    `seq` counts from 1 without gaps; `at` is in seconds since 1970 and never falls within a capture; `exchange` is the
    `seq` of the request that opened the exchange, 0 for none; `operation` is the 1.0 name; `event` is the kind of the
    payload (`task`, `message`, `status`, `artifact`, `error`, `card`, `unreadable`, ``); `task`, `context` and `state`
    (under its 1.0 name) are those of the payload; `label` describes it in one line and, like `raw` and `meta`, may
    contain hostile text; `size` is the number of bytes on the wire, `raw` those bytes with masked secrets.
    """

    seq: int
    at: float
    kind: Kind
    exchange: int = 0
    operation: str = ""
    event: str = ""
    task: str = ""
    context: str = ""
    state: str = ""
    label: str = ""
    size: int = 0
    raw: bytes = b""
    meta: Mapping[str, Any] = NOTHING
    findings: tuple[Finding, ...] = ()
