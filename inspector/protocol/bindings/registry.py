"""The bindings that we speak, by the name that a card gives them."""

from __future__ import annotations

from inspector.protocol.bindings import grpc, jsonrpc, rest
from inspector.protocol.bindings.base import Binding

BINDINGS: dict[str, Binding] = {binding.name: binding for binding in (jsonrpc.BINDING, rest.BINDING, grpc.BINDING)}
"""Every binding by its name on the card."""
