"""The secrets of a login are in no view of the app and nowhere on the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
from aiohttp import web
from canary import leaks
from driving import Driver, Open
from login_canary import CLIENT, GIVEN, SECRET, Provider
from textual.widgets import Input

from inspector.protocol.security import Grant
from inspector.session.login.options import ClientRegistration
from inspector.session.login.state import LoginState

SIZE = (160, 45)


def assert_hidden(driver: Driver, provider: Provider) -> None:
    shown = f"{driver.screen}\n{driver.app.title} {driver.app.sub_title}"
    assert [secret for secret in (*GIVEN, *provider.learned) if secret in shown] == []


async def log_in(driver: Driver) -> None:
    """Log in as a user who opens the URL at once."""
    session, visits = driver.session, []

    async def visit(url: str) -> None:
        async with httpx.AsyncClient(follow_redirects=True) as browser:
            await browser.get(url)

    def on_change(state: LoginState) -> None:
        if state.open_url and not visits:
            visits.append(asyncio.ensure_future(visit(state.open_url)))

    option = next(each for each in session.credentials.logins.options if each.grant == Grant.AUTHORIZATION_CODE)
    await session.credentials.logins.start(option, ClientRegistration(CLIENT, SECRET, redirect_port=0), on_change).run()
    await asyncio.gather(*visits)


async def log_in_with_a_device_code(driver: Driver, provider: Provider) -> None:
    """Type the secret into the form of the app, and look at each screen of the login."""
    await driver.press("C")
    await driver.until("with a code on any device")
    await driver.click("with a code on any device")
    await driver.until("Client secret")
    driver.widget("#field-client", Input).value = CLIENT
    driver.widget("#field-secret", Input).value = SECRET
    await driver.settled()
    assert_hidden(driver, provider)
    await driver.press("enter", "enter", "enter")
    await driver.until("✓ Logged in")
    assert "/device" in provider.requests
    assert_hidden(driver, provider)
    await driver.press("enter")


async def test_the_app_shows_and_stores_no_secret_of_a_login(open_app: Open, home: Path):
    provider = Provider()
    runner = web.ServerRunner(web.Server(provider.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with open_app(provider.url, SIZE) as driver:
            await driver.connected()
            await log_in(driver)
            await log_in_with_a_device_code(driver, provider)
            await driver.ask("hello")
            assert "/rpc" in provider.requests
            for view in range(1, 7):
                await driver.go(view)
                await driver.settled()
                assert_hidden(driver, provider)
            await driver.go(5)
            for _ in range(4):
                await driver.press("down")
                await driver.settled()
                assert_hidden(driver, provider)
            await driver.write()
            await driver.type("a draft")
            state = home / "state"
            await driver.until(lambda: (state / "sent.jsonl").exists() and any((state / "drafts").glob("*.toml")))
            assert not leaks(home, *GIVEN, *provider.learned), "while the app runs, with the WAL of the capture"
    finally:
        await runner.cleanup()
    assert len(provider.learned) >= 3
    assert not leaks(home, *GIVEN, *provider.learned)
