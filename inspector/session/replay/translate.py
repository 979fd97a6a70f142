"""Translate the payload of a record to every protocol version."""

from __future__ import annotations

from typing import NamedTuple

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Request, SendRequest, Unreadable, Wire
from inspector.protocol.operations import Operation
from inspector.session.payload import OPERATIONS, interface_of, payload_json


class Translation(NamedTuple):
    """An object in one dialect: the name of the dialect, the JSON, and JSON pointers to the members that are lost."""

    name: str
    value: Json
    losses: tuple[str, ...]


def dialect_name(dialect: Dialect) -> str:
    """Return the protocol version of a dialect, with its JSON format if the version has two formats."""
    alone = sum(other.version == dialect.version for other in ALL) <= 1
    return dialect.version if alone else f"{dialect.version} {'JSON-RPC' if dialect.methods else 'ProtoJSON'}"


def canonical(record: Record, request: Record, status: int = 200) -> Wire | None:
    """Return the object in a record, None for an error or an unreadable payload; see `decoded`."""
    answer = decoded(record, request, status)
    return answer if isinstance(answer, Wire) else None


def decoded(record: Record, request: Record, status: int = 200) -> object:
    """Return the object or the error in a record, None for an unreadable payload.

    `request` is the request of the exchange, which has its protocol version and binding; `status` is the HTTP status.
    """
    if record.kind is Kind.REQUEST:
        return _sent(record)
    value = parse(payload_json(record, request))
    if isinstance(value, Unreadable):
        return None
    if record.kind is Kind.DELIVERY:
        read = (dialect.decode_push(value) for dialect in ALL)
        return next((event for event in read if not isinstance(event, Unreadable)), None)
    binding, dialect = interface_of(request)
    if binding is None or dialect is None or record.operation not in OPERATIONS:
        return None
    operation = Operation(record.operation)
    match record.kind:
        case Kind.FRAME:
            answer: object = binding.decode_item(dialect, value)
        case Kind.BODY:
            answer = binding.decode_answer(dialect, operation, status, value)
        case _:
            return None
    return None if isinstance(answer, Unreadable) else answer


def _sent(record: Record) -> Request | None:
    """Return the parameters in a request, over HTTP+JSON also those in its URL; None if they are unreadable."""
    binding, dialect = interface_of(record)
    if binding is None or dialect is None or record.operation not in OPERATIONS:
        return None
    operation, payload = Operation(record.operation), payload_json(record, record)
    if binding is rest.BINDING and operation not in dialect.routes:
        return None
    value = parse(payload or b"{}" if binding is rest.BINDING else payload)
    if isinstance(value, Unreadable):
        return None
    if binding is rest.BINDING:
        value = rest.decode_params(dialect, operation, str(record.meta["url"]), value)
    if binding is jsonrpc.BINDING:
        call = jsonrpc.decode_call(value)
        value = None if isinstance(call, ProtocolError) else call.params
    sent = dialect.decode_request(operation, value)
    return None if isinstance(sent, Unreadable) else sent


def translations(record: Record, request: Record) -> list[Translation]:
    """Return the payload of a record in every dialect, its own first; empty if it cannot be read."""
    value = canonical(record, request)
    if value is None:
        return []
    _, own = interface_of(request)
    ordered = sorted(ALL, key=lambda dialect: dialect is not own)
    return [
        Translation(dialect_name(dialect), dialect.encode(value), dialect.unsupported_members(value))
        for dialect in ordered
    ]


def sent_message(request: Record) -> SendRequest | None:
    """Return the message in a request, without its webhook, whose token is masked; None for any other request."""
    value: Wire | Request | None = canonical(request, request)
    if not isinstance(value, SendRequest):
        return None
    configuration = value.configuration
    if configuration is not None:
        configuration = configuration.model_copy(update={"task_push_notification_config": None})
    return value.model_copy(update={"configuration": configuration, "tenant": None})
