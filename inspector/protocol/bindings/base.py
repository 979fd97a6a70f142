"""What a binding is: how an operation in some dialect travels over one transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import Operation


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes out: exactly these bytes, and these headers besides the transport's own."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    """A gRPC call as it goes out: exactly this message, and this metadata besides the transport's own.

    `target` is `host:port`, `path` is `/package.Service/Method`, the names in `metadata` are in lower case;
    `streaming` says that the answer is a stream of messages, `tls` that the connection is encrypted.
    """

    target: str
    path: str
    metadata: Mapping[str, str]
    body: bytes
    streaming: bool
    tls: bool = False

    @property
    def url(self) -> str:
        """Return what is asked as the url of the HTTP/2 request that it is; its origin is that of credentials."""
        return f"{'https' if self.tls else 'http'}://{self.target}{self.path}"


WireRequest: TypeAlias = HttpRequest | GrpcRequest
"""What goes out, over either sort of client."""

Answer: TypeAlias = Result | ProtocolError | Unreadable
"""What a unary operation came back with."""

Item: TypeAlias = Event | ProtocolError | Unreadable
"""What one frame of a stream carried."""


Hide: TypeAlias = Callable[[bytes], bytes]
"""What masks the secrets in a JSON text."""


def _in_full(url: str, beside: str) -> str:
    return url


def _as_it_is(dialect: Dialect, operation: Operation, raw: bytes, asked: bool) -> bytes:
    return raw


def _in_place(dialect: Dialect, operation: Operation, raw: bytes, asked: bool, hide: Hide) -> bytes:
    return hide(raw)


@dataclass(frozen=True, slots=True)
class Binding:
    """A transport: `encode` makes the request; `read`, `decode_answer`, `decode_item` read what came, and never raise.

    `name` is the card's spelling; `offers` says whether the operation exists in this dialect over this transport.
    `encode` takes the interface's url, the dialect, the operation, its parameters and an id that is unique in the
    session, and raises `FaultError` where the transport cannot carry the parameters. `read` takes the bytes of one
    payload to JSON; `decode_answer` gets that and the status of the response.

    `events` says that a stream is one of Server-Sent Events, and not of bare payloads. `in_full` writes the url of an
    interface in full, with that of the card beside it. `show` writes a payload as JSON
    text, or leaves it as it is where it cannot be read, and `mask` returns it with its secrets masked; both are told
    whether it is that of the request.
    """

    name: str
    offers: Callable[[Dialect, Operation], bool]
    encode: Callable[[str, Dialect, Operation, Request, str], WireRequest]
    read: Callable[[Dialect, Operation, bytes], Json | Unreadable]
    decode_answer: Callable[[Dialect, Operation, int, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
    events: bool = True
    in_full: Callable[[str, str], str] = _in_full
    show: Callable[[Dialect, Operation, bytes, bool], bytes] = _as_it_is
    mask: Callable[[Dialect, Operation, bytes, bool, Hide], bytes] = _in_place
