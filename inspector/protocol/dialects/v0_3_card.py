"""The card of 0.3 (section 5.5): one url with a preferred transport and others beside it, OpenAPI security schemes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

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
_INTERFACE = {"transport": "protocolBinding"}
_INTERFACE_BACK = {"protocolBinding": "transport"}
_SECURITY_BACK = {"securityRequirements": "security"}
_SCHEMES_BACK = {wrapper: kind for kind, wrapper in _SCHEMES.items()}
DEFAULT_TRANSPORT = "JSONRPC"
DEFAULT_VERSION = "0.3.0"


def decode_card(value: Json, unsaid: str = "") -> AgentCard | Unreadable:
    """Read a 0.3 card into the shape of 1.0; the main url comes first, as the preferred interface.

    `unsaid` is the version of the interfaces of a card that says none, `""` for none.
    """
    return read(AgentCard, value, partial(_up_card, unsaid=unsaid))


def _up_card(value: Json, unsaid: str = "") -> Json:
    if not isinstance(value, dict):
        return value
    moved = ("url", "preferredTransport", "additionalInterfaces", "protocolVersion")
    card = {name: member for name, member in _up_security(value).items() if name not in moved}
    card["supportedInterfaces"] = _interfaces(value, unsaid)
    if "supportsAuthenticatedExtendedCard" in card and isinstance(card.get("capabilities"), dict | None):
        extended = {"extendedAgentCard": card.pop("supportsAuthenticatedExtendedCard")}
        card["capabilities"] = (card.get("capabilities") or {}) | extended
    if isinstance(card.get("securitySchemes"), dict):
        card["securitySchemes"] = {name: _up_scheme(scheme) for name, scheme in card["securitySchemes"].items()}
    if isinstance(card.get("skills"), list):
        card["skills"] = [_up_security(skill) for skill in card["skills"]]
    return card


def _interfaces(value: dict[str, Json], unsaid: str) -> Json:
    """List the main interface, then the additional ones, among which an agent may repeat the main one."""
    others = value.get("additionalInterfaces") or []
    if not isinstance(others, list):
        return others
    said = unsaid if value.get("protocolVersion") is None else value["protocolVersion"]
    version = {"protocolVersion": said} if said != "" else {}
    interfaces = [version | _spelled(one, _INTERFACE) if isinstance(one, dict) else one for one in others]
    if value.get("url") is None:
        return interfaces
    main = version | {"url": value["url"], "protocolBinding": value.get("preferredTransport") or DEFAULT_TRANSPORT}
    for place, one in enumerate(interfaces):
        if isinstance(one, dict) and one == one | main:
            return [interfaces.pop(place), *interfaces]
    return [main, *interfaces]


def _spelled(value: dict[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    return {names.get(name, name): member for name, member in value.items()}


def _up_scheme(value: Json) -> Json:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or value["type"] not in _SCHEMES:
        return value
    scheme = {name: member for name, member in value.items() if name != "type"}
    return {_SCHEMES[value["type"]]: _spelled(scheme, {"in": "location"})}


def _up_security(value: Json) -> Json:
    """Rename the `security` of a card or a skill, and wrap each choice in it."""
    if not isinstance(value, dict) or "security" not in value:
        return value
    renamed = value.copy()
    choices = renamed.pop("security")
    renamed["securityRequirements"] = [_up_choice(one) for one in choices] if isinstance(choices, list) else choices
    return renamed


def _up_choice(value: Json) -> Json:
    """Wrap the scopes of each scheme as 1.0 does; the ProtoJSON of 0.3 has them so already."""
    if not isinstance(value, dict) or isinstance(value.get("schemes"), dict):
        return value
    return {"schemes": {name: {"list": scopes} for name, scopes in value.items()}}


def encode_card(card: AgentCard, version: str = DEFAULT_VERSION) -> Json:
    """Write a card as 0.3 shapes it, with the first interface as the main one; tenants are left out.

    `version` is written where the interface leaves out its own or its patch number.
    """
    value = _down_security(encode_proto_card(card, version))
    if value.get("securitySchemes"):
        value["securitySchemes"] = {name: _down_scheme(one) for name, one in value["securitySchemes"].items()}
    if "skills" in value:
        value["skills"] = [_down_security(skill) for skill in value["skills"]]
    return value


def encode_proto_card(card: AgentCard, version: str = DEFAULT_VERSION) -> Json:
    """Write a card as the ProtoJSON of 0.3 has it: security schemes are wrapped there as in 1.0."""
    value = _spelled(card.to_json(), _SECURITY_BACK)
    if interfaces := value.pop("supportedInterfaces", []):
        value |= _down_interfaces(interfaces, version)
    value["capabilities"] = value.get("capabilities", {})
    if "extendedAgentCard" in value["capabilities"]:
        value["supportsAuthenticatedExtendedCard"] = value["capabilities"].pop("extendedAgentCard")
    if "skills" in value:
        value["skills"] = [_spelled(skill, _SECURITY_BACK) for skill in value["skills"]]
    return value


def _down_interfaces(interfaces: list[dict[str, Json]], full: str) -> dict[str, Json]:
    """Spread interfaces over a card; a version that is not the card's stays with its interface."""
    spelled = [_spelled(one, _INTERFACE_BACK) | {"protocolVersion": _full_version(one, full)} for one in interfaces]
    version = spelled[0]["protocolVersion"]
    return {
        "url": spelled[0].get("url", ""),
        "preferredTransport": spelled[0].get("transport") or DEFAULT_TRANSPORT,
        "protocolVersion": version,
        "additionalInterfaces": [
            {name: one[name] for name in one if name != "tenant" and (name, one[name]) != ("protocolVersion", version)}
            for one in spelled
        ],
    }


def _full_version(interface: dict[str, Json], full: str) -> Json:
    version = interface.get("protocolVersion")
    return full if version in (None, "", full.rpartition(".")[0]) else version


def _down_scheme(value: dict[str, Json]) -> Json:
    for wrapper, scheme in value.items():
        if wrapper in _SCHEMES_BACK and isinstance(scheme, dict):
            return {"type": _SCHEMES_BACK[wrapper]} | _spelled(scheme, {"location": "in"})
    return value


def _down_security(value: dict[str, Json]) -> dict[str, Json]:
    if not isinstance(value.get("security"), list):
        return value
    return value | {"security": [_down_choice(one) for one in value["security"]]}


def _down_choice(value: Json) -> Json:
    schemes = value.get("schemes") if isinstance(value, dict) else None
    if not isinstance(schemes, dict):
        return value
    return {name: scopes.get("list", []) if isinstance(scopes, dict) else scopes for name, scopes in schemes.items()}
