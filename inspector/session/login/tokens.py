"""Tokens, and what is needed to refresh and to revoke them."""

from __future__ import annotations

from dataclasses import field

from inspector.lazy_dataclass import dataclass

REFRESH_MARGIN = 30.0
"""How many seconds before its expiry a token is refreshed."""


@dataclass(frozen=True, slots=True)
class TokenKey:
    """Identifies a token: the origin of the agent, the name of the scheme on its card, and the id of the client."""

    origin: str
    scheme: str
    client_id: str


@dataclass(frozen=True, slots=True)
class Token:
    """An access token for one agent; the repr contains no secret.

    `expires_at` is in seconds since 1970, None if the server did not report it. `token_url` and `revocation_url` are
    the endpoints of the server that issued the token: the refresh token is sent to no other server. `client_secret` is
    the secret, or a reference (`env:NAME`) to it. `client_authentication` are the ways in which the server accepts it,
    `()` if they are not known. `subject` is the user according to the verified ID token.
    """

    key: TokenKey
    access_token: str = field(repr=False)
    token_type: str = "Bearer"  # noqa: S105 - the name of a type
    grant: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None
    refresh_token: str = field(default="", repr=False)
    client_secret: str = field(default="", repr=False)
    issuer: str = ""
    subject: str = ""
    token_url: str = ""
    revocation_url: str = ""
    client_authentication: tuple[str, ...] = ()

    @property
    def can_renew(self) -> bool:
        """Return whether a new token can be requested without the user."""
        return bool(self.refresh_token) or self.grant == "clientCredentials"

    def expires_within(self, seconds: float, now: float) -> bool:
        """Return whether the token expires within some seconds; a token without expiry does not."""
        return self.expires_at is not None and self.expires_at - now <= seconds
