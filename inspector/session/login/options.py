"""The ways to log in that a card offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json
from inspector.protocol.security import scheme_type

DEFAULT_REDIRECT_PORT = 8765
"""The port of the loopback redirect. It is fixed, because many servers only allow redirect URIs that are registered."""


class Grant(StrEnum):
    """A flow of OAuth 2.0, with its name on the card."""

    CLIENT_CREDENTIALS = "clientCredentials"
    AUTHORIZATION_CODE = "authorizationCode"
    DEVICE_CODE = "deviceCode"
    IMPLICIT = "implicit"
    PASSWORD = "password"  # noqa: S105 - the name of a flow


_OPENID_GRANTS = (Grant.AUTHORIZATION_CODE, Grant.DEVICE_CODE, Grant.CLIENT_CREDENTIALS)
_REFUSED: dict[str, str] = {
    Grant.IMPLICIT: "it returns the token in a URL, and is deprecated (OAuth 2.1): use authorizationCode with PKCE.",
    Grant.PASSWORD: "it gives the password of the user to the client, and is deprecated (OAuth 2.1).",
}
"""Why a2a-inspect does not use a flow."""


@dataclass(frozen=True, slots=True)
class LoginOption:
    """A flow of a scheme on the card.

    `scheme` is the name of the scheme, `members` is the scheme in 1.0. `metadata_url` is the URL of the metadata of
    the authorization server, with `openid` of the OpenID discovery document. `scopes` are the scopes that the flow
    describes, `required` those that the security requirements ask for. `refused` is why a2a-inspect does not use the
    flow, `""` if it does.
    """

    scheme: str
    grant: Grant
    authorization_url: str = ""
    token_url: str = ""
    device_url: str = ""
    refresh_url: str = ""
    metadata_url: str = ""
    openid: bool = False
    pkce_required: bool = False
    scopes: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    refused: str = ""
    members: Mapping[str, Json] = field(default_factory=dict)

    @property
    def needs_secret(self) -> bool:
        """Return whether the flow cannot work without a client secret."""
        return self.grant is Grant.CLIENT_CREDENTIALS

    @property
    def asks_user(self) -> bool:
        """Return whether the user logs in, in a browser."""
        return self.grant is not Grant.CLIENT_CREDENTIALS


@dataclass(frozen=True, slots=True)
class ClientRegistration:
    """The client that logs in, as registered at the authorization server; a secret may be a reference (`env:NAME`)."""

    client_id: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    redirect_port: int = DEFAULT_REDIRECT_PORT


def login_options(card: AgentCard, skill_id: str = "") -> tuple[LoginOption, ...]:
    """Return the flows of the OAuth 2.0 and OpenID Connect schemes of a card, those that are required first.

    With `skill_id`, the requirements of that skill count, too.
    """
    required = _required_scopes(card, skill_id)
    found: list[LoginOption] = []
    for name, scheme in (card.security_schemes or {}).items():
        kind, members = scheme_type(scheme)
        about: dict[str, Any] = {"scheme": name, "required": tuple(required.get(name, ())), "members": scheme}
        if kind == "oauth2SecurityScheme":
            found += _oauth_options(members, about)
        elif kind == "openIdConnectSecurityScheme":
            url = _text(members, "openIdConnectUrl")
            found += [LoginOption(grant=grant, metadata_url=url, openid=True, **about) for grant in _OPENID_GRANTS]
    return tuple(sorted(found, key=lambda option: (bool(option.refused), option.scheme not in required)))


def _oauth_options(members: Mapping[str, Json], about: Mapping[str, Any]) -> Iterator[LoginOption]:
    flows = members.get("flows")
    for name, flow in flows.items() if isinstance(flows, Mapping) else ():
        if name not in list(Grant) or not isinstance(flow, Mapping):
            continue
        scopes = flow.get("scopes")
        yield LoginOption(
            grant=Grant(name),
            authorization_url=_text(flow, "authorizationUrl"),
            token_url=_text(flow, "tokenUrl"),
            device_url=_text(flow, "deviceAuthorizationUrl"),
            refresh_url=_text(flow, "refreshUrl"),
            metadata_url=_text(members, "oauth2MetadataUrl"),
            pkce_required=flow.get("pkceRequired") is True,
            scopes={scope: str(words) for scope, words in scopes.items()} if isinstance(scopes, Mapping) else {},
            refused=_REFUSED.get(name, ""),
            **about,
        )


def _required_scopes(card: AgentCard, skill_id: str) -> dict[str, list[str]]:
    """Return the scopes that the security requirements ask for, by scheme."""
    asked: dict[str, list[str]] = {}
    for requirement in chain.from_iterable(required_schemes(card)):
        scopes = asked.setdefault(requirement.name, [])
        scopes += [scope for scope in requirement.scopes if scope not in scopes]
    return asked


def _text(members: Mapping[str, Json], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""
