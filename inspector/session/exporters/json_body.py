"""The body of a request as JSON, also that of a gRPC call."""

from __future__ import annotations

from inspector.protocol.bindings.base import HttpRequest, WireRequest
from inspector.session.exchange import CallContext


def write(wire: WireRequest, call: CallContext) -> str:
    """Write a body; bytes that are not UTF-8 become lone surrogates."""
    body = wire.shown if isinstance(wire, HttpRequest) else wire.body
    return call.binding.show(call.dialect, call.operation, body, True).decode("utf-8", "surrogateescape")
