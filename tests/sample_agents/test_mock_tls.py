"""The agent with TLS and mutual TLS, over HTTP and gRPC."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import grpc.aio
import pytest
import trustme
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.tls import Tls

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def pem(tmp_path: Path) -> dict[str, Path]:
    """Create the PEM files of a server, of a client with the same authority, and of a client with another authority."""
    authority, other = trustme.CA(), trustme.CA()
    files: dict[str, Path] = {"ca": tmp_path / "ca.pem"}
    authority.cert_pem.write_to_path(files["ca"])
    for name, signed in (
        ("server", authority.issue_cert("127.0.0.1", "localhost")),
        ("client", authority.issue_cert("client@example.com")),
        ("stranger", other.issue_cert("client@example.com")),
    ):
        files[name], files[f"{name}-key"] = tmp_path / f"{name}.pem", tmp_path / f"{name}-key.pem"
        signed.cert_chain_pems[0].write_to_path(files[name])
        signed.private_key_pem.write_to_path(files[f"{name}-key"])
    return files


@asynccontextmanager
async def served(pem: dict[str, Path], *, mutual: bool, **members: Any) -> AsyncIterator[MockAgent]:
    tls = Tls(pem["server"], pem["server-key"], pem["ca"] if mutual else None)
    agent = MockAgent(pace=0, tls=tls, **members)
    await agent.start()
    try:
        yield agent
    finally:
        await agent.stop()


def context(pem: dict[str, Path], client: str = "") -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=pem["ca"])
    if client:
        made.load_cert_chain(pem[client], pem[f"{client}-key"])
    return made


async def card_of(agent: MockAgent, made: ssl.SSLContext) -> Any:
    async with aiohttp.ClientSession() as client, client.get(agent.url + CARD, ssl=made) as answer:
        return await answer.json()


async def test_with_tls_every_url_is_https(pem: dict[str, Path]):
    async with served(pem, mutual=False) as agent:
        card = await card_of(agent, context(pem))
    assert agent.url.startswith("https://127.0.0.1:")
    assert all(interface["url"].startswith("https://") for interface in card["supportedInterfaces"])
    assert "securitySchemes" not in card


async def test_a_certificate_is_required_besides_each_other_alternative(pem: dict[str, Path]):
    async with served(pem, mutual=True, authenticator=Authenticator("oauth2")) as agent:
        card = await card_of(agent, context(pem, "client"))
    [approval] = [skill for skill in card["skills"] if skill["id"] == "approval"]
    for requirements in (card["securityRequirements"], approval["securityRequirements"]):
        names = [sorted(choice["schemes"]) for choice in requirements]
        assert names == [["client_certificate", name] for name in ("oauth2", "oauth2_code", "oauth2_device")]


async def test_with_an_authority_only_its_clients_are_accepted(pem: dict[str, Path]):
    async with served(pem, mutual=True) as agent:
        card = await card_of(agent, context(pem, "client"))
        for client in ("", "stranger"):
            with pytest.raises((aiohttp.ClientError, ssl.SSLError, ConnectionError)):
                await card_of(agent, context(pem, client))
    assert [*card["securitySchemes"].values()] == [
        {"mtlsSecurityScheme": {"description": "A client certificate that the authority of the agent has signed."}}
    ]
    assert card["securityRequirements"] == [{"schemes": {name: {"list": []} for name in card["securitySchemes"]}}]


@pytest.mark.parametrize("client", ["client", ""])
async def test_grpc_requires_a_client_certificate_too(pem: dict[str, Path], client: str):
    own = {"private_key": pem["client-key"].read_bytes(), "certificate_chain": pem["client"].read_bytes()}
    secured = grpc.ssl_channel_credentials(pem["ca"].read_bytes(), **(own if client else {}))
    async with served(pem, mutual=True) as agent, grpc.aio.secure_channel(agent.grpc_target, secured) as channel:
        ask: Callable[..., Any] = channel.unary_unary("/lf.a2a.v1.A2AService/GetTask")
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await ask(b"\x12\x01x", timeout=10)
    expected = grpc.StatusCode.NOT_FOUND if client else grpc.StatusCode.UNAVAILABLE
    assert raised.value.code() is expected
