"""Protect the agents of the Python SDKs: they accept the tokens of an authorization server, or an API key."""

from __future__ import annotations

import httpx
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

API_KEY = "interop-key"
SCOPE = "agent:call"
METADATA = "/.well-known/openid-configuration"


class TokensOrKey(AuthenticationBackend):
    """Ask the authorization server whether a token is valid (RFC 7662); everyone may read the card."""

    def __init__(self, issuer: str) -> None:
        document = httpx.get(issuer + METADATA, trust_env=False).raise_for_status().json()
        self._url = document["introspection_endpoint"]
        self._client = httpx.AsyncClient(auth=("agent", "agent-secret"), trust_env=False)

    async def authenticate(self, connection: HTTPConnection) -> tuple[AuthCredentials, SimpleUser] | None:
        if connection.url.path.startswith("/.well-known/"):
            return None
        if connection.headers.get("X-Interop-Key") == API_KEY:
            return AuthCredentials(), SimpleUser("key")
        scheme, _, token = connection.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise AuthenticationError("The request has no bearer token and no API key.")
        answer = (await self._client.post(self._url, data={"token": token})).raise_for_status().json()
        if not answer["active"]:
            raise AuthenticationError("The token is not active.")
        if SCOPE not in answer.get("scope", "").split():
            raise AuthenticationError(f"The token does not have the scope {SCOPE}.")
        return AuthCredentials([SCOPE]), SimpleUser(answer.get("sub") or answer["client_id"])


def refuse(_: HTTPConnection, error: AuthenticationError) -> Response:
    """Return the response to a request without valid credentials."""
    return JSONResponse({"error": str(error)}, 401, {"WWW-Authenticate": f'Bearer realm="interop", scope="{SCOPE}"'})


def protect(application: Starlette, issuer: str) -> Starlette:
    """Require credentials for every request but those for the card."""
    application.add_middleware(AuthenticationMiddleware, backend=TokensOrKey(issuer), on_error=refuse)
    return application
