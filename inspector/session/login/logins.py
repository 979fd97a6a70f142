"""The logins of a session: start one, use its token for requests, refresh it before it expires, log out."""

from __future__ import annotations

from inspector.session.login.login import Login, OnChange
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.token_store import Place
from inspector.session.login.tokens import Token, TokenKey


class Logins:
    """The logins of a session: `Session.logins`."""

    @property
    def options(self) -> tuple[LoginOption, ...]:
        """Return the ways to log in that the card of the connected agent offers, the required ones first."""
        raise NotImplementedError

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens in use."""
        raise NotImplementedError

    def token_for(self, url: str) -> Token | None:
        """Return the token that is sent to a URL, None if there is none."""
        raise NotImplementedError

    def start(
        self, option: LoginOption, registration: ClientRegistration, on_change: OnChange | None = None
    ) -> Login:
        """Return a login to await with `Login.run`, whose token is then used automatically."""
        raise NotImplementedError

    def store(self, token: Token, place: Place) -> str:
        """Store a token for later sessions, as the user agreed; return where it is. Raises `FaultError`."""
        raise NotImplementedError

    def load(self) -> tuple[Token, ...]:
        """Use the stored tokens for the origin of the agent; raises `FaultError` if the store cannot be read."""
        raise NotImplementedError

    async def refresh(self, token: Token) -> Token:
        """Request a new token with the refresh token, and use it; raises `FaultError`."""
        raise NotImplementedError

    async def log_out(self, key: TokenKey) -> str:
        """Revoke a token where the server offers it, forget it here and in the stores.

        Returns what happened, as a sentence.
        """
        raise NotImplementedError
