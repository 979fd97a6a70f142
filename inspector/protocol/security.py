"""The security schemes of a card and the combinations of them that it requires (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard, AgentSkill
from inspector.protocol.challenge import REGISTERED
from inspector.protocol.dialects.card_view import SCHEME_TYPES
from inspector.protocol.jsonvalue import text_in
from inspector.protocol.model import Json

DEFAULT_KEY_PLACE = ("header", "X-API-Key")
"""The place of an API key, unless the card declares another place."""
_HTTP_IN_WORDS = {"bearer": "a bearer token", "basic": "a user name and password"}


class Grant(StrEnum):
    """A flow of OAuth 2.0, with its name on the card."""

    AUTHORIZATION_CODE = "authorizationCode"
    CLIENT_CREDENTIALS = "clientCredentials"
    DEVICE_CODE = "deviceCode"
    IMPLICIT = "implicit"
    PASSWORD = "password"  # noqa: S105 - the name of a flow


_REFUSED = {
    Grant.IMPLICIT: "deprecated: the token would be part of a URL, which browsers and logs keep "
    "(RFC 9700 section 2.1.2); the server should offer authorizationCode",
    Grant.PASSWORD: "deprecated: the client would get the password of the user (RFC 9700 section 2.4); "
    "the server should offer authorizationCode or deviceCode",
}


@dataclass(frozen=True, slots=True)
class OAuthFlow:
    """A flow of an OAuth 2.0 scheme; `name` is its member on the card, `scopes` describes each scope."""

    name: str
    authorization_url: str = ""
    token_url: str = ""
    device_authorization_url: str = ""
    refresh_url: str = ""
    scopes: Mapping[str, str] = field(default_factory=dict)

    @property
    def grant(self) -> Grant | None:
        """Return the flow, None if A2A does not define a flow of this name."""
        return Grant(self.name) if self.name in list(Grant) else None

    @property
    def refused(self) -> str:
        """Return why a2a-inspect does not use the flow, `""` if it does."""
        return "A2A does not define this flow" if self.grant is None else _REFUSED.get(self.grant, "")


@dataclass(frozen=True, slots=True)
class ApiKeyScheme:
    """An API key in a `header`, `query` parameter or `cookie` (`location`) with the name `parameter`."""

    name: str
    location: str = ""
    parameter: str = ""
    description: str = ""

    def in_words(self) -> str:
        """Return the credentials that the scheme requires."""
        return f"an API key in {self.location or 'an undeclared place'} {self.parameter}".rstrip()


@dataclass(frozen=True, slots=True)
class HttpScheme:
    """A scheme of the header Authorization, such as `Bearer` or `Basic`, as it is written on the card."""

    name: str
    scheme: str = ""
    description: str = ""

    def in_words(self) -> str:
        """Return the credentials that the scheme requires."""
        return _HTTP_IN_WORDS.get(self.scheme.lower(), f"HTTP authentication {self.scheme or '?'}")


@dataclass(frozen=True, slots=True)
class OAuth2Scheme:
    """OAuth 2.0 with its flows, and the URL of the metadata of its authorization server (RFC 8414)."""

    name: str
    flows: tuple[OAuthFlow, ...] = ()
    metadata_url: str = ""
    description: str = ""

    def in_words(self) -> str:
        """Return the credentials that the scheme requires, with the flows that get them."""
        names = ", ".join(flow.name for flow in self.flows)
        return f"OAuth 2.0{f' ({names})' if names else ''}"


@dataclass(frozen=True, slots=True)
class OpenIdConnectScheme:
    """OpenID Connect, with the URL of its discovery document."""

    name: str
    discovery_url: str = ""
    description: str = ""

    def in_words(self) -> str:
        """Return the credentials that the scheme requires."""
        return "OpenID Connect"


@dataclass(frozen=True, slots=True)
class MutualTlsScheme:
    """A certificate of the client in the TLS handshake."""

    name: str
    description: str = ""

    def in_words(self) -> str:
        """Return the credentials that the scheme requires."""
        return "a client certificate"


@dataclass(frozen=True, slots=True)
class UnknownScheme:
    """A scheme whose `kind` A2A does not define, or which is required but not `defined` on the card."""

    name: str
    kind: str = ""
    defined: bool = True
    description: str = ""

    def in_words(self) -> str:
        """Return why it is unknown what the scheme requires."""
        if not self.defined:
            return f"{self.name}, which the card does not define"
        return f"a scheme of the unknown type {self.kind}" if self.kind else "a scheme without a type"


SecurityScheme: TypeAlias = (
    ApiKeyScheme | HttpScheme | OAuth2Scheme | OpenIdConnectScheme | MutualTlsScheme | UnknownScheme
)


class SchemeRequirement(NamedTuple):
    """A security scheme that is required, and the scopes that its token needs."""

    scheme: SecurityScheme
    scopes: tuple[str, ...] = ()

    def in_words(self) -> str:
        """Return the credentials that are required."""
        return self.scheme.in_words() + (f" with {', '.join(self.scopes)}" if self.scopes else "")


Combination: TypeAlias = tuple[SchemeRequirement, ...]
"""Schemes that are required together; without schemes, no credentials are required."""


def security_schemes(card: AgentCard) -> dict[str, SecurityScheme]:
    """Return the security schemes of a card by their names."""
    return {name: read_scheme(name, value) for name, value in (card.security_schemes or {}).items()}


def requirements(card: AgentCard, skill: AgentSkill | None = None) -> tuple[Combination, ...]:
    """Return the alternatives of an agent or of a skill: one of them has to be met, with all of its schemes.

    The requirements of a skill replace those of the agent; a skill without requirements has those of the agent. The
    result is empty if nothing is required.
    """
    schemes = card.security_schemes or {}
    listed = (skill.security_requirements if skill else None) or card.security_requirements or ()
    alternatives = tuple(_combination(item, schemes) for item in listed)
    return alternatives if any(alternatives) else ()


def offers_login(card: AgentCard) -> bool:
    """Return whether a card has a scheme with which a client can log in: OAuth 2.0 or OpenID Connect."""
    return any(isinstance(scheme, OAuth2Scheme | OpenIdConnectScheme) for scheme in security_schemes(card).values())


def requirements_in_words(card: AgentCard, *, none: str = "none required") -> str:
    """Return the required authentication: `none`, or the alternatives that the card lists.

    If the card declares schemes but requires none of them, the schemes are listed, because agents often mean to
    require them.
    """
    if alternatives := requirements(card):
        return ", or ".join(combination_in_words(combination) for combination in alternatives)
    if schemes := security_schemes(card):
        declared = ", ".join(dict.fromkeys(scheme.in_words() for scheme in schemes.values()))
        return f"{none}; the card declares {declared}"
    return none


def refused_flows(scheme: SecurityScheme) -> list[str]:
    """Return the flows of a scheme that a2a-inspect does not use, each with the reason."""
    flows = scheme.flows if isinstance(scheme, OAuth2Scheme) else ()
    return [f"{flow.name} is not used: {flow.refused}" for flow in flows if flow.refused]


def combination_in_words(combination: Combination) -> str:
    """Return the credentials that have to be sent together."""
    return " and ".join(requirement.in_words() for requirement in combination) or "none"


UNREGISTERED = "apikey"
"""Stands for API keys in `authentication_schemes`: no HTTP authentication scheme is registered for them."""


def authentication_schemes(card: AgentCard) -> frozenset[str]:
    """Return the HTTP authentication schemes, in lower case, that the schemes on a card use in a challenge."""
    return frozenset(filter(None, map(_authentication_scheme, security_schemes(card).values())))


def _authentication_scheme(scheme: SecurityScheme) -> str:
    match scheme:
        case HttpScheme():
            return scheme.scheme.lower()
        case OAuth2Scheme() | OpenIdConnectScheme():
            return "bearer"
        case ApiKeyScheme():
            return UNREGISTERED
        case _:
            return ""


def declares(declared: frozenset[str], scheme: str) -> bool:
    """Return whether the scheme of a challenge is among `authentication_schemes`; API keys may have any free name."""
    name = scheme.lower()
    return name in declared or (UNREGISTERED in declared and name not in REGISTERED)


def key_place(card: AgentCard) -> tuple[str, str]:
    """Return the location of the API key (`header`, `query` or `cookie`, section 4.5.2) and its name.

    The first API key scheme that is required defines them, else the first that is declared. Without such a scheme, a
    common header is used.
    """
    required = [requirement.scheme for combination in requirements(card) for requirement in combination]
    for scheme in (*required, *security_schemes(card).values()):
        if isinstance(scheme, ApiKeyScheme) and scheme.parameter:
            return scheme.location or DEFAULT_KEY_PLACE[0], scheme.parameter
    return DEFAULT_KEY_PLACE


def read_scheme(name: str, value: Mapping[str, Json]) -> SecurityScheme:
    """Read a security scheme in the format of any version."""
    kind, members = _kind_and_members(value)
    description = text_in(members, "description")
    match kind:
        case "apiKey":
            location = text_in(members, "location") or text_in(members, "in")
            return ApiKeyScheme(name, location, text_in(members, "name"), description)
        case "http":
            return HttpScheme(name, text_in(members, "scheme"), description)
        case "oauth2":
            flows = members.get("flows")
            declared = flows.items() if isinstance(flows, Mapping) else ()
            read = tuple(_flow(kind, inside) for kind, inside in declared if inside is not None)
            return OAuth2Scheme(name, read, text_in(members, "oauth2MetadataUrl"), description)
        case "openIdConnect":
            return OpenIdConnectScheme(name, text_in(members, "openIdConnectUrl"), description)
        case "mutualTLS":
            return MutualTlsScheme(name, description)
        case _:
            return UnknownScheme(name, kind, description=description)


def _kind_and_members(value: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """Return the type of a scheme, as in 0.3, and its members.

    In a card for two versions, a scheme has the members of 0.3 and the wrapper member of 1.0.
    """
    wrapper = next((name for name in value if name in SCHEME_TYPES and value[name] is not None), "")
    if wrapper:
        members = value[wrapper]
        return SCHEME_TYPES[wrapper], members if isinstance(members, Mapping) else {}
    declared = text_in(value, "type")
    if declared in SCHEME_TYPES.values():
        return declared, value
    unknown = next((name for name in value if name.endswith("SecurityScheme")), next(iter(value), ""))
    return declared or unknown, {}


def _flow(name: str, value: Json) -> OAuthFlow:
    members = value if isinstance(value, Mapping) else {}
    scopes = members.get("scopes")
    return OAuthFlow(
        name,
        text_in(members, "authorizationUrl"),
        text_in(members, "tokenUrl"),
        text_in(members, "deviceAuthorizationUrl"),
        text_in(members, "refreshUrl"),
        {scope: str(text) for scope, text in scopes.items()} if isinstance(scopes, Mapping) else {},
    )


def _combination(item: Mapping[str, Json], schemes: Mapping[str, Mapping[str, Json]]) -> Combination:
    inside = item.get("schemes")
    named = inside if isinstance(inside, Mapping) else item
    return tuple(
        SchemeRequirement(
            read_scheme(name, schemes[name]) if name in schemes else UnknownScheme(name, defined=False), _scopes(scopes)
        )
        for name, scopes in named.items()
    )


def _scopes(scopes: Json) -> tuple[str, ...]:
    listed = scopes.get("list") if isinstance(scopes, Mapping) else scopes
    return tuple(map(str, listed)) if isinstance(listed, list) else ()
