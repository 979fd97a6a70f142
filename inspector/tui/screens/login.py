"""The dialog of a login that runs: its steps, what the user has to do, and how it ended."""

from __future__ import annotations

import time
from contextlib import suppress
from enum import Enum
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList

from inspector.capture.records import LOGIN, Kind, Record, is_login
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.protocol.security import Grant
from inspector.session.login.browser import browser_problem, open_in_browser
from inspector.session.login.login import Login
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.state import LoginState
from inspector.session.login.token_store import Place, keyring_problem
from inspector.session.login.tokens import Token
from inspector.session.session import Session
from inspector.tui.keys import bind
from inspector.tui.notify import copy, notify, notify_faults
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.login_lines import login_findings, login_paragraphs, token_paragraphs, waiting_in_words
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.fields import ChoiceList, ValueOption, value_of
from inspector.tui.widgets.text_block import TextBlock

_LOW = 30
"""On a screen with fewer lines, only the current step of a waiting login is shown."""
_TICK = 0.5
"""The seconds between two updates of the remaining time."""


class Next(Enum):
    """What the user wants after a login."""

    DONE = "done"
    AGAIN = "again"
    RECORD = "record"
    TRUST = "trust"


@dataclass(frozen=True, slots=True)
class LoginEnd:
    """What the user wants after a login, whether it succeeded, and the record of its last step, 0 without one."""

    wanted: Next
    succeeded: bool
    seq: int = 0


class LoginScreen(Dialog[LoginEnd]):
    """Runs a login and shows it; after a success it offers to store the token, after a failure to see the record."""

    FRAME = "login"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "open_page", "open in browser", "Open the page in the browser"),
        bind("copy", "copy_page", "copy URL", "Copy the URL of the page"),
        bind("back", "stop", "cancel", "Cancel the login"),
        bind("back", "leave", "close", "Close the dialog"),
        bind("quit", "stop", "cancel", "Cancel the login", show=False),
        bind("quit", "leave", "close", "Close the dialog", show=False),
    ]

    def __init__(self, session: Session, option: LoginOption, registration: ClientRegistration, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._option = option
        self._glyphs = glyphs
        self._first = len(session.journal.capture)
        self._login: Login = session.credentials.logins.start(option, registration, self._changed)
        self._no_browser = "" if self.app.is_web else browser_problem()
        self._token: Token | None = None

    def body(self) -> ComposeResult:
        """Make the lines, the remaining time, and the choices for the end."""
        yield FactView(id="login-lines")
        yield TextBlock(id="login-wait")
        yield ChoiceList(enter_hint="choose", id="login-next")

    def on_mount(self) -> None:
        """Start the login."""
        self.query_one("#login-next").display = False
        self.query_one(FactView).focus()
        self._show()
        self.set_interval(_TICK, self._show_wait)
        self._run()

    @work(group="login", exclusive=True)
    async def _run(self) -> None:
        with suppress(FaultError):  # the state has the fault
            self._token = await self._login.run()
        if self.is_attached:
            self._show()
            self._offer_next()

    def _changed(self, _: LoginState) -> None:
        self.call_later(self._show)

    # What is shown

    @property
    def _state(self) -> LoginState:
        return self._login.state

    def _show(self) -> None:
        state, option = self._state, self._option
        word, style = ("waiting", "$state-warning") if state.open_url else ("running", "$text-soft")
        if state.finished:
            word, style = ("logged in", "$state-good") if state.succeeded else ("failed", "$state-bad")
        name = f" {option.scheme} · {option.grant.value}"
        self.frame.border_title = Content.assemble("Log in ", (f" {word} ", f"reverse {style}"), plain(name, limit=60))
        lines = self._paragraphs(state)
        view = self.query_one(FactView)
        view.show(Paragraphs(lines))
        self._show_wait()
        self._fit()
        self.refresh_bindings()

    def _paragraphs(self, state: LoginState) -> list[Paragraph]:
        has_redirect = self._option.grant is Grant.AUTHORIZATION_CODE
        port = self._login.registration.redirect_port if has_redirect else 0
        brief = self.size.height < _LOW
        lines = login_paragraphs(state, self._glyphs, redirect_port=port, no_browser=self._no_browser, brief=brief)
        if self._token is not None:
            lines += token_paragraphs(self._token, state, self._glyphs)
        if state.finished:
            lines += login_findings([found for record in self._records for found in record.findings], self._glyphs)
        return lines

    def _show_wait(self) -> None:
        text = waiting_in_words(self._state, time.time())
        line = self.query_one("#login-wait", TextBlock)
        line.display = bool(text)
        line.update(plain(text))

    def on_resize(self) -> None:
        """Show what fits, and give the lines the height that they need, as far as there is room."""
        super().on_resize()
        self._show()

    def _fit(self) -> None:
        choices = self.query_one("#login-next", ChoiceList)
        below = 2 if self.query_one("#login-wait").display else 0
        if choices.display:
            below += 1 + max(choices.option_count, choices.virtual_size.height)  # long choices are wrapped
        self.query_one(FactView).styles.max_height = max(3, self.most_lines - below)

    # The end

    def _offer_next(self) -> None:
        """Offer what can be done now that the login has ended."""
        choices = self.query_one(ChoiceList)
        choices.add_options(ValueOption(plain(text), value) for value, text in self._choices())
        choices.display = True
        choices.highlighted = 0
        choices.focus()
        self._fit()
        self.call_after_refresh(self._fit)
        self.refresh_bindings()

    def _choices(self) -> list[tuple[Next | Place, str]]:
        if self._token is None:
            found: list[tuple[Next | Place, str]] = [(Next.AGAIN, "Change the input and try again")]
            if self._state.untrusted:
                found.append((Next.TRUST, f"Trust {self._state.untrusted} in this session and try again"))
            if self._failed_record() is not None:
                found.append((Next.RECORD, "Show the record of the failed step"))
            return [*found, (Next.DONE, "Close")]
        stored = self._session.credentials.logins.stored
        found = [(Next.DONE, "Use the token until a2a-inspect is closed, and do not store it")]
        if not keyring_problem():
            found.append((Place.KEYRING, f"Store it in {stored.where(Place.KEYRING)}"))
        return [*found, (Place.FILE, f"Store it unencrypted in {stored.where(Place.FILE)}, readable only by you")]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Do what was chosen."""
        place, wanted = value_of(event.option, Place), value_of(event.option, Next)
        if place is not None and self._token is not None:
            with notify_faults(self):
                notify(self, f"The token is stored in {self._session.credentials.logins.store(self._token, place)}.")
                self._end(Next.DONE)
        elif wanted is Next.TRUST:
            self._session.trust(self._state.untrusted)
            self._end(Next.AGAIN)
        elif wanted is not None:
            self._end(wanted)

    @property
    def _records(self) -> list[Record]:
        return [record for record in self._session.journal.capture.select(after=self._first) if is_login(record)]

    def _failed_record(self) -> Record | None:
        """Return what was received last in the step that failed, else the last record of this login."""
        found, step = self._records, self._state.current
        failed = [record for record in found if step is not None and record.meta[LOGIN] == step.value]
        received = [record for record in failed if record.kind in (Kind.BODY, Kind.NOTE)]
        return next(iter(reversed(received or failed or found)), None)

    def _end(self, wanted: Next) -> None:
        record = self._failed_record() if wanted is Next.RECORD else None
        self.dismiss(LoginEnd(wanted, self._state.succeeded, record.seq if record is not None else 0))

    # Actions

    @work(group="browser", exclusive=True)
    async def action_open_page(self) -> None:
        """Open the page in the browser of the user."""
        if self.app.is_web:  # in another tab of the browser that shows the app
            self.app.open_url(self._state.open_url)
        elif not await open_in_browser(self._state.open_url):
            self._no_browser = "No browser was found."
            self._show()

    def action_copy_page(self) -> None:
        """Copy the URL of the page."""
        copy(self, self._state.open_url)

    def action_stop(self) -> None:
        """Cancel the login, and close the dialog."""
        self._login.cancel()
        self._end(Next.DONE)

    def action_leave(self) -> None:
        """Close the dialog; a token that was issued is used."""
        self._end(Next.DONE)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the page while it is needed, and to cancel until the end."""
        match action:
            case "open_page":
                return bool(self._state.open_url) and not self._no_browser
            case "copy_page":
                return bool(self._state.open_url)
            case "stop":
                return not self._state.finished
            case "leave":
                return self._state.finished
            case _:
                return super().check_action(action, parameters)
