"""What a binding is: how an operation in some dialect travels over one transport."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias

from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import Operation


@dataclass(frozen=True, slots=True)
class Inset:
    """The content of a file, in base64, that stands in a body before the byte `at`; `size` is that of the file."""

    at: int
    path: PurePath
    size: int

    @property
    def length(self) -> int:
        """Return how many bytes it adds to the body."""
        return (self.size + 2) // 3 * 4

    @property
    def mark(self) -> str:
        """Return what stands for it wherever the request is shown or recorded, as the inside of a JSON string."""
        # The name of a file need not be UTF-8, and may have quotes in it.
        name = self.path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"{{{{file:{dump(name).decode()[1:-1]}}}}}"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes out: exactly these bytes, and these headers besides the transport's own.

    `insets` are files, in order, whose content is put into the body while it is sent.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    insets: tuple[Inset, ...] = ()

    @property
    def shown(self) -> bytes:
        """Return the body with a mark where the content of each file will stand."""
        return b"".join(piece if isinstance(piece, bytes) else piece.mark.encode() for piece in self.pieces())

    @property
    def length(self) -> int:
        """Return the length of the body on the wire, in bytes."""
        return len(self.body) + sum(inset.length for inset in self.insets)

    def pieces(self) -> Iterator[bytes | Inset]:
        """Yield the body from front to back: what is known of it, and the files between."""
        done = 0
        for inset in self.insets:
            yield self.body[done : inset.at]
            yield inset
            done = inset.at
        yield self.body[done:]


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

    `events` says that a stream is one of Server-Sent Events, and not of bare payloads, `whole` that a request is made
    in memory as a whole, so that no file can be read while it is sent. `in_full` writes the url of an interface in
    full, with that of the card beside it. `show` writes a payload as JSON text, or leaves it as it is where it cannot
    be read, and `mask` returns it with its secrets masked; both are told whether it is that of the request.
    """

    name: str
    offers: Callable[[Dialect, Operation], bool]
    encode: Callable[[str, Dialect, Operation, Request, str], WireRequest]
    read: Callable[[Dialect, Operation, bytes], Json | Unreadable]
    decode_answer: Callable[[Dialect, Operation, int, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
    events: bool = True
    whole: bool = False
    in_full: Callable[[str, str], str] = _in_full
    show: Callable[[Dialect, Operation, bytes, bool], bytes] = _as_it_is
    mask: Callable[[Dialect, Operation, bytes, bool, Hide], bytes] = _in_place
