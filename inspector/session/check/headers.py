"""The headers that a test with the requirement `header_inspection` expects of each successful response."""

from __future__ import annotations

from inspector.protocol.bindings import rest
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON
from inspector.protocol.http_fields import without_parameters
from inspector.session.check.calls import Response
from inspector.session.check.document.enumerations import Level
from inspector.session.check.matching import Mismatch

_CACHING = ("Cache-Control", "ETag")
_REDIRECT = 300


def inspect_headers(response: Response, binding: str, level: Level, *, is_card: bool) -> list[Mismatch]:
    """Return what is wrong with the headers of a response over a binding, or of a card.

    application/a2a+json is recommended over HTTP+JSON (1.0 section 11.1), so that a test of the level `must` accepts
    application/json, too. A card has to have Cache-Control or ETag (1.0 section 8.6.1).
    """
    if response.status >= _REDIRECT or (binding == "GRPC" and not is_card):
        return []
    allowed = (EVENT_STREAM,) if response.streamed else _json_types(binding, level, is_card=is_card)
    actual = response.headers.get("content-type", "")
    found: list[Mismatch] = []
    if without_parameters(actual) not in allowed:
        found.append(Mismatch("header Content-Type", " or ".join(allowed), actual or "nothing"))
    if is_card and not any(name.lower() in response.headers for name in _CACHING):
        found.append(Mismatch("headers", " or ".join(_CACHING), "neither"))
    return found


def _json_types(binding: str, level: Level, *, is_card: bool) -> tuple[str, ...]:
    if binding != rest.BINDING.name and not is_card:
        return (JSON,)
    return (rest.A2A_JSON,) if level is not Level.MUST and not is_card else (rest.A2A_JSON, JSON)
