"""Reads the recordings beside it: what official SDKs of two generations said to each other, byte for byte.

A recording is text with the raw bytes of both directions in between, each piece behind a line that says where it
went and how long it is. `exchanges` puts the pieces of each direction together again and pairs the HTTP messages.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.operations import Operation

ROOT = Path(__file__).with_name("recordings")
DIALECTS = {"03": v0_3.DIALECT, "10": v1_0.DIALECT}

_PROXY_PIECE = re.compile(rb"^(>>>|<<<) \[\d+\] \+[\d.]+s (\d+) bytes\n", re.MULTILINE)
_WEBHOOK_PIECE = re.compile(rb"^>>> \+[\d.]+s (\d+) bytes \(agent -> webhook\)\n", re.MULTILINE)
_PROBE_PIECE = re.compile(rb"^\[\+[\d.]+s (\d+) bytes\]\n", re.MULTILINE)


@dataclass(frozen=True)
class HttpMessage:
    """An HTTP message; `complete` says that its body came to its end."""

    start: str
    headers: dict[str, str]
    body: bytes
    complete: bool

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    @property
    def frames(self) -> list[bytes]:
        """The data of each event of a stream; the SDKs write it on one line."""
        return re.findall(rb"^data: (.*?)\r?\n\r?\n", self.body, re.MULTILINE)


@dataclass(frozen=True)
class Exchange:
    request: HttpMessage
    response: HttpMessage

    def operation(self, dialect: Dialect) -> Operation | None:
        """The operation that the request's method names in the dialect, if it is a call of any."""
        method = json.loads(self.request.body)["method"]
        return {spelled: operation for operation, spelled in dialect.methods.items()}.get(method)


def recordings(*kinds: str) -> list[Path]:
    """List the recordings of some kinds (`jsonrpc`, `webhook`, `probes`), both generations."""
    return sorted(path for kind in kinds for path in ROOT.glob(f"*/{kind}/*.txt"))


def name_of(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).with_suffix("").parts)


def dialect_of(path: Path) -> Dialect:
    return DIALECTS[path.relative_to(ROOT).parts[0]]


def exchanges(path: Path) -> list[Exchange]:
    """Read the HTTP exchanges of a recording made through a proxy (`jsonrpc`) or of a probe (`probes`)."""
    raw = path.read_bytes()
    if path.parent.name == "probes":
        sent, _, answered = raw.partition(b"\n\n<<<\n")
        requests = sent.partition(b"\n>>>\n")[2]
        responses = b"".join(_pieces(_PROBE_PIECE, answered))
    else:
        requests = b"".join(_pieces(_PROXY_PIECE, raw, b">>>"))
        responses = b"".join(_pieces(_PROXY_PIECE, raw, b"<<<"))
    return [Exchange(*pair) for pair in zip(_messages(requests), _messages(responses), strict=True)]


def deliveries(path: Path) -> list[HttpMessage]:
    """Read the posts of a recording made at a webhook."""
    return [_messages(piece)[0] for piece in _pieces(_WEBHOOK_PIECE, path.read_bytes())]


def _pieces(head: re.Pattern[bytes], raw: bytes, direction: bytes = b"") -> list[bytes]:
    pieces, place = [], 0
    while match := head.search(raw, place):
        *said, size = match.groups()
        place = match.end() + int(size)
        if said in ([], [direction]):
            pieces.append(raw[match.end() : place])
    return pieces


def _messages(raw: bytes) -> list[HttpMessage]:
    found = []
    while raw:
        head, _, raw = raw.partition(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("transfer-encoding") == "chunked":
            body, raw, complete = _unchunked(raw)
        elif "content-length" in headers and " 304 " not in start:
            size = int(headers["content-length"])
            body, raw, complete = raw[:size], raw[size:], len(raw) >= size
        elif start.startswith("HTTP/") and " 304 " not in start:  # HTTP/1.0: the body ends with the connection
            body, raw, complete = raw, b"", True
        else:
            body, complete = b"", True
        found.append(HttpMessage(start, headers, body, complete))
    return found


def _unchunked(raw: bytes) -> tuple[bytes, bytes, bool]:
    body = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        chunk, raw = raw[: int(size, 16)], raw[int(size, 16) + 2 :]
        if not chunk:
            return body, raw, True
        body += chunk
    return body, b"", False
