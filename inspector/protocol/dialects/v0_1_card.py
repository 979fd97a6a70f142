"""The card of 0.1 (section 5.5): one url for JSON-RPC, and HTTP authentication schemes by their name."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.rewriting import without
from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, Unreadable

VERSION = "0.1"
_WRAPPER = "httpAuthSecurityScheme"
_UNKNOWN = ("supportedInterfaces", "iconUrl", "securitySchemes", "securityRequirements", "signatures")


def decode_card(value: Json) -> AgentCard | Unreadable:
    """Read a 0.1 card into the shape of 1.0; each authentication scheme becomes one that is enough to get in."""
    return read(AgentCard, value, _up_card)


def _up_card(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    card = without(value, "url", "protocolVersion")
    interface = {"url": value.get("url"), "protocolBinding": "JSONRPC", "protocolVersion": VERSION}
    card["supportedInterfaces"] = [] if value.get("url") is None else [interface]
    return _up_authentication(card)


def _up_authentication(card: dict[str, Json]) -> dict[str, Json]:
    authentication = card.get("authentication")
    schemes = authentication.get("schemes") if isinstance(authentication, dict) else None
    if not isinstance(schemes, list) or not all(isinstance(scheme, str) for scheme in schemes):
        return card
    lifted = {
        "securitySchemes": {scheme: {_WRAPPER: {"scheme": scheme}} for scheme in schemes},
        "securityRequirements": [{"schemes": {scheme: {"list": []}}} for scheme in schemes],
    }
    rest = without(authentication, "schemes") if isinstance(authentication, dict) else {}
    return lifted | without(card, "authentication") | ({"authentication": rest} if rest else {})


def encode_card(card: AgentCard) -> Json:
    """Write a card as 0.1 shapes it: the first interface's url, and the HTTP schemes alone.

    It says its authentication even where there is none: nothing else tells it from a card of 0.2 without a version.
    """
    value = card.to_json()
    written = without(value, *_UNKNOWN)
    if card.supported_interfaces:
        written["url"] = card.supported_interfaces[0].url
    written["capabilities"] = without(value.get("capabilities", {}), "extendedAgentCard", "extensions")
    if "skills" in value:
        written["skills"] = [without(skill, "securityRequirements") for skill in value["skills"]]
    schemes = [str(one[_WRAPPER].get("scheme", "")) for one in _http_schemes(card)]
    rest = written.get("authentication")
    written["authentication"] = {"schemes": schemes} | (rest if isinstance(rest, dict) else {})
    return written


def _http_schemes(card: AgentCard) -> list[dict[str, Json]]:
    return [one for one in (card.security_schemes or {}).values() if isinstance(one.get(_WRAPPER), dict)]
