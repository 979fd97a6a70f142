"""Check the credentials of requests against the security schemes on the card (1.0 section 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING

from aiohttp import web

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.jsonrpc import JSON
from inspector.protocol.card import AgentCard
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

from .access import Access
from .faults.fault import ActiveFault, Head, Level
from .faults.fault_plan import FaultPlan
from .secret_values import decoded, same

if TYPE_CHECKING:
    from .oauth.server import AuthorizationServer

OAUTH2 = "oauth2"
OIDC = "oidc"
KINDS = ("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", OAUTH2, OIDC)
USER = "mock"
"""The user of basic authentication, and the client of OAuth 2."""
SECRET = "open-sesame"  # noqa: S105 - documented: the mock protects nothing
UNAUTHENTICATED = "Authentication required: see the security schemes on the agent card."
"""The message to clients without valid credentials."""
_KEY_NAMES = {"header": "X-API-Key", "query": "api_key", "cookie": "api_key"}
_REALM = "a2a-mock"
_STATUSES = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}


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


def credentials_in(metadata: Mapping[str, str]) -> RequestCredentials:
    """Return the metadata of a gRPC call: it also contains what is in the query and in the cookies of HTTP requests."""
    cookies = SimpleCookie(metadata.get("cookie", ""))
    return RequestCredentials(metadata, metadata, {name: cookie.value for name, cookie in cookies.items()})


class Authenticator:
    """Accept requests that carry `secret` in the way that `kind`, one of `KINDS`, requires.

    For `oauth2` and `oidc`, `server` is the authorization server that issues the tokens. The agent sets `skill_scopes`:
    it returns the scopes that each skill needs. A client with a device code has to wait `interval` seconds between two
    requests.
    """

    def __init__(
        self, kind: str, secret: str = SECRET, faults: Sequence[ActiveFault] = (), *, interval: float = 1
    ) -> None:
        self._kind, _, self._location = kind.partition(":")
        self._secret = secret
        self._faults = FaultPlan(tuple(faults))
        self.skill_scopes: Callable[[], Mapping[str, Sequence[str]]] = dict
        self.server = self._authorization_server(interval) if kind in (OAUTH2, OIDC) else None

    def _authorization_server(self, interval: float) -> AuthorizationServer:
        from .oauth.clients import Client  # noqa: PLC0415 - see below
        from .oauth.server import AuthorizationServer  # noqa: PLC0415 - loads joserfc, which other kinds do not need

        def scopes() -> list[str]:
            return [scope for scopes in self.skill_scopes().values() for scope in scopes]

        return AuthorizationServer(Client(USER, self._secret), _REALM, scopes, self._faults, interval)

    def add_to_card(self, card: AgentCard, base: str, *, since_1_0: bool) -> AgentCard:
        """Return the card with the security schemes and requirements; `base` is the origin of the agent."""
        schemes = self._schemes(base, since_1_0=since_1_0)
        update: dict[str, Json] = {
            "security_schemes": schemes,
            "security_requirements": self._requirements(schemes, ()),
        }
        needed = self.skill_scopes() if self.server is not None else {}
        update["skills"] = [
            skill.model_copy(update={"security_requirements": self._requirements(schemes, needed[skill.id])})
            if skill.id in needed
            else skill
            for skill in card.skills
        ]
        return card.model_copy(update=update)

    def _schemes(self, base: str, *, since_1_0: bool) -> dict[str, dict[str, Json]]:
        if self.server is not None:
            from .oauth.schemes import oauth2_schemes, openid_schemes  # noqa: PLC0415 - only with a server

            if self._kind == OIDC:
                return openid_schemes(base)
            return oauth2_schemes(base, self.server.scopes, since_1_0=since_1_0)
        name = self._kind.replace("-", "_")
        if self._location:
            return {name: {"apiKeySecurityScheme": {"location": self._location, "name": _KEY_NAMES[self._location]}}}
        return {name: {"httpAuthSecurityScheme": {"scheme": self._kind.capitalize()}}}

    def _requirements(self, schemes: Mapping[str, Json], scopes: Sequence[str]) -> list[Json]:
        """Return the alternatives: each scheme with the scopes of every call and those of a skill."""
        required = [*self.required_scopes, *scopes]
        if self._kind == OIDC:
            required = ["openid", *required]
        return [{"schemes": {name: {"list": required}}} for name in schemes]

    @property
    def required_scopes(self) -> tuple[str, ...]:
        """Return the scopes that every call needs."""
        return () if self.server is None else self.server.required_scopes

    def check(self, request: RequestCredentials) -> Access:
        """Return what the credentials of a request allow."""
        if self._kind == "api-key":
            return _access(same(self._key_of(request), self._secret))
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        if self._kind == "basic":
            return _access(scheme.lower() == "basic" and same(decoded(credentials), f"{USER}:{self._secret}"))
        if scheme.lower() != "bearer":
            return Access(problem=UNAUTHENTICATED)
        if self.server is not None:
            return self.server.check(credentials.strip())
        return _access(same(credentials.strip(), self._secret))

    def refusal(self, request: RequestCredentials, problem: str, base: str) -> Head:
        """Return the 401 for credentials that are missing or not accepted (RFC 6750 section 3, RFC 9728 section 5.1).

        API keys have the scheme `ApiKey`, because no scheme is registered for them.
        """
        word = {"basic": "Basic", "api-key": "ApiKey"}.get(self._kind, "Bearer")
        details = self.server.challenge(base) if self.server is not None else {}
        if self.server is not None and "authorization" in request.headers:
            details |= {"error": "invalid_token", "error_description": problem}
        return self._refuse(401, word, details, problem)

    def forbidden(self, scopes: Sequence[str], base: str) -> Head:
        """Return the 403 for a token that lacks scopes (RFC 6750 section 3.1)."""
        needed = " ".join(scopes)
        details = self.server.challenge(base) if self.server is not None else {}
        details |= {"error": "insufficient_scope", "scope": needed}
        return self._refuse(403, "Bearer", details, f"The access token needs these scopes: {needed}")

    def _refuse(self, status: int, word: str, details: Mapping[str, str], text: str) -> Head:
        parameters = ", ".join(f'{name}="{value}"' for name, value in {"realm": _REALM, **details}.items())
        # The body of an HTTP error in 1.0 (section 11.6); over JSON-RPC, 1.0 defines none.
        body = dump({"error": {"code": status, "status": _STATUSES[status], "message": text}})
        head = Head(JSON, status, {"WWW-Authenticate": f"{word} {parameters}"}, body)
        return self._faults.apply(Level.CHALLENGE, head)

    def _key_of(self, request: RequestCredentials) -> str:
        name = _KEY_NAMES[self._location]
        match self._location:
            case "header":
                return request.headers.get(name.lower(), "")
            case "query":
                return request.query.get(name, "")
            case _:
                return request.cookies.get(name, "")


def _access(accepted: bool) -> Access:
    return Access() if accepted else Access(problem=UNAUTHENTICATED)
