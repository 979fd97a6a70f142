"""The Agent Card of 0.3 (section 5.5): a main URL, additional interfaces, security schemes as in OpenAPI."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.card_view import SCHEME_TYPES
from inspector.protocol.dialects.rewriting import each, inverse, members, renamed, without
from inspector.protocol.model import Json

_WRAPPERS = inverse(SCHEME_TYPES)
_INTERFACE = {"transport": "protocolBinding"}
_DEFAULT_TRANSPORT = "JSONRPC"
_DEFAULT_VERSION = "0.3.0"


def import_card(value: Json, undeclared: str = "") -> Json:
    """Convert a 0.3 card to the canonical JSON; the main URL becomes the first interface.

    `undeclared` is the version of the interfaces if the card does not declare a version.
    """
    if not isinstance(value, dict):
        return value
    card = without(_import_security(value), "url", "preferredTransport", "additionalInterfaces", "protocolVersion")
    card["supportedInterfaces"] = _interfaces(value, undeclared)
    if "supportsAuthenticatedExtendedCard" in card and isinstance(card.get("capabilities"), dict | None):
        extended = {"extendedAgentCard": card.pop("supportsAuthenticatedExtendedCard")}
        card["capabilities"] = (card.get("capabilities") or {}) | extended
    if isinstance(card.get("securitySchemes"), dict):
        card["securitySchemes"] = {name: _import_scheme(scheme) for name, scheme in card["securitySchemes"].items()}
    return members(skills=each(_import_security))(card)


def _interfaces(value: dict[str, Json], undeclared: str) -> Json:
    """Return the main interface, then the additional interfaces; a repetition of the main interface is dropped."""
    others = value.get("additionalInterfaces") or []
    if not isinstance(others, list):
        return others
    declared = undeclared if value.get("protocolVersion") is None else value["protocolVersion"]
    version = {"protocolVersion": declared} if declared != "" else {}
    interfaces = [version | renamed(_INTERFACE)(item) if isinstance(item, dict) else item for item in others]
    if value.get("url") is None:
        return interfaces
    main = version | {"url": value["url"], "protocolBinding": value.get("preferredTransport") or _DEFAULT_TRANSPORT}
    for index, interface in enumerate(interfaces):
        if isinstance(interface, dict) and interface == interface | main:
            return [interfaces.pop(index), *interfaces]
    return [main, *interfaces]


def _import_scheme(value: Json) -> Json:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _WRAPPERS:
        return value
    return {_WRAPPERS[kind]: renamed({"in": "location"})(without(value, "type"))}


def _import_security(value: dict[str, Json]) -> dict[str, Json]:
    """Convert the `security` of a card or a skill to requirements of 1.0."""
    if "security" not in value:
        return value
    return without(value, "security") | {"securityRequirements": each(_import_requirement)(value["security"])}


def _import_requirement(value: dict[str, Json]) -> Json:
    """Convert a security requirement to the format of 1.0, which the ProtoJSON of 0.3 already uses."""
    if isinstance(value.get("schemes"), dict):
        return value
    return {"schemes": {name: {"list": scopes} for name, scopes in value.items()}}


def encode_card(card: AgentCard, version: str = _DEFAULT_VERSION) -> Json:
    """Write a 0.3 card without tenants; the first interface becomes the main URL.

    `version` is written if the version of an interface is missing or has no patch number.
    """
    return json_card(encode_proto_card(card, version))


def json_card(value: Json) -> Json:
    """Convert the security schemes and requirements of a card from ProtoJSON to the JSON of 0.3."""
    security = each(_export_requirement)
    schemes = members(securitySchemes=_export_schemes)
    return schemes(members(security=security, skills=each(members(security=security)))(value))


def encode_proto_card(card: AgentCard, version: str = _DEFAULT_VERSION) -> Json:
    """Write a card in the ProtoJSON of 0.3, which has the security schemes of 1.0."""
    security = {"securityRequirements": "security"}
    value = renamed(security, skills=each(renamed(security)))(card.to_json())
    if interfaces := value.pop("supportedInterfaces", []):
        value |= _export_interfaces(interfaces, version)
    value["capabilities"] = value.get("capabilities", {})
    if "extendedAgentCard" in value["capabilities"]:
        value["supportsAuthenticatedExtendedCard"] = value["capabilities"].pop("extendedAgentCard")
    return value


def _export_interfaces(interfaces: list[dict[str, Json]], full: str) -> dict[str, Json]:
    """Return the members of a card for its interfaces; an interface has a version only if it differs from the card."""
    short = (None, "", full.rpartition(".")[0])
    written = [
        renamed(inverse(_INTERFACE))(interface)
        | {"protocolVersion": full if interface.get("protocolVersion") in short else interface["protocolVersion"]}
        for interface in interfaces
    ]
    version = written[0]["protocolVersion"]
    return {
        "url": written[0].get("url", ""),
        "preferredTransport": written[0].get("transport") or _DEFAULT_TRANSPORT,
        "protocolVersion": version,
        "additionalInterfaces": [
            without(interface, "tenant", *(("protocolVersion",) if interface["protocolVersion"] == version else ()))
            for interface in written
        ],
    }


def _export_schemes(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return {name: _export_scheme(scheme) if isinstance(scheme, dict) else scheme for name, scheme in value.items()}


def _export_scheme(value: dict[str, Json]) -> Json:
    for wrapper, scheme in value.items():
        if wrapper in SCHEME_TYPES and isinstance(scheme, dict):
            return {"type": SCHEME_TYPES[wrapper]} | renamed({"location": "in"})(scheme)
    return value


def _export_requirement(value: dict[str, Json]) -> Json:
    schemes = value.get("schemes")
    if not isinstance(schemes, dict):
        return value
    return {name: scopes.get("list", []) if isinstance(scopes, dict) else scopes for name, scopes in schemes.items()}
