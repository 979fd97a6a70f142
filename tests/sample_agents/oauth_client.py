"""A client of the authorization server of the mock agent."""

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
from inspector.sample_agents.authentication import USER, Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.oauth.metadata import (
    DEVICE_CODE,
)
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from mock_peer import peer_for

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


def payload(token: str) -> dict[str, Any]:
    """Return the claims of a JWT without verifying it."""
    part = token.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))
