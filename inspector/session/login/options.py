"""The ways to log in that a card offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import chain
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json
from inspector.protocol.security import (
    Grant,
    OAuth2Scheme,
    OAuthFlow,
    OpenIdConnectScheme,
    requirements,
    security_schemes,
)
from inspector.wire.client.credentials import origin

DEFAULT_REDIRECT_PORT = 8765
"""The port of the loopback redirect. It is fixed, because many servers only allow redirect URIs that are registered."""


_OPENID_GRANTS = (Grant.AUTHORIZATION_CODE, Grant.DEVICE_CODE, Grant.CLIENT_CREDENTIALS)


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
    scopes: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    refused: str = ""
    members: Mapping[str, Json] = field(default_factory=dict)

    @property
    def servers(self) -> tuple[str, ...]:
        """Return the origins on the card: that of the page of the login, and that to which the client is sent."""
        page = self.authorization_url if self.grant is Grant.AUTHORIZATION_CODE else ""
        return tuple(dict.fromkeys(filter(None, (origin(page), origin(self.token_url)))))

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


def login_options(card: AgentCard) -> tuple[LoginOption, ...]:
    """Return the flows of the OAuth 2.0 and OpenID Connect schemes of a card, those that are required first."""
    required = _required_scopes(card)
    found: list[LoginOption] = []
    for name, scheme in security_schemes(card).items():
        members = (card.security_schemes or {}).get(name, {})
        about: dict[str, Any] = {"scheme": name, "required": tuple(required.get(name, ())), "members": members}
        if isinstance(scheme, OAuth2Scheme):
            found += [
                _option(flow, flow.grant, scheme.metadata_url, about) for flow in scheme.flows if flow.grant is not None
            ]
        elif isinstance(scheme, OpenIdConnectScheme):
            url = scheme.discovery_url
            found += [LoginOption(grant=grant, metadata_url=url, openid=True, **about) for grant in _OPENID_GRANTS]
    return tuple(sorted(found, key=lambda option: (bool(option.refused), option.scheme not in required)))


def _option(flow: OAuthFlow, grant: Grant, metadata_url: str, about: Mapping[str, Any]) -> LoginOption:
    return LoginOption(
        grant=grant,
        authorization_url=flow.authorization_url,
        token_url=flow.token_url,
        device_url=flow.device_authorization_url,
        refresh_url=flow.refresh_url,
        metadata_url=metadata_url,
        scopes=flow.scopes,
        refused=flow.refused,
        **about,
    )


def _required_scopes(card: AgentCard) -> dict[str, list[str]]:
    """Return the scopes that the security requirements ask for, by scheme."""
    asked: dict[str, list[str]] = {}
    for requirement in chain.from_iterable(requirements(card)):
        scopes = asked.setdefault(requirement.scheme.name, [])
        scopes += [scope for scope in requirement.scopes if scope not in scopes]
    return asked
