"""Read the recordings in this folder: the exact bytes of conversations between official SDKs of every version.

A recording is a text that contains the raw bytes of both directions. Each part follows a line with its direction and
length. `exchanges` joins the parts of each direction and pairs the HTTP messages. gRPC messages are recorded as
ProtoJSON after the name of their type.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.operations import Operation

ROOT = Path(__file__).with_name("recordings")
DIALECTS = {
    "01": v0_1.DIALECT,
    "02": v0_2.DIALECT,
    "03": v0_3.DIALECT,
    "10": v1_0.DIALECT,
    "opvs": opvs.DIALECT,
}
PROTO_DIALECTS = {"02": v0_2.PROTO_DIALECT, "03": v0_3_proto.DIALECT, "10": v1_0.DIALECT}

_PROXY_PIECE = re.compile(rb"^(>>>|<<<) (\[\d+\]) \+[\d.]+s (\d+) bytes\n", re.MULTILINE)
_WEBHOOK_PIECE = re.compile(rb"^>>> \+[\d.]+s (\d+) bytes \(agent -> webhook\)\n", re.MULTILINE)
_DELIVERY = re.compile(rb"^>>> agent -> webhook\n(.*?)\n\n<<< ", re.MULTILINE | re.DOTALL)
_PROTO_MESSAGE = re.compile(r"^(>>>|<<<) .*?\n|^ +:path: /[\w.]+/(\w+)\n|^ +[\w.]+ \(protojson\): (.*)\n", re.MULTILINE)
_PROBE_PIECE = re.compile(rb"^\[\+[\d.]+s (\d+) bytes\]\n", re.MULTILINE)


@dataclass(frozen=True)
class HttpMessage:
    """An HTTP message; `complete` is True if its body is complete."""

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
    """List the recordings of some kinds (`jsonrpc`, `rest`, `grpc`, `webhook`, `probes`), of all versions."""
    return sorted(path for kind in kinds for path in ROOT.glob(f"*/{kind}/*.txt"))


def name_of(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).with_suffix("").parts)


def dialect_of(path: Path) -> Dialect:
    version, kind, *_ = path.relative_to(ROOT).parts
    return (PROTO_DIALECTS if kind in ("rest", "grpc") else DIALECTS)[version]


def exchanges(path: Path) -> list[Exchange]:
    """Read the HTTP exchanges of a recording made through a proxy (`jsonrpc`) or of a probe (`probes`)."""
    raw = path.read_bytes()
    if path.parent.name == "probes" and raw.startswith(b"# probe"):
        sent, _, answered = raw.partition(b"\n\n<<<\n")
        requests = sent.partition(b"\n>>>\n")[2]
        return _paired(requests, b"".join(_pieces(_PROBE_PIECE, answered)))
    connections = dict.fromkeys(piece[2] for piece in _PROXY_PIECE.finditer(raw))
    return [
        exchange
        for connection in connections
        for exchange in _paired(
            *(b"".join(_pieces(_PROXY_PIECE, raw, direction, connection)) for direction in (b">>>", b"<<<"))
        )
    ]


def _paired(requests: bytes, responses: bytes) -> list[Exchange]:
    return [Exchange(*pair) for pair in zip(_messages(requests), _messages(responses), strict=True)]


def deliveries(path: Path) -> list[HttpMessage]:
    """Read the posts of a recording made at a webhook."""
    raw = path.read_bytes()
    pieces = _pieces(_WEBHOOK_PIECE, raw) or _DELIVERY.findall(raw)
    return [message for piece in pieces for message in _messages(piece) if message.start.startswith("POST ")]


@dataclass(frozen=True)
class ProtoMessage:
    """A gRPC message: the method of its call, whether the client sent it, and its ProtoJSON."""

    method: str
    sent: bool
    value: Any

    def operation(self, dialect: Dialect) -> Operation:
        assert dialect.service is not None
        return next(operation for operation, method in dialect.service.methods.items() if method.name == self.method)


def proto_messages(path: Path) -> list[ProtoMessage]:
    """Read the messages of a gRPC recording, call by call."""
    found, sent, method = [], True, ""
    for piece in _PROTO_MESSAGE.finditer(path.read_text()):
        if piece[1]:
            sent = piece[1] == ">>>"
        elif piece[2]:
            method = piece[2]
        else:
            found.append(ProtoMessage(method, sent, json.loads(piece[3])))
    return found


def pinged(path: Path) -> HttpMessage:
    """Read the response of a recording of keep-alives, whose pieces are Python literals."""
    pieces = re.findall(r"^\[.*? bytes\] (b['\"].*)$", path.read_text(), re.MULTILINE)
    return _messages(b"".join(ast.literal_eval(piece) for piece in pieces))[0]


def payloads(path: Path) -> list[Any]:
    """Read the JSON in a trace of curl, which has a value in each line."""
    return [json.loads(value) for value in re.findall(r"^(?:data: )?(\{\".*\})$", path.read_text(), re.MULTILINE)]


def _pieces(head: re.Pattern[bytes], raw: bytes, *wanted: bytes) -> list[bytes]:
    pieces, place = [], 0
    while match := head.search(raw, place):
        *said, size = match.groups()
        place = match.end() + int(size)
        if tuple(said) == wanted:
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
        size, _, rest = raw.partition(b"\r\n")
        if size.startswith(b"HTTP/"):  # the connection was cut, and this is the next response
            break
        raw = rest
        chunk, raw = raw[: int(size, 16)], raw[int(size, 16) + 2 :]
        if not chunk:
            return body, raw, True
        body += chunk
    return body, raw, False
