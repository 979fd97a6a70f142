"""What a record carries, as JSON text: a frame without its SSE lines, a gRPC message as the JSON that it stands for."""

from __future__ import annotations

import binascii
from base64 import b64decode

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.registry import for_interface
from inspector.protocol.jsonvalue import dump
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Decoder

_PAYLOADS = frozenset({Kind.REQUEST, Kind.BODY, Kind.FRAME})
_OPERATIONS = frozenset(Operation)


def payload_json(record: Record, request: Record) -> bytes:
    """Return the payload of a record as JSON text, or its bytes where it is none.

    `request` is the one that opened its exchange, which says what is spoken there.
    """
    if record.kind is Kind.TRAILERS:
        return _status(record)
    said = request.meta
    binding = BINDINGS.get(str(said.get("binding", "")))
    if record.kind is Kind.FRAME and (binding is None or binding.events):
        return _data(record.raw)
    dialect = for_interface(str(said.get("dialect", "")), binding.name) if binding else None
    if binding is None or dialect is None or record.kind not in _PAYLOADS or record.operation not in _OPERATIONS:
        return record.raw
    return binding.show(dialect, Operation(record.operation), record.raw, record.kind is Kind.REQUEST)


def _data(raw: bytes) -> bytes:
    """Return the data of a frame without its lines."""
    frames = Decoder(len(raw) + 1).feed(raw)
    return frames[0].data or b"" if frames else raw


def _status(record: Record) -> bytes:
    """Write the status that ended a gRPC call with what its details say; nothing where all went well."""
    code, message = record.meta["code"], record.meta["message"]
    if code == OK:
        return b""
    details = next((value for name, value in record.meta["headers"] if name == DETAILS), "")
    try:
        error = decode_error(code, message, b64decode(details))
    except binascii.Error:  # a secret was masked in them
        error = decode_error(code, message, b"")
    said = {"code": code, "status": record.meta["name"], "message": message}
    return dump(said if error.data is None else said | {"details": error.data})
