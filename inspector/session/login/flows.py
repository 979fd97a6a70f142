"""The flows of OAuth 2.0: client credentials, authorization code with PKCE, device code, refresh and revocation."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from urllib.parse import quote_plus, urlencode, urlsplit

from inspector.capture.redaction import MASK
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.oauth import (
    BEARER,
    DEVICE_GRANT,
    SECRET_MEMBERS,
    DeviceResponse,
    TokenResponse,
    read_device,
    read_error,
    read_token,
)
from inspector.session.login.exchange import LoginChannel, LoginFetch, invalid, is_temporary, mask_secret, refusal
from inspector.session.login.metadata import Endpoints, checked_url
from inspector.session.login.progress import Progress
from inspector.session.login.redirect import RedirectListener
from inspector.session.login.state import Step
from inspector.text.sanitise import clean

LOGIN_SECONDS = 600.0
"""How long a login waits for the browser."""
_SLOW_DOWN_SECONDS = 5.0
_LONGEST_PAUSE = 60.0
_LONGEST_CODE = 64
_LONGEST_TOKEN = 64 * 1024
"""No server accepts headers of this length."""
_QUOTED = 200
_SECRET_PARAMETERS = frozenset({"code", *SECRET_MEMBERS})
"""The parameters of a redirect that are secret."""
_BASIC, _POST = "client_secret_basic", "client_secret_post"


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """The client of a login with its secret in plain text, `""` for a public client."""

    client_id: str
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """What each flow needs; `nonce` is for the ID token (`""` without OpenID Connect), `pause` waits some seconds."""

    channel: LoginChannel
    progress: Progress
    endpoints: Endpoints
    client: ClientSecret
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0
    nonce: str = ""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    def scope(self) -> dict[str, str]:
        """Return the parameter with the scopes, nothing if none are asked for."""
        return {"scope": " ".join(self.scopes)} if self.scopes else {}


async def client_credentials(flow: Flow) -> TokenResponse:
    """Request a token for the client itself (RFC 6749 section 4.4); raises `FaultError`."""
    flow.progress.begin(Step.TOKEN)
    return await _token(flow, {"grant_type": "client_credentials", **flow.scope()})


async def authorization_code(flow: Flow) -> TokenResponse:
    """Let the user log in in a browser, and exchange the code (RFC 6749 section 4.1, RFC 7636); raises `FaultError`."""
    checked_url(flow.endpoints.token_url, "the token URL")
    address = checked_url(flow.endpoints.authorization_url, "the authorization URL")
    await flow.channel.check_reach(address)
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    flow.channel.journal.redactor.add(verifier)
    async with RedirectListener(flow.redirect_port, lambda given: given.get("state") == state) as listener:
        challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        parameters = {
            "response_type": "code",
            "client_id": flow.client.client_id,
            "redirect_uri": listener.uri,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **flow.scope(),
            **({"nonce": flow.nonce} if flow.nonce else {}),
        }
        url = _with_query(address, parameters)
        flow.channel.note(Step.AUTHORIZE, "waiting for the login in a browser", url, parameters)
        expires_at = flow.channel.clock() + LOGIN_SECONDS
        shown = {"open_url": url, "short_url": listener.short_url(url)}
        flow.progress.begin(Step.AUTHORIZE, **shown, expires_at=expires_at)
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                given = await listener.redirect()
        except TimeoutError as error:
            raise _no_redirect(listener.uri) from error
    flow.progress.begin(Step.REDIRECT, open_url="", short_url="", expires_at=None)
    code = _code_of(flow, given, listener.uri, state)
    flow.progress.begin(Step.TOKEN)
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": listener.uri, "code_verifier": verifier}
    return await _token(flow, form)


def _no_redirect(uri: str) -> FaultError:
    seen = f"No redirect arrived at {uri} within {LOGIN_SECONDS / 60:.0f} minutes."
    hint = f"If the browser shows an error about the redirect URI, register {uri} at the authorization server."
    return FaultError(Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, hint))


def _code_of(flow: Flow, given: Mapping[str, str], uri: str, state: str) -> str:
    """Record the redirect, check its state and its issuer (RFC 9207), and return the code; raises `FaultError`."""
    channel, endpoints = flow.channel, flow.endpoints
    mask_secret(channel.journal, given.get("code"))
    is_ours = given.get("state") == state
    shown = {name: MASK if name in _SECRET_PARAMETERS else value for name, value in given.items()}
    label = "the redirect of the login" if is_ours else "a redirect with another state"
    url = f"{uri}?{urlencode(shown, safe='*')}"
    channel.note(Step.REDIRECT, label, url, shown, issuer=endpoints.issuer, state_matches=is_ours)
    if not is_ours:
        seen = f"The redirect has {'another' if 'state' in given else 'no'} state, so it may not belong to this login."
        hint = "Log in again. If it happens again, the authorization server does not return the state."
        raise invalid(seen, hint)
    issuer = given.get("iss")
    if endpoints.issuer and (issuer is not None or endpoints.issuer_in_redirect) and issuer != endpoints.issuer:
        seen = f"The redirect is from another issuer: {clean(issuer or 'none', limit=_QUOTED)}."
        raise invalid(seen, f"Expected {endpoints.issuer}. Do not log in there unless you know why.")
    error = read_error(given)
    if error is not None:
        seen = f"The authorization server refused the login: {clean(error.in_words, limit=_QUOTED)}."
        hint = "Log in again, with other scopes or another user, or check the registration of the client."
        raise FaultError(Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, hint))
    if not given.get("code"):
        raise invalid("The redirect has neither a code nor an error.")
    return given["code"]


async def device_code(flow: Flow) -> TokenResponse:
    """Let the user enter a code on another device, and poll for the token (RFC 8628); raises `FaultError`."""
    checked_url(flow.endpoints.token_url, "the token URL")
    flow.progress.begin(Step.DEVICE)
    url = checked_url(flow.endpoints.device_url, "the device authorization URL")
    form, headers = _authenticated(flow, flow.scope())
    fetch = await flow.channel.post(Step.DEVICE, url, form, headers)
    if fetch.status != HTTPStatus.OK or fetch.answer is None:
        raise refusal(fetch, "a device code")
    device = read_device(fetch.answer)
    if not device.device_code or not device.user_code:
        raise invalid("The response with the device code has no device_code or no user_code.")
    if not device.user_code.isprintable() or len(device.user_code) > _LONGEST_CODE:
        raise invalid(f"The user code cannot be shown: {clean(device.user_code, limit=_LONGEST_CODE)}.")
    address = checked_url(device.verification_url, "the verification URI of the authorization server")
    if device.complete_url:
        address = checked_url(device.complete_url, "the verification URI of the authorization server")
    await flow.channel.check_reach(address)
    expires_at = flow.channel.clock() + device.expires_in
    flow.progress.begin(Step.TOKEN, open_url=address, user_code=device.user_code, expires_at=expires_at)
    return await _poll(flow, device, expires_at)


async def _poll(flow: Flow, device: DeviceResponse, expires_at: float) -> TokenResponse:
    form = {"grant_type": DEVICE_GRANT, "device_code": device.device_code}
    interval = device.interval
    while flow.channel.clock() + interval < expires_at:
        await flow.pause(interval)
        try:
            fetch = await _request_token(flow, form)
        except FaultError as failure:
            if failure.fault.whose is not Whose.NETWORK:
                raise
            interval = min(2 * interval, _LONGEST_PAUSE)  # RFC 8628 section 3.5
            continue
        error = read_error(fetch.answer)
        match error.code if error else "":
            case "authorization_pending":
                pass
            case "slow_down":
                interval = min(interval + _SLOW_DOWN_SECONDS, _LONGEST_PAUSE)
            case _ if is_temporary(fetch, error):
                interval = min(2 * interval, _LONGEST_PAUSE)
            case _:
                flow.progress.change(open_url="", user_code="", expires_at=None)
                return _read_token(fetch, "the token")
    seen = "The device code has expired before the login was complete."
    raise FaultError(Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, "Log in again and enter the code in time."))


async def refresh(flow: Flow, refresh_token: str) -> TokenResponse:
    """Request a new token with a refresh token (RFC 6749 section 6); raises `FaultError`."""
    flow.channel.journal.redactor.add(refresh_token)
    form, headers = _authenticated(flow, {"grant_type": "refresh_token", "refresh_token": refresh_token})
    url = checked_url(flow.endpoints.token_url, "the token URL")
    return _read_token(await flow.channel.post(Step.REFRESH, url, form, headers), "a new token")


async def revoke(flow: Flow, token: str, hint: str) -> None:
    """Revoke a token (RFC 7009); `hint` is `access_token` or `refresh_token`. Raises `FaultError`."""
    form, headers = _authenticated(flow, {"token": token, "token_type_hint": hint})
    url = checked_url(flow.endpoints.revocation_url, "the revocation URL")
    fetch = await flow.channel.post(Step.REVOKE, url, form, headers)
    if fetch.status != HTTPStatus.OK:
        raise refusal(fetch, "the revocation")


async def _token(flow: Flow, form: Mapping[str, str]) -> TokenResponse:
    return _read_token(await _request_token(flow, form), "the token")


async def _request_token(flow: Flow, form: Mapping[str, str]) -> LoginFetch:
    signed, headers = _authenticated(flow, form)
    return await flow.channel.post(Step.TOKEN, checked_url(flow.endpoints.token_url, "the token URL"), signed, headers)


def _read_token(fetch: LoginFetch, what: str) -> TokenResponse:
    """Return the token of a response; raises `FaultError`."""
    if fetch.status != HTTPStatus.OK or fetch.answer is None:
        raise refusal(fetch, what)
    token = read_token(fetch.answer)
    if not token.access_token:
        raise refusal(fetch, what) if read_error(fetch.answer) else invalid("The response has no access_token.")
    if not token.access_token.isascii() or not token.access_token.isprintable() or " " in token.access_token:
        raise invalid("The access token has characters that a header cannot contain.")
    if len(token.access_token) > _LONGEST_TOKEN:
        raise invalid(f"The access token is too long for a header: {len(token.access_token):,} characters.")
    if token.token_type.lower() != BEARER:
        kind = clean(token.token_type, limit=_LONGEST_CODE) or "none"
        raise invalid(f"The type of the token is not supported: {kind}.", "The server has to issue Bearer tokens.")
    return token


def _authenticated(flow: Flow, form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a form and headers that identify the client (RFC 6749 section 2.3.1)."""
    client, methods = flow.client, flow.endpoints.client_authentication
    identified = {**form, "client_id": client.client_id}
    if not client.secret:
        return identified, {}
    redactor = flow.channel.journal.redactor
    redactor.add(client.secret)
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.secret)}"
    # Some servers, such as those made with Authlib, do not decode the form encoding inside of Basic credentials.
    is_encoded = pair != f"{client.client_id}:{client.secret}"
    if _POST in methods and (is_encoded or _BASIC not in methods):
        return {**identified, "client_secret": client.secret}, {}
    encoded = b64encode(pair.encode()).decode("ascii")
    redactor.add(encoded)
    return identified, {"Authorization": f"Basic {encoded}"}


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(parameters))))
    return parts._replace(query=query, fragment="").geturl()
