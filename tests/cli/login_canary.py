"""An agent and an OpenID provider, whose every secret is a canary, and which repeats what it received in its errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey
from puppets import CARD, CARD_PATH, RPC_PATH

CLIENT = "the-client"
SECRET = "canary-4a7d-client-secret"
ACCESS, RENEWED = "canary-4a7d-access-token", "canary-4a7d-renewed-token"
REFRESH = "canary-4a7d-refresh-token"
CODE, DEVICE = "canary-4a7d-code", "canary-4a7d-device-code"
COOKIE = "canary-4a7d-cookie"
TOKENS = (ACCESS, RENEWED, REFRESH)
GIVEN = (SECRET, CODE, DEVICE, COOKIE, *TOKENS)
"""The secrets that are known before the login."""
_KEY = ECKey.generate_key("P-256", {"kid": "k"})


@dataclass
class Provider:
    """Serves an agent and its OpenID provider.

    `learned` has the secrets of a login; `look` is called at each request.
    """

    url: str = ""
    learned: list[str] = field(default_factory=list)
    look: Callable[[], None] = lambda: None
    nonce: str = ""
    requests: list[str] = field(default_factory=list)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        form = dict(parse_qsl((await request.read()).decode("latin-1")))
        self.requests.append(request.path)
        self.learned += [form["code_verifier"]] if "code_verifier" in form else []
        authorization = request.headers.get("Authorization", "")
        self.learned += [authorization.removeprefix("Basic ")] if authorization.startswith("Basic ") else []
        self.look()
        match request.path:
            case path if path == CARD_PATH:
                return web.json_response(self._card())
            case "/.well-known/openid-configuration":
                return self._json(self._metadata())
            case "/authorize":
                self.nonce = request.query["nonce"]
                query = {"code": CODE, "state": request.query["state"]}
                return web.Response(
                    status=302, headers={"Location": f"{request.query['redirect_uri']}?{urlencode(query)}"}
                )
            case "/device":
                return self._json(
                    {"device_code": DEVICE, "user_code": "ABCD", "verification_uri": self.url, "interval": 0}
                )
            case "/token":
                return self._token(form)
            case "/keys":
                return self._json({"keys": [_KEY.as_dict(private=False)]})
            case _:
                return self._refusal(form, request)

    def _json(self, value: Any, status: int = 200) -> web.Response:
        response = web.json_response(value, status=status)
        response.set_cookie("sid", COOKIE)
        return response

    def _refusal(self, form: dict[str, str], request: web.BaseRequest) -> web.Response:
        """Repeat everything that was received."""
        heard = f"{dict(request.headers)} {request.path_qs} {form} {urlencode(form)}"
        return self._json({"error": "invalid_grant", "error_description": heard}, 400 if form else 401)

    def _card(self) -> dict[str, Any]:
        interface = {"url": f"{self.url}{RPC_PATH}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        scheme = {"openIdConnectSecurityScheme": {"openIdConnectUrl": f"{self.url}/.well-known/openid-configuration"}}
        required = [{"schemes": {"oidc": {"list": []}}}]
        return {
            **CARD,
            "supportedInterfaces": [interface],
            "securitySchemes": {"oidc": scheme},
            "securityRequirements": required,
        }

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "device_authorization_endpoint": f"{self.url}/device",
            "revocation_endpoint": f"{self.url}/revoke",
            "jwks_uri": f"{self.url}/keys",
        }

    def _token(self, form: dict[str, str]) -> web.Response:
        if form["grant_type"] == "refresh_token":
            return self._json({"access_token": RENEWED, "token_type": "Bearer", "expires_in": 3600})
        claims = {"iss": self.url, "aud": CLIENT, "sub": "user", "exp": int(time.time()) + 60, "nonce": self.nonce}
        id_token = jwt.encode({"alg": "ES256", "kid": "k"}, claims, _KEY)
        self.learned.append(id_token)
        answer = {"access_token": ACCESS, "token_type": "Bearer", "expires_in": 1, "refresh_token": REFRESH}
        return self._json({**answer, "id_token": id_token})


def command_lines() -> bytes:
    """Return the command lines of all processes, where the system shows them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:  # the process has ended
            continue
    return b"\n".join(found)
