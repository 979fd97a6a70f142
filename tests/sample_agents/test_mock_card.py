"""The card: where it is, in which shape, and how it is cached."""

from __future__ import annotations

import aiohttp
import pytest
from inspector.sample_agents.server import MockAgent

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.registry import read_card

PATH = "/.well-known/agent-card.json"


async def test_the_card_is_a_pure_1_0_card_with_both_interfaces(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    async with session.get(agent.url + PATH) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        value = await response.json()
    assert {"url", "protocolVersion", "preferredTransport", "additionalInterfaces", "security"}.isdisjoint(value)
    assert value["supportedInterfaces"] == [
        {"url": f"{agent.url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": f"{agent.url}/v0.3", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
    ]
    card, dialect = read_card(value)
    assert isinstance(card, AgentCard)
    assert (dialect.generation, card.name) == ("1.0", "Mock Agent")
    assert (card.capabilities.streaming, card.capabilities.push_notifications) == (True, True)
    assert card.capabilities.extensions is not None
    assert [one.required for one in card.capabilities.extensions] == [False]
    assert card.security_schemes
    assert not card.security_requirements
    assert card.provider is not None
    assert card.documentation_url
    assert [skill.id for skill in card.skills] == ["echo", "report", "file", "ask", "fail", "long", "push"]
    assert all(skill.description and skill.tags and skill.examples for skill in card.skills)


@pytest.mark.parametrize(
    ("path", "headers"),
    [(PATH, {"A2A-Version": "0.3"}), (PATH, {"A2A-Version": "0.3.0"}), ("/.well-known/agent.json", {})],
)
async def test_who_asks_for_0_3_gets_a_card_in_its_shape(
    agent: MockAgent, session: aiohttp.ClientSession, path: str, headers: dict[str, str]
) -> None:
    async with session.get(agent.url + path, headers=headers) as response:
        assert response.headers["Vary"] == "A2A-Version"
        value = await response.json()
    assert "supportedInterfaces" not in value
    assert (value["url"], value["protocolVersion"]) == (f"{agent.url}/v0.3", "0.3.0")
    assert value["preferredTransport"] == "JSONRPC"
    assert value["securitySchemes"]["bearer"]["type"] == "http"
    card, dialect = read_card(value)
    assert isinstance(card, AgentCard)
    assert dialect.generation == "0.3"


@pytest.mark.parametrize("version", ["1.0", "99.0", "nonsense"])
async def test_any_other_version_gets_the_1_0_card(
    agent: MockAgent, session: aiohttp.ClientSession, version: str
) -> None:
    async with session.get(agent.url + PATH, headers={"A2A-Version": version}) as response:
        assert "supportedInterfaces" in await response.json()


async def test_an_unchanged_card_is_not_sent_again(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(agent.url + PATH) as response:
        validators = response.headers
        assert "max-age=" in validators["Cache-Control"]
    for headers in (
        {"If-None-Match": validators["ETag"]},
        {"If-None-Match": f'"other", W/{validators["ETag"]}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": validators["Last-Modified"]},
    ):
        async with session.get(agent.url + PATH, headers=headers) as response:
            assert response.status == 304, headers
            assert response.headers["ETag"] == validators["ETag"]
            assert await response.read() == b""


async def test_a_changed_card_is_sent(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(agent.url + PATH) as response:
        etag = response.headers["ETag"]
    for headers in (
        {"If-None-Match": '"other"'},
        {"If-None-Match": etag, "A2A-Version": "0.3"},
        {"If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ):
        async with session.get(agent.url + PATH, headers=headers) as response:
            assert response.status == 200, headers


async def test_the_card_names_the_address_that_it_was_asked_at(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    async with session.get(agent.url + PATH, headers={"Host": "agent.example:81"}) as response:
        assert (await response.json())["supportedInterfaces"][0]["url"] == "http://agent.example:81/"
    for nonsense in ("][:x", "x:99999999", ""):
        async with session.get(agent.url + PATH, headers={"Host": nonsense}) as response:
            assert (await response.json())["supportedInterfaces"][0]["url"] == f"{agent.url}/"


async def test_head_of_the_card_has_no_body(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.head(agent.url + PATH) as response:
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        assert int(response.headers["Content-Length"]) > 1000
