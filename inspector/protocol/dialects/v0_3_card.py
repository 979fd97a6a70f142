"""The card of 0.3 (section 5.5): one url with a preferred transport and others beside it, OpenAPI security schemes."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, Unreadable

_SCHEMES: Mapping[str, str] = {
    "apiKey": "apiKeySecurityScheme",
    "http": "httpAuthSecurityScheme",
    "oauth2": "oauth2SecurityScheme",
    "openIdConnect": "openIdConnectSecurityScheme",
    "mutualTLS": "mtlsSecurityScheme",
}
_SCHEMES_BACK = {wrapper: kind for kind, wrapper in _SCHEMES.items()}
_MOVED = (
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "security",
    "securitySchemes",
)
DEFAULT_TRANSPORT = "JSONRPC"


def decode_card(value: Json) -> AgentCard | Unreadable:
    """Read a 0.3 card into the shape of 1.0; the main url comes first, as the preferred interface."""
    if not isinstance(value, dict):
        return Unreadable(value, f"a card is a JSON object, this is {type(value).__name__}")
    card = {name: member for name, member in value.items() if name not in _MOVED}
    card["supportedInterfaces"] = _interfaces(value)
    if isinstance(value.get("capabilities"), dict) and "supportsAuthenticatedExtendedCard" in value:
        card["capabilities"] = value["capabilities"] | {"extendedAgentCard": value["supportsAuthenticatedExtendedCard"]}
    if isinstance(value.get("securitySchemes"), dict):
        card["securitySchemes"] = {name: _up_scheme(scheme) for name, scheme in value["securitySchemes"].items()}
    if "security" in value:
        card["securityRequirements"] = _up_requirements(value["security"])
    if isinstance(value.get("skills"), list):
        card["skills"] = [_up_skill(skill) for skill in value["skills"]]
    return read(AgentCard, card)


def _interfaces(value: dict[str, Json]) -> list[Json]:
    version = value.get("protocolVersion", "")
    main = {"url": value.get("url"), "transport": value.get("preferredTransport", DEFAULT_TRANSPORT)}
    others = value.get("additionalInterfaces")
    declared = [main] if main["url"] is not None else []
    declared += [other for other in others if isinstance(other, dict)] if isinstance(others, list) else []
    seen: list[Json] = []
    for one in declared:
        interface = {
            "url": one.get("url"),
            "protocolBinding": one.get("transport"),
            "protocolVersion": version,
        }
        if interface not in seen:
            seen.append(interface)
    return seen


def _up_scheme(value: Json) -> Json:
    if not isinstance(value, dict) or value.get("type") not in _SCHEMES:
        return value
    scheme = {"location" if name == "in" else name: member for name, member in value.items() if name != "type"}
    return {_SCHEMES[value["type"]]: scheme}


def _up_requirements(value: Json) -> Json:
    if not isinstance(value, list):
        return value
    return [
        {"schemes": {name: {"list": scopes} for name, scopes in choice.items()}} if isinstance(choice, dict) else choice
        for choice in value
    ]


def _up_skill(value: Json) -> Json:
    if not isinstance(value, dict) or "security" not in value:
        return value
    skill = {name: member for name, member in value.items() if name != "security"}
    return skill | {"securityRequirements": _up_requirements(value["security"])}


def encode_card(card: AgentCard) -> Json:
    """Write a card as 0.3 shapes it, with the first interface as the main one."""
    value = card.to_json()
    interfaces = value.pop("supportedInterfaces", [])
    if interfaces:
        value["url"] = interfaces[0]["url"]
        value["preferredTransport"] = interfaces[0]["protocolBinding"]
        value["protocolVersion"] = "0.3.0"
        value["additionalInterfaces"] = [{"url": one["url"], "transport": one["protocolBinding"]} for one in interfaces]
    capabilities = dict(value.get("capabilities", {}))
    if "extendedAgentCard" in capabilities:
        value["supportsAuthenticatedExtendedCard"] = capabilities.pop("extendedAgentCard")
    value["capabilities"] = capabilities
    if "securitySchemes" in value:
        value["securitySchemes"] = {name: _down_scheme(one) for name, one in value["securitySchemes"].items()}
    if "securityRequirements" in value:
        value["security"] = _down_requirements(value.pop("securityRequirements"))
    for skill in value.get("skills", []):
        if "securityRequirements" in skill:
            skill["security"] = _down_requirements(skill.pop("securityRequirements"))
    return value


def _down_scheme(value: dict[str, Json]) -> Json:
    for wrapper, scheme in value.items():
        if wrapper in _SCHEMES_BACK and isinstance(scheme, dict):
            spelled = {"in" if name == "location" else name: member for name, member in scheme.items()}
            return {"type": _SCHEMES_BACK[wrapper]} | spelled
    return value


def _down_requirements(value: list[dict[str, Json]]) -> Json:
    return [{name: scopes.get("list", []) for name, scopes in choice.get("schemes", {}).items()} for choice in value]
