"""gRPC: an operation is a method of a service, its JSON travels as protobuf messages (1.0 section 10)."""

from __future__ import annotations

import binascii
import ipaddress
import re
from base64 import b64decode, b64encode
from typing import Any
from urllib.parse import urlsplit

from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.base import Answer, Binding, GrpcRequest, Hide, Item
from inspector.protocol.dialects.base import Dialect, GrpcMethod, GrpcService
from inspector.protocol.errors import BY_REASON, ErrorKind, Fault, FaultCode, FaultError, ProtocolError, Whose, named_in
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json, Request, Unreadable
from inspector.protocol.operations import STREAMING, Operation

DETAILS = "grpc-status-details-bin"
"""The metadata that says more of an error than its status."""

OK = 0
"""The code of the status that says that all went well."""

STATUSES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The words of the status codes of gRPC, from 0 on."""

_SCHEMES = {"grpc": "http", "grpcs": "https"}
_TLS_PORT = 443
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")


# ── where ──


def in_full(url: str, beside: str = "") -> str:
    """Write the url of an interface with the scheme that says whether TLS is spoken there.

    Cards say `host:port` and no more, which says nothing of TLS; so a bare one is encrypted at port 443, plain on this
    machine, and elsewhere as the url of the card is (`beside`): who serves a card over https does not mean the calls,
    and the credentials on them, to go in the open. `grpc://` and `http://` are plain, `grpcs://` and `https://` not.
    """
    if "://" in url:
        scheme, _, rest = url.partition("://")
        return f"{_SCHEMES.get(scheme.lower(), scheme)}://{rest}"
    try:
        parts = urlsplit(f"//{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return f"http://{url}"
    tls = port == _TLS_PORT or (beside.lower().startswith("https:") and not _is_here(host))
    return f"{'https' if tls else 'http'}://{url}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _target(url: str) -> tuple[str, bool]:
    """Return `host:port` of a url, and whether TLS is spoken there; a path and what stands before the host are left.

    Both are always written out, so that no card can name one of the other places that a gRPC library knows (`unix:`).
    """
    try:
        parts = urlsplit(in_full(url))
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise FaultError(
            Fault(
                Whose.AGENT,
                FaultCode.UNREACHABLE,
                f"{url!r} is not a url that can be called with gRPC.",
                "The card of a gRPC interface says host:port, http:// or https://.",
            )
        )
    tls = parts.scheme == "https"
    return f"[{host}]" * (":" in host) + host * (":" not in host) + f":{port or (443 if tls else 80)}", tls


# ── the call ──


def offers(dialect: Dialect, operation: Operation) -> bool:
    """Say whether the dialect's service has a method for the operation."""
    return dialect.service is not None and operation in dialect.service.methods


def _method(dialect: Dialect, operation: Operation) -> tuple[GrpcService, GrpcMethod]:
    if dialect.service is None:
        raise ValueError(f"{dialect.generation} does not travel over gRPC as this JSON")
    return dialect.service, dialect.service.methods[operation]


def encode(url: str, dialect: Dialect, operation: Operation, request: Request, request_id: str) -> GrpcRequest:
    """Write a call as a gRPC request; raises `FaultError` where its messages have no place for a parameter."""
    service, method = _method(dialect, operation)
    target, tls = _target(url)
    try:
        body = write_request(dialect, operation, dialect.encode_request(operation, request))
    except ValueError as error:
        why = str(error).rstrip(".")
        raise FaultError(
            Fault(
                Whose.YOURS,
                FaultCode.USAGE,
                f"{operation.value} cannot be written as a {method.request} of {dialect.generation}: {why}.",
                "Another transport of the agent may carry it; gRPC has a fixed set of members.",
            )
        ) from error
    metadata = {name.lower(): text for name, text in dialect.headers.items()}
    return GrpcRequest(target, f"/{service.name}/{method.name}", metadata, body, operation in STREAMING, tls)


def write_request(dialect: Dialect, operation: Operation, value: Json) -> bytes:
    """Write the message of a request; raises `ValueError` for what it has no place for."""
    service, method = _method(dialect, operation)
    return protobuf.write(service.descriptors, method.request, {} if value is None else value)


# ── the answer ──


def read(dialect: Dialect, operation: Operation, raw: bytes) -> Json | Unreadable:
    """Read a message of an answer as JSON."""
    return _read(dialect, operation, raw, asked=False)


def _read(dialect: Dialect, operation: Operation, raw: bytes, *, asked: bool) -> Json | Unreadable:
    service, method = _method(dialect, operation)
    return protobuf.read(service.descriptors, method.request if asked else method.response, raw)


def decode_answer(dialect: Dialect, operation: Operation, status: int, value: Json) -> Answer:
    """Read the answer to a unary call; errors do not come as messages."""
    return dialect.decode_result(operation, value)


def decode_item(dialect: Dialect, value: Json) -> Item:
    """Read one message of a stream."""
    return dialect.decode_event(value)


def decode_error(code: int, message: str, details: bytes) -> ProtocolError:
    """Read the status that ended a call as an error of A2A's, or under the word of the status where it is none.

    `details` is the value of `grpc-status-details-bin`, as it is or as base64, `b""` where there was none; its details
    become the error's data. Which error it is, the reason of an ErrorInfo says; before 1.0, the name with which the
    message begins. The message stays as it came.
    """
    word = STATUSES[code] if 0 <= code < len(STATUSES) else str(code)
    data = _details(details)
    reasons = [one["reason"] for one in data if isinstance(one.get("reason"), str)]
    kind = next((BY_REASON[reason] for reason in reasons if reason in BY_REASON), None) or named_in(message)
    if kind is not None:
        return ProtocolError(kind.code, message, data or None)
    return ProtocolError(None, message, data or None, called=next(iter(reasons), word))


def _details(raw: bytes) -> list[dict[str, Json]]:
    """Read the details of a status, in either encoding; one of an unknown type keeps its bytes, as base64."""
    status = protobuf.message_class("status", "Status")
    for candidate in _spellings(raw):
        value = _parsed(status, candidate)
        if value is not None:
            return [_detail(one.type_url, one.value) for one in value.details]
    return []


def _spellings(raw: bytes) -> list[bytes]:
    """Return what a binary value may stand for, the likeliest first: a true binary one is marked by a leading zero."""
    if raw.startswith(b"\0"):
        return [raw[1:]]
    if _BASE64.fullmatch(raw):
        padded = raw + b"=" * (-len(raw) % 4)
        try:
            return [b64decode(padded), raw]
        except binascii.Error:
            pass
    return [raw]


def _parsed(kind: Any, raw: bytes) -> Any:
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - most sessions need no protobuf

    try:
        return kind.FromString(raw)
    except DecodeError:
        return None


def _detail(type_url: str, raw: bytes) -> dict[str, Json]:
    name = type_url.rpartition("/")[2]
    value = protobuf.read("status", name, raw) if name in ("google.rpc.ErrorInfo", "google.rpc.BadRequest") else None
    if isinstance(value, dict):
        return {"@type": type_url, **value}
    return {"@type": type_url, "value": b64encode(raw).decode("ascii")}


# ── a server's side ──


def read_request(dialect: Dialect, operation: Operation, raw: bytes) -> Json | Unreadable:
    """Read the message of a request as JSON."""
    return _read(dialect, operation, raw, asked=True)


def write_answer(dialect: Dialect, operation: Operation, value: Json) -> bytes:
    """Write a message of an answer, without what its type has no place for; raises `ValueError` on a wrong type."""
    service, method = _method(dialect, operation)
    return protobuf.write(service.descriptors, method.response, {} if value is None else value, whole=False)


def encode_error(error: ErrorKind, message: str, word: str) -> tuple[int, bytes]:
    """Return the code of a status by its word, and the `grpc-status-details-bin` that says which error it is."""
    code = STATUSES.index(word)
    status = {"code": code, "message": message, "details": [error.info()]}
    return code, protobuf.write("status", "Status", status)


# ── the records ──


def show(dialect: Dialect, operation: Operation, raw: bytes, asked: bool) -> bytes:
    """Write a message as JSON text, or leave it as it is where it cannot be read."""
    value = _read(dialect, operation, raw, asked=asked)
    return raw if isinstance(value, Unreadable) else dump(value)


def mask(dialect: Dialect, operation: Operation, raw: bytes, asked: bool, hide: Hide) -> bytes:
    """Return a message with its secrets masked, the same bytes where it has none.

    They are found in its JSON, because a mask of another length would break the message around it. A message with a
    secret loses fields that we do not know, and one whose mask has no place in it (in a date) becomes that JSON.
    """
    service, method = _method(dialect, operation)
    value = _read(dialect, operation, raw, asked=asked)
    if isinstance(value, Unreadable):
        return hide(raw)
    text = dump(value)
    hidden = hide(text)
    if hidden == text:
        return raw
    try:
        return protobuf.write(service.descriptors, method.request if asked else method.response, parse(hidden))
    except ValueError:
        return hidden


BINDING = Binding(
    name="GRPC",
    offers=offers,
    encode=encode,
    read=read,
    decode_answer=decode_answer,
    decode_item=decode_item,
    events=False,
    whole=True,
    in_full=in_full,
    show=show,
    mask=mask,
)
