"""The dialogs that get credentials, one after the other: the menu, a form, and the login that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from textual.screen import Screen

from inspector.lazy_dataclass import dataclass
from inspector.session.login.logins import demanded_scopes
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.session import Session
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.credentials import Change, CredentialsScreen, Secret, secret_form, use
from inspector.tui.screens.dialog import Dialog
from inspector.tui.screens.login import LoginScreen, Next
from inspector.tui.screens.login_form import login_form, registration_of
from inspector.wire.client.credentials import origin

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the dialogs changed: whether other credentials are sent, and the record to show, 0 for none."""

    changed: bool = False
    seq: int = 0


class CredentialDialogs:
    """Asks for credentials on a screen.

    It keeps the input of logins and of closed forms, with the secrets, until the session ends.
    """

    def __init__(self, screen: Screen[None], session: Session, glyphs: Glyphs, redirect_port: int) -> None:
        self._screen = screen
        self._session = session
        self._glyphs = glyphs
        self._redirect_port = redirect_port
        self._inputs: dict[tuple[str, str], ClientRegistration] = {}
        self._unfinished: dict[Secret, Mapping[str, str]] = {}

    async def ask(self) -> Outcome:
        """Show the menu until something was chosen and done; to be awaited in a worker."""
        while True:
            chosen = await self._answer(CredentialsScreen(self._session, self._glyphs))
            match chosen:
                case LoginOption():
                    outcome = await self._log_in(chosen)
                case Secret():
                    outcome = await self._enter(chosen)
                case Change():
                    outcome = await self._change(chosen)
                case _:
                    return Outcome()
            if outcome is not None:
                return outcome

    async def _answer(self, dialog: Dialog[Result]) -> Result | None:
        return await self._screen.app.push_screen_wait(dialog)

    # Each of these returns None to show the menu again.

    async def _log_in(self, option: LoginOption) -> Outcome | None:
        if option.refused:
            notify(self._screen, f"The flow {option.grant.value} is not used: {option.refused}.", "warning")
            return None
        while True:
            before = self._input(option)

            def keep(values: Mapping[str, str], before: ClientRegistration = before) -> None:
                self._inputs[option.scheme, option.grant.value] = registration_of(values, before)

            values = await self._answer(login_form(option, before, keep))
            if values is None:
                return None
            keep(values)
            given = self._inputs[option.scheme, option.grant.value]
            end = await self._answer(LoginScreen(self._session, option, given, self._glyphs))
            if end is not None and end.wanted is Next.AGAIN:
                continue
            if end is not None and end.succeeded:
                self._session.credentials.entered.remove_authorization(self._session.agent_url)
                notify(self._screen, "Logged in. New requests are sent with the token.")
            return Outcome(changed=end is not None and end.succeeded, seq=end.seq if end is not None else 0)

    def _input(self, option: LoginOption) -> ClientRegistration:
        """Return the last input for a flow, else the last client; the scopes include those that the agent demanded."""
        session = self._session
        before = self._inputs.get((option.scheme, option.grant.value))
        scopes = before.scopes if before is not None else option.required
        known = next(reversed(self._inputs.values()), None) if before is None else before
        known = known or ClientRegistration(self._client(), redirect_port=self._redirect_port)
        demanded = demanded_scopes(session.journal, session.agent_url)
        return replace(known, scopes=tuple(dict.fromkeys((*scopes, *demanded))))

    def _client(self) -> str:
        """Return the id of the client that logged in to this agent before, `""` without one."""
        session = self._session
        if session.credentials.token is not None:
            return session.credentials.token.key.client_id
        with notify_faults(self._screen):
            for entry in reversed(session.credentials.logins.stored.entries(origin(session.agent_url))):
                return entry.key.client_id
        return ""

    async def _enter(self, secret: Secret) -> Outcome | None:
        values = await self._answer(secret_form(self._session, secret, self._unfinished))
        if values is None:
            return None
        use(self._session, secret, values)
        notify(self._screen, "New requests are sent with the credentials.")
        return Outcome(changed=True)

    async def _change(self, change: Change) -> Outcome | None:
        session, token = self._session, self._session.credentials.token
        if change is Change.TRUST:
            session.trust(session.credentials.withheld_from)
            return Outcome(changed=True)
        if change is Change.REMOVE:
            session.credentials.entered.clear()
            notify(self._screen, "The credentials were removed.")
            return Outcome(changed=True)
        if token is None:
            return None
        with notify_faults(self._screen):
            if change is Change.REFRESH:
                await session.credentials.logins.refresh(token)
                notify(self._screen, "The server issued a new token.")
            else:
                notify(self._screen, await session.credentials.logins.log_out(token.key))
        # A change can fail after another token, or none, is in use: if a token cannot be stored, or removed.
        return Outcome(changed=session.credentials.token != token)
