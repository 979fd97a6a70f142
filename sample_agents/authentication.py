"""Who may call the agent: those who bring the secret in the way that its card asks for (1.0 section 4.5)."""

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
SECRET = "open-sesame"  # noqa: S105 - an agent to try things out with says it to everybody
_KEY_NAMES = {"header": "X-API-Key", "query": "api_key", "cookie": "api_key"}
_REALM = "a2a-mock"


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a call brings along; the names of headers are in lower case."""

    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


def visitor_of(request: web.Request) -> Visitor:
    """Return what an HTTP request brings along."""
    return Visitor({name.lower(): value for name, value in request.headers.items()}, request.query, request.cookies)


class Guard:
    """Admits those who bring `secret` as `kind`, one of `KINDS`, asks for it; a `server` gives out tokens for it."""

    def __init__(self, kind: str, secret: str = SECRET) -> None:
        self._kind, _, self._place = kind.partition(":")
        self._secret = secret
        self.server = AuthorizationServer(USER, secret, _REALM) if kind == "oauth2" else None

    @property
    def challenge(self) -> Mapping[str, str]:
        """Return the headers of a 401; RFC 9110 knows none for API keys, so they get a name of our own."""
        word = {"basic": "Basic", "api-key": "ApiKey"}.get(self._kind, "Bearer")
        return {"WWW-Authenticate": f'{word} realm="{_REALM}"'}

    def on_card(self, card: AgentCard, base: str, *, since_1_0: bool) -> AgentCard:
        """Return the card of an agent at an origin that says what it takes to be admitted."""
        schemes = (
            {self._name: self._scheme()} if self.server is None else self.server.schemes(base, since_1_0=since_1_0)
        )
        choices: list[Json] = [{"schemes": {name: {"list": []}}} for name in schemes]
        return card.model_copy(update={"security_schemes": schemes, "security_requirements": choices})

    @property
    def _name(self) -> str:
        return self._kind.replace("-", "_")

    def _scheme(self) -> dict[str, Json]:
        if self._place:
            return {"apiKeySecurityScheme": {"location": self._place, "name": _KEY_NAMES[self._place]}}
        return {"httpAuthSecurityScheme": {"scheme": self._kind.capitalize()}}

    def admits(self, visitor: Visitor) -> bool:
        """Say whether a call may come in."""
        if self._kind == "api-key":
            return same(self._key_of(visitor), self._secret)
        scheme, _, given = visitor.headers.get("authorization", "").partition(" ")
        if self._kind == "basic":
            return scheme.lower() == "basic" and same(decoded(given), f"{USER}:{self._secret}")
        good = self.server.knows(given.strip()) if self.server is not None else same(given.strip(), self._secret)
        return scheme.lower() == "bearer" and good

    def _key_of(self, visitor: Visitor) -> str:
        name = _KEY_NAMES[self._place]
        match self._place:
            case "header":
                return visitor.headers.get(name.lower(), "")
            case "query":
                return visitor.query.get(name, "")
            case _:
                return visitor.cookies.get(name, "")
