"""The supported bindings."""

from __future__ import annotations

from inspector.protocol.bindings import grpc, jsonrpc, rest
from inspector.protocol.bindings.base import Binding

BINDINGS: dict[str, Binding] = {binding.name: binding for binding in (jsonrpc.BINDING, rest.BINDING, grpc.BINDING)}
"""The supported bindings by their name on cards."""
