"""The binding of A2A to a transport: how operations become requests, and how responses are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import Operation


@dataclass(frozen=True, slots=True)
class FileSplice:
    """A file whose content is inserted into a body, in base64, before the byte `at`; `size` is the size of the file."""

    at: int
    path: PurePath
    size: int

    @property
    def length(self) -> int:
        """Return the number of bytes that the file adds to the body."""
        return (self.size + 2) // 3 * 4

    @property
    def mark(self) -> str:
        """Return the placeholder in requests that are shown or recorded, escaped for a JSON string."""
        # A file name may contain quotes and bytes that are not UTF-8.
        name = self.path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"{{{{file:{dump(name).decode()[1:-1]}}}}}"


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The files of a client certificate: PEM with the key in `key` or in the same file, or PKCS#12.

    `is_encrypted` is whether the key needs a passphrase.
    """

    certificate: PurePath
    key: PurePath | None = None
    is_pkcs12: bool = False
    is_encrypted: bool = False


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request: the exact body, and the headers in addition to those of the transport.

    `splices` are the files whose content is inserted into the body while it is sent, in order. `certificate` are the
    files of the client certificate that is used for the request.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    splices: tuple[FileSplice, ...] = ()
    certificate: CertificateFiles | None = None

    @property
    def shown(self) -> bytes:
        """Return the body with a placeholder for the content of each file."""
        return b"".join(piece if isinstance(piece, bytes) else piece.mark.encode() for piece in self.pieces())

    @property
    def length(self) -> int:
        """Return the length of the body on the wire, in bytes."""
        return len(self.body) + sum(splice.length for splice in self.splices)

    def pieces(self) -> Iterator[bytes | FileSplice]:
        """Yield the parts of the body in order: bytes and files."""
        done = 0
        for splice in self.splices:
            yield self.body[done : splice.at]
            yield splice
            done = splice.at
        yield self.body[done:]


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    """A gRPC call: the exact message, and the metadata in addition to that of the transport.

    - `target`: `host:port`; `tls`: whether to use TLS.
    - `path`: `/package.Service/Method`.
    - `metadata`: with names in lower case.
    - `streaming`: whether the response is a stream of messages.
    - `certificate`: the files of the client certificate that is used for the call.
    """

    target: str
    path: str
    metadata: Mapping[str, str]
    body: bytes
    streaming: bool
    tls: bool = False
    certificate: CertificateFiles | None = None

    @property
    def url(self) -> str:
        """Return the URL of the HTTP/2 request, whose origin selects the credentials."""
        return f"{'https' if self.tls else 'http'}://{self.target}{self.path}"


WireRequest: TypeAlias = HttpRequest | GrpcRequest
"""A request for the HTTP client or the gRPC client."""

Answer: TypeAlias = Result | ProtocolError | Unreadable
"""An event or another result, an error, or an unreadable payload."""

Item: TypeAlias = Event | ProtocolError | Unreadable
"""The part of `Answer` that a frame of a stream can contain."""

Hide: TypeAlias = Callable[[bytes], bytes]
"""A function that masks the secrets in a JSON text."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding: `encode` creates requests; `read`, `decode_answer` and `decode_item` read responses and never raise.

    - `name`: the name on cards.
    - `offers`: returns whether the dialect has the operation over this binding.
    - `encode`: creates the request from the URL of the interface, the parameters and an id that is unique in the
      session; raises `FaultError` if the binding cannot represent the parameters.
    - `read`: converts the bytes of a payload to JSON, which `decode_answer` reads with the status of the response.
    - `read_event`: reads an event of a stream in one step, as `read` and `decode_item` do in two; returns None if these
      have to read it.
    - `uses_sse`: whether streams are Server-Sent Events; otherwise they consist of bare payloads.
    - `whole`: whether the request is built in memory, so that no file can be read while it is sent.
    - `complete_url`: completes the URL of an interface, given the URL of the card.
    - `show`: returns a payload as JSON text if it can be read; `mask`: returns it with its secrets masked. The boolean
      argument is True for the payload of a request.
    """

    name: str
    offers: Callable[[Dialect, Operation], bool]
    encode: Callable[[str, Dialect, Operation, Request, str], WireRequest]
    read: Callable[[Dialect, Operation, bytes], Json | Unreadable]
    decode_answer: Callable[[Dialect, Operation, int, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
    read_event: Callable[[Dialect, bytes], Event | None] = lambda _dialect, _raw: None
    uses_sse: bool = True
    whole: bool = False
    complete_url: Callable[[str, str], str] = lambda url, _card_url: url
    show: Callable[[Dialect, Operation, bytes, bool], bytes] = lambda _dialect, _operation, raw, _is_request: raw
    mask: Callable[[Dialect, Operation, bytes, bool, Hide], bytes] = (
        lambda _dialect, _operation, raw, _is_request, hide: hide(raw)
    )
