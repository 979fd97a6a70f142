"""Authentication and signatures of the mock agent, checked with the code of the inspector."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.authentication import KINDS, SECRET, USER, Authenticator
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.signing import ALGORITHMS, ISSUER, Signer
from mock_peer import Webhook, eventually, peer_for

from inspector.findings.finding import Severity
from inspector.findings.lint import lint
from inspector.findings.signatures.keyset import read_keys
from inspector.findings.signatures.verify import SignatureOutcome, verify
from inspector.protocol.errors import FaultCode
from inspector.protocol.model import AuthenticationInfo, ExtendedCardRequest, Message, SendConfiguration
from inspector.protocol.operations import Operation
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.receiver import jwt

CARD = "/.well-known/agent-card.json"
BASIC = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()
CREDENTIALS: dict[str, dict[str, Any]] = {
    "bearer": {"headers": {"Authorization": f"Bearer {SECRET}"}},
    "basic": {"headers": {"Authorization": f"Basic {BASIC}"}},
    "api-key:header": {"api_key": SECRET},
    "api-key:query": {"api_key": SECRET},
    "api-key:cookie": {"api_key": SECRET},
}


@asynccontextmanager
async def running_agent(**members: Any) -> AsyncIterator[MockAgent]:
    agent = MockAgent(Profile(versions=("1.0", "0.3"), capabilities=ALL), pace=0, push_pause=0, **members)
    await agent.start()
    try:
        yield agent
    finally:
        await agent.stop()


@asynccontextmanager
async def connected(tmp_path: Path, agent: MockAgent, **settings: Any) -> AsyncIterator[Session]:
    session = Session(tmp_path / "guard.a2acap", Settings(**settings))
    try:
        await session.connect(agent.url)
        yield session
    finally:
        await session.close()


async def send_echo(session: Session) -> Any:
    call = session.send(text_draft("echo hi"), stream=False)
    await call.finish()
    return call


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON"])
async def test_a_call_without_credentials_gets_a_challenge(tmp_path: Path, kind: str, transport: str):
    async with (
        running_agent(authenticator=Authenticator(kind)) as agent,
        connected(tmp_path, agent, transports=(transport,)) as session,
    ):
        call = await send_echo(session)
        assert call.fault.code == FaultCode.CREDENTIALS_MISSING
        assert 'realm="a2a-mock"' in call.fault.seen


@pytest.mark.parametrize("kind", CREDENTIALS)
@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON"])
async def test_a_call_with_the_credentials_on_the_card_succeeds(tmp_path: Path, kind: str, transport: str):
    settings = CREDENTIALS[kind] | {"transports": (transport,)}
    async with (
        running_agent(authenticator=Authenticator(kind)) as agent,
        connected(tmp_path, agent, **settings) as session,
    ):
        call = await send_echo(session)
        assert call.fault is None
        assert isinstance(call.exchange.answer, Message)


@pytest.mark.parametrize("kind", CREDENTIALS)
async def test_a_wrong_secret_is_rejected(tmp_path: Path, kind: str):
    async with (
        running_agent(authenticator=Authenticator(kind, "other")) as agent,
        connected(tmp_path, agent, **CREDENTIALS[kind]) as session,
    ):
        assert (await send_echo(session)).fault.code == FaultCode.CREDENTIALS_MISSING


@pytest.mark.parametrize("token", ["", "Basic", "Basic !!!", "Basic /w==", "bearer", "Bearer", "Bearer é"])
async def test_invalid_credentials_are_rejected(session: aiohttp.ClientSession, token: str):
    for kind in ("basic", "bearer", "oauth2"):
        async with running_agent(authenticator=Authenticator(kind)) as agent:
            headers = {"Authorization": token, "Content-Type": "application/json"}
            async with session.post(agent.url, data=b"{}", headers=headers) as answer:
                assert answer.status == 401


async def test_grpc_calls_need_credentials(session: aiohttp.ClientSession):
    async with running_agent(authenticator=Authenticator("bearer")) as agent:
        peer = peer_for(session, agent, "1.0", "GRPC")
        assert (await peer.send("echo hi")).name == "UNAUTHENTICATED"
        peer.headers["Authorization"] = f"Bearer {SECRET}"
        assert isinstance(await peer.send("echo hi"), Message)


@pytest.mark.parametrize("kind", CREDENTIALS)
@pytest.mark.parametrize("secret", [SECRET, "other"])
async def test_grpc_calls_have_every_kind_of_credentials_in_their_metadata(tmp_path: Path, kind: str, secret: str):
    async with running_agent(authenticator=Authenticator(kind, secret)) as agent:
        trusted = (f"http://{agent.grpc_target}",)
        settings = CREDENTIALS[kind] | {"transports": ("GRPC",), "trusted": trusted}
        async with connected(tmp_path, agent, **settings) as session:
            call = await send_echo(session)
    if secret == SECRET:
        assert isinstance(call.exchange.answer, Message)
    else:
        assert call.fault.code == FaultCode.CREDENTIALS_MISSING


async def test_the_extended_card_needs_credentials(session: aiohttp.ClientSession):
    async with running_agent(authenticator=Authenticator("bearer")) as agent:
        peer = peer_for(session, agent, "1.0")
        headers = {"A2A-Version": "1.0"}
        async with session.get(f"{agent.url}/extendedCard", headers=headers) as refused:
            assert refused.status == 401
        async with session.get(f"{agent.url}{CARD}") as public:
            skills = len((await public.json())["skills"])
        peer.headers["Authorization"] = f"Bearer {SECRET}"
        extended: Any = await peer.call(Operation.EXTENDED_CARD, ExtendedCardRequest())
        assert len(extended.skills) > skills


@pytest.mark.parametrize("path", [CARD, f"/v0.3{CARD}"])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_card_of_an_agent_with_authentication_violates_no_rule(
    session: aiohttp.ClientSession, kind: str, path: str
):
    async with running_agent(authenticator=Authenticator(kind)) as agent, session.get(f"{agent.url}{path}") as answer:
        raw = await answer.read()
        findings = lint(raw).findings
    assert [token for token in findings if token.severity is not Severity.HINT] == []


# Signatures


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("path", [CARD, f"/v0.3{CARD}"])
async def test_a_card_signature_is_valid_for_the_published_key(
    session: aiohttp.ClientSession, algorithm: str, path: str
):
    async with running_agent(signer=Signer(algorithm), authenticator=Authenticator("oauth2")) as agent:
        async with session.get(f"{agent.url}{path}") as answer:
            card = await answer.json()
        async with session.get(f"{agent.url}/.well-known/jwks.json") as answer:
            published = await answer.json()
    assert not any("d" in key for key in published["keys"])
    version = "0.3" if "v0.3" in path else "1.0"
    [verdict] = verify(card, read_keys(published), version)
    assert (verdict.outcome, verdict.algorithm, verdict.uncovered) == (SignatureOutcome.VALID, algorithm.upper(), ())
    [changed] = verify(card | {"name": "Somebody Else"}, read_keys(published), version)
    assert changed.outcome is SignatureOutcome.WRONG


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_signed_card_that_has_not_changed_has_the_same_etag(session: aiohttp.ClientSession, algorithm: str):
    async with running_agent(signer=Signer(algorithm)) as agent:
        async with session.get(f"{agent.url}{CARD}") as answer:
            known = {"If-None-Match": answer.headers["ETag"]}
        async with session.get(f"{agent.url}{CARD}", headers=known) as answer:
            assert answer.status == 304
        async with session.get(f"{agent.url}{CARD}", headers={**known, "Host": "other.example"}) as answer:
            assert answer.status == 200


async def test_a_push_without_configured_credentials_has_a_jwt(session: aiohttp.ClientSession, webhook: Webhook):
    signer = Signer("es256")
    async with running_agent(signer=signer) as agent:
        peer = peer_for(session, agent, "1.0")
        task = await peer.send("ask", configuration=SendConfiguration(task_push_notification_config=webhook.config()))
        await eventually(lambda: len(webhook.headers) >= 3)
    tokens = [jwt.read(headers["Authorization"].removeprefix("Bearer ")) for headers in webhook.headers]
    keys = read_keys(json.loads(signer.keys))
    used: set[str] = set()
    for number, token in enumerate(tokens):
        assert not isinstance(token, str)
        assert jwt.check_signature(token, keys).good
        assert jwt.check_claim(token, "iss", ISSUER).good
        assert jwt.check_claim(token, "aud", webhook.url).good
        assert jwt.check_dates(token, float(token.claims["iat"])).good
        assert jwt.check_replay(token, used).good
        assert jwt.check_body_hash(token, webhook.raw[number]).good
        assert token.claims["sub"] == task.id
        used.add(token.identity)


async def test_a_push_with_configured_credentials_has_those(session: aiohttp.ClientSession, webhook: Webhook):
    async with running_agent(signer=Signer("es256")) as agent:
        peer = peer_for(session, agent, "1.0")
        own = AuthenticationInfo(scheme="Bearer", credentials="mine")
        await peer.send(
            "reject", configuration=SendConfiguration(task_push_notification_config=webhook.config(authentication=own))
        )
        await eventually(lambda: len(webhook.headers) == 2)
    assert {headers["Authorization"] for headers in webhook.headers} == {"Bearer mine"}
