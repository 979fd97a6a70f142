"""Read the recordings in this folder: the exact bytes of conversations between official SDKs of every version.

A recording is a text that contains the raw bytes of both directions. Each part follows a line with its direction and
length. `exchanges` joins the parts of each direction and pairs the HTTP messages. gRPC messages are recorded as
ProtoJSON after the name of their type.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.protocol.bindings import protobuf
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
_FRAME = re.compile(r"^(>>>|<<<) \[\d+\] \+([\d.]+)s (HEADERS|DATA) stream=(\d+).*\n", re.MULTILINE)
_FIELD = re.compile(r"^ {6}(:?[a-z][\w-]*): (.*)$", re.MULTILINE)
_HEX = re.compile(r"^ {6}grpc message .* hex=([0-9a-f]*)(\.\.\.)?", re.MULTILINE)
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


@dataclass
class GrpcCall:
    """A gRPC call: its path, its messages with their times, and the headers of the request and the response."""

    path: str
    sent_headers: dict[str, str]
    sent: bytes = b""
    messages: list[tuple[float, bytes]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    trailers: dict[str, str] = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0

    def operation(self, dialect: Dialect) -> Operation:
        return _operation_of(dialect, self.path.rpartition("/")[2])

    @property
    def details(self) -> bytes:
        """The value of `grpc-status-details-bin`, which the recording shows as a literal with the mark of binary."""
        shown = self.trailers.get("grpc-status-details-bin", "")
        literal = ast.literal_eval(shown) if shown.startswith("b") else shown.encode()
        return bytes(literal).removeprefix(b"\0")


def grpc_calls(path: Path) -> list[GrpcCall]:
    """Read the calls of a gRPC recording in the order of their requests."""
    calls: dict[str, GrpcCall] = {}
    pieces = _FRAME.split(path.read_text())[1:]
    for direction, time, kind, number, body in zip(*(pieces[at::5] for at in range(5)), strict=True):
        at, asked = float(time), direction == ">>>"
        fields = dict(_FIELD.findall(body))
        if kind == "HEADERS" and asked:
            calls[number] = GrpcCall(fields[":path"], fields, began=at)
        elif kind == "HEADERS":
            calls[number].ended = at
            ends = "grpc-status" in fields
            calls[number].trailers.update(fields) if ends else calls[number].headers.update(fields)
        else:
            message = _message(body, dialect_of(path), calls[number].path, asked=asked)
            if asked:
                calls[number].sent = message
            else:
                calls[number].messages.append((at, message))
    return list(calls.values())


def _message(body: str, dialect: Dialect, path: str, *, asked: bool) -> bytes:
    """Return the bytes of a message; those of a long message are written again, because the recording cuts them."""
    found = _HEX.search(body)
    assert found
    if not found[2]:
        return bytes.fromhex(found[1])
    service, value = dialect.service, _PROTO_MESSAGE.search(body)
    assert service and value
    method = service.methods[_operation_of(dialect, path.rpartition("/")[2])]
    return protobuf.write(service.descriptors, method.request if asked else method.response, json.loads(value[3]))


def _operation_of(dialect: Dialect, method: str) -> Operation:
    assert dialect.service is not None
    return next(operation for operation, known in dialect.service.methods.items() if known.name == method)


@dataclass(frozen=True)
class ProtoMessage:
    """A gRPC message: the method of its call, whether the client sent it, and its ProtoJSON."""

    method: str
    sent: bool
    value: Any

    def operation(self, dialect: Dialect) -> Operation:
        return _operation_of(dialect, self.method)


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
