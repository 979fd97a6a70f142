"""A minimal OAuth 2 authorization server with one client; it asks for no confirmation.

Grants: client credentials (RFC 6749 section 4.4), authorization code with PKCE (RFC 7636) and device code (RFC 8628).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import web

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

TOKEN_PATH = "/oauth/token"  # noqa: S105 - a path
AUTHORIZE_PATH = "/oauth/authorize"
DEVICE_PATH = "/oauth/device"
ALLOW_PATH = "/oauth/allow"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_TOKEN_SECONDS = 3600
_CODE_SECONDS = 600
_INTERVAL = 1
_MAX_VALUES = 10_000
_LOOPBACK = ("127.0.0.1", "::1", "localhost")

ValueT = TypeVar("ValueT")


class _ExpiringValues(Generic[ValueT]):
    """Values by a secret key, valid for some seconds; the oldest are removed when there are too many."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._values: dict[str, tuple[float, ValueT]] = {}

    def put(self, name: str, value: ValueT) -> None:
        self._values[name] = (time.monotonic() + self._seconds, value)
        if len(self._values) > _MAX_VALUES:
            del self._values[next(iter(self._values))]

    def get(self, name: str) -> ValueT | None:
        until, value = self._values.get(name, (0.0, None))
        return value if until > time.monotonic() else None

    def drop(self, name: str) -> None:
        self._values.pop(name, None)


@dataclass(slots=True)
class _Device:
    allowed: bool = False


class AuthorizationServer:
    """Issue tokens to one client with an id and a secret; `realm` is the realm of its challenges."""

    def __init__(self, client: str, secret: str, realm: str) -> None:
        self._client = client
        self._credentials = f"{client}:{secret}"
        self._realm = realm
        self._tokens: _ExpiringValues[bool] = _ExpiringValues(_TOKEN_SECONDS)
        self._challenges: _ExpiringValues[tuple[str, str]] = _ExpiringValues(_CODE_SECONDS)
        self._devices: _ExpiringValues[_Device] = _ExpiringValues(_CODE_SECONDS)
        self._by_user_code: _ExpiringValues[_Device] = _ExpiringValues(_CODE_SECONDS)

    def schemes(self, base: str, *, since_1_0: bool) -> dict[str, dict[str, Json]]:
        """Return the security schemes for the card, each with one flow; `base` is the origin of the agent.

        Cards have the device code flow and `pkceRequired` since 1.0.
        """
        token: dict[str, Json] = {"tokenUrl": base + TOKEN_PATH, "scopes": {}}
        code = {"authorizationUrl": base + AUTHORIZE_PATH, **token}
        flows: dict[str, dict[str, Json]] = {"oauth2": {"clientCredentials": token}}
        if since_1_0:
            flows["oauth2_code"] = {"authorizationCode": {**code, "pkceRequired": True}}
            flows["oauth2_device"] = {"deviceCode": {"deviceAuthorizationUrl": base + DEVICE_PATH, **token}}
        else:
            flows["oauth2_code"] = {"authorizationCode": code}
        return {name: {"oauth2SecurityScheme": {"flows": flow}} for name, flow in flows.items()}

    def is_valid(self, token: str) -> bool:
        """Return whether a token was issued here and has not expired."""
        return self._tokens.get(token) is not None

    async def handle(self, request: web.Request, base: str) -> web.Response | None:
        """Return the response to a request to the authorization server, None for every other request."""
        match request.method, request.path:
            case "POST", path if path == TOKEN_PATH:
                return self._token(request, await _form(request))
            case "POST", path if path == DEVICE_PATH:
                return self._device(await _form(request), base)
            case "GET", path if path == AUTHORIZE_PATH:
                return self._authorize(request.query)
            case "GET", path if path == ALLOW_PATH:
                return self._allow(request.query)
            case _:
                return None

    def _token(self, request: web.Request, form: Mapping[str, str]) -> web.Response:
        match form.get("grant_type"):
            case "client_credentials":
                if not self._is_client(request, form):
                    challenge = {"WWW-Authenticate": f'Basic realm="{self._realm}"'}
                    return _answer(401, {"error": "invalid_client"}, challenge)
            case "authorization_code":
                if not self._is_code(form):
                    return _answer(400, {"error": "invalid_grant"})
            case str() as grant if grant == DEVICE_GRANT:
                code = form.get("device_code", "")
                device = self._devices.get(code)
                if device is None:
                    return _answer(400, {"error": "expired_token"})
                if not device.allowed:
                    return _answer(400, {"error": "authorization_pending"})
                self._devices.drop(code)
            case _:
                return _answer(400, {"error": "unsupported_grant_type"})
        token = secrets.token_urlsafe(24)
        self._tokens.put(token, True)
        return _answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": _TOKEN_SECONDS})

    def _is_client(self, request: web.Request, form: Mapping[str, str]) -> bool:
        scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
        posted = f"{form.get('client_id', '')}:{form.get('client_secret', '')}"
        return same(decoded(credentials) if scheme.lower() == "basic" else posted, self._credentials)

    def _is_code(self, form: Mapping[str, str]) -> bool:
        """Return whether an authorization code is valid for its verifier; a code can be used once."""
        code = form.get("code", "")
        stored = self._challenges.get(code)
        self._challenges.drop(code)
        if stored is None:
            return False
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge, redirect_uri = base64.urlsafe_b64encode(digest).decode().rstrip("="), form.get("redirect_uri", "")
        return same(challenge, stored[0]) and same(redirect_uri, stored[1])

    def _authorize(self, query: Mapping[str, str]) -> web.Response:
        """Redirect the browser with a code, without confirmation; only loopback redirects are allowed."""
        redirect_uri, challenge = query.get("redirect_uri", ""), query.get("code_challenge", "")
        if query.get("client_id") != self._client or not _is_loopback(redirect_uri):
            return web.Response(
                status=400, text="Unknown client_id, or the redirect_uri is not a loopback address of this machine."
            )
        answer = {"state": query["state"]} if "state" in query else {}
        if query.get("response_type") != "code":
            answer["error"] = "unsupported_response_type"
        elif not challenge or query.get("code_challenge_method") != "S256":
            answer |= {
                "error": "invalid_request",
                "error_description": "PKCE with code_challenge_method S256 is required.",
            }
        else:
            answer["code"] = secrets.token_urlsafe(24)
            self._challenges.put(answer["code"], (challenge, redirect_uri))
        separator = "&" if urlsplit(redirect_uri).query else "?"
        return web.Response(status=302, headers={"Location": f"{redirect_uri}{separator}{urlencode(answer)}"})

    def _device(self, form: Mapping[str, str], base: str) -> web.Response:
        if form.get("client_id") != self._client:
            return _answer(400, {"error": "invalid_client"})
        code, user_code = secrets.token_urlsafe(24), secrets.token_hex(4).upper()
        device = _Device()
        self._devices.put(code, device)
        self._by_user_code.put(user_code, device)
        body = {
            "device_code": code,
            "user_code": user_code,
            "verification_uri": base + ALLOW_PATH,
            "verification_uri_complete": f"{base}{ALLOW_PATH}?user_code={user_code}",
            "expires_in": _CODE_SECONDS,
            "interval": _INTERVAL,
        }
        return _answer(200, body)

    def _allow(self, query: Mapping[str, str]) -> web.Response:
        """Allow the device with the user code in the query."""
        device = self._by_user_code.get(query.get("user_code", "").strip().upper())
        if device is None:
            return web.Response(status=400, text="Unknown code: add ?user_code= with the code that the device shows.")
        device.allowed = True
        return web.Response(text="The device is allowed. It continues automatically.")


async def _form(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl((await request.read()).decode("ascii", "replace")))


def _answer(status: int, value: Json, headers: Mapping[str, str] | None = None) -> web.Response:
    fields = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=dump(value), status=status, content_type="application/json", headers=fields)


def _is_loopback(redirect_uri: str) -> bool:
    try:
        url = urlsplit(redirect_uri)
    except ValueError:
        return False
    return url.scheme == "http" and url.hostname in _LOOPBACK and redirect_uri.isprintable()


def same(first: str, second: str) -> bool:
    """Compare secrets in constant time."""
    return compare_digest(first.encode(errors="replace"), second.encode(errors="replace"))


def decoded(text: str) -> str:
    """Decode Basic credentials, `""` if they are not valid base64 of UTF-8."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
