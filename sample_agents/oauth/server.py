"""An authorization server for one client: OAuth 2.0 (RFC 6749) and OpenID Connect.

It has authorization code with PKCE (RFC 7636), device code (RFC 8628), client credentials, refresh, revocation
(RFC 7009), metadata (RFC 8414) and the `iss` of redirects (RFC 9207).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import web

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

from ..access import Access
from ..faults.fault import Level
from ..faults.fault_plan import NO_FAULTS, FaultPlan
from ..secret_values import ExpiringValues
from . import metadata
from .clients import Client
from .devices import Decision, Devices
from .pages import ALLOW, DENY, consent_page, device_page, message_page
from .schemes import BASE_SCOPE
from .token_endpoint import CODE_SECONDS, Code, TokenEndpoint
from .tokens import OPENID, Grant, Tokens, public_keys

USER = "mock-user"
"""The user who logs in; the pages ask for no password."""
_OFFLINE_ACCESS = "offline_access"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_Handler = Callable[[web.Request, str], Awaitable[web.Response]]


class AuthorizationServer:
    """Issue tokens to `client` for the agent; `realm` is the realm of its challenges.

    `skill_scopes` returns the scopes that skills need besides `BASE_SCOPE`. Clients have to wait `interval` seconds
    between two token requests for a device code.
    """

    def __init__(
        self,
        client: Client,
        realm: str,
        skill_scopes: Callable[[], Sequence[str]],
        faults: FaultPlan = NO_FAULTS,
        interval: float = 1,
    ) -> None:
        self._client = client
        self._realm = realm
        self._skill_scopes = skill_scopes
        self._faults = faults
        self._tokens = Tokens(faults)
        self._devices = Devices(interval)
        self._codes: ExpiringValues[Code] = ExpiringValues(CODE_SECONDS)
        self._endpoint = TokenEndpoint(client, self._tokens, self._devices, self._codes, self._scopes_of, faults)
        self._handlers: Mapping[tuple[str, str], _Handler] = {
            ("GET", metadata.SERVER_METADATA_PATH): self._metadata,
            ("GET", metadata.DISCOVERY_PATH): self._discovery,
            ("GET", metadata.RESOURCE_METADATA_PATH): self._resource,
            ("GET", metadata.KEYS_PATH): self._keys,
            ("GET", metadata.AUTHORIZE_PATH): self._authorize,
            ("POST", metadata.AUTHORIZE_PATH): self._authorize,
            ("POST", metadata.TOKEN_PATH): self._token,
            ("POST", metadata.SECOND_TOKEN_PATH): self._token,
            ("POST", metadata.DEVICE_PATH): self._device,
            ("GET", metadata.VERIFICATION_PATH): self._verification,
            ("POST", metadata.VERIFICATION_PATH): self._verify,
            ("POST", metadata.REVOCATION_PATH): self._revoke,
        }

    @property
    def required_scopes(self) -> tuple[str, ...]:
        """Return the scopes that every call needs."""
        return (BASE_SCOPE,)

    def challenge(self, base: str) -> dict[str, str]:
        """Return the parameters of a challenge of the agent (RFC 9728 section 5.1)."""
        return {"resource_metadata": base + metadata.RESOURCE_METADATA_PATH, "scope": BASE_SCOPE}

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the scopes of the agent."""
        return tuple(dict.fromkeys((BASE_SCOPE, *self._skill_scopes())))

    def check(self, token: str) -> Access:
        """Return what an access token allows."""
        return self._tokens.check(token)

    async def handle(self, request: web.Request, base: str) -> web.Response | None:
        """Return the response to a request to the authorization server, None for every other request."""
        handler = self._handlers.get((request.method, request.path))
        return None if handler is None else await handler(request, base)

    # Documents

    async def _metadata(self, _: web.Request, base: str) -> web.Response:
        return _document(self._faults.apply(Level.METADATA, metadata.server_metadata(base, self._known_scopes)))

    async def _discovery(self, _: web.Request, base: str) -> web.Response:
        return _document(self._faults.apply(Level.METADATA, metadata.discovery_document(base, self._known_scopes)))

    async def _resource(self, _: web.Request, base: str) -> web.Response:
        return _document(self._faults.apply(Level.RESOURCE, metadata.resource_metadata(base, base, self.scopes)))

    async def _keys(self, _: web.Request, __: str) -> web.Response:
        return _document(self._faults.apply(Level.KEYS, public_keys()))

    # In the browser

    async def _authorize(self, request: web.Request, base: str) -> web.Response:
        """Ask the user, unless the query has `prompt=none`, and redirect with a code to a loopback address."""
        query = request.query
        redirect_uri = query.get("redirect_uri", "")
        if query.get("client_id") != self._client.client_id or not _is_loopback(redirect_uri):
            text = "Unknown client_id, or the redirect_uri is not a loopback address of this machine."
            return message_page("Invalid request", text, 400)
        answer: dict[str, str] = self._authorization_error(query)
        if not answer:
            scopes = self._scopes_of(query.get("scope", "")) or ()
            form = await _form(request) if request.method == "POST" else {}
            decision = ALLOW if query.get("prompt") == "none" else form.get("decision")
            if decision not in (ALLOW, DENY):
                return consent_page(self._client.client_id, scopes)
            grant = Grant(self._client.client_id, USER, scopes, base, nonce=query.get("nonce", ""))
            answer = {"code": self._new_code(query, grant)} if decision == ALLOW else {"error": "access_denied"}
        state = {"state": query["state"]} if "state" in query else {}
        back = self._faults.apply(Level.REDIRECT, answer | state | {"iss": base})
        separator = "&" if urlsplit(redirect_uri).query else "?"
        return web.Response(status=302, headers={"Location": f"{redirect_uri}{separator}{urlencode(back)}"})

    def _authorization_error(self, query: Mapping[str, str]) -> dict[str, str]:
        if query.get("response_type") != "code":
            return {"error": "unsupported_response_type"}
        if self._scopes_of(query.get("scope", "")) is None:
            return {"error": "invalid_scope"}
        has_challenge = query.get("code_challenge") and query.get("code_challenge_method") == metadata.PKCE_METHOD
        if self._checks_pkce and not has_challenge:
            return {
                "error": "invalid_request",
                "error_description": "PKCE with code_challenge_method S256 is required.",
            }
        return {}

    @property
    def _checks_pkce(self) -> bool:
        """Return whether the metadata promises PKCE."""
        promised = self._faults.apply(Level.METADATA, metadata.server_metadata("", ()))
        return "code_challenge_methods_supported" in promised

    def _new_code(self, query: Mapping[str, str], grant: Grant) -> str:
        challenge = query.get("code_challenge", "") if self._checks_pkce else ""
        return self._codes.add(Code(grant, query["redirect_uri"], challenge))

    async def _verification(self, request: web.Request, _: str) -> web.Response:
        return device_page(request.query.get("user_code", ""))

    async def _verify(self, request: web.Request, _: str) -> web.Response:
        form = await _form(request)
        decision = Decision.ALLOWED if form.get("decision") == ALLOW else Decision.DENIED
        user_code = form.get("user_code") or request.query.get("user_code", "")
        if not self._devices.decide(user_code, decision):
            return message_page("Unknown code", "The code is unknown, was used before, or has expired.", 400)
        return message_page(f"The device is {decision}", "You can close this page. The device continues automatically.")

    # From the client

    async def _token(self, request: web.Request, base: str) -> web.Response:
        form, authorization = await _form(request), request.headers.get("Authorization", "")
        outcome = self._endpoint.grant(form, authorization, base)
        return self._error(outcome) if isinstance(outcome, str) else _json(200, self._tokens.issue(outcome, base))

    async def _device(self, request: web.Request, base: str) -> web.Response:
        form = await _form(request)
        if not self._client.is_valid(request.headers.get("Authorization", ""), form, needs_secret=False):
            return self._error("invalid_client")
        scopes = self._scopes_of(form.get("scope", ""))
        if scopes is None:
            return self._error("invalid_scope")
        codes = self._devices.add(Grant(self._client.client_id, USER, scopes, base))
        page = base + metadata.VERIFICATION_PATH
        complete = f"{page}?{urlencode({'user_code': codes['user_code']})}"
        answer = codes | {"verification_uri": page, "verification_uri_complete": complete}
        return _json(200, self._faults.apply(Level.DEVICE, answer))

    async def _revoke(self, request: web.Request, _: str) -> web.Response:
        form = await _form(request)
        if not self._client.is_valid(request.headers.get("Authorization", ""), form, needs_secret=False):
            return self._error("invalid_client")
        self._tokens.revoke(form.get("token", ""))
        return web.Response(headers={"Cache-Control": "no-store"})

    @property
    def _known_scopes(self) -> tuple[str, ...]:
        return (*self.scopes, OPENID, _OFFLINE_ACCESS)

    def _scopes_of(self, requested: str) -> tuple[str, ...] | None:
        """Return the requested scopes, `BASE_SCOPE` if none is requested, None if one of them is unknown."""
        scopes = tuple(requested.split())
        return (scopes or (BASE_SCOPE,)) if set(scopes) <= set(self._known_scopes) else None

    def _error(self, code: str) -> web.Response:
        if code == "invalid_client":
            return _json(401, {"error": code}, {"WWW-Authenticate": f'Basic realm="{self._realm}"'})
        return _json(400, {"error": code})


async def _form(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl((await request.read()).decode("ascii", "replace")))


def _document(value: dict[str, Json]) -> web.Response:
    """Return a document, 404 if a fault has removed all of it."""
    return _json(200, value) if value else web.Response(status=404)


def _json(status: int, value: Json, headers: Mapping[str, str] | None = None) -> web.Response:
    fields = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=dump(value), status=status, content_type="application/json", headers=fields)


def _is_loopback(redirect_uri: str) -> bool:
    try:
        url = urlsplit(redirect_uri)
    except ValueError:
        return False
    return url.scheme == "http" and url.hostname in _LOOPBACK and redirect_uri.isprintable()
