"""The card: paths, protocol versions and caching."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.signing import Signer
from mock_peer import peer_for

from inspector.findings.card.valid_examples import VALID_CARDS
from inspector.findings.catalog import lint_catalog
from inspector.findings.signatures.keyset import read_keys
from inspector.findings.signatures.verify import SignatureOutcome, verify
from inspector.protocol.ai_catalog import Catalog, read_catalog
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.extensions.known import known
from inspector.protocol.model import ExtendedCardRequest
from inspector.protocol.operations import Operation

PATH = "/.well-known/agent-card.json"


INTERFACES = [
    ("{url}/", "JSONRPC", "1.0"),
    ("{url}/v0.3", "JSONRPC", "0.3"),
    ("{url}/v0.2", "JSONRPC", "0.2"),
    ("{url}/v0.1", "JSONRPC", "0.1"),
    ("{url}/v1.1", "JSONRPC", "1.1"),
    ("{url}", "HTTP+JSON", "1.0"),
    ("{url}/v0.3", "HTTP+JSON", "0.3"),
    ("{url}/v0.2", "HTTP+JSON", "0.2"),
    ("{url}/v1.1", "HTTP+JSON", "1.1"),
    ("{grpc}", "GRPC", "1.0"),
    ("http://{grpc}", "GRPC", "0.3"),
    ("http://{grpc}", "GRPC", "0.2"),
    ("{grpc}", "GRPC", "1.1"),
]
"""The interfaces on the card, the preferred first; OPVS, which declares 1.0, is only on its own card."""


def interfaces_of(value: Any) -> list[tuple[str, str, str]]:
    return [
        (interface["url"], interface["protocolBinding"], interface["protocolVersion"])
        for interface in value["supportedInterfaces"]
    ]


async def card(session: aiohttp.ClientSession, url: str, **headers: str) -> Any:
    async with session.get(url, headers={name.replace("_", "-"): text for name, text in headers.items()}) as response:
        assert response.status == 200, await response.text()
        return await response.json()


async def test_the_card_is_a_1_0_card_with_every_interface(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(agent.url + PATH) as response:
        assert (response.status, response.content_type) == (200, "application/json")
        value = await response.json()
    assert {"url", "protocolVersion", "preferredTransport", "additionalInterfaces", "security"}.isdisjoint(value)
    listed = [(url.format(url=agent.url, grpc=agent.grpc_target), *rest) for url, *rest in INTERFACES]
    assert interfaces_of(value) == listed
    card, dialect = read_card(value)
    assert isinstance(card, AgentCard)
    assert (dialect.version, card.name) == ("1.0", "Mock Agent")
    assert (card.capabilities.streaming, card.capabilities.push_notifications) == (True, True)
    assert card.capabilities.extensions is not None
    assert [known(extension.uri) for extension in card.capabilities.extensions].count(None) == 0
    assert not any(extension.required for extension in card.capabilities.extensions)
    assert not card.security_schemes
    assert not card.security_requirements
    assert card.provider is not None
    assert card.documentation_url
    assert {"echo", "report", "file", "ask", "fail", "long", "push"} <= {skill.id for skill in card.skills}
    assert all(skill.description and skill.tags and skill.examples for skill in card.skills)


@pytest.mark.parametrize(
    ("path", "headers"),
    [(PATH, {"A2A-Version": "0.3"}), (PATH, {"A2A-Version": "0.3.0"}), ("/.well-known/agent.json", {})],
)
async def test_a_request_for_0_3_gets_a_0_3_card(
    agent: MockAgent, session: aiohttp.ClientSession, path: str, headers: dict[str, str]
) -> None:
    async with session.get(agent.url + path, headers=headers) as response:
        assert response.headers["Vary"] == "A2A-Version, OPVS-Version"
        value = await response.json()
    assert "supportedInterfaces" not in value
    assert (value["url"], value["protocolVersion"]) == (f"{agent.url}/v0.3", "0.3.0")
    assert value["additionalInterfaces"] == [
        {"url": f"{agent.url}/v0.3", "transport": "JSONRPC"},
        {"url": f"{agent.url}/v0.3", "transport": "HTTP+JSON"},
        {"url": f"http://{agent.grpc_target}", "transport": "GRPC"},
    ]
    assert value["preferredTransport"] == "JSONRPC"
    card, dialect = read_card(value)
    assert isinstance(card, AgentCard)
    assert dialect.version == "0.3"


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


async def test_the_urls_on_the_card_have_the_host_of_the_request(
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


@pytest.mark.parametrize(("path", "version"), [("v0.3", "0.3"), ("v0.2", "0.2"), ("v0.1", "0.1"), ("opvs", "1.0")])
@pytest.mark.parametrize("well_known", [PATH, "/.well-known/agent.json"])
async def test_a_version_has_its_own_card_below_its_path(
    agent: MockAgent, session: aiohttp.ClientSession, path: str, version: str, well_known: str
) -> None:
    read, dialect = read_card(await card(session, f"{agent.url}/{path}{well_known}"))
    assert isinstance(read, AgentCard)
    assert dialect.version == version
    assert read.supported_interfaces[0].url == f"{agent.url}/{path}"
    assert all(
        f"/{path}" in interface.url or interface.protocol_binding == "GRPC" for interface in read.supported_interfaces
    )


async def started(profile: Profile) -> MockAgent:
    agent = MockAgent(profile, pace=0)
    await agent.start()
    return agent


async def test_an_agent_with_1_0_only_has_no_card_at_the_old_path(session: aiohttp.ClientSession) -> None:
    agent = await started(Profile(versions=("1.0",)))
    try:
        value = await card(session, agent.url + PATH)
        assert {version for _, _, version in interfaces_of(value)} == {"1.0"}
        async with session.get(agent.url + "/.well-known/agent.json") as response:
            assert response.status == 404
    finally:
        await agent.stop()


async def test_a_main_version_before_1_0_has_a_card_of_both_versions_and_separate_cards(
    session: aiohttp.ClientSession,
) -> None:
    agent = await started(Profile(versions=("0.3", "1.0"), capabilities=ALL))
    try:
        both = await card(session, agent.url + PATH)
        new = await card(session, agent.url + PATH, A2A_Version="1.0")
        old = await card(session, agent.url + PATH, A2A_Version="0.3")
    finally:
        await agent.stop()
    assert both.items() >= {name: new[name] for name in ("supportedInterfaces", "skills", "name")}.items()
    assert both.items() >= {name: old[name] for name in ("url", "protocolVersion", "additionalInterfaces")}.items()
    assert both["url"] == f"{agent.url}/"
    assert both["capabilities"]["extendedAgentCard"] is both["supportsAuthenticatedExtendedCard"] is True
    assert "supportedInterfaces" not in old
    assert "url" not in new


async def test_a_card_file_is_served_unchanged(session: aiohttp.ClientSession) -> None:
    own = b'{ "name": "Mine",  "skills": [] }'
    agent = await started(Profile(card=own))
    try:
        async with session.get(agent.url + PATH) as response:
            assert await response.read() == own
            assert response.headers["ETag"]
    finally:
        await agent.stop()


@pytest.mark.parametrize("way", [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("1.0", "GRPC"), ("0.3", "JSONRPC")])
async def test_a_declared_extended_card_has_more_skills(session: aiohttp.ClientSession, way: tuple[str, str]) -> None:
    agent = await started(Profile(versions=("1.0", "0.3"), capabilities=ALL))
    try:
        public = await card(session, agent.url + PATH)
        assert public["capabilities"]["extendedAgentCard"] is True
        extended = await peer_for(session, agent, *way).call(Operation.EXTENDED_CARD, ExtendedCardRequest())
    finally:
        await agent.stop()
    assert isinstance(extended, AgentCard), extended
    more = {skill.id for skill in extended.skills} - {skill["id"] for skill in public["skills"]}
    assert more == {"tck"}
    assert extended.supported_interfaces[0].url.endswith(("/", "/v0.3"))


async def test_the_extended_card_of_0_2_has_its_own_path(session: aiohttp.ClientSession) -> None:
    for capabilities, status in ((ALL, 200), (frozenset[Any](), 404)):
        agent = await started(Profile(versions=("0.2",), capabilities=capabilities))
        try:
            async with session.get(agent.url + "/agent/authenticatedExtendedCard") as response:
                assert response.status == status
        finally:
            await agent.stop()


async def test_the_extended_card_of_0_2_has_the_faults_of_the_agent(session: aiohttp.ClientSession) -> None:
    agent = MockAgent(Profile(versions=("0.2",), capabilities=ALL), faults=(parse_fault("html"),))
    await agent.start()
    try:
        async with session.get(agent.url + "/agent/authenticatedExtendedCard") as response:
            assert response.content_type == "text/html"
    finally:
        await agent.stop()


async def test_the_catalog_has_the_card_of_every_version(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{agent.url}/.well-known/ai-catalog.json") as response:
        assert response.content_type == "application/ai-catalog+json"
        raw = await response.read()
    assert lint_catalog(raw) == ()
    catalog = read_catalog(raw)
    assert isinstance(catalog, Catalog)
    first, *others = catalog.entries
    assert isinstance(first.data, dict)
    assert first.data["name"] == "Mock Agent"
    for entry in others:
        async with session.get(entry.url) as response:
            assert (await response.json())["name"] == "Mock Agent"


@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_a_signed_card_is_the_whole_card(version: str):
    """A card without the empty list of scopes would mean that no credentials are required."""
    empty: dict[str, Any] = {
        "0.3": {"security": [{"bearer": []}], "skills": [{"id": "a", "name": "A", "description": "", "tags": []}]},
        "1.0": {"securityRequirements": [{"schemes": {"bearer": {"list": []}}}]},
    }
    card = VALID_CARDS[version] | empty[version]
    signer = Signer("es256")
    signed = signer.signed(card, "http://a.example/keys")
    assert {name: value for name, value in signed.items() if name != "signatures"} == card
    [result] = verify(signed, read_keys(json.loads(signer.keys)), version)
    assert result.outcome is SignatureOutcome.VALID
