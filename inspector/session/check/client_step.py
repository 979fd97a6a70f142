"""Read a response of a check file with our own client, as if it had come over JSON-RPC or HTTP+JSON."""

from __future__ import annotations

from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.bindings.base import Answer
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import DIALECTS, for_interface, for_version
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json, Unreadable, Wire
from inspector.protocol.operations import STREAMING, Operation
from inspector.session.check.calls import as_response, event_root
from inspector.session.check.document.steps import CARD, OPERATIONS, ClientResponse
from inspector.session.check.result import StepError
from inspector.wire.discovery import FoundCard, read_answer

_OK = 200
_DEFAULT_VERSION = "1.0"


def parsed_root(response: ClientResponse, version: str) -> Json:
    """Return the root of the assertions about a response of a protocol version, by default 1.0.

    Raises `StepError` for an unknown operation.
    """
    payload = response.wire_payload
    if response.operation == CARD:
        found = read_answer(_OK, "application/json", dump(payload))
        if not isinstance(found, FoundCard):
            raise StepError(f"not an agent card: {found}")
        return found.card.to_json()
    if response.operation not in OPERATIONS:
        raise StepError(f"unknown operation {response.operation!r}")
    operation = OPERATIONS[response.operation]
    binding = jsonrpc.BINDING if _has_envelope(payload) else rest.BINDING
    dialect = for_interface(version, binding.name) or for_version(version) or DIALECTS[_DEFAULT_VERSION]
    if operation in STREAMING:
        items = payload if isinstance(payload, list) else [payload]
        roots = [event_root(binding.decode_item(dialect, item)) for item in items]
        return {"events": roots, **roots[-1]} if roots else {"events": []}
    value = binding.read(dialect, operation, dump(payload))
    answer: Answer = value if isinstance(value, Unreadable) else binding.decode_answer(dialect, operation, _OK, value)
    return _root(answer, operation, dialect)


def _has_envelope(payload: Json) -> bool:
    """Return whether a payload is a JSON-RPC response; without an envelope it is one of HTTP+JSON."""
    first = payload[0] if isinstance(payload, list) and payload else payload
    return isinstance(first, dict) and "jsonrpc" in first


def _root(answer: Answer, operation: Operation, dialect: Dialect) -> Json:
    if isinstance(answer, ProtocolError | Unreadable):
        return event_root(answer)
    if not isinstance(answer, Wire):
        raise StepError(f"A2A {dialect.version} has no {operation.value}")
    return as_response(operation, answer, answer.to_json())
