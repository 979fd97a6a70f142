"""The authorization server of the mock agent: OAuth 2.0, OpenID Connect, its documents, pages and faults."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest
from inspector.sample_agents.authentication import SECRET, USER, Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.oauth.metadata import (
    DEVICE_CODE,
    DISCOVERY_PATH,
    RESOURCE_METADATA_PATH,
    SERVER_METADATA_PATH,
)
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from joserfc import jwt
from joserfc.jwk import KeySet
from mock_peer import peer_for

from inspector.findings.lint import lint
from inspector.protocol.model import Message, Part, SendRequest, Task
from inspector.protocol.operations import Operation

CARD = "/.well-known/agent-card.json"
BACK = "http://127.0.0.1:9/back"
VERIFIER = "a-verifier-that-is-long-enough-to-be-hard-to-guess"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
QUERY = {
    "response_type": "code",
    "client_id": USER,
    "redirect_uri": BACK,
    "state": "s",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


@dataclass
class Oauth:
    """A client that reads the URLs from the documents of the agent."""

    session: aiohttp.ClientSession
    agent: MockAgent

    async def get(self, path: str) -> tuple[int, Any]:
        async with self.session.get(f"{self.agent.url}{path}") as answer:
            body = await answer.read()
            return answer.status, json.loads(body) if answer.content_type == "application/json" else body.decode()

    async def post(self, url: str, **form: str) -> tuple[int, Any]:
        async with self.session.post(url, data=form) as answer:
            assert answer.headers["Cache-Control"] == "no-store"
            body = await answer.read()
            return answer.status, json.loads(body) if body else None

    async def token(self, **form: str) -> tuple[int, Any]:
        return await self.post(f"{self.agent.url}/oauth/token", **form)

    async def authorize(self, decision: str = "allow", **query: str) -> tuple[int, dict[str, str]]:
        """Answer the consent page and return the status and the query of the redirect."""
        url, form = f"{self.agent.url}/oauth/authorize", {"decision": decision}
        async with self.session.post(url, params=QUERY | query, data=form, allow_redirects=False) as answer:
            location = answer.headers.get("Location", "")
            assert not location or location.startswith(BACK)
            return answer.status, dict(parse_qsl(urlsplit(location).query))

    async def log_in(self, **query: str) -> dict[str, Any]:
        """Get a token with an authorization code."""
        _, back = await self.authorize(**query)
        status, token = await self.token(**redeem(back["code"]))
        assert status == 200
        return dict(token)

    async def decide(self, user_code: str, decision: str = "allow") -> int:
        """Answer on the page for devices."""
        form = {"user_code": user_code, "decision": decision}
        async with self.session.post(f"{self.agent.url}/oauth/verify", data=form) as answer:
            return answer.status

    async def device(self, **form: str) -> tuple[int, Any]:
        return await self.post(f"{self.agent.url}/oauth/device", client_id=USER, **form)

    async def send(self, access_token: str, text: str = "echo hi", binding: str = "JSONRPC") -> Any:
        """Send a message with a token and return the response."""
        peer = peer_for(self.session, self.agent, "1.0", binding)
        peer.headers["Authorization"] = f"Bearer {access_token}"
        return await peer.send(text)

    async def refusal(self, access_token: str | None, text: str = "echo hi") -> tuple[int, str]:
        """Return the status and the challenge with which the agent rejects a message."""
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
        headers = {"A2A-Version": "1.0"} | ({"Authorization": f"Bearer {access_token}"} if access_token else {})
        url = f"{self.agent.url}/message:send"
        async with self.session.post(url, json={"message": message}, headers=headers, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("WWW-Authenticate", "")


def redeem(code: str, **changes: str) -> dict[str, str]:
    """Return the token request for a code."""
    form = {
        "grant_type": "authorization_code",
        "client_id": USER,
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
    }
    return form | changes


def poll(code: str) -> dict[str, str]:
    """Return the token request for a device code."""
    return {"grant_type": DEVICE_CODE, "client_id": USER, "device_code": code}


def refresh(token: str, **more: str) -> dict[str, str]:
    """Return the token request for a refresh token."""
    return {"grant_type": "refresh_token", "client_id": USER, "refresh_token": token} | more


@asynccontextmanager
async def running(
    session: aiohttp.ClientSession, *faults: str, kind: str = "oauth2", interval: float = 0, **members: Any
) -> AsyncIterator[Oauth]:
    """Run an agent with an authorization server that has some faults."""
    authenticator = Authenticator(kind, faults=[parse_fault(fault) for fault in faults], interval=interval)
    agent = MockAgent(Profile(versions=("1.0", "0.3")), pace=0, authenticator=authenticator, **members)
    await agent.start()
    try:
        yield Oauth(session, agent)
    finally:
        await agent.stop()


@pytest.fixture
async def oauth(session: aiohttp.ClientSession) -> AsyncIterator[Oauth]:
    async with running(session) as client:
        yield client


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


async def test_a_refresh_token_gets_no_more_scopes(oauth: Oauth):
    token = await oauth.log_in(scope="messages")
    form = refresh(token["refresh_token"], scope="messages transfers")
    assert await oauth.token(**form) == (400, {"error": "invalid_grant"})


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_a_revoked_token_is_rejected(oauth: Oauth, name: str):
    token = await oauth.log_in()
    url = f"{oauth.agent.url}/oauth/revoke"
    assert await oauth.post(url, token=token[name]) == (401, {"error": "invalid_client"})
    assert await oauth.post(url, token=token[name], client_id=USER) == (200, None)
    assert (await oauth.refusal(token["access_token"]))[0] == 401
    assert await oauth.post(url, token="unknown", client_id=USER) == (200, None)


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


# Faults


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


def payload(token: str) -> dict[str, Any]:
    """Return the claims of a JWT without verifying it."""
    part = token.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))
