"""Write a request as text that can be edited, and read it back: first line, headers, an empty line, the body.

    POST http://127.0.0.1:9999/
    Content-Type: application/json

    {"jsonrpc": "2.0", ...}

A gRPC call has GRPC as its method, its metadata as headers, and its message as JSON, or as `hex:` and the bytes if it
cannot be decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.bindings.base import FileSplice, GrpcRequest, HttpRequest, WireRequest
from inspector.protocol.bindings.grpc import write_request
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import usage_error
from inspector.protocol.jsonvalue import parse_strictly
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.session.exchange import CallContext

RAW_REQUEST = "raw request"
"""The label of a raw request, and the first of its recorded warnings."""
_GRPC = "GRPC"
_HEX = "hex:"
_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE_END = re.compile(r"\r?\n")
_EMPTY_LINE = re.compile(r"\r?\n\r?\n")
_FIRST_LINE = re.compile(r"(\S+)[ \t]+(\S+)(?:[ \t]+HTTP/[0-9.]+)?[ \t]*")


def write_text(wire: WireRequest, call: CallContext) -> str:
    """Write a request as text without credentials."""
    if isinstance(wire, GrpcRequest):
        first, headers = f"{_GRPC} {wire.url}", wire.metadata
        body = call.binding.show(call.dialect, call.operation, wire.body, True)
        if wire.body and body == wire.body:  # not a message of the operation
            body = f"{_HEX} {body.hex()}".encode("ascii")
    else:
        first, headers, body = f"{wire.method} {wire.url}", wire.headers, wire.shown
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return "\n".join(lines) + "\n\n" + body.decode("utf-8", "surrogateescape")


def read_request(text: str, before: WireRequest, call: CallContext) -> WireRequest:
    """Read a request from text; raises `FaultError` for an invalid first line or header.

    `before` is the request that the text was made from; marks in the text are replaced by its files.
    """
    head, *rest = _EMPTY_LINE.split(text, maxsplit=1)
    body = rest[0] if rest else ""
    first, *lines = _LINE_END.split(head.rstrip("\r\n"))
    found = _FIRST_LINE.fullmatch(first)
    if found is None:
        raise usage_error("The first line must be a method and a URL, for example POST http://127.0.0.1:9999/")
    if _TOKEN.fullmatch(found[1]) is None:
        raise usage_error(f"{found[1]!r} has characters that an HTTP method cannot contain.")
    headers = _combined(map(_header, lines))
    url = _absolute(found[2], before.url)
    if found[1] == _GRPC:
        return _grpc(url, headers, body, before, call)
    raw = body.encode("utf-8", "surrogateescape")
    if isinstance(before, HttpRequest) and before.splices:
        return HttpRequest(found[1], url, headers, *_extract_files(raw, before))
    return HttpRequest(found[1], url, headers, raw)


def _absolute(url: str, base: str) -> str:
    """Return a URL; what begins with a slash, or with two, is a path of the host of `base` (RFC 9112 3.2.1)."""
    if not url.startswith("/"):
        return url
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}{url}"


def raw_context(wire: WireRequest, like: CallContext) -> CallContext:
    """Return the context of a raw request: its own operation and id, everything else as in `like`."""
    method: object = wire.path.rpartition("/")[2] if isinstance(wire, GrpcRequest) else ""
    identity = like.request_id
    operation: Operation | None = None
    if isinstance(wire, HttpRequest):
        value = parse_strictly(wire.body)
        if isinstance(value, dict) and "jsonrpc" in value:
            method, identity = value.get("method"), jsonrpc.request_id_of(value)
        elif isinstance(value, Unreadable):
            identity = None
        if like.binding.name == rest.BINDING.name:
            operation = rest.operation_at(like.dialect, wire.method, wire.url)
    return replace(
        like,
        operation=operation or _operations(like.dialect).get(str(method), like.operation),
        request_id=identity,
        request=None,
        label=RAW_REQUEST,
        deliberate=(RAW_REQUEST, *like.deliberate),
    )


def _operations(dialect: Dialect) -> dict[str, Operation]:
    """Return the operations of a protocol version by their JSON-RPC and gRPC names."""
    of_grpc = dialect.service.methods.items() if dialect.service else ()
    by_name = {name: operation for operation, name in dialect.methods.items()}
    return by_name | {method.name: operation for operation, method in of_grpc}


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or _TOKEN.fullmatch(name) is None:
        raise usage_error(f"{line[:60]!r} is not a header (Name: value). An empty line must precede the body.")
    return name, value.strip(" \t")


def _combined(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers, each once and spelled as at first, with all its values (RFC 9110 section 5.3, RFC 6265)."""
    spellings, headers = dict[str, str](), dict[str, str]()
    for written, value in lines:
        name = spellings.setdefault(written.lower(), written)
        separator = "; " if name.lower() == "cookie" else ", "
        headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    return headers


def _extract_files(body: bytes, before: HttpRequest) -> tuple[bytes, tuple[FileSplice, ...]]:
    """Return a body without the marks of files, and the position of each file whose mark was not deleted."""
    found: dict[int, FileSplice] = {}
    for splice in before.splices:
        mark = splice.mark.encode()
        offsets = [match.start() for match in re.finditer(re.escape(mark), body) if match.start() not in found]
        # The same characters typed as text, before or after the file, stay text.
        typed = before.body[: splice.at].count(mark)
        if offsets:
            found[offsets[min(typed, len(offsets) - 1)]] = splice
    plain, kept, done = b"", list[FileSplice](), 0
    for at, splice in sorted(found.items()):
        plain += body[done:at]
        kept.append(replace(splice, at=len(plain)))
        done = at + len(splice.mark.encode())
    return plain + body[done:], tuple(kept)


def _grpc(url: str, headers: dict[str, str], body: str, before: WireRequest, call: CallContext) -> GrpcRequest:
    try:
        parts = urlsplit(url)
        port = (parts.port or _PORTS[parts.scheme]) if parts.hostname and parts.scheme in _PORTS else None
    except ValueError:
        port = None
    if port is None:
        raise usage_error(f"{url!r} is not the URL of a gRPC call: http://host:port/package.Service/Method.")
    known = _operations(call.dialect).get(parts.path.rpartition("/")[2])
    streaming = known in STREAMING if known else isinstance(before, GrpcRequest) and before.streaming
    message = _message(body, replace(call, operation=known or call.operation))
    metadata = {name.lower(): value for name, value in headers.items()}
    target = f"{parts.netloc.rpartition('@')[2].removesuffix(f':{port}')}:{port}"
    return GrpcRequest(target, parts.path, metadata, message, streaming, parts.scheme == "https")


def _message(body: str, call: CallContext) -> bytes:
    if body.strip().startswith(_HEX):
        try:
            return bytes.fromhex(body.strip().removeprefix(_HEX))
        except ValueError as error:
            raise usage_error(f"After hex:, write pairs of hexadecimal digits: {error}.") from error
    value = parse_strictly(body.encode("utf-8", "surrogateescape"))
    if isinstance(value, Unreadable):
        raise usage_error(f"Write a gRPC message as JSON; this is {value.why}. Use hex: to send any bytes.")
    try:
        return write_request(call.dialect, call.operation, value)
    except ValueError as error:
        why = str(error).rstrip(".")
        raise usage_error(
            f"This JSON is not a {call.operation.value} message: {why}. Use hex: to send any bytes."
        ) from error
