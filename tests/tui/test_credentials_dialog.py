"""Credentials that are entered while a session is running: for a refused card, and for refused calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from certificates import pkcs12_file, write_pem
from driving import Driver, Open
from inspector.sample_agents.server import serve_in_thread
from inspector.sample_agents.tls import Tls
from players import playing
from puppets import Call, task
from textual.widgets import Input

CANARY = "canary-5f0c-secret"
SIZE = (120, 40)
BEARER = {"token": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
KEY = {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Agent-Key"}}}


def requiring(name: str) -> list[dict[str, Any]]:
    return [{"schemes": {name: {"list": []}}}]


async def complete(call: Call) -> web.StreamResponse:
    return await call.stream({"task": task("COMPLETED")})


def guarded(allowed: Callable[[web.BaseRequest], bool]) -> Callable[[Call], Any]:
    """Return an agent that refuses calls without credentials, with a challenge."""

    async def answer(call: Call) -> web.StreamResponse:
        if not allowed(call.request):
            return web.Response(status=401, headers={"WWW-Authenticate": 'Bearer realm="puppet"'})
        return await complete(call)

    return answer


def has_bearer(request: web.BaseRequest) -> bool:
    return request.headers.get("Authorization") == f"Bearer {CANARY}"


def stored(home: Path) -> bytes:
    """Return the bytes of all files that a2a-inspect wrote."""
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


async def test_a_refusal_is_not_reported_as_missing_credentials(open_app: Open):
    refusal = web.Response(status=403)
    async with playing(guarded(has_bearer), card=refusal) as agent, open_app(agent.url, SIZE) as driver:
        await driver.until("credentials: log in, or enter a secret")
        assert "the agent, or you if credentials are missing" in driver.line("Responsible")
        assert "A refusal can have other reasons than credentials: see the log" in driver.line("Next step")


async def test_a_refused_card_is_fetched_again_with_a_bearer_token(open_app: Open, home: Path):
    async with playing(guarded(has_bearer), card=web.Response(status=401)) as agent:
        async with open_app(agent.url, SIZE) as driver:
            await driver.until("credentials: log in, or enter a secret")
            assert "401" in driver.line("/.well-known/agent-card.json")
            assert "Press C to log in or to enter a secret." in driver.line("Next step")
            assert "credentials needed" in driver.lines[0]
            await driver.press("C")
            await driver.until("Bearer token (header Authorization)")
            await driver.press("enter")
            await driver.type(CANARY)
            assert CANARY not in driver.screen
            assert "•" * 5 in driver.screen
            agent.card = lambda request: (
                {"securitySchemes": BEARER, "securityRequirements": requiring("token")}
                if has_bearer(request)
                else web.Response(status=401)
            )
            await driver.press("enter", "enter")
            await driver.connected()
            assert has_bearer(agent.calls[-1].request), "the card is fetched with the token"
            assert "connected" in driver.lines[0]
            assert "✓ a bearer token   given" in driver.screen
            assert "sent: Authorization: Bearer ****" in driver.screen
            await driver.ask("hello")
            assert has_bearer(agent.calls[-1].request)
            await driver.go(5)
            assert CANARY not in driver.screen
            before = stored(home)
        assert CANARY.encode() not in before + stored(home)
        assert len(before) > 1000


async def test_a_refusal_by_an_agent_whose_card_requires_nothing_names_the_key_to_fetch_the_card(open_app: Open):
    async with playing(guarded(has_bearer)) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.ask("hello")
        await driver.press("escape", "C")
        await driver.until("The card requires no credentials.")
        assert "The card may have changed: press esc, then r in Agent to fetch it again." in driver.words


async def test_a_refused_call_succeeds_with_an_api_key_at_the_place_of_the_card(open_app: Open, home: Path):
    card = {"securitySchemes": KEY, "securityRequirements": requiring("key")}
    has_key = guarded(lambda request: request.headers.get("X-Agent-Key") == CANARY)
    async with playing(has_key, card=card) as agent, open_app(agent.url, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        assert "✕ an API key in header X-Agent-Key   missing" in driver.screen
        await driver.ask("hello")
        await driver.until("credentials needed")
        assert "Press C (esc first in a text) to log in" in driver.words
        await driver.press("escape", "C")
        await driver.until("API key (header X-Agent-Key)")
        await driver.press("down", "down", "enter")
        await driver.type(CANARY)
        await driver.press("enter", "enter")
        await driver.until("New requests are sent with the credentials.")
        await driver.ask("again")
        assert "connected" in driver.lines[0]
        assert "credentials needed" not in driver.lines[0]
        assert agent.calls[-1].request.headers["X-Agent-Key"] == CANARY
        await driver.go(1)
        assert "✓ an API key in header X-Agent-Key   given" in driver.screen
        assert "sent: X-Agent-Key: ****" in driver.screen
        assert CANARY not in driver.screen
    assert CANARY.encode() not in stored(home)


@pytest.mark.parametrize(
    ("key", "problem"),
    [("", "The agent requires credentials: 401"), ("wrong", "The agent rejected the credentials: 401")],
)
async def test_rejected_credentials_are_distinguished_from_missing_credentials(open_app: Open, key: str, problem: str):
    card = {"securitySchemes": KEY, "securityRequirements": requiring("key")}
    has_key = guarded(lambda request: request.headers.get("X-Agent-Key") == CANARY)
    async with playing(has_key, card=card) as agent, open_app(agent.url, SIZE, api_key=key) as driver:
        await driver.connected()
        await driver.ask("hello")
        assert f"problem: {problem}" in driver.screen


async def test_credentials_are_not_sent_to_another_origin(open_app: Open):
    async with playing(complete) as stranger, playing(complete) as agent:
        interface = {"url": f"{stranger.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        agent.card = {"supportedInterfaces": [interface]}
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.press("C", "enter")
            await driver.type(CANARY)
            await driver.press("enter")
            field = driver.widget("#field-origin", Input)
            assert field.value == stranger.url, "the dialog names the origin to which a call is sent"
            field.value = agent.url
            await driver.press("enter")
            await driver.ask("hello")
            assert "Authorization" not in stranger.calls[-1].request.headers
            agent.card = web.Response(status=401)
            await driver.go(1)
            await driver.press("r")
            await driver.until(lambda: len(agent.calls) == 3)
            assert [has_bearer(call.request) for call in agent.calls] == [False, False, True]


async def test_entered_credentials_can_be_removed(open_app: Open):
    async with playing(complete) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.press("C", "down", "down", "down", "down", "enter")
        await driver.type("X-Tenant-Token")
        await driver.press("enter")
        await driver.type(CANARY)
        await driver.press("enter", "enter")
        await driver.until("sent: X-Tenant-Token: ****")
        await driver.press("C")
        await driver.until("now sent: X-Tenant-Token: ****")
        await driver.press("enter")  # the first entry
        await driver.until(lambda: "sent: X-Tenant-Token" not in driver.screen)
        await driver.ask("hello")
        assert "X-Tenant-Token" not in agent.calls[-1].request.headers


@pytest.mark.parametrize(
    ("keys", "values", "problem"),
    [
        (["enter"], {"field-secret": ""}, "Enter the secret."),
        (["enter"], {"field-secret": "a\u00e4b"}, "characters that are not allowed"),
        (["enter"], {"field-secret": "abc"}, "too short or too common to be masked"),
        (["enter"], {"field-secret": "abcd", "field-origin": "somewhere"}, "Enter the origin of the agent"),
        (["down"] * 4 + ["enter"], {"field-name": "a b", "field-secret": "abcd"}, "not the name of a header"),
    ],
)
async def test_invalid_credentials_are_rejected_in_the_dialog(
    open_app: Open, mock: str, keys: list[str], values: dict[str, str], problem: str
):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.press("C", *keys)
        for field, value in values.items():
            driver.widget(f"#{field}", Input).value = value
        await submit(driver)
        assert problem in driver.screen
        assert not driver.session.credentials.entered


async def submit(driver: Driver) -> None:
    driver.widget("#field-origin", Input).focus()
    await driver.press("enter")


async def test_a_closed_form_keeps_the_secret_that_was_typed(open_app: Open, mock: str, home: Path):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.press("C")
        await driver.until("Bearer token")
        await driver.click("Bearer token", times=2)
        await driver.until(lambda: driver.app.screen.query("#field-secret"))
        await driver.paste(CANARY)
        await driver.press("escape")
        await driver.until("Enter a secret")
        await driver.click("Bearer token", times=2)
        await driver.until(lambda: driver.app.screen.query("#field-secret"))
        assert driver.app.screen.query_one("#field-secret", Input).value == CANARY
        assert CANARY not in driver.screen
    assert CANARY.encode() not in stored(home)


async def test_a_capture_has_no_credentials(open_app: Open, mock: str, home: Path):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
    [path] = (home / "captures").glob("*.a2a")
    async with open_app(None, SIZE, recording=path) as driver:
        await driver.until("capture")
        await driver.settled()
        assert driver.enabled("C") is False


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def strict_agent(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The mock agent, which requires a client certificate of an authority that the app trusts."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    files = write_pem(tmp_path, "server", authority.issue_cert("127.0.0.1"))
    with serve_in_thread(pace=0, tls=Tls(*files, tmp_path / "ca.pem")) as url:
        yield url


@pytest.fixture
def certificate(authority: trustme.CA, tmp_path: Path) -> Path:
    """The file of a client certificate whose passphrase is the canary."""
    path = tmp_path / "client.p12"
    path.write_bytes(pkcs12_file(authority.issue_cert("client@agents.example"), CANARY))
    return path


async def test_a_client_certificate_is_entered_for_an_agent_that_requires_one(
    open_app: Open, strict_agent: str, certificate: Path, home: Path
):
    async with open_app(strict_agent, SIZE) as driver:
        await driver.until("credentials: enter a client certificate")
        await driver.press("C", "down", "down", "down", "down", "down", "enter")
        await driver.until("a PEM or PKCS#12 file")
        driver.widget("#field-name", Input).value = str(certificate)
        driver.widget("#field-secret", Input).value = "another-passphrase"
        await submit(driver)
        await driver.until("damaged.")  # the path before it, and so where the message wraps, depends on the test run
        driver.widget("#field-secret", Input).value = CANARY
        assert CANARY not in driver.screen
        await submit(driver)
        await driver.connected()
        await driver.ask("hello")
    assert CANARY.encode() not in stored(home)


async def test_the_passphrase_of_a_certificate_in_the_options_is_asked_for(
    open_app: Open, strict_agent: str, certificate: Path, home: Path
):
    async with open_app(strict_agent, SIZE, client_cert=str(certificate)) as driver:
        await driver.until("Passphrase of the client certificate")
        await driver.type("another-passphrase")
        await driver.press("enter")
        await driver.until("damaged.")  # the path before it, and so where the message wraps, depends on the test run
        await driver.type(CANARY)
        assert CANARY not in driver.screen
        await driver.press("enter")
        await driver.connected()
    assert CANARY.encode() not in stored(home)


async def test_without_the_passphrase_the_app_says_why_it_does_not_connect(
    open_app: Open, strict_agent: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(certificate.parent)
    async with open_app(strict_agent, SIZE, run={"notifications": True}, client_cert=certificate.name) as driver:
        await driver.until("Passphrase of the client certificate")
        await driver.press("escape")
        await driver.until("client.p12 needs a passphrase. Enter it")
