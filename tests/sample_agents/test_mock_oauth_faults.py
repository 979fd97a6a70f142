"""The authorization server of the mock agent: faults that tests can choose."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.authentication import SECRET, USER
from inspector.sample_agents.oauth.metadata import (
    DISCOVERY_PATH,
    RESOURCE_METADATA_PATH,
    SERVER_METADATA_PATH,
)
from oauth_client import payload, poll, redeem, refresh, running

from inspector.protocol.model import Message


async def document(session: aiohttp.ClientSession, fault: str, path: str) -> tuple[str, Any]:
    async with running(session, fault) as oauth:
        status, value = await oauth.get(path)
        return oauth.agent.url, value if status == 200 else status


@pytest.mark.parametrize("path", [SERVER_METADATA_PATH, DISCOVERY_PATH])
async def test_faults_change_the_metadata(session: aiohttp.ClientSession, path: str):
    _, metadata = await document(session, "wrong-issuer", path)
    assert metadata["issuer"] == "https://login.example"
    origin, metadata = await document(session, "other-endpoint", path)
    assert metadata["token_endpoint"] == f"{origin}/oauth/v2/token"
    _, metadata = await document(session, "http-endpoint", path)
    assert metadata["token_endpoint"].startswith("http://login.example/")
    assert (await document(session, "no-metadata", path))[1] == 404


async def test_faults_change_the_other_documents(session: aiohttp.ClientSession):
    origin, resource = await document(session, "other-server", RESOURCE_METADATA_PATH)
    assert (resource["authorization_servers"], resource["resource"]) == (["https://login.example"], origin)
    _, resource = await document(session, "other-resource", RESOURCE_METADATA_PATH)
    assert resource["resource"] == "https://agent.example"
    assert (await document(session, "no-keys", "/oauth/jwks"))[1] == {"keys": []}


async def test_the_endpoint_of_contradicting_metadata_works(session: aiohttp.ClientSession):
    async with running(session, "other-endpoint") as oauth:
        form = {"grant_type": "client_credentials", "client_id": USER, "client_secret": SECRET}
        status, token = await oauth.post(f"{oauth.agent.url}/oauth/v2/token", **form)
        assert status == 200
        assert isinstance(await oauth.send(token["access_token"]), Message)


async def test_without_pkce_any_verifier_is_accepted(session: aiohttp.ClientSession):
    async with running(session, "no-pkce") as oauth:
        _, metadata = await oauth.get(SERVER_METADATA_PATH)
        assert "code_challenge_methods_supported" not in metadata
        _, back = await oauth.authorize()
        assert (await oauth.token(**redeem(back["code"], code_verifier="another")))[0] == 200
        assert "code" in (await oauth.authorize(code_challenge=""))[1]


@pytest.mark.parametrize(
    ("fault", "name", "value"),
    [
        ("state-changed", "state", "changed"),
        ("redirect-issuer", "iss", "https://login.example"),
        ("no-redirect-issuer", "iss", None),
    ],
)
async def test_faults_change_the_redirect(session: aiohttp.ClientSession, fault: str, name: str, value: str | None):
    async with running(session, fault) as oauth:
        _, back = await oauth.authorize()
        assert (back.get(name), "code" in back) == (value, True)


async def test_faults_change_the_response_to_a_device(session: aiohttp.ClientSession):
    async with running(session, "hostile-device", "device-expires:2") as oauth:
        _, device = await oauth.device()
        assert device["expires_in"] == 2
        assert "\x1b" in device["verification_uri"]
        assert "\x1b" in device["user_code"]


async def test_a_device_is_slowed_down_as_often_as_the_fault_says(session: aiohttp.ClientSession):
    async with running(session, "slow-down:2") as oauth:
        _, device = await oauth.device()
        await oauth.decide(device["user_code"])
        form = poll(device["device_code"])
        for _ in range(2):
            assert await oauth.token(**form) == (400, {"error": "slow_down"})
        assert (await oauth.token(**form))[0] == 200


async def test_a_refresh_can_be_refused(session: aiohttp.ClientSession):
    async with running(session, "refresh-refused") as oauth:
        token = await oauth.log_in()
        assert await oauth.token(**refresh(token["refresh_token"])) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize(
    ("fault", "name", "value"),
    [
        ("token-type", "token_type", "mac"),
        ("token-type-case", "token_type", "BEARER"),
        ("token-names", "tokenType", "Bearer"),
        ("no-expiry", "expires_in", None),
        ("expires-at-once", "expires_in", 0),
        ("expires-at-once:5", "expires_in", 5),
        ("scope-dropped", "scope", "messages"),
    ],
)
async def test_faults_change_the_token_response(session: aiohttp.ClientSession, fault: str, name: str, value: Any):
    async with running(session, fault) as oauth:
        assert (await oauth.log_in(scope="messages transfers")).get(name) == value


@pytest.mark.parametrize(
    ("fault", "reason"), [("expires-at-once", "has expired"), ("wrong-audience", "the audience https://agent.example")]
)
async def test_the_agent_rejects_faulty_tokens(session: aiohttp.ClientSession, fault: str, reason: str):
    async with running(session, fault) as oauth:
        status, challenge = await oauth.refusal((await oauth.log_in())["access_token"])
        assert (status, reason in challenge, 'error="invalid_token"' in challenge) == (401, True, True)


@pytest.mark.parametrize(
    ("fault", "name", "value"), [("wrong-nonce", "nonce", "other"), ("id-token-audience", "aud", "another-client")]
)
async def test_faults_change_the_id_token(session: aiohttp.ClientSession, fault: str, name: str, value: str):
    async with running(session, fault, kind="oidc") as oauth:
        token = await oauth.log_in(scope="openid", nonce="n-1")
        assert payload(token["id_token"])[name] == value


async def test_a_clock_can_be_ahead(session: aiohttp.ClientSession):
    async with running(session, "clock-ahead:1000", kind="oidc") as oauth:
        token = await oauth.log_in(scope="openid")
        ahead = payload(token["id_token"])["iat"] - payload(token["access_token"])["iat"]
        assert ahead == 1000


@pytest.mark.parametrize("kind", ["oauth2", "bearer"])
async def test_faults_change_the_401_of_the_agent(session: aiohttp.ClientSession, kind: str):
    async with running(session, "no-challenge", kind=kind) as oauth:
        assert await oauth.refusal(None) == (401, "")
    async with running(session, "other-challenge", kind=kind) as oauth:
        assert await oauth.refusal(None) == (401, 'Negotiate realm="a2a-mock"')
    async with running(session, "login-page", kind=kind) as oauth:
        assert await oauth.refusal(None) == (302, "")
