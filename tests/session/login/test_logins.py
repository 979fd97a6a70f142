"""Tokens of a session: to where they are sent, when they are renewed, and where they are stored."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from authority import CLIENT, SECRET, TOKEN, Authority, Browser, form, granted, start
from scripted import PATIENCE, Agent, Heard, OpenSession, giving

from inspector.capture.paths import stored_tokens_path
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import FaultError
from inspector.session.login import logins
from inspector.session.login.token_store import Place
from inspector.session.login.tokens import Token, TokenKey
from inspector.session.session import Session
from inspector.wire.client.credentials import Credentials


async def test_a_token_is_sent_to_its_origin_only(authority: Authority, stranger: Agent, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url, trusted=(stranger.url,))
    await start(session, "clientCredentials").run()
    assert session.credentials.current.headers_for(authority.url) == {"Authorization": f"Bearer {TOKEN}"}
    assert session.credentials.current.headers_for(stranger.url) == {}
    assert session.credentials.current.headers_for(authority.url.replace("http:", "https:")) == {}


async def test_an_entered_credential_replaces_the_token_and_the_token_a_given_one(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    session = await open_session(authority.url, headers={"Authorization": "Bearer given"})
    await start(session, "clientCredentials").run()
    assert session.credentials.current.headers_for(authority.url) == {"Authorization": f"Bearer {TOKEN}"}
    session.credentials.entered.add_bearer(authority.url, "entered")
    assert session.credentials.current.headers_for(authority.url) == {"Authorization": "Bearer entered"}


@pytest.mark.parametrize(("expires_in", "requests"), [(3600, 1), (10, 2), (None, 1)])
async def test_a_token_is_renewed_before_it_expires(
    authority: Authority, open_session: OpenSession, expires_in: int | None, requests: int
):
    authority.serve()
    authority.tokens = [
        (200, granted(expires_in=expires_in, refresh_token="canary-refresh")),
        (200, granted(access_token="canary-renewed", refresh_token=None)),
    ]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    await asyncio.gather(*(session.list_tasks().finish() for _ in range(3)))
    assert len(authority.asked) == requests, "three calls at the same time renew it once"
    sent = {heard.headers["Authorization"] for heard in authority.agent.heard if heard.path == "/rpc"}
    assert sent == {f"Bearer {'canary-renewed' if requests == 2 else TOKEN}"}
    if requests == 2:
        assert authority.asked[1]["grant_type"] == "refresh_token"
        assert session.credentials.logins.tokens[0].refresh_token == "canary-refresh"


async def test_a_token_of_a_few_seconds_is_not_renewed_for_each_request(
    authority: Authority, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    authority.serve()
    authority.tokens = [(200, granted(access_token=f"canary-{number}", expires_in=20)) for number in range(9)]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    for _ in range(3):
        await session.list_tasks().finish()
    assert len(authority.asked) == 2, "renewed before the first request only"
    later = time.time() + 12
    monkeypatch.setattr(session.credentials.logins, "_clock", lambda: later)
    await session.list_tasks().finish()
    assert len(authority.asked) == 3, "renewed after half of its time"


@pytest.mark.parametrize(
    ("status", "answer", "requests"),
    [(503, {}, 3), (429, {}, 3), (200, [], 3), (400, {"error": "invalid_grant"}, 2)],
)
async def test_a_renewal_is_tried_again_unless_the_server_refused_it(
    authority: Authority, open_session: OpenSession, status: int, answer: Any, requests: int
):
    authority.serve()
    authority.tokens = [
        (200, granted(expires_in=10, refresh_token="canary-refresh")),
        (status, answer),
        (200, granted(access_token="canary-renewed", expires_in=3600)),
    ]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    await session.list_tasks().finish()
    session.credentials.logins._clock = lambda: time.time() + 61
    await session.list_tasks().finish()
    assert len(authority.asked) == requests


async def test_the_refused_renewals_of_two_agents_are_both_remembered(
    authority: Authority, stranger: Agent, open_session: OpenSession
):
    authority.serve()
    authority.tokens = [(400, {"error": "invalid_grant"})]
    session = await open_session(authority.url)
    urls = (authority.url, stranger.url)
    for number, url in enumerate(urls):
        key = TokenKey(url, "oauth", CLIENT)
        soon = {"expires_at": time.time() + 1, "refresh_token": f"canary-refresh-{number}"}
        session.credentials.logins.use(Token(key, f"canary-{number}", token_url=f"{authority.url}/token", **soon))
        await session.credentials.logins.renew(url)
    assert len(authority.asked) == 2
    session.credentials.logins._clock = lambda: time.time() + 61
    assert [await session.credentials.logins.renew(url) for url in urls] == [False, False]


async def test_a_denied_call_names_why_its_token_was_not_renewed(authority: Authority, open_session: OpenSession):
    authority.serve()
    authority.tokens = [(400, {"error": "invalid_grant"}), (200, granted(access_token="canary-second"))]
    authority.agent.routes["/rpc"] = giving({}, status=401)
    session = await open_session(authority.url)
    key = TokenKey(authority.agent.url, "oauth", CLIENT)
    soon = {"expires_at": time.time() + 1, "refresh_token": "canary-refresh"}
    logins = session.credentials.logins
    logins.use(Token(key, "canary-first", token_url=f"{authority.url}/token", **soon))
    fault = await session.list_tasks().finish()
    assert fault is not None
    assert "The token was not renewed: " in fault.seen
    assert "invalid_grant" in fault.seen
    assert "canary" not in fault.seen
    assert session.credentials.authentication.not_renewed
    logins.use(Token(key, "canary-other", token_url=f"{authority.url}/token", **soon))
    assert session.credentials.authentication.not_renewed == "", "of the token in use only"


async def test_a_request_without_credentials_does_not_get_those_that_are_renewed(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    authority.tokens = [(200, granted(expires_in=1)), (200, granted(access_token="canary-second"))]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    wire = HttpRequest("POST", f"{authority.agent.url}/rpc", {"Content-Type": "application/json"}, b'{"id": 1}')
    await session.send_http(wire, session.choice, signed=False).finish()
    assert "Authorization" not in authority.agent.heard[-1].headers


async def test_client_credentials_are_renewed_with_the_secret(authority: Authority, open_session: OpenSession):
    authority.serve()
    authority.tokens = [(200, granted(expires_in=1)), (200, granted(access_token="canary-second"))]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    await session.list_tasks().finish()
    assert authority.agent.heard[-1].headers["Authorization"] == "Bearer canary-second"
    assert authority.asked[1]["grant_type"] == "client_credentials"


async def test_a_token_is_renewed_and_revoked_with_the_authentication_of_its_login(
    authority: Authority, open_session: OpenSession
):
    methods = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    authority.serve(metadata={"revocation_endpoint": f"{authority.url}/revoke"} | methods)
    authority.agent.routes["/revoke"] = giving(b"")
    authority.tokens = [(200, granted(refresh_token="canary-refresh"))]
    first = await open_session(authority.url)
    token = await start(first, "clientCredentials").run()
    first.credentials.logins.store(token, Place.FILE)
    second = await open_session(authority.url)
    await second.credentials.logins.refresh(token)
    await second.credentials.logins.log_out(token.key)
    sent = [heard for heard in authority.agent.heard if heard.path in ("/token", "/revoke")]
    assert [heard.path for heard in sent] == ["/token", "/token", "/revoke", "/revoke"]
    assert [form(heard).get("client_secret") for heard in sent] == [SECRET] * 4
    assert not any("Authorization" in heard.headers for heard in sent)


async def test_the_next_session_uses_a_stored_token(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    token = await start(session, "clientCredentials").run()
    assert session.credentials.logins.store(token, Place.FILE) == str(stored_tokens_path())
    after = await open_session(authority.url)
    assert after.credentials.logins.tokens == (token,)
    assert await after.list_tasks().finish() is None
    assert authority.agent.heard[-1].headers["Authorization"] == f"Bearer {TOKEN}"
    given = await open_session(authority.url, headers={"authorization": "Bearer given"})
    assert given.credentials.current.headers_for(authority.url) == {"authorization": "Bearer given"}
    assert TOKEN not in repr(after.credentials.logins.stored.entries())


async def test_a_renewed_token_replaces_the_stored_one_and_another_process_uses_it(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    authority.tokens = [(200, granted(expires_in=1)), (200, granted(access_token="canary-second"))]
    first = await open_session(authority.url)
    first.credentials.logins.store(await start(first, "clientCredentials").run(), Place.FILE)
    second = await open_session(authority.url)
    await first.list_tasks().finish()
    await second.list_tasks().finish()
    assert len(authority.asked) == 2
    assert second.credentials.logins.tokens[0].access_token == "canary-second"


async def test_of_several_processes_one_renews_a_stored_token_and_the_others_use_it(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    authority.tokens = [
        (200, granted(refresh_token="canary-refresh")),
        (200, granted(access_token="canary-renewed", refresh_token="canary-refresh-2")),
        (400, {"error": "invalid_grant"}),  # a refresh token is accepted once
    ]
    first = await open_session(authority.url)
    first.credentials.logins.store(await start(first, "authorizationCode", on_change=Browser()).run(), Place.FILE)
    sessions = [first, await open_session(authority.url), await open_session(authority.url)]
    for session in sessions:
        session.credentials.logins._clock = lambda: time.time() + 3600
    await asyncio.gather(*(session.list_tasks().finish() for session in sessions))
    assert [session.credentials.logins.tokens[0].access_token for session in sessions] == ["canary-renewed"] * 3
    assert len(authority.asked) == 2


@pytest.mark.parametrize("automatic", [True, False])
async def test_a_renewed_token_that_cannot_be_stored_is_used_and_the_reason_is_reported(
    authority: Authority, open_session: OpenSession, automatic: bool
):
    authority.serve()
    authority.tokens = [(200, granted(expires_in=10)), (200, granted(access_token="canary-renewed"))]
    session = await open_session(authority.url)
    token = await start(session, "clientCredentials").run()
    session.credentials.logins.store(token, Place.FILE)
    answer = authority.agent.routes["/token"]

    async def make_unwritable(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        stored_tokens_path().chmod(0o644)  # then it is neither read nor replaced
        return await answer(request, heard)

    authority.agent.routes["/token"] = make_unwritable
    reason = "The renewed token is used, but it was not stored: The file of tokens .* can be read by others"
    if automatic:
        await session.credentials.logins.renew(authority.url)
        notes = [record.label for record in session.journal.capture.select() if "token" in record.label]
        assert any(re.match(reason, note) for note in notes)
        assert not any("not renewed" in note for note in notes)
    else:
        with pytest.raises(FaultError, match=reason):
            await session.credentials.logins.refresh(token)
    assert session.credentials.logins.tokens[0].access_token == "canary-renewed"


async def renewing(authority: Authority, session: Session) -> tuple[asyncio.Event, asyncio.Task[bool]]:
    """Begin the renewal of a token, which the server answers after the event."""
    authority.tokens = [
        (200, granted(expires_in=10, refresh_token="canary-refresh")),
        (200, granted(access_token="canary-renewed", refresh_token="canary-refresh-2")),
    ]
    await start(session, "clientCredentials").run()
    asked, go_on, answer = asyncio.Event(), asyncio.Event(), authority.agent.routes["/token"]

    async def wait(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        asked.set()
        await go_on.wait()
        return await answer(request, heard)

    authority.agent.routes["/token"] = wait
    renewal = asyncio.ensure_future(session.credentials.logins.renew(authority.url))
    await asked.wait()
    return go_on, renewal


async def test_a_request_that_is_canceled_during_a_renewal_does_not_lose_the_token(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    session = await open_session(authority.url)
    go_on, renewal = await renewing(authority, session)
    renewal.cancel()
    await asyncio.wait([renewal])
    go_on.set()
    await session.list_tasks().finish()
    [token] = session.credentials.logins.tokens
    assert (token.access_token, token.refresh_token) == ("canary-renewed", "canary-refresh-2")
    assert len(authority.asked) == 2


async def test_the_end_of_a_session_waits_for_a_renewal(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    go_on, renewal = await renewing(authority, session)
    renewal.cancel()
    await asyncio.wait([renewal])
    closing = asyncio.ensure_future(session.close())
    await asyncio.wait([closing], timeout=0.2)
    assert not closing.done()
    go_on.set()
    await closing
    assert session.credentials.logins.tokens[0].refresh_token == "canary-refresh-2"


async def test_the_end_of_a_session_does_not_wait_long_for_a_renewal(
    authority: Authority, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logins, "_CLOSE_SECONDS", 0.1)
    authority.serve()
    session = await open_session(authority.url)
    _, renewal = await renewing(authority, session)
    async with asyncio.timeout(PATIENCE):
        await session.close()
        await asyncio.wait([renewal])
    assert renewal.cancelled()
    assert session.credentials.logins.tokens[0].access_token == TOKEN


async def test_a_log_out_during_a_renewal_is_final(authority: Authority, open_session: OpenSession):
    authority.serve(metadata={"revocation_endpoint": f"{authority.url}/revoke"})
    authority.agent.routes["/revoke"] = giving(b"")
    session = await open_session(authority.url)
    go_on, renewal = await renewing(authority, session)
    [token] = session.credentials.logins.tokens
    await session.credentials.logins.log_out(token.key)
    go_on.set()
    await renewal
    assert session.credentials.logins.tokens == ()
    revoked = [form(heard)["token"] for heard in authority.agent.heard if heard.path == "/revoke"]
    assert revoked[-1] == "canary-renewed", "the new token is not used"


async def test_log_out_forgets_the_token_also_if_it_cannot_be_revoked(authority: Authority, open_session: OpenSession):
    authority.serve(metadata={"revocation_endpoint": f"{authority.url}/revoke"})
    session = await open_session(authority.url)
    token = await start(session, "clientCredentials").run()
    session.credentials.logins.store(token, Place.FILE)
    assert "not revoked" in await session.credentials.logins.log_out(token.key)
    assert session.credentials.logins.tokens == ()
    assert session.credentials.logins.stored.entries() == []
    assert await session.credentials.logins.log_out(token.key) == "There was no token."
    authority.agent.routes["/revoke"] = giving(b"")
    revoked = await start(session, "clientCredentials").run()
    assert await session.credentials.logins.log_out(revoked.key) == "Logged out, and the token was revoked."
    assert session.credentials.current.headers_for(authority.url) == {}


async def test_a_refresh_token_is_sent_only_to_the_server_that_issued_it(
    authority: Authority, stranger: Agent, open_session: OpenSession
):
    authority.serve()
    session = await open_session(authority.url)
    authority.tokens = [(200, granted(refresh_token="canary-refresh"))]
    token = await start(session, "clientCredentials").run()
    card = session.credentials.logins.options[0]
    assert card.token_url == token.token_url
    authority.agent.serve_card(securitySchemes={"oauth": {"oauth2SecurityScheme": {"flows": {}}}})
    await session.refresh()
    await session.credentials.logins.refresh(token)
    assert authority.asked[-1]["refresh_token"] == "canary-refresh"
    assert stranger.heard == []


async def test_a_store_that_others_can_read_is_not_used(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    session.credentials.logins.store(await start(session, "clientCredentials").run(), Place.FILE)
    stored_tokens_path().chmod(0o644)
    after = await open_session(authority.url)
    assert after.credentials.logins.tokens == ()
    notes = [record.label for record in after.journal.capture.select() if "stored tokens are not used" in record.label]
    assert notes
    assert "chmod 600" in notes[0]
    with pytest.raises(FaultError, match="can be read by others"):
        after.credentials.logins.load()


async def test_a_token_without_renewal_cannot_be_refreshed(open_session: OpenSession, tmp_path: Path):
    session = await open_session()
    key = TokenKey("http://a.example:80", "oauth", CLIENT)
    token = Token(key, TOKEN, grant="authorizationCode", client_secret=SECRET)
    with pytest.raises(FaultError, match="no refresh token"):
        await session.credentials.logins.refresh(replace(token))
    assert session.credentials.logins.added_to(Credentials()).headers_for("http://a.example") == {}
