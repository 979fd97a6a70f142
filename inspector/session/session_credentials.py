"""The credentials of a session, and where each of them is sent."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from inspector.capture.paths import has_stored_tokens
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import FaultError
from inspector.protocol.security import DEFAULT_KEY_PLACE, key_place
from inspector.session import lazy_loading
from inspector.session.authentication import Authentication, EnteredCredentials
from inspector.session.connection import Connection
from inspector.session.journal import Journal
from inspector.session.settings import Settings, from_project
from inspector.wire.client.client_certificate import ClientCertificate
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.http import Client

if TYPE_CHECKING:
    from inspector.session.login.logins import Logins
    from inspector.session.login.tokens import Token


class CredentialUser(Protocol):
    """The session that uses the credentials."""

    settings: Settings
    journal: Journal
    client: Client
    connection: Connection | None

    @property
    def agent_url(self) -> str:
        """Return the URL to which credentials are sent."""
        ...

    def note(self, text: str) -> None:
        """Record a note."""
        ...


class SessionCredentials:
    """The credentials of the settings, those that were entered while the session runs, and the tokens of logins.

    Those of the settings are sent to the agent that the user named and to trusted origins, the others only to the
    origin for which they were entered or issued.
    """

    def __init__(self, session: CredentialUser) -> None:
        self._session = session
        self._given = session.settings.credentials()
        self.entered = EnteredCredentials(session.journal.redactor)

    @property
    def current(self) -> Credentials:
        """Return the credentials for new requests."""
        card = self._card()
        given = self.logins.added_to(self._given) if self._has_logins else self._given
        return self.entered.added_to(given, key_place(card) if card else DEFAULT_KEY_PLACE)

    @property
    def authentication(self) -> Authentication:
        """Return the credentials that are sent to the agent, to compare them with the requirements of its card."""
        url = self._session.agent_url
        return Authentication(self.current, url, self.token, self.why_not_renewed(url))

    def certificate_for(self, url: str) -> ClientCertificate | None:
        """Return the client certificate for TLS handshakes with the host of a URL, None without one."""
        return self.current.certificate_for(url)

    def unsent_hint(self, url: str, log_in: str = "") -> str:
        """Return why the credentials were not sent to a URL, and how they are.

        The origin can be trusted, except for tokens, which are only sent to the origins for which they were issued:
        then `log_in` is the hint, if there is one.
        """
        hint = (log_in if self.only_tokens else "") or self._session.settings.trust_hint(origin(url))
        return f"The credentials were not sent: {self.why_withheld}. {hint}"

    @property
    def only_tokens(self) -> bool:
        """Return whether all credentials are tokens of logins, which are sent to their own origins only."""
        return not self.entered.added_to(self._given, DEFAULT_KEY_PLACE)

    # ── logins ──

    @cached_property
    def logins(self) -> Logins:
        """Return the logins, which are made on first use."""
        session = self._session

        def trusted() -> frozenset[str]:
            return session.settings.credentials().origins

        return lazy_loading.logins(session.journal, session.client, self._card, lambda: session.agent_url, trusted)

    @property
    def token(self) -> Token | None:
        """Return the token of a login that is sent to the agent, None without one."""
        return self.logins.token_for(self._session.agent_url) if self._has_logins else None

    @property
    def _has_logins(self) -> bool:
        return "logins" in vars(self)

    async def renew(self, url: str) -> Credentials | None:
        """Renew the token for a URL if it expires soon; return the new credentials, None if nothing has changed."""
        return self.current if self._has_logins and await self.logins.renew(url) else None

    def why_not_renewed(self, url: str) -> str:
        """Return why the token for a URL could not be renewed, `""` if it was not tried or succeeded."""
        return self.logins.why_not_renewed(url) if self._has_logins else ""

    async def aclose(self) -> None:
        """Wait some seconds for running renewals of tokens, so that no refresh token is lost."""
        if self._has_logins:
            await self.logins.aclose()

    def load_token(self, url: str) -> None:
        """Use the token that was stored for the origin of a URL, unless the options have credentials of this kind."""
        given = {name.lower() for name in self._given.headers}
        if "authorization" in given or not has_stored_tokens():
            return
        try:
            self.logins.load(url)
        except FaultError as error:
            self._session.note(f"stored tokens are not used: {error.fault.sentence()}")

    # ── the agent ──

    def use_for(self, url: str, userinfo: str = "") -> None:
        """Send the credentials of the settings and the stored token to the origin of a URL that the user named.

        Without a URL, those of the settings are sent to trusted origins only.
        """
        self._given = self._session.settings.credentials(*([origin(url), userinfo] if url else []))
        if url:
            self.load_token(url)

    def place_key(self, card: AgentCard) -> None:
        """Send the API key of the settings at the place that a card declares, and use the stored token of its agent."""
        self._given = self._given.with_key(self._session.settings.api_key, *key_place(card))
        self.load_token(self._session.agent_url)

    async def for_card(self) -> Credentials:
        """Renew the token if it expires soon, and return the credentials for the card."""
        await self.renew(self._session.agent_url)
        if self._card() is not None:
            return self.current
        return self.current.with_key(self._session.settings.api_key, *DEFAULT_KEY_PLACE)

    def trust(self, place: str) -> None:
        """Send the credentials of the settings to an origin, too."""
        self._given = replace(self._given, origins=self._given.origins | {place})

    @property
    def withheld_from(self) -> str:
        """Return the origin of the interface in use if the credentials of the options are not sent there, else `""`."""
        connection, place = self._session.connection, self._session.agent_url
        has_interface = connection is not None and connection.choice is not None
        return origin(place) if has_interface and self._given and not self.current.are_for(place) else ""

    @property
    def why_withheld(self) -> str:
        """Return why credentials are not sent to an interface at an origin that is not trusted."""
        if self._session.settings.withheld:
            return from_project(self._session.settings.withheld)
        return "the interface has another origin"

    def _card(self) -> AgentCard | None:
        return self._session.connection.card if self._session.connection else None
