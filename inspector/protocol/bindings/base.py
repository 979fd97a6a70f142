"""A binding: how the operations of a dialect are sent over a transport."""

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
class FileSplice:
    """A file whose content, in base64, is part of a body, before the byte `at`; `size` is that of the file."""

    at: int
    path: PurePath
    size: int

    @property
    def length(self) -> int:
        """Return how many bytes it adds to the body."""
        return (self.size + 2) // 3 * 4

    @property
    def mark(self) -> str:
        """Return the placeholder in requests that are shown or recorded, escaped for a JSON string."""
        # The name of a file need not be UTF-8, and may have quotes in it.
        name = self.path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"{{{{file:{dump(name).decode()[1:-1]}}}}}"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request: exactly this body, and these headers besides those of the transport.

    `splices` are files, in order, whose content is put into the body while it is sent.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    splices: tuple[FileSplice, ...] = ()

    @property
    def shown(self) -> bytes:
        """Return the body with a placeholder for the content of each file."""
        return b"".join(piece if isinstance(piece, bytes) else piece.mark.encode() for piece in self.pieces())

    @property
    def length(self) -> int:
        """Return the length of the body on the wire, in bytes."""
        return len(self.body) + sum(splice.length for splice in self.splices)

    def pieces(self) -> Iterator[bytes | FileSplice]:
        """Yield the pieces of the body in order: bytes, and the files between them."""
        done = 0
        for splice in self.splices:
            yield self.body[done : splice.at]
            yield splice
            done = splice.at
        yield self.body[done:]


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    """A gRPC call: exactly this message, and this metadata besides that of the transport.

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
        """Return the URL of the HTTP/2 request; credentials are stored by its origin."""
        return f"{'https' if self.tls else 'http'}://{self.target}{self.path}"


WireRequest: TypeAlias = HttpRequest | GrpcRequest
"""A request for either client."""

Answer: TypeAlias = Result | ProtocolError | Unreadable
"""The response to a unary operation."""

Item: TypeAlias = Event | ProtocolError | Unreadable
"""The content of one frame of a stream."""

Hide: TypeAlias = Callable[[bytes], bytes]
"""Masks the secrets in a JSON text."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A transport: `encode` makes a request; `read`, `decode_answer` and `decode_item` read responses and never raise.

    - `name`: the name on cards.
    - `offers`: whether the dialect has the operation over this transport.
    - `encode`: makes the request from the URL of the interface, the parameters, and an id that is unique in the
      session; raises `FaultError` if the transport cannot carry the parameters.
    - `read`: converts the bytes of a payload to JSON, which `decode_answer` reads with the status of the response.
    - `events`: streams are Server-Sent Events, not bare payloads.
    - `whole`: a request is made in memory, so that no file can be read while it is sent.
    - `in_full`: completes the URL of an interface, given the URL of the card.
    - `show`, `mask`: return a payload as JSON text if it can be read, or with its secrets masked; the boolean argument
      is True for the payload of a request.
    """

    name: str
    offers: Callable[[Dialect, Operation], bool]
    encode: Callable[[str, Dialect, Operation, Request, str], WireRequest]
    read: Callable[[Dialect, Operation, bytes], Json | Unreadable]
    decode_answer: Callable[[Dialect, Operation, int, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
    events: bool = True
    whole: bool = False
    in_full: Callable[[str, str], str] = lambda url, _card_url: url
    show: Callable[[Dialect, Operation, bytes, bool], bytes] = lambda _dialect, _operation, raw, _asked: raw
    mask: Callable[[Dialect, Operation, bytes, bool, Hide], bytes] = lambda _dialect, _operation, raw, _asked, hide: (
        hide(raw)
    )
