"""The dialect lens: what a record carries, as it would stand in each generation."""

from __future__ import annotations

from typing import NamedTuple

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings import jsonrpc
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, for_interface
from inspector.protocol.dialects.translate import respell
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Request, SendRequest, Unreadable, Wire
from inspector.protocol.operations import Operation
from inspector.session.payload_json import payload_json

_OPERATIONS = frozenset(Operation)


class Spelling(NamedTuple):
    """An object in one dialect: the dialect's name, the JSON, and pointers to what of the object is lost there."""

    name: str
    value: Json
    losses: tuple[str, ...]


def name_of(dialect: Dialect) -> str:
    """Return what a dialect is called: its generation, and how it travels where that makes a difference."""
    alone = sum(other.generation == dialect.generation for other in ALL) == 1
    return dialect.generation if alone else f"{dialect.generation} {'JSON-RPC' if dialect.methods else 'ProtoJSON'}"


def canonical(record: Record, request: Record, status: int = 200) -> Wire | None:
    """Return the object that a record carries, None where it carries nothing, an error or something unreadable.

    `request` is the record that opened the exchange, which names its protocol version and binding; `status` is the
    HTTP status of the response.
    """
    value = parse(payload_json(record, request))
    if isinstance(value, Unreadable):
        return None
    if record.kind is Kind.DELIVERY:
        read = (dialect.decode_push(value) for dialect in ALL)
        return next((event for event in read if not isinstance(event, Unreadable)), None)
    binding = BINDINGS.get(str(request.meta.get("binding", "")))
    dialect = for_interface(str(request.meta.get("dialect", "")), binding.name) if binding else None
    if binding is None or dialect is None:
        return None
    if record.operation not in _OPERATIONS:
        return None
    operation = Operation(record.operation)
    match record.kind:
        case Kind.REQUEST:
            if binding is jsonrpc.BINDING:
                call = jsonrpc.decode_call(value)
                value = None if isinstance(call, ProtocolError) else call.params
            answer: object = dialect.decode_request(operation, value)
        case Kind.FRAME:
            answer = binding.decode_item(dialect, value)
        case Kind.BODY:
            answer = binding.decode_answer(dialect, operation, status, value)
        case _:
            return None
    return answer if isinstance(answer, Wire) else None


def spellings(record: Record, request: Record) -> list[Spelling]:
    """Return what a record carries in every dialect, that in which it came first; empty where nothing can be read."""
    value = canonical(record, request)
    if value is None:
        return []
    came_in = for_interface(str(request.meta.get("dialect", "")), str(request.meta.get("binding", "")))
    ordered = sorted(ALL, key=lambda dialect: dialect is not came_in)
    return [Spelling(name_of(dialect), *respell(value, dialect)) for dialect in ordered]


def sent(request: Record) -> SendRequest | None:
    """Return the message that a request carried, without the webhook that went with it, None for any other request.

    Its token is masked in the record, so another webhook has to be registered when the message is sent again.
    """
    value: Wire | Request | None = canonical(request, request)
    if not isinstance(value, SendRequest):
        return None
    configuration = value.configuration
    if configuration is not None:
        configuration = configuration.model_copy(update={"task_push_notification_config": None})
    return value.model_copy(update={"configuration": configuration, "tenant": None})
