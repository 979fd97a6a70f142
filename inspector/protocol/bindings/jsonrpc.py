"""JSON-RPC 2.0 over HTTP POST, streams as Server-Sent Events (1.0 section 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol import direct_read
from inspector.protocol.bindings.base import Answer, Binding, HttpRequest, Item
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump, is_number, parse, type_name
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import STREAMING, Operation

EVENT_STREAM = "text/event-stream"
JSON = "application/json"
RequestId: TypeAlias = str | int | float | None
"""The id of a request, None for a request without a valid id."""


def encode(url: str, dialect: Dialect, operation: Operation, request: Request, request_id: str) -> HttpRequest:
    """Return the HTTP request for an operation."""
    if operation not in dialect.methods:
        return HttpRequest("GET", _extended_card_url(url, dialect), {"Accept": JSON, **dialect.headers})
    params = dialect.encode_request(operation, request)
    call = {"jsonrpc": "2.0", "id": request_id, "method": dialect.methods[operation]}
    return HttpRequest(
        method="POST",
        url=url,
        headers={
            "Content-Type": JSON,
            "Accept": EVENT_STREAM if operation in STREAMING else JSON,
            **dialect.headers,
        },
        body=dump(call if params is None else call | {"params": params}),
    )


def _extended_card_url(url: str, dialect: Dialect) -> str:
    """Return the URL of the extended card in A2A 0.2, which is relative to the parent of the URL of the interface."""
    base = url.partition("#")[0].partition("?")[0].rstrip("/")
    parent = base.rpartition("/")[0]
    return f"{base if parent.endswith('/') else parent}/{dialect.extended_card_path}"


class Opened(NamedTuple):
    """The result in a JSON-RPC response."""

    result: Json


def open_envelope(value: Json) -> Opened | ProtocolError | Unreadable:
    """Return the result or the error in a JSON-RPC response; if it has both, the error."""
    if not isinstance(value, dict):
        return Unreadable(value, f"expected a JSON-RPC response (an object), found {type_name(value)}")
    error = value.get("error")
    if error is None:
        if "result" in value:
            return Opened(value["result"])
        return Unreadable(value, "not a JSON-RPC response: neither result nor error")
    if not isinstance(error, dict):
        return Unreadable(value, f"expected a JSON-RPC error (an object), found {type_name(error)}")
    code, message = error.get("code"), error.get("message")
    return ProtocolError(
        code=code if type(code) is int else None,
        message=message if isinstance(message, str) else "",
        data=error.get("data"),
    )


def decode_answer(dialect: Dialect, operation: Operation, status: int, value: Json) -> Answer:
    """Read the response of a unary call with any HTTP status; an empty result may be missing."""
    if operation is Operation.DELETE_PUSH and isinstance(value, dict) and "jsonrpc" in value:
        value = {"result": None} | value  # the official SDK 0.3 omits members that are null
    if operation in STREAMING:
        return decode_item(dialect, value)
    if operation not in dialect.methods:
        return (
            dialect.decode_result(operation, value)
            if status < 300
            else Unreadable(value, f"expected a card, received status {status}")
        )
    match open_envelope(value):
        case Opened(result):
            return dialect.decode_result(operation, result)
        case failure:
            return _named(dialect, failure)


def decode_item(dialect: Dialect, value: Json) -> Item:
    """Read one response of a stream."""
    opened = open_envelope(value)
    return dialect.decode_event(opened.result) if isinstance(opened, Opened) else _named(dialect, opened)


def read_event(dialect: Dialect, raw: bytes) -> Event | None:
    """Read one response of a stream in one step, or return None."""
    return direct_read.read_event(raw, enveloped=True) if dialect.reads_directly else None


def _named(dialect: Dialect, failure: ProtocolError | Unreadable) -> ProtocolError | Unreadable:
    """Set the name that the code of an error has in this version; 0.1 uses other codes than later versions."""
    if isinstance(failure, Unreadable) or failure.code is None:
        return failure
    unknown = "Error" if -32099 <= failure.code < dialect.traits.last_error else failure.name
    name = dialect.errors.get(failure.code, unknown)
    return failure if name == failure.name else replace(failure, called=name)


@dataclass(frozen=True, slots=True)
class Call:
    """A JSON-RPC request as a server reads it; `id` is None if the request has no id."""

    method: str
    params: Json
    id: RequestId


def decode_call(value: Json) -> Call | ProtocolError:
    """Read a request in a server (JSON-RPC 2.0 section 4)."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        return ProtocolError(-32600, "Request payload validation error")
    identity = request_id_of(value)
    if identity is None and value.get("id") is not None:
        return ProtocolError(-32600, "Request payload validation error")
    return Call(value["method"], value.get("params"), identity)


def request_id_of(value: Json) -> RequestId:
    """Return the id of a request, None if it has no valid id."""
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str) or is_number(identity) else None


def encode_answer(identity: RequestId, outcome: Json | ProtocolError) -> Json:
    """Return the response of a server."""
    if isinstance(outcome, ProtocolError):
        error = {"code": outcome.code, "message": outcome.message}
        data = {} if outcome.data is None else {"data": outcome.data}
        return {"jsonrpc": "2.0", "id": identity, "error": error | data}
    return {"jsonrpc": "2.0", "id": identity, "result": outcome}


def offers(dialect: Dialect, operation: Operation) -> bool:
    """Return whether the dialect has a method for the operation, or a URL for the extended card."""
    return operation in dialect.methods or (operation is Operation.EXTENDED_CARD and dialect.extended_card_path != "")


BINDING = Binding(
    name="JSONRPC",
    offers=offers,
    encode=encode,
    read=lambda _dialect, _operation, raw: parse(raw),
    decode_answer=decode_answer,
    decode_item=decode_item,
    read_event=read_event,
)
