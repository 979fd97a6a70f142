"""An agent whose card demands OAuth 2.0, an authorization server with scripted answers, and the browser of the user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
from aiohttp import web
from scripted import Agent, Heard, answering, giving

from inspector.protocol.security import Grant
from inspector.session.login.login import Login
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.state import LoginState
from inspector.session.session import Session

CLIENT = "the-client"
SECRET = "canary-client-secret"
TOKEN = "canary-access-token"
METADATA_PATH = "/.well-known/oauth-authorization-server"
FLOW_NAMES = ("clientCredentials", "authorizationCode", "deviceCode")


def granted(**members: Any) -> dict[str, Any]:
    """Return a response of the token endpoint; a member that is None is left out."""
    values = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600} | members
    return {name: value for name, value in values.items() if value is not None}


def form(heard: Heard) -> dict[str, str]:
    """Return the form that was posted."""
    return dict(parse_qsl(heard.body.decode()))


@dataclass
class Authority:
    """Answers of an authorization server at the origin of a scripted agent; each list of answers ends with its last."""

    agent: Agent
    tokens: list[tuple[int, Any]] = field(default_factory=lambda: [(200, granted())])
    asked: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.agent.url

    def serve(self, *, metadata: dict[str, Any] | None = None, openid: bool = False, **scheme: Any) -> None:
        """Serve a card with the three flows, the token endpoint, and metadata if it is given."""
        url = self.url
        end = {"tokenUrl": f"{url}/token", "scopes": {"read": "Read", "write": "Write"}}
        flows = {
            "clientCredentials": end,
            "authorizationCode": {**end, "authorizationUrl": f"{url}/authorize?tenant=a", "pkceRequired": True},
            "deviceCode": {**end, "deviceAuthorizationUrl": f"{url}/device"},
        }
        oauth: dict[str, Any] = {"flows": flows} | scheme
        if metadata is not None:
            oauth["oauth2MetadataUrl"] = f"{url}{METADATA_PATH}"
            self.agent.routes[METADATA_PATH] = giving({"issuer": url} | metadata)
        schemes: dict[str, Any] = {"oauth": {"oauth2SecurityScheme": oauth}}
        if openid:
            schemes = {
                "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": f"{url}/.well-known/openid-configuration"}}
            }
        required = [{"schemes": {name: {"list": ["read"]}}} for name in schemes]
        self.agent.serve_card(securitySchemes=schemes, securityRequirements=required)
        self.agent.routes["/rpc"] = answering({"tasks": [], "nextPageToken": "", "pageSize": 1, "totalSize": 0})
        self.agent.routes["/token"] = self._token

    async def _token(self, request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        self.asked.append(form(heard))
        status, value = self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]
        return await giving(value, status=status)(request, heard)

    @property
    def token_requests(self) -> list[Heard]:
        return [heard for heard in self.agent.heard if heard.path == "/token"]


def option(session: Session, grant: str) -> LoginOption:
    return next(each for each in session.credentials.logins.options if each.grant == Grant(grant))


def start(session: Session, grant: str, **members: Any) -> Login:
    """Prepare a login with a free port for its redirect; states are collected in `seen`."""
    on_change = members.pop("on_change", None)
    about = {"client_id": CLIENT, "redirect_port": 0, "client_secret": SECRET if grant == "clientCredentials" else ""}
    return session.credentials.logins.start(option(session, grant), ClientRegistration(**(about | members)), on_change)


class Browser:
    """A user who logs in: returns to the redirect URI with what the authorization server would send."""

    def __init__(self, *, path: str = "", headers: dict[str, str] | None = None, **answer: Any) -> None:
        self.path = path
        self.headers = headers or {}
        self.answer = answer
        self.pages: list[httpx.Response] = []
        self.opened: dict[str, str] = {}
        self._visit: asyncio.Task[None] | None = None

    def __call__(self, state: LoginState) -> None:
        if state.open_url and self._visit is None:
            self.opened = {name: values[0] for name, values in parse_qs(urlsplit(state.open_url).query).items()}
            self._visit = asyncio.ensure_future(self._return())

    async def _return(self) -> None:
        answer = {"code": "canary-code-1234", "state": self.opened["state"]} | self.answer
        answer = {name: value for name, value in answer.items() if value is not None}
        uri = self.path or self.opened["redirect_uri"]
        async with httpx.AsyncClient() as client:
            self.pages.append(await client.get(f"{uri}?{urlencode(answer)}", headers=self.headers))

    async def closed(self) -> None:
        if self._visit is not None:
            await self._visit
