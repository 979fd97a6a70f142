"""A valid card of every protocol version, and valid parts of cards, for the examples of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.protocol.model import Json


def skill(**changes: Json) -> dict[str, Json]:
    """Return a valid skill, with some members changed; None removes a member."""
    whole = {
        "id": "translate",
        "name": "Translate",
        "description": "Translates a text into another language.",
        "tags": ["language"],
        "examples": ["Translate 'good morning' into Finnish"],
    }
    return _changed(whole, changes)


def interface(**changes: Json) -> dict[str, Json]:
    """Return a valid interface of 1.0, with some members changed."""
    whole = {"url": "https://agent.example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return _changed(whole, changes)


def with_interface(**changes: Json) -> Json:
    """Return a merge patch on a card of 1.0: its only interface, with some members changed."""
    return {"supportedInterfaces": [interface(**changes)]}


def old_interface(**changes: Json) -> dict[str, Json]:
    """Return a valid interface of 0.3, with some members changed."""
    return _changed({"url": "https://agent.example.com/a2a", "transport": "JSONRPC"}, changes)


def _changed(whole: dict[str, Json], changes: dict[str, Json]) -> dict[str, Json]:
    return {name: member for name, member in (whole | changes).items() if member is not None}


def patched(value: Any, patch: Json) -> Any:
    """Apply a merge patch (RFC 7386) to a value."""
    if not isinstance(patch, dict):
        return patch
    changed = dict(value) if isinstance(value, dict) else {}
    for name, member in patch.items():
        if member is None:
            changed.pop(name, None)
        else:
            changed[name] = patched(changed.get(name), member)
    return changed


_COMMON: dict[str, Json] = {
    "name": "Translator",
    "description": "Translates texts between languages.",
    "provider": {"organization": "Example Ltd", "url": "https://example.com"},
    "version": "2.1.0",
    "documentationUrl": "https://agent.example.com/docs",
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain", "application/json"],
    "skills": [skill()],
}
_SCOPES = {"translate": "Translate texts"}
_CODE_FLOW = {
    "authorizationUrl": "https://login.example.com/authorize",
    "tokenUrl": "https://login.example.com/token",
    "scopes": _SCOPES,
}
_EXTENSION = {"uri": "https://example.com/extensions/glossary/v1", "description": "Takes a glossary", "required": False}

_CARD_0_1: dict[str, Json] = {
    **_COMMON,
    "url": "https://agent.example.com/a2a",
    "capabilities": {"streaming": True, "pushNotifications": False, "stateTransitionHistory": False},
    "authentication": {"schemes": ["Bearer"]},
    "defaultInputModes": ["text"],
    "defaultOutputModes": ["text"],
}
_CARD_0_2: dict[str, Json] = {
    **_COMMON,
    "url": "https://agent.example.com/a2a",
    "protocolVersion": "0.2.6",
    "preferredTransport": "JSONRPC",
    "additionalInterfaces": [old_interface()],
    "capabilities": {"streaming": True, "pushNotifications": True, "extensions": [_EXTENSION]},
    "securitySchemes": {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "login": {"type": "oauth2", "flows": {"authorizationCode": _CODE_FLOW}},
    },
    "security": [{"bearer": []}, {"login": ["translate"]}],
    "supportsAuthenticatedExtendedCard": True,
}
_CARD_1_0: dict[str, Json] = {
    **_COMMON,
    "supportedInterfaces": [interface()],
    "capabilities": {
        "streaming": True,
        "pushNotifications": True,
        "extendedAgentCard": True,
        "extensions": [_EXTENSION],
    },
    "securitySchemes": {
        "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        "login": {"oauth2SecurityScheme": {"flows": {"authorizationCode": _CODE_FLOW}}},
    },
    "securityRequirements": [
        {"schemes": {"bearer": {"list": []}}},
        {"schemes": {"login": {"list": ["translate"]}}},
    ],
}

VALID_CARDS: Mapping[str, dict[str, Json]] = {
    "0.1": _CARD_0_1,
    "0.2": _CARD_0_2,
    "0.3": {**_CARD_0_2, "protocolVersion": "0.3.0"},
    "1.0": _CARD_1_0,
    "opvs": _CARD_1_0,
}
"""For each protocol version, a card that violates no rule."""
