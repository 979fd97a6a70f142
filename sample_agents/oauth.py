"""A tiny authorization server of OAuth 2: it asks nobody, and gives tokens to its one client in three ways.

Client credentials (RFC 6749 section 4.4), authorization code with PKCE (RFC 7636) and device code (RFC 8628).
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
_MOST = 10_000
_LOOPBACK = ("127.0.0.1", "::1", "localhost")

ValueT = TypeVar("ValueT")


class _Passing(Generic[ValueT]):
    """Values by a secret, each for some seconds; the oldest make room."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._held: dict[str, tuple[float, ValueT]] = {}

    def put(self, name: str, value: ValueT) -> None:
        self._held[name] = (time.monotonic() + self._seconds, value)
        if len(self._held) > _MOST:
            del self._held[next(iter(self._held))]

    def get(self, name: str) -> ValueT | None:
        until, value = self._held.get(name, (0.0, None))
        return value if until > time.monotonic() else None

    def drop(self, name: str) -> None:
        self._held.pop(name, None)


@dataclass(slots=True)
class _Device:
    allowed: bool = False


class AuthorizationServer:
    """Knows one client by its id and its secret; `realm` is what it calls itself."""

    def __init__(self, client: str, secret: str, realm: str) -> None:
        self._client = client
        self._credentials = f"{client}:{secret}"
        self._realm = realm
        self._tokens: _Passing[bool] = _Passing(_TOKEN_SECONDS)
        self._challenges: _Passing[tuple[str, str]] = _Passing(_CODE_SECONDS)
        self._devices: _Passing[_Device] = _Passing(_CODE_SECONDS)
        self._by_user_code: _Passing[_Device] = _Passing(_CODE_SECONDS)

    def schemes(self, base: str, *, since_1_0: bool) -> dict[str, dict[str, Json]]:
        """Return the security schemes for the card of an agent at an origin, each with its one flow.

        Since 1.0 cards know of devices, and can say that PKCE is due.
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

    def knows(self, token: str) -> bool:
        """Say whether a token was given out here, and holds."""
        return self._tokens.get(token) is not None

    async def handle(self, request: web.Request, base: str) -> web.Response | None:
        """Answer a request that is the authorization server's, None for every other."""
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
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        posted = f"{form.get('client_id', '')}:{form.get('client_secret', '')}"
        return same(decoded(given) if scheme.lower() == "basic" else posted, self._credentials)

    def _is_code(self, form: Mapping[str, str]) -> bool:
        """Say whether a code was given out to who redeems it; a code is good for one try."""
        code = form.get("code", "")
        held = self._challenges.get(code)
        self._challenges.drop(code)
        if held is None:
            return False
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge, place = base64.urlsafe_b64encode(digest).decode().rstrip("="), form.get("redirect_uri", "")
        return same(challenge, held[0]) and same(place, held[1])

    def _authorize(self, query: Mapping[str, str]) -> web.Response:
        """Send the user's browser back with a code, without asking; only to this machine, where clients listen."""
        place, challenge = query.get("redirect_uri", ""), query.get("code_challenge", "")
        if query.get("client_id") != self._client or not _is_loopback(place):
            return web.Response(status=400, text="The client is unknown, or its redirect_uri is not on this machine.")
        answer = {"state": query["state"]} if "state" in query else {}
        if query.get("response_type") != "code":
            answer["error"] = "unsupported_response_type"
        elif not challenge or query.get("code_challenge_method") != "S256":
            answer |= {"error": "invalid_request", "error_description": "PKCE with S256 is due."}
        else:
            answer["code"] = secrets.token_urlsafe(24)
            self._challenges.put(answer["code"], (challenge, place))
        mark = "&" if urlsplit(place).query else "?"
        return web.Response(status=302, headers={"Location": f"{place}{mark}{urlencode(answer)}"})

    def _device(self, form: Mapping[str, str], base: str) -> web.Response:
        if form.get("client_id") != self._client:
            return _answer(400, {"error": "invalid_client"})
        code, user_code = secrets.token_urlsafe(24), secrets.token_hex(4).upper()
        device = _Device()
        self._devices.put(code, device)
        self._by_user_code.put(user_code, device)
        told = {
            "device_code": code,
            "user_code": user_code,
            "verification_uri": base + ALLOW_PATH,
            "verification_uri_complete": f"{base}{ALLOW_PATH}?user_code={user_code}",
            "expires_in": _CODE_SECONDS,
            "interval": _INTERVAL,
        }
        return _answer(200, told)

    def _allow(self, query: Mapping[str, str]) -> web.Response:
        """Allow the device whose code the user brings."""
        device = self._by_user_code.get(query.get("user_code", "").strip().upper())
        if device is None:
            return web.Response(status=400, text="Add ?user_code= and the code that your device shows.")
        device.allowed = True
        return web.Response(text="Allowed. Your device goes on by itself.")


async def _form(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl((await request.read()).decode("ascii", "replace")))


def _answer(status: int, value: Json, headers: Mapping[str, str] | None = None) -> web.Response:
    told = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=dump(value), status=status, content_type="application/json", headers=told)


def _is_loopback(place: str) -> bool:
    try:
        url = urlsplit(place)
    except ValueError:
        return False
    return url.scheme == "http" and url.hostname in _LOOPBACK and place.isprintable()


def same(one: str, other: str) -> bool:
    """Compare secrets in a time that tells nothing about them."""
    return compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def decoded(text: str) -> str:
    """Return what Basic credentials say, nothing where they are no base64 of a text."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
