"""What a card demands of a client, in words (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json


def requirements_in_words(card: AgentCard) -> str:
    """Say what it takes to get in: `nothing`, or the alternatives that the card lists.

    A card that declares schemes and demands none of them says so: agents often mean that the schemes are demanded.
    """
    schemes = card.security_schemes or {}
    choices = [_choice(choice, schemes) for choice in card.security_requirements or ()]
    if any(choices):
        return ", or ".join(choice or "nothing" for choice in choices)
    if schemes:
        return f"nothing is demanded; the card declares {', '.join(scheme_in_words(one) for one in schemes.values())}"
    return "nothing is demanded"


def scheme_in_words(scheme: Mapping[str, Json]) -> str:
    """Say what one security scheme asks for."""
    # A card that has both shapes has the members of 0.3 beside the wrapper of 1.0.
    kind = next((name for name in scheme if name.endswith("SecurityScheme")), next(iter(scheme), ""))
    inside = scheme.get(kind)
    members: Mapping[str, Json] = inside if isinstance(inside, Mapping) else {}
    match kind:
        case "apiKeySecurityScheme":
            return f"an API key in {members.get('location', '?')} {members.get('name', '?')}"
        case "httpAuthSecurityScheme":
            name = str(members.get("scheme", "?"))
            spoken = {"bearer": "a bearer token", "basic": "a user name and password"}
            return spoken.get(name.lower(), f"HTTP authentication {name}")
        case "oauth2SecurityScheme":
            flows = members.get("flows")
            names = ", ".join(flows) if isinstance(flows, Mapping) else ""
            return f"OAuth 2.0{f' ({names})' if names else ''}"
        case "openIdConnectSecurityScheme":
            return "OpenID Connect"
        case "mtlsSecurityScheme":
            return "a client certificate"
        case _:
            return f"an unknown scheme {kind}"


def key_place(card: AgentCard) -> tuple[str, str]:
    """Return where the card wants an API key, and under which name: `header`, `query` or `cookie` (section 4.5.2).

    The first such scheme counts; a card that declares none gets the header that most APIs know.
    """
    for scheme in (card.security_schemes or {}).values():
        members = scheme.get("apiKeySecurityScheme")
        if isinstance(members, Mapping) and members.get("name"):
            return str(members.get("location", "header")), str(members["name"])
    return "header", "X-API-Key"


def _choice(choice: Mapping[str, Json], schemes: Mapping[str, Mapping[str, Json]]) -> str:
    inside = choice.get("schemes")
    named = inside if isinstance(inside, Mapping) else choice
    return " and ".join(_demand(name, scopes, schemes) for name, scopes in named.items())


def _demand(name: str, scopes: Json, schemes: Mapping[str, Mapping[str, Json]]) -> str:
    if name not in schemes:
        return f"{name}, which no scheme defines"
    listed = scopes.get("list") if isinstance(scopes, Mapping) else scopes
    wanted = f" with {', '.join(map(str, listed))}" if isinstance(listed, list) and listed else ""
    return scheme_in_words(schemes[name]) + wanted
