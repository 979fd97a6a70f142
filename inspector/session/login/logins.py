"""The logins of a session: start one, use its token for requests, refresh it before it expires, log out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from inspector.capture.records import Kind
from inspector.capture.redaction import Redactor
from inspector.protocol.card import AgentCard
from inspector.protocol.challenge import Challenge, read_challenges
from inspector.protocol.errors import FaultError, usage_error
from inspector.protocol.oauth import TokenResponse
from inspector.protocol.security import Grant
from inspector.session.journal import Journal
from inspector.session.login import flows
from inspector.session.login.exchange import LoginChannel, RefusedError
from inspector.session.login.flows import ClientSecret, Flow
from inspector.session.login.login import Login
from inspector.session.login.metadata import Endpoints
from inspector.session.login.options import ClientRegistration, LoginOption, login_options
from inspector.session.login.progress import OnChange, Progress
from inspector.session.login.secret_reference import resolve
from inspector.session.login.state import LoginState
from inspector.session.login.token_store import Place, StoredToken, TokenStore
from inspector.session.login.tokens import REFRESH_MARGIN, Token, TokenKey
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.http import Client

_Result = TypeVar("_Result")
_RETRY_SECONDS = 60.0
"""How long the requests to an agent do not wait again for an authorization server that did not renew a token."""
_CLOSE_SECONDS = 5.0
"""How long the end of a session waits for running renewals."""


class NotStoredError(FaultError):
    """Raised if a renewed token is in use, but could not replace the stored one."""


class Logins:
    """The logins of a session: `SessionCredentials.logins`. Each origin has at most one token in use.

    `card` and `agent_url` return the card and the URL of the connected agent, `trusted` the trusted origins.
    """

    def __init__(
        self,
        journal: Journal,
        client: Client,
        card: Callable[[], AgentCard | None],
        agent_url: Callable[[], str],
        trusted: Callable[[], frozenset[str]] = frozenset,
        *,
        store: TokenStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.stored = store or TokenStore()
        self._journal = journal
        self._client = client
        self._card = card
        self._agent_url = agent_url
        self._trusted = trusted
        self._clock = clock
        self._tokens: dict[str, Token] = {}
        self._renewing = asyncio.Lock()
        self._renewals: set[asyncio.Task[Any]] = set()
        self._refused: dict[str, str] = {}
        """The token that the server refused to renew, which is not tried again, for each origin."""
        self._not_renewed: dict[str, tuple[str, str]] = {}
        """The token whose last renewal failed, and the reason, for each origin."""
        self._renew_after: dict[str, float] = {}
        """When a renewal is tried again after the server issued no token, in seconds since 1970, for each origin."""

    @property
    def options(self) -> tuple[LoginOption, ...]:
        """Return the ways to log in that the card of the connected agent offers, those that are required first."""
        card = self._card()
        return login_options(card) if card is not None else ()

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens in use."""
        return tuple(self._tokens.values())

    def token_for(self, url: str) -> Token | None:
        """Return the token that is sent to a URL, None if there is none."""
        return self._tokens.get(origin(url))

    def missing_scopes(self) -> tuple[str, ...]:
        """Return the scopes to log in with if the agent demanded others than the token has or the card requires.

        The result is empty if a login asks for them anyway.
        """
        url = self._agent_url()
        token, demanded = self.token_for(url), demanded_scopes(self._journal, url)
        required = next((option.required for option in self.options), ())
        if set(demanded) <= set(required):
            return ()
        return tuple(dict.fromkeys((*(token.scopes if token is not None else required), *demanded)))

    def added_to(self, given: Credentials) -> Credentials:
        """Return credentials with the tokens added, each for its origin."""
        parts = [
            Credentials({"Authorization": f"Bearer {token.access_token}"}, frozenset({place}))
            for place, token in self._tokens.items()
        ]
        return replace(given, more=(*given.more, *parts))

    def start(self, option: LoginOption, registration: ClientRegistration, on_change: OnChange | None = None) -> Login:
        """Return a login to await with `run`, whose token is then used automatically."""
        agent = self._agent_url()
        return Login(
            self._journal,
            self._client,
            agent,
            option,
            registration,
            on_change,
            resource_url=resource_metadata_url(self._journal, agent),
            use=self.use,
            trusted=self._trusted(),
            clock=self._clock,
        )

    def use(self, token: Token) -> None:
        """Send a token to the origin it is for, in place of the token before; it is masked in all records."""
        _mask(self._journal.redactor, token)
        self._tokens[token.key.origin] = token

    def store(self, token: Token, place: Place) -> str:
        """Store a token for later sessions, as the user agreed; return where it is. Raises `FaultError`."""
        self.stored.put(token, place)
        return self.stored.where(place)

    def load(self, url: str = "") -> tuple[Token, ...]:
        """Use the newest stored token for the origin of a URL, by default of the agent.

        Returns the tokens in use; raises `FaultError` if the store cannot be read.
        """
        place = origin(url or self._agent_url())
        if place and place not in self._tokens:
            for entry in reversed(self.stored.entries(place)):
                token = self.stored.get(entry)
                if token is not None:
                    self.use(token)
                    break
        return self.tokens

    async def renew(self, url: str) -> bool:
        """Get a new token if the token for a URL expires soon and can be renewed; return whether that was tried.

        If it fails, the session notes why, and the old token stays in use.
        """
        if not self._to_renew(url):
            return False
        await self._completed(self._renew(url))
        return True

    async def _renew(self, url: str) -> None:
        async with self._renewing:
            current = self._to_renew(url)
            if current is None:  # another request has renewed it, or tried to
                return
            try:
                await self._refresh_stored(current)
            except NotStoredError as error:
                self._note(error.fault.sentence())
            except FaultError as error:
                if isinstance(error, RefusedError):
                    self._refused[current.key.origin] = current.access_token
                self._renew_after[current.key.origin] = self._clock() + _RETRY_SECONDS
                self._not_renewed[current.key.origin] = current.access_token, error.fault.seen
                self._note(f"the token was not renewed: {error.fault.sentence()}")
                return
            renewed = self._to_renew(url)
            if renewed is not None and renewed.expires_at is not None:  # do not renew it for each request
                now = self._clock()
                self._renew_after[renewed.key.origin] = now + (renewed.expires_at - now) / 2

    def why_not_renewed(self, url: str) -> str:
        """Return why the token for a URL could not be renewed, `""` if it was not tried or succeeded."""
        token = self.token_for(url)
        if token is None:
            return ""
        value, why = self._not_renewed.get(token.key.origin, ("", ""))
        return why if token.access_token == value else ""

    def _note(self, label: str) -> None:
        self._journal.append(Kind.NOTE, self._clock(), label=label)
        self._journal.notify()

    def _to_renew(self, url: str) -> Token | None:
        """Return the token for a URL if it has to be renewed now."""
        token = self.token_for(url)
        if token is None or self._clock() < self._renew_after.get(token.key.origin, 0.0):
            return None
        return token if self._is_due(token) else None

    def _is_due(self, token: Token) -> bool:
        is_refused = token.access_token == self._refused.get(token.key.origin)
        return token.can_renew and not is_refused and token.expires_within(REFRESH_MARGIN, self._clock())

    async def refresh(self, token: Token) -> Token:
        """Request a new token with the refresh token, or with the secret of the client, and use it.

        Raises `NotStoredError` if the new token is used but cannot replace the stored one, else `FaultError`.
        """
        return await self._completed(self._refresh_alone(token))

    async def _completed(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for a renewal, which continues if the waiting task is canceled.

        The server may have accepted the refresh token, which is valid once: without its response, the login is lost.
        """
        task = asyncio.ensure_future(work)
        self._renewals.add(task)
        task.add_done_callback(self._renewals.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # the waiting task may have ended
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Wait some seconds for running renewals, then stop them; to be awaited before the client is closed."""
        if self._renewals:
            _, late = await asyncio.wait(self._renewals, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _refresh_alone(self, token: Token) -> Token:
        async with self._renewing:
            current = self._tokens.get(token.key.origin)
            if current is not None and current.key == token.key and current != token:  # renewed meanwhile
                return current
            return await self._refresh_stored(token)

    async def _refresh_stored(self, token: Token) -> Token:
        used = self.token_for(token.key.origin)
        is_stored = any(entry.key == token.key for entry in self.stored.entries(token.key.origin))
        async with self.stored.renewing() if is_stored else nullcontext():
            return await self._refresh(token, used)

    async def _refresh(self, token: Token, used: Token | None) -> Token:
        latest = self._stored_since(token)
        if latest is not None:
            self.use(latest)
            return latest
        flow = self._flow(token)
        if token.refresh_token:
            response = await flows.refresh(flow, token.refresh_token)
        elif token.grant == Grant.CLIENT_CREDENTIALS:
            response = await flows.client_credentials(flow)
        else:
            raise usage_error("The token cannot be refreshed: the server issued no refresh token.", "Log in again.")
        renewed = _renewed(token, response, self._clock())
        if self.token_for(token.key.origin) is not used:  # the user has logged out or in again meanwhile
            try:
                await self._revoke(renewed)
            except FaultError as error:
                self._note(f"a token that is not used any more was not revoked: {error.fault.sentence()}")
            return renewed
        self.use(renewed)
        try:
            for entry in self.stored.entries(token.key.origin):
                if entry.key == token.key:
                    self.stored.put(renewed, entry.place)
        except FaultError as error:
            seen = f"The renewed token is used, but it was not stored: {error.fault.seen}"
            raise NotStoredError(replace(error.fault, seen=seen)) from error
        return renewed

    def _stored_since(self, token: Token) -> Token | None:
        """Return the token that another process has stored since, None if there is none."""
        for entry in self.stored.entries(token.key.origin):
            if entry.key == token.key:
                stored = self.stored.get(entry)
                if stored is not None and _is_newer(stored, token) and not self._is_due(stored):
                    return stored
        return None

    async def log_out(self, key: TokenKey) -> str:
        """Revoke a token where the server offers it, and forget it here and in the stores.

        Returns what happened, as a sentence. Raises `FaultError` if the store cannot be changed.
        """
        token = self._tokens.get(key.origin)
        if token is None or token.key != key:
            token = next((self.stored.get(entry) for entry in self.stored.entries() if entry.key == key), None)
        else:
            del self._tokens[key.origin]
        was_stored = self.stored.remove(key)
        if token is None:
            return "The stored token was removed." if was_stored else "There was no token."
        if not token.revocation_url:
            return "Logged out here. The server offers no revocation, so the token is valid until it expires."
        try:
            await self._revoke(token)
        except FaultError as error:
            return f"Logged out here, but the token was not revoked: {error.fault.sentence()}"
        return "Logged out, and the token was revoked."

    async def _revoke(self, token: Token) -> None:
        """Revoke a token if the server offers it; raises `FaultError`."""
        if token.revocation_url:
            flow = self._flow(token)
            if token.refresh_token:
                await flows.revoke(flow, token.refresh_token, "refresh_token")
            await flows.revoke(flow, token.access_token, "access_token")

    def entries(self) -> list[StoredToken]:
        """Return the stored tokens of all agents; raises `FaultError` if the store cannot be read."""
        return self.stored.entries()

    def _flow(self, token: Token) -> Flow:
        """Return what a refresh or a revocation needs: it goes to the server that issued the token."""
        _mask(self._journal.redactor, token)
        options = (option for option in self.options if option.scheme == token.key.scheme)
        members = next((option.members for option in options), {})
        channel = LoginChannel(
            self._journal,
            self._client,
            grant=token.grant,
            scheme=members,
            scopes=token.scopes,
            agent=token.key.origin,
            trusted=self._trusted(),
            clock=self._clock,
        )
        endpoints = Endpoints(
            token_url=token.token_url,
            revocation_url=token.revocation_url,
            issuer=token.issuer,
            client_authentication=token.client_authentication,
        )
        client = ClientSecret(token.key.client_id, resolve(token.client_secret))
        return Flow(channel, Progress(LoginState(())), endpoints, client, token.scopes)


def last_refusal(journal: Journal, agent_url: str) -> tuple[int, tuple[Challenge, ...]]:
    """Return the status of the last 401 or 403 of the agent, 0 without one, and the challenges in it."""
    summary = journal.exchanges.last_denied(agent_url)
    if summary is None:
        return 0, ()
    found: list[Challenge] = []
    for record in journal.capture.select(exchange=summary.number, kinds=[Kind.RESPONSE]):
        for name, value in record.meta["headers"]:
            found += (read_challenges(value) or ()) if name.lower() == "www-authenticate" else ()
    return summary.status, tuple(found)


def demanded_scopes(journal: Journal, agent_url: str) -> tuple[str, ...]:
    """Return the scopes that the last 401 or 403 of the agent demanded (RFC 6750 section 3)."""
    _, challenges = last_refusal(journal, agent_url)
    scopes = (scope for challenge in challenges if challenge.is_bearer for scope in challenge.get("scope").split())
    return tuple(dict.fromkeys(scope for scope in scopes if scope.isprintable()))


def resource_metadata_url(journal: Journal, agent_url: str) -> str:
    """Return the URL of the agent's metadata (RFC 9728) that its last 401 or 403 named, `""` if there is none.

    A URL on another origin is left out: nothing that an agent names elsewhere is fetched.
    """
    _, challenges = last_refusal(journal, agent_url)
    urls = (challenge.get("resource_metadata") for challenge in challenges)
    return next((url for url in urls if url and origin(url) == origin(agent_url)), "")


def _is_newer(stored: Token, token: Token) -> bool:
    """Return whether a stored token was issued later than a token, as far as their times show."""
    if stored.expires_at is None or token.expires_at is None:
        return stored.access_token != token.access_token
    return stored.expires_at > token.expires_at


def _renewed(token: Token, response: TokenResponse, now: float) -> Token:
    return replace(
        token,
        access_token=response.access_token,
        scopes=token.scopes if response.scopes is None else response.scopes,
        expires_at=None if response.expires_in is None else now + response.expires_in,
        refresh_token=response.refresh_token or token.refresh_token,
    )


def _mask(redactor: Redactor, token: Token) -> None:
    redactor.add(token.access_token)
    redactor.add(token.refresh_token)
