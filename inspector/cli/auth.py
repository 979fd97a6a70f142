"""`auth`: log in to an agent, print and store tokens, log out."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.cli.run_command import command_for_any_version
from inspector.cli.running_command import RunningCommand
from inspector.cli.stdin import ask, ask_secret, can_ask
from inspector.cli.styles import Role, Styled
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.security import Grant, requirements_in_words
from inspector.session.login.browser import browser_problem, open_in_browser
from inspector.session.login.options import ClientRegistration, LoginOption
from inspector.session.login.state import LoginState
from inspector.session.login.token_store import Place, StoredToken, keyring_problem
from inspector.session.login.tokens import Token
from inspector.text.reference import with_scheme
from inspector.text.units import duration
from inspector.wire.client.credentials import origin, split_userinfo

_WITH_SECRET = (Grant.CLIENT_CREDENTIALS, Grant.AUTHORIZATION_CODE, Grant.DEVICE_CODE)
_WITHOUT_SECRET = (Grant.AUTHORIZATION_CODE, Grant.DEVICE_CODE)
_NONE_REQUIRED = "no credentials"
"""What a card without security requirements requires."""


@command_for_any_version
async def log_in(current: RunningCommand) -> None:
    """Log in to an agent and store the token."""
    given, out, session = current.invocation.given, current.out, current.session
    if current.invocation.options.stored_auth_only:
        raise usage("--stored-auth-only does not log in.", "Leave it out, or print the stored token: auth token.")
    await current.connect()
    option = _choose(current)
    if len(option.servers) > 1:
        out.warn(f"the page of the login is at {option.servers[0]}, but the token is requested at {option.servers[1]}")
    registration = await _registration(current, option)
    place = await _place(given.store, session.credentials.logins.stored.where)
    instructions = _LoginInstructions(out, browser=not given.no_browser)
    login = session.credentials.logins.start(option, registration, instructions)
    try:
        token = await login.run()
    except asyncio.CancelledError:
        raise asyncio.CancelledError("the login was not completed") from None
    where = session.credentials.logins.store(token, place) if place is not None else ""
    missing = [scope for scope in login.state.requested_scopes if scope not in token.scopes]
    if missing:
        out.warn(f"these scopes were not granted: {', '.join(missing)}")
    _print(out, token, where or "not stored")


@command_for_any_version
async def status(current: RunningCommand) -> None:
    """Print the stored tokens, and with an agent what it requires; exit with 4 if its requirements are not met."""
    session, out = current.session, current.out
    if not current.invocation.options.reference:
        _print_all(current, session.credentials.logins.entries())
        return
    connection = await current.connect()
    url, token = session.agent_url, session.credentials.token
    authentication = session.credentials.authentication
    alternatives = authentication.alternatives(connection.card)
    met = not alternatives or any(not alternative.missing for alternative in alternatives)
    if out.json:
        required = [{"requires": each.words, "missing": list(each.missing)} for each in alternatives]
        out.document({"origin": origin(url), "met": met, "alternatives": required, "token": _members(token)})
    else:
        out.field("Agent", session.journal.redactor.url(url))
        out.field("Requires", requirements_in_words(connection.card, none=_NONE_REQUIRED))
        if token is not None:
            _print(out, token, "")
        given = Styled("given, not tested", Role.GOOD) if authentication.sent else "none are required by the card"
        out.field("Credentials", given if met else Styled("missing", Role.BAD))
    if not met:
        raise _no_token(current)


@command_for_any_version
async def log_out(current: RunningCommand) -> None:
    """Revoke and remove the tokens for an agent, or all tokens."""
    logins, out = current.session.credentials.logins, current.out
    entries = logins.entries() if current.invocation.given.all else await _entries(current)
    for entry in entries:
        result = await logins.log_out(entry.key)
        if out.json:
            out.document({**_key(entry), "result": result})
        else:
            out.field(entry.key.origin, result)
    if not entries and not out.json:
        agent = current.session.journal.redactor.url(current.invocation.options.reference or "")
        out.line(f"There are no stored tokens{f' for {agent}' if agent else ''}.")


@command_for_any_version
async def token(current: RunningCommand) -> None:
    """Print the stored token for an agent; renew it before if it expires soon."""
    entries = await _entries(current)
    if not entries:
        raise _no_token(current)
    logins, url = current.session.credentials.logins, entries[-1].key.origin
    logins.load(url)
    await logins.renew(url)
    found = logins.token_for(url)
    if found is None or found.expires_within(0, time.time()):
        raise _no_token(current)
    if current.out.json:
        current.out.document({**(_members(found) or {}), "accessToken": found.access_token})
    else:
        current.out.write(f"{found.access_token}\n")


async def _entries(current: RunningCommand) -> list[StoredToken]:
    """Return the stored tokens for the origin of the agent: as typed, else of its interface."""
    logins = current.session.credentials.logins
    typed = origin(split_userinfo(with_scheme(current.reference()))[0])
    entries = logins.stored.entries(typed) if typed else []
    if not entries and logins.entries():
        await current.connect()
        entries = logins.stored.entries(origin(current.session.agent_url))
    return entries


async def _place(chosen: str | None, where: Any) -> Place | None:
    """Return where to store the token, None for nowhere; the file is used only if the user agrees."""
    if chosen == "none":
        return None
    if chosen == Place.FILE:
        return Place.FILE
    problem = keyring_problem()
    if not problem:
        return Place.KEYRING
    if chosen is None and can_ask():
        question = f"{problem}\nStore the token in {where(Place.FILE)}, which only you can read? [y/N] "
        if (await ask(question)).lower() in ("y", "yes"):
            return Place.FILE
    raise usage(problem, "Add --store file to store the token in a file that only you can read, or --store none.")


def _choose(current: RunningCommand) -> LoginOption:
    """Return the flow to use; raises `FaultError` if the card offers none."""
    given, options = current.invocation.given, current.session.credentials.logins.options
    named = [option for option in options if given.scheme in (None, option.scheme)]
    if not named:
        offered = ", ".join(dict.fromkeys(option.scheme for option in options))
        seen = f"The card has no scheme {given.scheme} to log in with." if given.scheme else "The card offers no login."
        required = current.session.connection
        hint = f"It offers {offered}." if offered else ""
        if not offered and required is not None:
            words = requirements_in_words(required.card, none=_NONE_REQUIRED)
            hint = f"The card requires {words}. {current.login_hint()}".strip()
        raise usage(seen, hint)
    wanted = (Grant.DEVICE_CODE,) if given.device else (Grant(given.flow),) if given.flow else ()
    preferred = wanted or (_WITH_SECRET if given.client_secret else (*_WITHOUT_SECRET, Grant.CLIENT_CREDENTIALS))
    usable = [option for option in named if not option.refused and option.grant in preferred]
    if not usable:
        reasons = ", ".join(f"{option.grant.value} ({option.refused or 'possible'})" for option in named)
        raise usage(f"The card does not offer the flow {preferred[0].value}.", f"It offers: {reasons}.")
    return min(usable, key=lambda option: preferred.index(option.grant))


async def _registration(current: RunningCommand, option: LoginOption) -> ClientRegistration:
    """Return the client; what is missing is asked for in a terminal. Raises `FaultError` without a terminal."""
    given, options = current.invocation.given, current.invocation.options
    client_id, secret = given.client_id or "", given.client_secret or ""
    if not client_id:
        entries = current.session.credentials.logins.stored.entries(origin(current.session.agent_url))
        known = [entry.key.client_id for entry in entries if entry.key.scheme == option.scheme]
        client_id = known[-1] if known else ""
    if not client_id and can_ask():
        client_id = await ask("Client id: ")
    if not client_id:
        raise usage("No client id was given.", "Add --client-id with the id of a client at the authorization server.")
    if option.needs_secret and not secret and can_ask():
        secret = await ask_secret("Client secret: ")
    if option.needs_secret and not secret:
        hint = "Add --client-secret env:NAME, with the name of an environment variable."
        raise usage(f"The flow {option.grant.value} needs the secret of the client.", hint)
    port = options.redirect_port if given.redirect_port is None else given.redirect_port
    return ClientRegistration(client_id, secret, tuple(given.scopes or ()), port)


class _LoginInstructions:
    """Prints on stderr what the user has to do, each thing once, and opens the browser."""

    def __init__(self, out: Output, *, browser: bool) -> None:
        self._out = out
        self._browser = browser
        self._shown = ""
        self._opening: asyncio.Task[bool] | None = None

    def __call__(self, state: LoginState) -> None:
        if not state.open_url or state.open_url == self._shown:
            return
        self._shown = state.open_url
        if state.user_code:
            self._out.line_to_stderr("Code", state.user_code)
        self._out.line_to_stderr("Log in at", state.open_url)
        if state.expires_at is not None:
            self._out.line_to_stderr("Within", duration(state.expires_at - time.time()))
        if state.user_code:
            return
        if self._browser and not browser_problem():
            self._opening = asyncio.create_task(open_in_browser(state.open_url))
        else:
            port = urlsplit(state.short_url).port
            tunnel = f"ssh -L {port}:127.0.0.1:{port} HOST"
            text = f"port {port} of this machine. On another machine, first run {tunnel} there, or use --device"
            self._out.line_to_stderr("The page returns to", text)


def _print(out: Output, token: Token, where: str) -> None:
    if out.json:
        out.document({**(_members(token) or {}), "stored": where})
        return
    out.field("Scheme", f"{token.key.scheme} ({token.grant})")
    out.field("Client", token.key.client_id)
    if token.subject:
        out.field("User", token.subject)
    out.field("Scopes", " ".join(token.scopes) or "none")
    out.field(*_expiry(token))
    if where:
        out.field("Stored", where)


def _print_all(current: RunningCommand, entries: list[StoredToken]) -> None:
    out, stored = current.out, current.session.credentials.logins.stored
    tokens = [(entry, stored.get(entry)) for entry in entries]
    if out.json:
        out.document([{**_key(entry), **(_members(found) or {})} for entry, found in tokens])
        return
    if not tokens:
        out.line("There are no stored tokens.")
    for entry, found in tokens:
        key = entry.key
        expiry = " ".join(_expiry(found)).lower() if found else "not in the keyring any more"
        out.field(key.origin, f"{key.scheme}, client {key.client_id}, {entry.place.value}, {expiry}")


def _expiry(token: Token) -> tuple[str, str]:
    """Return a label and when a token expires or expired, and whether it is renewed."""
    if token.expires_at is None:
        return "Expires", "unknown"
    left = token.expires_at - time.time()
    if left > 0:
        return "Expires", f"in {duration(left)}{', renewed automatically' if token.can_renew else ''}"
    next_step = "the next command tries to renew it" if token.can_renew else "log in again"
    return "Expired", f"{duration(-left)} ago, {next_step}"


def _key(entry: StoredToken) -> dict[str, Any]:
    key = entry.key
    return {"origin": key.origin, "scheme": key.scheme, "clientId": key.client_id, "place": entry.place.value}


def _members(token: Token | None) -> dict[str, Any] | None:
    """Return what JSON output has about a token, without secrets."""
    if token is None:
        return None
    return {
        "origin": token.key.origin,
        "scheme": token.key.scheme,
        "clientId": token.key.client_id,
        "flow": token.grant,
        "scopes": list(token.scopes),
        "expiresAt": token.expires_at,
        "issuer": token.issuer,
        "subject": token.subject,
    }


def _no_token(current: RunningCommand) -> FaultError:
    seen = f"There are no valid stored credentials for {current.invocation.options.reference}."
    hint = current.login_hint() or f"Log in: {current.login_command()}"
    return FaultError(Fault(Whose.YOURS, FaultCode.CREDENTIALS_MISSING, seen, hint))
