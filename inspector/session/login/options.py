"""The ways to log in that a card offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json

DEFAULT_REDIRECT_PORT = 8765
"""The port of the loopback redirect. It is fixed, because many servers only allow redirect URIs that are registered."""


class Grant(StrEnum):
    """A flow of OAuth 2.0, with its name on the card."""

    CLIENT_CREDENTIALS = "clientCredentials"
    AUTHORIZATION_CODE = "authorizationCode"
    DEVICE_CODE = "deviceCode"
    IMPLICIT = "implicit"
    PASSWORD = "password"  # noqa: S105 - the name of a flow


@dataclass(frozen=True, slots=True)
class LoginOption:
    """A flow of a scheme on the card.

    `scheme` is the name of the scheme, `members` are its members in 1.0. `metadata_url` is the URL of the metadata of
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
    """Return the flows of the OAuth 2.0 and OpenID Connect schemes of a card, those that are required first."""
    raise NotImplementedError
