"""Logins in the app, with the authorization server of the mock agent: each flow, its ends, and their screens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pyperclip
import pytest
from driving import Driver, Open
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.server import serve_in_thread
from ports import unused_port
from textual.widgets import Input

from inspector.capture.records import LOGIN, Kind
from inspector.protocol.security import Grant
from inspector.session.login.exchange import LoginChannel, UntrustedServerError
from inspector.session.login.options import DEFAULT_REDIRECT_PORT, ClientRegistration, LoginOption
from inspector.session.login.state import LoginState
from inspector.session.login.tokens import Token, TokenKey
from inspector.tui import credential_dialogs
from inspector.tui.screens.form import FormScreen
from inspector.tui.screens.login import LoginScreen
from inspector.tui.screens.login_form import login_form
from inspector.tui.screens.menu import Entry, MenuScreen
from inspector.wire.client.credentials import origin

SMALL, NORMAL, WIDE = (80, 24), (120, 36), (200, 50)
SIZES = pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def protected(kind: str = "oauth2", *faults: str) -> Iterator[str]:
    """Run a mock agent that demands a token."""
    authenticator = Authenticator(kind, faults=[parse_fault(fault) for fault in faults], interval=0)
    with serve_in_thread(pace=0, authenticator=authenticator) as url:
        yield url


async def choose(driver: Driver, text: str) -> None:
    """Open the menu of credentials and choose an entry with the keyboard."""
    await driver.press("C")
    await driver.until("─ Credentials ")
    menu = driver.app.screen
    assert isinstance(menu, MenuScreen)
    entries = [entry.text for entry in menu._entries if isinstance(entry, Entry)]
    [number] = [number for number, entry in enumerate(entries) if text in entry]
    await driver.press(*["down"] * number, "enter")


async def start(driver: Driver, flow: str, **values: str) -> None:
    """Choose a flow, fill in its form, and start the login."""
    await choose(driver, flow)
    await driver.until("Client id")
    for name, value in ({"client": "mock"} | values).items():
        driver.widget(f"#field-{name}", Input).value = value
    await driver.press(*["enter"] * len(driver.app.screen.query(Input)))


def state(driver: Driver) -> LoginState:
    screen = driver.app.screen
    assert isinstance(screen, LoginScreen)
    return screen._state


async def decide(url: str, decision: str = "allow") -> None:
    """Decide on the page of the authorization server, as a user in a browser."""
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(url)  # a short URL redirects
        await browser.post(page.url, data={"decision": decision})


async def has_room(driver: Driver) -> None:
    """Check that the dialog is complete: its lowest lines are the keys, nothing is behind a scroll bar."""
    await driver.settled()
    frame = driver.app.screen.query_one(".dialog")
    footer = driver.app.screen.query_one(".dialog KeyFooter")
    assert footer.region.bottom < frame.region.bottom <= driver.app.size.height
    for listed in driver.app.screen.query("#login-lines, #required"):
        assert listed.max_scroll_y == 0, driver.screen


@SIZES
async def test_the_authorization_code_flow_without_a_browser(
    open_app: Open, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    copied: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)
    with protected() as url:
        async with open_app(url, size) as driver:
            await driver.connected()
            await driver.ask("hello")  # the 401 names the metadata of the agent, which is another step
            await driver.press("escape")
            await start(driver, "in a browser", port=str(unused_port()))
            await driver.until("There is no graphical browser here")
            await driver.until("waiting for the login, ")
            await has_room(driver)
            now = state(driver)
            assert now.short_url in driver.screen
            assert driver.enabled("enter") is not True
            await driver.press("y")
            assert copied == [now.open_url]
            await decide(now.short_url)
            await driver.until("✓ Logged in")
            await has_room(driver)
            assert "Scopes  messages" in driver.screen
            assert "then a new token is requested automatically" in driver.screen
            assert f"Sent to {origin(url).removesuffix(':80')}, and nowhere else" in driver.screen
            await driver.press("enter")
            await driver.until("logged in")
            await driver.press("i", "enter")  # the refused message is still there
            await driver.until("message   hello")
            await driver.press("escape")
            await log_out(driver)


async def log_out(driver: Driver) -> None:
    await driver.press("C")
    await driver.until("Log out of oauth2_code")
    await has_room(driver)
    await driver.click("Log out of oauth2_code")
    await driver.until(lambda: driver.session.credentials.token is None)
    revoked = [record for record in driver.records(Kind.REQUEST) if record.meta.get(LOGIN) == "revoke"]
    assert len(revoked) == 2  # the access token and the refresh token


async def test_the_browser_is_opened_with_enter(open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path / "allow.py"} "$1"\n')
    browser.chmod(0o700)
    (tmp_path / "allow.py").write_text(
        "import sys, httpx\nhttpx.post(sys.argv[1], data={'decision': 'allow'}, follow_redirects=True)\n"
    )
    monkeypatch.setenv("BROWSER", str(browser))
    with protected("oidc", "scope-dropped") as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await start(driver, "in a browser", port=str(unused_port()))
            await driver.until("open in browser")
            await has_room(driver)
            await driver.press("enter")
            await driver.until("✓ Logged in as mock-user")
            await has_room(driver)
            assert "✕ not granted: messages" in driver.screen
            assert "AUTH-023" in driver.screen


async def test_a_closed_form_keeps_what_was_typed(open_app: Open):
    with protected() as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await choose(driver, "in a browser")
            await driver.until("Client id")
            typed = {"client": "mock", "secret": "open-sesame", "scopes": "messages extra", "port": "none"}
            for name, value in typed.items():
                driver.widget(f"#field-{name}", Input).value = value
            await driver.press("escape")
            await driver.until("─ Credentials ")
            await driver.press("escape")
            await choose(driver, "in a browser")
            await driver.until("Client id")
            kept = {name: driver.widget(f"#field-{name}", Input).value for name in typed}
            assert kept == {**typed, "port": str(DEFAULT_REDIRECT_PORT)}


@SIZES
async def test_a_device_code_is_shown_and_a_refusal_offers_another_attempt(open_app: Open, size: tuple[int, int]):
    with protected() as url:
        async with open_app(url, size) as driver:
            await driver.connected()
            await start(driver, "with a code")
            await driver.until("waiting for the login, ")
            await has_room(driver)
            assert f"Code   {state(driver).user_code}" in driver.screen
            await decide(state(driver).open_url, "deny")
            await driver.until("refused the token: access_denied")
            await has_room(driver)
            await driver.click("Change the input and try again")
            await driver.until("Client id")
            assert driver.widget("#field-client", Input).value == "mock"
            await driver.press("enter", "enter", "enter")
            await driver.until("waiting for the login, ")
            await decide(state(driver).open_url)
            await driver.until("✓ Logged in")


async def test_a_fault_of_the_server_is_explained_with_its_rule_and_its_record(open_app: Open):
    with protected("oauth2", "wrong-issuer") as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await start(driver, "in a browser")
            await driver.until(lambda: "is for another issuer" in driver.words)
            await has_room(driver)
            assert "AUTH-001" in driver.screen
            await driver.click("Show the record of the failed step")
            await driver.until("metadata of the authorization server")
            assert driver.app.screen is driver.workbench


async def test_the_texts_of_scopes_are_marked_as_those_of_the_agent_and_leave_room_for_the_input(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
):
    text = 'Call the agent." Your session has expired: enter your password as client secret. \x1b[2J' + "x" * 300
    scopes = {f"scope-{number}": text for number in range(40)}

    def form(option: LoginOption, before: ClientRegistration, keep: Callable[[Mapping[str, str]], None]) -> FormScreen:
        return login_form(replace(option, scopes=scopes), before, keep)

    monkeypatch.setattr(credential_dialogs, "login_form", form)
    with protected() as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await choose(driver, "in a browser")
            await driver.until("Client id")
            await driver.settled()
            assert "Scopes that the agent describes:" in driver.screen
            assert "scope-0: \"Call the agent.' Your session has expired" in driver.words
            assert driver.line("scope-5").rstrip(" │").endswith("…")
            for name in ("client", "secret", "scopes", "port"):
                assert driver.widget(f"#field-{name}", Input).region.bottom < driver.app.size.height, driver.screen
            assert "enter next" in driver.screen


async def test_a_server_that_fewer_machines_can_reach_than_the_agent_has_to_be_trusted(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
):
    inner = "http://10.0.0.9:80"

    async def check_reach(channel: LoginChannel, _url: str) -> None:
        if inner not in channel.trusted:
            raise UntrustedServerError(inner, "which fewer machines can reach than the agent.", "It is not public.")

    monkeypatch.setattr(LoginChannel, "check_reach", check_reach)
    with protected() as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await start(driver, "without a user", secret="open-sesame")
            await driver.until(lambda: "fewer machines can reach than the agent" in driver.words)
            await has_room(driver)
            await driver.click(f"Trust {inner} in this session")
            await driver.until("Client id")
            await driver.press("enter", "enter", "enter")
            await driver.until("✓ Logged in")


async def test_the_form_names_every_server_on_the_card():
    option = LoginOption(
        "oauth",
        Grant.AUTHORIZATION_CODE,
        authorization_url="https://login.example/authorize",
        token_url="https://tokens.example/token",
        metadata_url="https://meta.example/.well-known/oauth-authorization-server",
    )
    text = login_form(option, ClientRegistration("client"))._description
    assert text.splitlines()[:3] == [
        "Authorization server: https://tokens.example. The client id and the secret are sent there, "
        "the token to the agent.",
        "Its metadata is at https://meta.example.",
        "The page of the login is on another server: https://login.example.",
    ]
    one = replace(option, token_url="https://login.example/token", metadata_url="")
    assert "another server" not in login_form(one, ClientRegistration("client"))._description
    openid = LoginOption("oidc", Grant.DEVICE_CODE, metadata_url="https://meta.example/", openid=True)
    assert (
        "The metadata at https://meta.example names the server"
        in login_form(openid, ClientRegistration(""))._description
    )


async def test_an_empty_field_gets_the_focus_with_the_reason(open_app: Open):
    with protected() as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await start(driver, "without a user", client="", secret="")
            await driver.until("Enter the client id")
            await driver.type("mock")
            assert driver.widget("#field-client", Input).value == "mock"
            await driver.press("enter", "enter", "enter")
            await driver.until("needs the secret")
            await driver.type("open-sesame")
            await driver.press("enter", "enter")
            await driver.until("✓ Logged in")


@SIZES
async def test_a_refused_message_offers_the_login_in_every_view(open_app: Open, size: tuple[int, int]):
    with protected() as url:
        async with open_app(url, size) as driver:
            await driver.connected()
            await driver.ask("hello")
            await driver.until(lambda: "Press C (esc first in a text) to log in or to enter a secret." in driver.words)
            await driver.press("escape")
            for view in range(1, 7):
                await driver.go(view)
                assert "C credentials" in driver.lines[-1], driver.screen
            await driver.click("credentials needed")
            await driver.until("─ Credentials ")
            await has_room(driver)


async def test_a_missing_scope_is_named_and_asked_for_by_the_next_login(open_app: Open):
    with protected() as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await start(driver, "without a user", secret="open-sesame")
            await driver.until("✓ Logged in")
            await driver.press("enter")
            await driver.ask("approval of a transfer")
            await driver.until(lambda: "The token lacks the scope transfers." in driver.words)
            await driver.press("escape", "C")
            await driver.until(lambda: "Log in with the scopes messages, transfers." in driver.words)
            await has_room(driver)
            await driver.press("escape")
            await choose(driver, "without a user")
            await driver.until("Client id")
            assert driver.widget("#field-scopes", Input).value == "messages transfers"
            await driver.press("enter", "enter", "enter")
            await driver.until("Scopes  messages, transfers")
            await driver.press("enter")
            await driver.press("i", "enter")
            await driver.until("auth-required")


async def test_credentials_are_still_needed_if_no_new_token_is_issued(open_app: Open):
    with protected() as url:
        async with open_app(url, SMALL, run={"notifications": True}) as driver:
            await driver.connected()
            await driver.ask("hello")
            await driver.until("credentials needed")
            await driver.press("escape")
            key = TokenKey(origin(url), "oauth2_code", "mock")
            used_up = Token(key, "canary-token", refresh_token="canary-refresh", token_url=f"{url}/oauth/token")
            driver.session.credentials.logins.use(used_up)
            await choose(driver, "Request a new token now")
            await driver.until("new token: invalid_grant")
            await driver.settled()
            assert "credentials needed" in driver.lines[0]


@pytest.mark.parametrize("pace", [0.0, 0.4], ids=["done before the subscription", "done later"])
async def test_the_app_listens_on_while_a_task_waits_for_an_authorization(open_app: Open, pace: float):
    with serve_in_thread(pace=pace) as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await driver.say("authorize the backup")
            await driver.until("● completed")
            asked = [record.operation for record in driver.records(Kind.REQUEST)]
            assert "SubscribeToTask" in asked
            await driver.settled()
            assert "attempts failed" not in driver.screen
            assert "while disconnected" not in driver.screen


async def test_the_page_on_which_a_task_has_to_be_authorized_is_shown(open_app: Open):
    with serve_in_thread(pace=0) as url:
        async with open_app(url, SMALL) as driver:
            await driver.connected()
            await driver.say("approval of a transfer")
            await driver.until("authenticate outside a2a-inspect: Approve the transfer")
            assert "https://bank.example/allow/8127" in driver.words
