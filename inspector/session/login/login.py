"""One attempt to log in, which the TUI and the command line show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from inspector.session.journal import Journal
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.state import LoginState
from inspector.session.login.tokens import Token
from inspector.wire.client.http import Client

OnChange: TypeAlias = Callable[[LoginState], None]
"""A function that is called with each new state of a login."""


class Login:
    """One attempt to log in to an agent: make it with `Logins.start`, then await `run` once.

    `state` is how far it is. `on_change` is called after each change of the state, in the event loop of `run`. Nothing
    is opened: show `state.open_url`, and open it when the user asks for it.
    """

    def __init__(
        self,
        journal: Journal,
        client: Client,
        agent: str,
        option: LoginOption,
        registration: ClientRegistration,
        on_change: OnChange | None = None,
    ) -> None:
        self.option = option
        self.registration = registration
        self.state = LoginState(steps=())
        raise NotImplementedError

    async def run(self) -> Token:
        """Log in and return the token; raises `FaultError`, also if the login was canceled."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Stop the login; `run` then raises `FaultError`."""
        raise NotImplementedError
