"""Logins at the mock agent's authorization server, with its faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from authority import option
from inspector.sample_agents.authentication import SECRET, USER, Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.protocol.errors import FaultError
from inspector.session.login.login import Login
from inspector.session.login.options import ClientRegistration
from inspector.session.login.state import LoginState
from inspector.session.session import Session


@asynccontextmanager
async def protected(kind: str, *faults: str) -> AsyncIterator[str]:
    """Run a mock agent that demands a token."""
    authenticator = Authenticator(kind, faults=[parse_fault(fault) for fault in faults], interval=0)
    agent = MockAgent(pace=0, authenticator=authenticator)
    try:
        yield await agent.start(grpc_port=None)
    finally:
        await agent.stop()


@dataclass
class User:
    """Allows the login at the page of the server, which is opened once."""

    opened: list[str] = field(default_factory=list)
    visit: Callable[[], Any] | None = None

    async def log_in(self, session: Session, grant: str, *scopes: str) -> Login:
        visits: list[asyncio.Task[None]] = []

        def on_change(state: LoginState) -> None:
            if state.open_url and state.open_url not in self.opened:
                self.opened.append(state.open_url)
                visits.append(asyncio.ensure_future(allow(state.open_url)))

        chosen = option(session, grant)
        secret = SECRET if chosen.needs_secret else ""
        login = session.credentials.logins.start(
            chosen, ClientRegistration(USER, secret, scopes, redirect_port=0), on_change
        )
        login._pause = no_pause
        try:
            await login.run()
        finally:
            await asyncio.gather(*visits)
        return login


async def no_pause(_: float) -> None:
    await asyncio.sleep(0)


async def allow(url: str) -> None:
    async with httpx.AsyncClient(follow_redirects=True) as client:
        await client.post(url, data={"decision": "allow"})


@pytest.mark.parametrize("kind", ["oauth2", "oidc"])
@pytest.mark.parametrize("grant", ["clientCredentials", "authorizationCode", "deviceCode"])
async def test_a_token_of_each_flow_is_accepted(open_session: OpenSession, kind: str, grant: str):
    async with protected(kind) as url:
        session = await open_session(url)
        assert (await session.list_tasks().finish()) is not None
        login = await User().log_in(session, grant)
        assert login.state.succeeded
        assert await session.list_tasks().finish() is None
        [token] = session.credentials.logins.tokens
        assert (token.subject != "") is (kind == "oidc")
        if token.refresh_token:
            renewed = await session.credentials.logins.refresh(token)
            assert renewed.access_token != token.access_token
            assert renewed.refresh_token != token.refresh_token
            assert await session.list_tasks().finish() is None
        assert "revoked" in await session.credentials.logins.log_out(token.key)
        assert not session.credentials.logins.tokens
        assert (await session.list_tasks().finish()) is not None


@pytest.mark.parametrize(
    ("kind", "fault", "said"),
    [
        ("oauth2", "wrong-issuer", "another issuer"),
        ("oauth2", "state-changed", "another state"),
        ("oauth2", "redirect-issuer", "another issuer"),
        ("oauth2", "no-redirect-issuer", "another issuer: none"),
        ("oauth2", "token-type", "not supported: mac"),
        ("oauth2", "token-names", "no access_token"),
        ("oidc", "wrong-nonce", "nonce"),
        ("oidc", "id-token-audience", "audience"),
        ("oidc", "no-keys", "no key to verify it"),
    ],
)
async def test_a_fault_of_the_server_stops_the_login(open_session: OpenSession, kind: str, fault: str, said: str):
    async with protected(kind, fault) as url:
        session = await open_session(url)
        with pytest.raises(FaultError, match=said) as error:
            await User().log_in(session, "authorizationCode")
        assert error.value.fault.hint
        assert not session.credentials.logins.tokens


@pytest.mark.parametrize("fault", ["no-pkce", "token-type-case", "no-expiry", "no-metadata", "other-endpoint"])
async def test_other_faults_do_not_stop_the_login(open_session: OpenSession, fault: str):
    async with protected("oauth2", fault) as url:
        session = await open_session(url)
        assert (await User().log_in(session, "authorizationCode")).state.succeeded
        assert await session.list_tasks().finish() is None


async def test_a_scope_that_is_not_granted_is_not_in_the_token(open_session: OpenSession):
    async with protected("oauth2", "scope-dropped") as url:
        session = await open_session(url)
        login = await User().log_in(session, "authorizationCode", "messages", "transfers")
        [token] = session.credentials.logins.tokens
        assert set(login.state.requested_scopes) > set(token.scopes)


async def test_a_token_that_expires_at_once_is_renewed_before_each_call(open_session: OpenSession):
    async with protected("oauth2", "expires-at-once") as url:
        session = await open_session(url)
        await User().log_in(session, "authorizationCode")
        [first] = session.credentials.logins.tokens
        await session.list_tasks().finish()
        [second] = session.credentials.logins.tokens
        assert second.access_token != first.access_token


async def test_a_refused_renewal_is_noted_and_not_repeated(open_session: OpenSession):
    async with protected("oauth2", "expires-at-once", "refresh-refused") as url:
        session = await open_session(url)
        await User().log_in(session, "authorizationCode")
        for _ in range(2):
            await session.list_tasks().finish()
        notes = [record.label for record in session.journal.capture.select() if "not renewed" in record.label]
        assert len(notes) == 1
        assert "Log in again" in notes[0]
