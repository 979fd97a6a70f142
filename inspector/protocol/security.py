"""The authentication that a card requires of clients, in words (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json

DEFAULT_KEY_PLACE = ("header", "X-API-Key")
"""The place of an API key, unless the card declares another place."""


class SchemeRequirement(NamedTuple):
    """A security scheme that a card requires: its name, its members (None if the card does not define it), scopes."""

    name: str
    scheme: Mapping[str, Json] | None
    scopes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """Return the credentials that are required."""
        if self.scheme is None:
            return f"{self.name}, which the card does not define"
        return scheme_in_words(self.scheme) + (f" with {', '.join(self.scopes)}" if self.scopes else "")


def required_schemes(card: AgentCard) -> list[tuple[SchemeRequirement, ...]]:
    """Return the alternatives of a card: one of them has to be met, with all of its schemes.

    The list is empty if nothing is required.
    """
    schemes = card.security_schemes or {}
    found = [_schemes_of(choice, schemes) for choice in card.security_requirements or ()]
    return found if any(found) else []


def requirements_in_words(card: AgentCard) -> str:
    """Return the required authentication: `none required`, or the alternatives that the card lists.

    If the card declares schemes but requires none of them, the schemes are listed, because agents often mean to
    require them.
    """
    schemes = card.security_schemes or {}
    choices = [" and ".join(each.in_words() for each in choice) for choice in required_schemes(card)]
    if choices:
        return ", or ".join(choice or "none" for choice in choices)
    if schemes:
        declared = ", ".join(dict.fromkeys(scheme_in_words(scheme) for scheme in schemes.values()))
        return f"none required; the card declares {declared}"
    return "none required"


def scheme_in_words(scheme: Mapping[str, Json]) -> str:
    """Return the credentials that a security scheme requires, in words."""
    kind, members = scheme_type(scheme)
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


def scheme_type(scheme: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """Return the type of a security scheme, such as `apiKeySecurityScheme`, and its members."""
    # In a card for two versions, a scheme has the members of 0.3 and the wrapper member of 1.0.
    kind = next((name for name in scheme if name.endswith("SecurityScheme")), next(iter(scheme), ""))
    inside = scheme.get(kind)
    return kind, inside if isinstance(inside, Mapping) else {}


def key_place(card: AgentCard) -> tuple[str, str]:
    """Return the location of the API key (`header`, `query` or `cookie`, section 4.5.2) and its name.

    The first API key scheme on the card defines them. Without such a scheme, a common header is used.
    """
    for scheme in (card.security_schemes or {}).values():
        members = scheme.get("apiKeySecurityScheme")
        if isinstance(members, Mapping) and members.get("name"):
            return str(members.get("location", "header")), str(members["name"])
    return DEFAULT_KEY_PLACE


def _schemes_of(choice: Mapping[str, Json], schemes: Mapping[str, Mapping[str, Json]]) -> tuple[SchemeRequirement, ...]:
    inside = choice.get("schemes")
    named = inside if isinstance(inside, Mapping) else choice
    return tuple(SchemeRequirement(name, schemes.get(name), _scopes(scopes)) for name, scopes in named.items())


def _scopes(scopes: Json) -> tuple[str, ...]:
    listed = scopes.get("list") if isinstance(scopes, Mapping) else scopes
    return tuple(map(str, listed)) if isinstance(listed, list) else ()
