"""gRPC: operations are methods of a service, and their JSON is sent as protobuf messages (1.0 section 10)."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from urllib.parse import urlsplit

from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.base import Answer, Binding, GrpcRequest, Hide, Item
from inspector.protocol.dialects.base import Dialect, GrpcMethod, GrpcService
from inspector.protocol.errors import (
    BY_NAME,
    ErrorKind,
    Fault,
    FaultCode,
    FaultError,
    ProtocolError,
    Whose,
    kind_identified_by,
    named_in,
    usage_error,
)
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json, Request, Unreadable
from inspector.protocol.operations import PUSH, SENDS, STREAMING, Operation
from inspector.text.host import authority, is_local

DETAILS = "grpc-status-details-bin"
"""The name of the metadata with the details of an error."""

OK = 0
"""The status code of success."""

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
"""The names of the status codes of gRPC, from 0 on."""

_ABOUT_TASKS = frozenset(Operation) - {Operation.LIST, Operation.EXTENDED_CARD}
_BY_STATUS: dict[str, dict[Operation, str]] = {
    "NOT_FOUND": dict.fromkeys(_ABOUT_TASKS, "TaskNotFoundError"),
    "FAILED_PRECONDITION": {
        **dict.fromkeys(PUSH, "PushNotificationNotSupportedError"),
        Operation.SUBSCRIBE: "UnsupportedOperationError",
        Operation.CANCEL: "TaskNotCancelableError",
        Operation.EXTENDED_CARD: "ExtendedAgentCardNotConfiguredError",
    },
    "UNIMPLEMENTED": {
        **dict.fromkeys(PUSH, "PushNotificationNotSupportedError"),
        **dict.fromkeys(STREAMING, "UnsupportedOperationError"),
    },
    "INVALID_ARGUMENT": dict.fromkeys(frozenset(Operation) - SENDS, "InvalidParamsError"),
    "INTERNAL": dict.fromkeys(Operation, "InternalError"),
}
"""The error that a status of an operation can only mean; a status that has several meanings is not listed."""

_UNKNOWN_METHOD = ("implement", "unknown service", "unknown method", "method not found")
"""Words in the messages of gRPC libraries about a method that the server does not have."""

_SCHEMES = {"grpc": "http", "grpcs": "https"}
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}")


# ── the URL ──


def complete_url(url: str, card_url: str = "") -> str:
    """Return the URL of an interface with the scheme `https` for TLS, `http` without.

    `grpcs://` and `https://` use TLS, `grpc://` and `http://` do not. Many cards have `host:port` only. Then TLS is
    used for port 443. If the URL of the card has TLS, TLS is also used for every host except this machine, because
    calls contain credentials.
    """
    if "://" in url:
        scheme, _, rest = url.partition("://")
        return f"{_SCHEMES.get(scheme.lower(), scheme)}://{rest}"
    try:
        parts = urlsplit(f"//{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return f"http://{url}"
    tls = port == 443 or (card_url.lower().startswith(("https:", "grpcs:")) and not is_local(host))
    return f"{'https' if tls else 'http'}://{url}"


def _target(url: str) -> tuple[str, bool]:
    """Return `host:port` of a URL, and whether to use TLS.

    The result always has a host and a port, so that a card cannot use other targets of the gRPC library (`unix:`).
    """
    try:
        parts = urlsplit(complete_url(url))
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise FaultError(
            Fault(
                Whose.AGENT,
                FaultCode.CARD_INVALID,
                f"{url!r} is not a valid URL for gRPC.",
                "The URL of a gRPC interface has to be host:port, or start with http:// or https://.",
            )
        )
    tls = parts.scheme == "https"
    return authority(host, port or (443 if tls else 80)), tls


# ── the call ──


def _method(dialect: Dialect, operation: Operation) -> tuple[GrpcService, GrpcMethod]:
    if dialect.service is None:
        raise ValueError(f"{dialect.version} does not support gRPC with this JSON")
    return dialect.service, dialect.service.methods[operation]


def encode(url: str, dialect: Dialect, operation: Operation, request: Request, request_id: str) -> GrpcRequest:
    """Return the gRPC request for an operation; raises `FaultError` if the message type does not have a parameter."""
    service, method = _method(dialect, operation)
    target, tls = _target(url)
    try:
        body = write_request(dialect, operation, dialect.encode_request(operation, request))
    except ValueError as error:
        why = str(error).rstrip(".")
        raise usage_error(
            f"{operation.value} cannot be encoded as {method.request} of A2A {dialect.version}: {why}.",
            "gRPC supports only the members of its messages. Remove the member, or use another binding.",
        ) from error
    metadata = {name.lower(): text for name, text in dialect.headers.items()}
    return GrpcRequest(target, f"/{service.name}/{method.name}", metadata, body, operation in STREAMING, tls)


def write_request(dialect: Dialect, operation: Operation, value: Json) -> bytes:
    """Return the message of a request; raises `ValueError` for unknown members."""
    service, method = _method(dialect, operation)
    return protobuf.write(service.descriptors, method.request, {} if value is None else value)


# ── the response ──


def read(dialect: Dialect, operation: Operation, raw: bytes, is_request: bool = False) -> Json | Unreadable:
    """Read the message of a response as JSON, or of a request if `is_request`."""
    service, method = _method(dialect, operation)
    return protobuf.read(service.descriptors, method.request if is_request else method.response, raw)


def decode_answer(dialect: Dialect, operation: Operation, status: int, value: Json) -> Answer:
    """Read the response of a successful unary call."""
    return dialect.decode_result(operation, value)


def decode_item(dialect: Dialect, value: Json) -> Item:
    """Read one message of a stream."""
    return dialect.decode_event(value)


def decode_error(
    code: int, message: str, details: bytes, dialect: Dialect | None = None, operation: Operation | None = None
) -> ProtocolError:
    """Convert the status of a call to an A2A error, or to an error with the name of the status.

    `details` is the value of `grpc-status-details-bin`, binary or in base64, `b""` for none; it becomes the data of the
    error. The reason of an ErrorInfo identifies the error; without one, the start of the message does, or else the
    status, if it has only one meaning for `operation` in the version of `dialect`.
    """
    word = STATUSES[code] if 0 <= code < len(STATUSES) else str(code)
    data = _details(details)
    reasons = [detail["reason"] for detail in data if isinstance(detail.get("reason"), str)]
    kind = next(filter(None, map(kind_identified_by, data)), None) or named_in(message)
    if kind is None and not reasons and dialect is not None and operation is not None:
        kind = _kind_of_status(word, message, dialect, operation)
    if kind is not None:
        return ProtocolError(kind.code, message, data or None)
    return ProtocolError(None, message, data or None, called=next(iter(reasons), word))


def _kind_of_status(word: str, message: str, dialect: Dialect, operation: Operation) -> ErrorKind | None:
    """Return the error that a status means, None if that is not certain.

    Versions before 1.0 have no table of statuses; their SDKs use that of 1.0.0.
    """
    kind = BY_NAME.get(_BY_STATUS.get(word, {}).get(operation, ""))
    if kind is None or (word == "UNIMPLEMENTED" and any(part in message.lower() for part in _UNKNOWN_METHOD)):
        return None
    if not dialect.traits.details_errors:
        return kind if word == kind.statuses("1.0.0")[1] else None
    # Since 1.0, an error of the agent itself has an ErrorInfo; the library and proxies send these two, too.
    return None if word in ("INVALID_ARGUMENT", "INTERNAL") else kind


def _details(raw: bytes) -> list[dict[str, Json]]:
    """Read the details of a status, binary or in base64; the value of an unknown type is returned in base64."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - most sessions need no protobuf

    status = protobuf.message_class("status", "Status")
    for candidate in _decoded(raw):
        try:
            return [_detail(detail.type_url, detail.value) for detail in status.FromString(candidate).details]
        except DecodeError:
            continue
    return []


def _decoded(raw: bytes) -> list[bytes]:
    """Return the possible decodings of a binary value, the likeliest first; a leading zero marks raw bytes."""
    if raw.startswith(b"\0"):
        return [raw[1:]]
    if _BASE64.fullmatch(raw):
        try:
            return [b64decode(raw + b"=" * (-len(raw) % 4)), raw]
        except binascii.Error:
            pass
    return [raw]


def _detail(type_url: str, raw: bytes) -> dict[str, Json]:
    name = type_url.rpartition("/")[2]
    value = protobuf.read("status", name, raw) if name in ("google.rpc.ErrorInfo", "google.rpc.BadRequest") else None
    if isinstance(value, dict):
        return {"@type": type_url, **value}
    return {"@type": type_url, "value": b64encode(raw).decode("ascii")}


# ── the server side ──


def write_answer(dialect: Dialect, operation: Operation, value: Json) -> bytes:
    """Return the message of a response without unknown members; raises `ValueError` for a wrong type."""
    service, method = _method(dialect, operation)
    return protobuf.write(service.descriptors, method.response, {} if value is None else value, whole=False)


def encode_error(error: ErrorKind, message: str, word: str) -> tuple[int, bytes]:
    """Return the status code and the value of `grpc-status-details-bin` for an error."""
    code = STATUSES.index(word)
    status = {"code": code, "message": message, "details": [error.info()]}
    return code, protobuf.write("status", "Status", status)


# ── the records ──


def show(dialect: Dialect, operation: Operation, raw: bytes, is_request: bool) -> bytes:
    """Return a message as JSON text, or unchanged if it cannot be read."""
    value = read(dialect, operation, raw, is_request)
    return raw if isinstance(value, Unreadable) else dump(value)


def mask(dialect: Dialect, operation: Operation, raw: bytes, is_request: bool, hide: Hide) -> bytes:
    """Return a message with its secrets masked, unchanged if it has none.

    Secrets are masked in the JSON of the message, because a mask of another length would damage the message. A message
    with a secret loses unknown fields. If the mask is not a valid value (for example in a date), the result is JSON.
    """
    service, method = _method(dialect, operation)
    value = read(dialect, operation, raw, is_request)
    if isinstance(value, Unreadable):
        return hide(raw)
    text = dump(value)
    hidden = hide(text)
    if hidden == text:
        return raw
    try:
        return protobuf.write(service.descriptors, method.request if is_request else method.response, parse(hidden))
    except ValueError:
        return hidden


BINDING = Binding(
    name="GRPC",
    offers=lambda dialect, operation: dialect.service is not None and operation in dialect.service.methods,
    encode=encode,
    read=read,
    decode_answer=decode_answer,
    decode_item=decode_item,
    uses_sse=False,
    whole=True,
    complete_url=complete_url,
    show=show,
    mask=mask,
)
