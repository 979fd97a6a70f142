"""Check the credentials of requests against the security scheme on the card (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json

from .oauth import AuthorizationServer, decoded, same

KINDS = ("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", "oauth2")
USER = "mock"
"""The user of basic authentication, and the client of OAuth 2."""
SECRET = "open-sesame"  # noqa: S105 - documented: the mock protects nothing
UNAUTHENTICATED = "Authentication required: see the security schemes on the agent card."
"""The message to clients without valid credentials."""
_KEY_NAMES = {"header": "X-API-Key", "query": "api_key", "cookie": "api_key"}
_REALM = "a2a-mock"


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The parts of a request that can contain credentials; header names are in lower case."""

    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


def credentials_of(request: web.Request) -> RequestCredentials:
    """Return the headers, query and cookies of an HTTP request."""
    return RequestCredentials(
        {name.lower(): value for name, value in request.headers.items()}, request.query, request.cookies
    )


class Authenticator:
    """Accept requests that carry `secret` in the way that `kind`, one of `KINDS`, requires.

    For `oauth2`, `server` is the authorization server that issues the tokens.
    """

    def __init__(self, kind: str, secret: str = SECRET) -> None:
        self._kind, _, self._location = kind.partition(":")
        self._secret = secret
        self.server = AuthorizationServer(USER, secret, _REALM) if kind == "oauth2" else None

    @property
    def challenge(self) -> Mapping[str, str]:
        """Return the headers of a 401. API keys have the scheme `ApiKey`, because no scheme is registered for them."""
        word = {"basic": "Basic", "api-key": "ApiKey"}.get(self._kind, "Bearer")
        return {"WWW-Authenticate": f'{word} realm="{_REALM}"'}

    def add_to_card(self, card: AgentCard, base: str, *, since_1_0: bool) -> AgentCard:
        """Return the card with the security schemes and requirements; `base` is the origin of the agent."""
        schemes = (
            {self._name: self._scheme()} if self.server is None else self.server.schemes(base, since_1_0=since_1_0)
        )
        choices: list[Json] = [{"schemes": {name: {"list": []}}} for name in schemes]
        return card.model_copy(update={"security_schemes": schemes, "security_requirements": choices})

    @property
    def _name(self) -> str:
        return self._kind.replace("-", "_")

    def _scheme(self) -> dict[str, Json]:
        if self._location:
            return {"apiKeySecurityScheme": {"location": self._location, "name": _KEY_NAMES[self._location]}}
        return {"httpAuthSecurityScheme": {"scheme": self._kind.capitalize()}}

    def accepts(self, request: RequestCredentials) -> bool:
        """Return whether the credentials of a request are valid."""
        if self._kind == "api-key":
            return same(self._key_of(request), self._secret)
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        if self._kind == "basic":
            return scheme.lower() == "basic" and same(decoded(credentials), f"{USER}:{self._secret}")
        valid = (
            self.server.is_valid(credentials.strip())
            if self.server is not None
            else same(credentials.strip(), self._secret)
        )
        return scheme.lower() == "bearer" and valid

    def _key_of(self, request: RequestCredentials) -> str:
        name = _KEY_NAMES[self._location]
        match self._location:
            case "header":
                return request.headers.get(name.lower(), "")
            case "query":
                return request.query.get(name, "")
            case _:
                return request.cookies.get(name, "")
