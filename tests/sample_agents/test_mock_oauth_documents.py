"""The authorization server of the mock agent: scopes, metadata, OpenID Connect and the card."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from inspector.sample_agents.authentication import USER, Authenticator
from inspector.sample_agents.oauth.metadata import (
    DISCOVERY_PATH,
    RESOURCE_METADATA_PATH,
    SERVER_METADATA_PATH,
)
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import MockAgent
from joserfc import jwt
from joserfc.jwk import KeySet
from mock_peer import peer_for
from oauth_client import CARD, Oauth, running

from inspector.findings.lint import lint
from inspector.protocol.model import Message, Part, SendRequest, Task
from inspector.protocol.operations import Operation

# Scopes


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_a_skill_can_need_a_scope(oauth: Oauth, binding: str):
    token = await oauth.log_in(scope="messages transfers")
    assert isinstance(await oauth.send(token["access_token"], "approval", binding), Task)


async def test_a_token_without_the_scope_of_a_skill_is_forbidden(oauth: Oauth):
    token = (await oauth.log_in())["access_token"]
    status, challenge = await oauth.refusal(token, "approval")
    assert status == 403
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="messages transfers"' in challenge
    assert (await oauth.send(token, "approval", "GRPC")).name == "PERMISSION_DENIED"


async def test_the_extended_card_of_0_2_needs_the_scope_of_every_call(session: aiohttp.ClientSession):
    agent = MockAgent(Profile(versions=("0.2",), capabilities=ALL), authenticator=Authenticator("oauth2"))
    await agent.start()
    try:
        for scope, status in (("messages", 200), ("transfers", 403)):
            token = (await Oauth(session, agent).log_in(scope=scope))["access_token"]
            url, headers = f"{agent.url}/agent/authenticatedExtendedCard", {"Authorization": f"Bearer {token}"}
            async with session.get(url, headers=headers) as response:
                assert response.status == status
    finally:
        await agent.stop()


async def test_a_task_of_such_a_skill_cannot_be_continued_without_the_scope(oauth: Oauth):
    allowed = (await oauth.log_in(scope="messages transfers"))["access_token"]
    task = await oauth.send(allowed, "approval")
    peer = peer_for(oauth.session, oauth.agent, "1.0", "GRPC")
    peer.headers["Authorization"] = f"Bearer {(await oauth.log_in())['access_token']}"
    message = Message(message_id="m-2", role="ROLE_USER", parts=[Part(text="approve")], task_id=task.id)
    refused: Any = await peer.call(Operation.SEND, SendRequest(message=message))
    assert refused.name == "PERMISSION_DENIED"


async def test_the_card_names_the_scopes_of_skills(oauth: Oauth):
    _, card = await oauth.get(CARD)
    needed = {skill["id"]: skill.get("securityRequirements") for skill in card["skills"]}
    assert needed["echo"] is None
    assert needed["approval"][0] == {"schemes": {"oauth2": {"list": ["messages", "transfers"]}}}
    assert card["securityRequirements"][0] == {"schemes": {"oauth2": {"list": ["messages"]}}}


# Documents


async def test_the_documents_agree_with_the_card(oauth: Oauth):
    origin = oauth.agent.url
    _, card = await oauth.get(CARD)
    _, metadata = await oauth.get(SERVER_METADATA_PATH)
    _, resource = await oauth.get(RESOURCE_METADATA_PATH)
    schemes = {name: value["oauth2SecurityScheme"] for name, value in card["securitySchemes"].items()}
    assert {scheme["oauth2MetadataUrl"] for scheme in schemes.values()} == {origin + SERVER_METADATA_PATH}
    code = schemes["oauth2_code"]["flows"]["authorizationCode"]
    assert (code["authorizationUrl"], code["tokenUrl"]) == (
        metadata["authorization_endpoint"],
        metadata["token_endpoint"],
    )
    device = schemes["oauth2_device"]["flows"]["deviceCode"]
    assert device["deviceAuthorizationUrl"] == metadata["device_authorization_endpoint"]
    assert set(code["scopes"]) <= set(metadata["scopes_supported"])
    assert (metadata["issuer"], resource["authorization_servers"], resource["resource"]) == (origin, [origin], origin)


async def test_a_call_without_token_gets_the_url_of_the_resource_metadata(oauth: Oauth):
    status, challenge = await oauth.refusal(None)
    assert status == 401
    assert f'resource_metadata="{oauth.agent.url}{RESOURCE_METADATA_PATH}"' in challenge
    assert "error=" not in challenge  # RFC 6750 section 3.1: only for requests with credentials


async def test_a_foreign_token_is_rejected(oauth: Oauth):
    status, challenge = await oauth.refusal("e30.e30.e30")
    assert (status, 'error="invalid_token"' in challenge) == (401, True)


async def test_openid_connect_issues_an_id_token(session: aiohttp.ClientSession):
    async with running(session, kind="oidc") as oauth:
        _, card = await oauth.get(CARD)
        origin = oauth.agent.url
        assert card["securitySchemes"] == {
            "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": origin + DISCOVERY_PATH}}
        }
        _, discovery = await oauth.get(DISCOVERY_PATH)
        _, keys = await oauth.get(urlsplit(discovery["jwks_uri"]).path)
        token = await oauth.log_in(scope="openid messages", nonce="n-1")
        claims = jwt.decode(token["id_token"], KeySet.import_key_set(keys), algorithms=["RS256"]).claims
        assert (claims["iss"], claims["aud"], claims["nonce"]) == (origin, USER, "n-1")
        assert discovery["id_token_signing_alg_values_supported"] == ["RS256"]
        assert not any("d" in key for key in keys["keys"])
        assert isinstance(await oauth.send(token["access_token"]), Message)


async def test_without_the_scope_openid_there_is_no_id_token(oauth: Oauth):
    assert "id_token" not in await oauth.log_in()


@pytest.mark.parametrize("path", [CARD, f"/v0.3{CARD}"])
async def test_the_card_violates_no_rule(session: aiohttp.ClientSession, path: str):
    async with running(session, kind="oidc") as oauth, session.get(f"{oauth.agent.url}{path}") as answer:
        assert [finding for finding in lint(await answer.read()).findings if finding.severity != "hint"] == []
