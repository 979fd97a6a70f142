"""The authorization server of the mock agent: OAuth 2.0 grants, refresh and revocation."""

from __future__ import annotations

import base64

import aiohttp
import pytest
from inspector.sample_agents.authentication import SECRET, USER, Authenticator
from inspector.sample_agents.oauth.metadata import (
    DEVICE_CODE,
)
from inspector.sample_agents.server import MockAgent
from oauth_client import QUERY, Oauth, poll, redeem, refresh, running

from inspector.protocol.model import Message

# Client credentials


async def test_client_credentials_get_a_valid_token(oauth: Oauth):
    status, token = await oauth.token(grant_type="client_credentials", client_id=USER, client_secret=SECRET)
    assert status == 200
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, "messages")
    assert "refresh_token" not in token
    assert isinstance(await oauth.send(token["access_token"]), Message)


async def test_the_secret_of_a_client_may_be_in_the_header_in_form_encoding(session: aiohttp.ClientSession):
    authenticator = Authenticator("oauth2", "50% + more")
    agent = MockAgent(authenticator=authenticator)
    await agent.start()
    try:
        headers = {"Authorization": "Basic " + base64.b64encode(f"{USER}:50%25+%2B+more".encode()).decode()}
        form = {"grant_type": "client_credentials"}
        async with session.post(f"{agent.url}/oauth/token", data=form, headers=headers) as answer:
            assert answer.status == 200
    finally:
        await agent.stop()


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"client_id": USER, "client_secret": "wrong", "grant_type": "client_credentials"}, 401, "invalid_client"),
        ({"client_id": USER, "grant_type": "client_credentials"}, 401, "invalid_client"),
        ({"client_id": USER, "client_secret": SECRET, "grant_type": "password"}, 400, "unsupported_grant_type"),
        ({}, 400, "unsupported_grant_type"),
        ({"client_id": USER, "grant_type": "authorization_code", "code": "x"}, 400, "invalid_grant"),
        ({"client_id": "x", "grant_type": "authorization_code", "code": "x"}, 401, "invalid_client"),
        ({"client_id": USER, "client_secret": "x", "grant_type": "refresh_token"}, 401, "invalid_client"),
        ({"client_id": USER, "grant_type": "refresh_token", "refresh_token": "x"}, 400, "invalid_grant"),
        ({"client_id": USER, "grant_type": DEVICE_CODE, "device_code": "x"}, 400, "expired_token"),
        (
            {"client_id": USER, "client_secret": SECRET, "grant_type": "client_credentials", "scope": "root"},
            400,
            "invalid_scope",
        ),
    ],
)
async def test_an_invalid_token_request_is_rejected(oauth: Oauth, form: dict[str, str], status: int, error: str):
    assert await oauth.token(**form) == (status, {"error": error})


# Authorization code


async def test_a_user_is_asked_for_consent(oauth: Oauth):
    async with oauth.session.get(f"{oauth.agent.url}/oauth/authorize", params=QUERY | {"scope": "transfers"}) as page:
        text = await page.text()
        assert (page.status, page.headers["X-Frame-Options"]) == (200, "DENY")
    assert "<code>transfers</code>" in text
    assert 'name="decision" value="allow"' in text
    status, back = await oauth.authorize("deny")
    assert (status, back) == (302, {"error": "access_denied", "state": "s", "iss": oauth.agent.url})


async def test_without_a_prompt_the_user_is_not_asked(oauth: Oauth):
    url, query = f"{oauth.agent.url}/oauth/authorize", QUERY | {"prompt": "none"}
    async with oauth.session.get(url, params=query, allow_redirects=False) as answer:
        assert "code=" in answer.headers["Location"]


async def test_a_code_can_be_used_once_with_its_verifier(oauth: Oauth):
    status, back = await oauth.authorize()
    assert (status, back["state"], back["iss"]) == (302, "s", oauth.agent.url)
    status, token = await oauth.token(**redeem(back["code"]))
    assert status == 200
    assert isinstance(await oauth.send(token["access_token"]), Message)
    assert await oauth.token(**redeem(back["code"])) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize("change", [{"code_verifier": "another"}, {"redirect_uri": "http://127.0.0.1:9/other"}])
async def test_a_code_with_another_verifier_or_redirect_is_rejected(oauth: Oauth, change: dict[str, str]):
    _, back = await oauth.authorize()
    assert await oauth.token(**redeem(back["code"], **change)) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"scope": "messages root"}, "invalid_scope"),
    ],
)
async def test_an_invalid_authorization_request_redirects_with_an_error(
    oauth: Oauth, change: dict[str, str], error: str
):
    status, back = await oauth.authorize(**change)
    assert (status, back["error"], "code" in back) == (302, error, False)


@pytest.mark.parametrize(
    "change",
    [{"client_id": "x"}, {"redirect_uri": "https://evil.example/"}, {"redirect_uri": "http://["}, {"redirect_uri": ""}],
)
async def test_other_redirects_are_rejected(oauth: Oauth, change: dict[str, str]):
    assert await oauth.authorize(**change) == (400, {})


# Device code


async def test_a_device_code_is_pending_until_the_user_allows_it(oauth: Oauth):
    status, device = await oauth.device()
    assert status == 200
    form = poll(device["device_code"])
    assert await oauth.token(**form) == (400, {"error": "authorization_pending"})
    async with oauth.session.get(device["verification_uri_complete"]) as page:
        assert f'value="{device["user_code"]}"' in await page.text()
    assert await oauth.token(**form) == (400, {"error": "authorization_pending"})
    assert await oauth.decide("x") == 400
    assert await oauth.decide(device["user_code"].replace("-", " ").lower()) == 200
    _, token = await oauth.token(**form)
    assert isinstance(await oauth.send(token["access_token"]), Message)
    assert await oauth.token(**form) == (400, {"error": "expired_token"})


async def test_a_user_can_refuse_a_device(oauth: Oauth):
    _, device = await oauth.device()
    assert await oauth.decide(device["user_code"], "deny") == 200
    assert await oauth.token(**poll(device["device_code"])) == (400, {"error": "access_denied"})


async def test_a_device_that_polls_too_early_is_slowed_down(session: aiohttp.ClientSession):
    async with running(session, interval=60) as oauth:
        _, device = await oauth.device()
        assert device["interval"] == 60
        form = poll(device["device_code"])
        assert await oauth.token(**form) == (400, {"error": "authorization_pending"})
        await oauth.decide(device["user_code"])
        assert await oauth.token(**form) == (400, {"error": "slow_down"})


async def test_a_device_of_an_unknown_client_gets_no_code(oauth: Oauth):
    assert await oauth.post(f"{oauth.agent.url}/oauth/device") == (401, {"error": "invalid_client"})


# Refresh and revocation


async def test_a_refresh_token_can_be_used_once_and_replaces_the_token(oauth: Oauth):
    first = await oauth.log_in(scope="messages transfers")
    form = refresh(first["refresh_token"], scope="messages")
    status, second = await oauth.token(**form)
    assert (status, second["scope"]) == (200, "messages")
    assert isinstance(await oauth.send(second["access_token"]), Message)
    status, challenge = await oauth.refusal(first["access_token"])
    assert (status, "revoked" in challenge) == (401, True)
    assert await oauth.token(**form) == (400, {"error": "invalid_grant"})


async def test_a_refresh_token_gets_no_more_scopes_and_stays_valid(oauth: Oauth):
    token = await oauth.log_in(scope="messages")
    form = refresh(token["refresh_token"], scope="messages transfers")
    assert await oauth.token(**form) == (400, {"error": "invalid_scope"})
    assert isinstance(await oauth.send(token["access_token"]), Message)
    status, renewed = await oauth.token(**refresh(token["refresh_token"]))
    assert (status, renewed["scope"]) == (200, "messages")


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_a_revoked_token_is_rejected(oauth: Oauth, name: str):
    token = await oauth.log_in()
    url = f"{oauth.agent.url}/oauth/revoke"
    assert await oauth.post(url, token=token[name]) == (401, {"error": "invalid_client"})
    assert await oauth.post(url, token=token[name], client_id=USER) == (200, None)
    assert (await oauth.refusal(token["access_token"]))[0] == 401
    assert await oauth.post(url, token="unknown", client_id=USER) == (200, None)
