"""One attempt to log in, which the TUI and the command line show."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose, usage_error
from inspector.protocol.oauth import OPENID_SCOPE, TokenResponse
from inspector.protocol.security import Grant
from inspector.session.journal import Journal
from inspector.session.login import flows, id_token
from inspector.session.login.exchange import LoginChannel, UntrustedServerError
from inspector.session.login.flows import ClientSecret, Flow
from inspector.session.login.metadata import Endpoints, find_endpoints
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.progress import OnChange, Progress
from inspector.session.login.secret_reference import resolve
from inspector.session.login.state import LoginState, Step
from inspector.session.login.tokens import Token, TokenKey
from inspector.wire.client.credentials import origin
from inspector.wire.client.http import Client

_STEPS: dict[Grant, tuple[Step, ...]] = {
    Grant.CLIENT_CREDENTIALS: (Step.TOKEN,),
    Grant.AUTHORIZATION_CODE: (Step.AUTHORIZE, Step.REDIRECT, Step.TOKEN),
    Grant.DEVICE_CODE: (Step.DEVICE, Step.TOKEN),
}
_FLOWS: dict[Grant, Callable[[Flow], Awaitable[TokenResponse]]] = {
    Grant.CLIENT_CREDENTIALS: flows.client_credentials,
    Grant.AUTHORIZATION_CODE: flows.authorization_code,
    Grant.DEVICE_CODE: flows.device_code,
}

_NOTHING_TO_DO: dict[str, Any] = {"open_url": "", "short_url": "", "user_code": "", "expires_at": None}
"""The members of a state in which the user has nothing to do."""


class Login:
    """One attempt to log in to an agent: make it with `Logins.start`, then await `run` once.

    `agent` is a URL of the agent that will get the token. `state` is how far the login is. `on_change` is called after
    each change of the state, in the event loop of `run`. Nothing is opened: show `state.open_url`, and open it when the
    user asks for it. `resource_url` is the URL of the metadata of the agent (RFC 9728), `use` gets the token, `trusted`
    are the origins that may have any address, `pause` waits some seconds.
    """

    def __init__(
        self,
        journal: Journal,
        client: Client,
        agent: str,
        option: LoginOption,
        registration: ClientRegistration,
        on_change: OnChange | None = None,
        *,
        resource_url: str = "",
        use: Callable[[Token], None] | None = None,
        trusted: frozenset[str] = frozenset(),
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.option = option
        self.registration = registration
        self._journal = journal
        self._client = client
        self._origin = origin(agent)
        self._resource_url = resource_url
        self._use = use
        self._trusted = trusted
        self._pause = pause
        self._clock = clock
        self._work: asyncio.Task[Token] | None = None
        self._canceled = False
        self._scopes = _scopes(option, registration)
        self._progress = Progress(LoginState(self._steps(), requested_scopes=self._scopes), on_change)

    @property
    def state(self) -> LoginState:
        """Return how far the login is."""
        return self._progress.state

    async def run(self) -> Token:
        """Log in and return the token; raises `FaultError`, also if the login was canceled."""
        self._work = asyncio.ensure_future(self._log_in())
        if self._canceled:
            self._work.cancel()
        try:
            token = await self._work
        except FaultError as error:
            self._fail(error.fault, untrusted=error.origin if isinstance(error, UntrustedServerError) else "")
            raise
        except asyncio.CancelledError:
            self._work.cancel()
            fault = Fault(Whose.YOURS, FaultCode.AUTH_FAILED, "The login was canceled.", "Log in again.")
            self._fail(fault)
            if not self._canceled:
                raise
            raise FaultError(fault) from None
        if self._use is not None:
            self._use(token)
        self._progress.end(**_NOTHING_TO_DO, succeeded=True)
        return token

    def cancel(self) -> None:
        """Stop the login; `run` then raises `FaultError`."""
        self._canceled = True
        if self._work is not None:
            self._work.cancel()

    def _fail(self, fault: Fault, **changes: Any) -> None:
        self._progress.change(error=fault, **_NOTHING_TO_DO, **changes)

    async def _log_in(self) -> Token:
        option, registration = self.option, self.registration
        if option.refused:
            raise usage_error(f"The flow {option.grant.value} is not used: {option.refused}", "Choose another flow.")
        if not self._origin:
            raise usage_error("There is no agent to log in to.", "Connect to an agent first.")
        client = ClientSecret(registration.client_id, resolve(registration.client_secret))
        if not client.client_id:
            raise usage_error("The login needs a client id.", "Register a client at the authorization server.")
        if option.needs_secret and not client.secret:
            raise usage_error("The flow clientCredentials needs the secret of the client.", "Add the client secret.")
        about: dict[str, Any] = {
            "grant": option.grant.value,
            "scheme": option.members,
            "scopes": self._scopes,
            "agent": self._origin,
            "trusted": self._trusted,
            "clock": self._clock,
        }
        channel = LoginChannel(self._journal, self._client, **about)
        if option.metadata_url:
            self._progress.begin(Step.METADATA)
        endpoints = await find_endpoints(channel, option)
        if self._resource_url:
            self._progress.begin(Step.RESOURCE)
            await channel.get(Step.RESOURCE, self._resource_url, issuer=endpoints.issuer)
        nonce = secrets.token_urlsafe(24) if option.openid and option.grant is Grant.AUTHORIZATION_CODE else ""
        flow = Flow(
            channel,
            self._progress,
            endpoints,
            client,
            self._scopes,
            registration.redirect_port,
            nonce=nonce,
            pause=self._pause,
        )
        response = await _FLOWS[option.grant](flow)
        subject = await self._verify(channel, endpoints, response, nonce)
        return self._token(response, endpoints, subject)

    def _steps(self) -> tuple[Step, ...]:
        option = self.option
        metadata = (Step.METADATA,) if option.metadata_url else ()
        resource = (Step.RESOURCE,) if self._resource_url else ()
        keys = (Step.KEYS,) if option.openid and OPENID_SCOPE in self._scopes else ()
        return (*metadata, *resource, *_STEPS.get(option.grant, ()), *keys)

    async def _verify(self, channel: LoginChannel, endpoints: Endpoints, response: TokenResponse, nonce: str) -> str:
        """Verify the ID token of an OpenID Connect login and return its subject, `""` without an ID token.

        If the server has to send one and does not, that is only a finding: the agent needs the access token.
        """
        if not self.option.openid or not response.id_token:
            granted = self._scopes if response.scopes is None else response.scopes
            if self.option.openid and self.option.asks_user and OPENID_SCOPE in granted:
                problem = "the response has no id_token, although the scope openid was granted"
                channel.note(Step.KEYS, "the ID token is missing", endpoints.token_url, {}, id_token_problem=problem)
            return ""
        self._progress.begin(Step.KEYS)
        return await id_token.verify(channel, endpoints, response.id_token, self.registration.client_id, nonce)

    def _refresh_url(self, token_url: str) -> str:
        """Return where the token is refreshed: at the URL on the card if it is on the server that issued the token."""
        url = self.option.refresh_url
        return url if url and origin(url) == origin(token_url) else token_url

    def _token(self, response: TokenResponse, endpoints: Endpoints, subject: str) -> Token:
        return Token(
            TokenKey(self._origin, self.option.scheme, self.registration.client_id),
            response.access_token,
            grant=self.option.grant.value,
            scopes=self._scopes if response.scopes is None else response.scopes,
            expires_at=None if response.expires_in is None else self._clock() + response.expires_in,
            refresh_token=response.refresh_token,
            client_secret=self.registration.client_secret,
            issuer=endpoints.issuer,
            subject=subject,
            token_url=self._refresh_url(endpoints.token_url),
            revocation_url=endpoints.revocation_url,
            client_authentication=endpoints.client_authentication,
        )


def _scopes(option: LoginOption, registration: ClientRegistration) -> tuple[str, ...]:
    """Return the scopes to ask for: those that the user chose, else those that the card requires."""
    chosen = registration.scopes or option.required
    openid = (OPENID_SCOPE,) if option.openid and option.asks_user else ()
    return tuple(dict.fromkeys((*openid, *chosen)))
