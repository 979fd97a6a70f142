"""The authentication that a card requires of clients, in words (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json


def requirements_in_words(card: AgentCard) -> str:
    """Return the required authentication: `none required`, or the alternatives that the card lists.

    If the card declares schemes but requires none of them, the schemes are listed, because agents often mean to
    require them.
    """
    schemes = card.security_schemes or {}
    choices = [_choice(choice, schemes) for choice in card.security_requirements or ()]
    if any(choices):
        return ", or ".join(choice or "none" for choice in choices)
    if schemes:
        declared = ", ".join(dict.fromkeys(scheme_in_words(scheme) for scheme in schemes.values()))
        return f"none required; the card declares {declared}"
    return "none required"


def scheme_in_words(scheme: Mapping[str, Json]) -> str:
    """Return the credentials that a security scheme requires, in words."""
    # In a card for two versions, a scheme has the members of 0.3 and the wrapper member of 1.0.
    kind = next((name for name in scheme if name.endswith("SecurityScheme")), next(iter(scheme), ""))
    inside = scheme.get(kind)
    members: Mapping[str, Json] = inside if isinstance(inside, Mapping) else {}
    match kind:
        case "apiKeySecurityScheme":
            return f"an API key in {members.get('location', '?')} {members.get('name', '?')}"
        case "httpAuthSecurityScheme":
            name = str(members.get("scheme", "?"))
            known = {"bearer": "a bearer token", "basic": "a user name and password"}
            return known.get(name.lower(), f"HTTP authentication {name}")
        case "oauth2SecurityScheme":
            flows = members.get("flows")
            names = ", ".join(flows) if isinstance(flows, Mapping) else ""
            return f"OAuth 2.0{f' ({names})' if names else ''}"
        case "openIdConnectSecurityScheme":
            return "OpenID Connect"
        case "mtlsSecurityScheme":
            return "a client certificate"
        case _:
            return f"a scheme of the unknown type {kind}" if kind else "a scheme without a type"


def key_place(card: AgentCard) -> tuple[str, str]:
    """Return the location of the API key (`header`, `query` or `cookie`, section 4.5.2) and its name.

    The first API key scheme on the card defines them. Without such a scheme, a common header is used.
    """
    for scheme in (card.security_schemes or {}).values():
        members = scheme.get("apiKeySecurityScheme")
        if isinstance(members, Mapping) and members.get("name"):
            return str(members.get("location", "header")), str(members["name"])
    return "header", "X-API-Key"


def _choice(choice: Mapping[str, Json], schemes: Mapping[str, Mapping[str, Json]]) -> str:
    inside = choice.get("schemes")
    named = inside if isinstance(inside, Mapping) else choice
    return " and ".join(_requirement(name, scopes, schemes) for name, scopes in named.items())


def _requirement(name: str, scopes: Json, schemes: Mapping[str, Mapping[str, Json]]) -> str:
    if name not in schemes:
        return f"{name}, which the card does not define"
    listed = scopes.get("list") if isinstance(scopes, Mapping) else scopes
    wanted = f" with {', '.join(map(str, listed))}" if isinstance(listed, list) and listed else ""
    return scheme_in_words(schemes[name]) + wanted
