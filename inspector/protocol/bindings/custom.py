"""Custom bindings (1.0 sections 5.8 and 12) that cards name and that are not supported, with what they are."""

from __future__ import annotations

_KNOWN = (
    ("slimrpc", "A2A over the SLIM network of AGNTCY: the URL is a name in that network, reached through a SLIM node"),
    ("websocket", "JSON-RPC messages on one WebSocket connection; there is no common specification of it yet"),
)
"""A part of the name or the URI of a binding, in lower case, and what the binding is."""


def explain_binding(name: str) -> str:
    """Return what a custom binding is, `""` for an unknown one; a name may also be a URI, with hyphens in it."""
    plain = name.lower().replace("-", "").replace("_", "")
    return next((words for part, words in _KNOWN if part in plain), "")
