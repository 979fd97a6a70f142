"""The questions about redirects to private addresses, and about credentials for interfaces at other origins."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from driving import Driver, Open
from players import playing
from puppets import CARD_PATH, Call, Puppet, task

from inspector.wire import private_address

SIZE = (120, 36)
CREDENTIALS = {"headers": (("Authorization", "Bearer canary-77ab-secret"),)}
QUESTION = "Connect once"
WITHHELD = "Send them there, too"
OF_PROJECT = "Send them in this session"


async def complete(call: Call) -> web.StreamResponse:
    return await call.stream({"task": task("COMPLETED")})


def redirects_to(place: str) -> Any:
    return web.Response(status=302, headers={"Location": place})


@pytest.fixture(autouse=True)
def as_from_a_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat redirects from this machine like those from a public address."""
    monkeypatch.setattr(private_address, "_is_this_machine", lambda address: False)


def by_name(agent: Puppet) -> str:
    """Return the URL of a local agent with another host name."""
    return agent.url.replace("127.0.0.1", "localhost")


def sent_secret(agent: Puppet) -> list[bool]:
    return ["Authorization" in call.request.headers for call in agent.calls]


async def choose(driver: Driver, how: str, answer: str) -> None:
    """Choose the first answer with the keyboard or the mouse."""
    if how == "mouse":
        await driver.click(answer)
    else:
        await driver.press("up", "enter")


@pytest.mark.parametrize("how", ["keyboard", "mouse"])
async def test_a_redirect_to_a_private_address_is_followed_after_the_question(open_app: Open, how: str):
    async with playing(complete) as inner, playing(complete, redirects_to(f"{by_name(inner)}{CARD_PATH}")) as agent:
        inner.card = {"name": "Inner agent"}
        async with open_app(agent.url, SIZE) as driver:
            await driver.until(QUESTION)
            for text in (agent.url, by_name(inner), "Redirect to a private address", "Cancel"):
                assert text in driver.screen, text
            assert "Your credentials" not in driver.screen
            assert "--trust" not in driver.screen
            assert not inner.calls
            await choose(driver, how, QUESTION)
            await driver.connected()
            assert "Inner agent" in driver.screen


@pytest.mark.parametrize("how", ["keyboard", "mouse"])
async def test_an_agent_that_a_file_of_the_project_names_gets_the_credentials_after_the_question(
    open_app: Open, how: str
):
    project = {"named_by": "project/agents.toml:2", "withheld": True}
    async with playing(complete) as agent, open_app(agent.url, SIZE, **CREDENTIALS, **project) as driver:
        await driver.until(OF_PROJECT)
        assert "project/agents.toml:2" in driver.screen
        assert agent.url in driver.screen
        assert not any(sent_secret(agent))
        await choose(driver, how, OF_PROJECT)
        await driver.connected()
        await driver.say("hello")
        await driver.until("completed")
        assert sent_secret(agent)[-1]


@pytest.mark.parametrize("keys", [("enter",), ("escape",)])
async def test_a_redirect_that_is_not_trusted_is_not_followed(open_app: Open, keys: tuple[str, ...]):
    async with (
        playing(complete) as inner,
        playing(complete, redirects_to(f"{by_name(inner)}{CARD_PATH}")) as agent,
        open_app(agent.url, SIZE, **CREDENTIALS) as driver,
    ):
        await driver.until(QUESTION)
        assert "Your credentials are sent there" in driver.words
        await driver.press(*keys)
        await driver.until("no agent")
        assert f"The card redirects to a private address, {by_name(inner)} (127.0.0.1)." in driver.screen
        assert "press r and choose to connect once" in driver.screen
        assert "--trust" not in driver.screen
        assert not inner.calls
        await driver.press("r")
        await driver.until(QUESTION)
        await driver.press("up", "enter")
        await driver.until(WITHHELD)  # the interface of the card is at a third origin
        assert sent_secret(inner) == [False]


async def test_the_question_is_asked_when_the_card_is_fetched_again(open_app: Open):
    async with playing(complete) as inner, playing(complete) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        agent.card, inner.card = redirects_to(f"{by_name(inner)}{CARD_PATH}"), {"name": "Inner agent"}
        await driver.press("r")
        await driver.until(QUESTION)
        await driver.press("escape")
        await driver.settled()
        assert not inner.calls
        await driver.press("r")
        await driver.until(QUESTION)
        await driver.press("up", "enter")
        await driver.until("Inner agent")


@pytest.mark.parametrize("how", ["keyboard", "mouse"])
async def test_credentials_are_sent_to_an_interface_at_another_origin_after_the_question(open_app: Open, how: str):
    async with playing(complete) as stranger, playing(complete) as agent:
        agent.card = agent_at(stranger)
        async with open_app(agent.url, SIZE, **CREDENTIALS) as driver:
            await driver.until(WITHHELD)
            assert stranger.url in driver.screen
            await choose(driver, how, WITHHELD)
            await driver.until("sent: Authorization: Bearer ****")
            await driver.ask("hello")
            assert sent_secret(stranger) == [True]


async def test_the_question_is_asked_if_the_interface_is_chosen_for_a_message(open_app: Open):
    async with playing(complete) as stranger, playing(complete) as agent:
        [own] = agent.whole_card()["supportedInterfaces"]
        [other] = stranger.whole_card()["supportedInterfaces"]
        agent.card = {"supportedInterfaces": [own, other]}
        async with open_app(agent.url, SIZE, **CREDENTIALS) as driver:
            await driver.connected()
            await driver.write()
            await driver.press("ctrl+o", "escape", "I", "down", "enter")
            await driver.until(WITHHELD)
            await driver.press("up", "enter")
            await driver.press("escape")
            await driver.go(1)
            await driver.until("sent: Authorization: Bearer ****")
            assert "in use" in driver.line(stranger.url)


async def test_credentials_that_the_user_withholds_are_not_sent(open_app: Open):
    async with playing(complete) as stranger, playing(complete) as agent:
        agent.card = agent_at(stranger)
        async with open_app(agent.url, SIZE, **CREDENTIALS) as driver:
            await driver.until(WITHHELD)
            await driver.press("enter")
            await driver.connected()
            await driver.ask("hello")
            assert sent_secret(stranger) == [False]
            await driver.press("escape", "C")
            await driver.until(f"Send the given credentials to {stranger.url}, too")
            await driver.press("home", "enter")
            await driver.until("is trusted in this")
            await driver.press("i")
            await driver.ask("hello again")
            assert sent_secret(stranger) == [False, True]
            await driver.press("escape", "C")
            await driver.until("Enter a secret")
            assert "Send the given credentials" not in driver.screen


async def test_without_credentials_there_is_no_question_about_the_interface(open_app: Open):
    async with playing(complete) as stranger, playing(complete) as agent:
        agent.card = agent_at(stranger)
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.settled()
            assert WITHHELD not in driver.screen


def agent_at(other: Puppet) -> dict[str, Any]:
    """Return a card whose only interface is at another agent."""
    interface = {"url": f"{other.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {"supportedInterfaces": [interface]}
