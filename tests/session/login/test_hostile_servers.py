"""Authorization servers that answer slowly, too much, with something else, or that lead to other servers."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from authority import METADATA_PATH, TOKEN, Authority, Browser, granted, start
from scripted import Agent, Heard, OpenSession, giving, records, redirecting
from test_login import device, failed, steps

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultError, Whose
from inspector.session.login import exchange
from inspector.wire import private_address

Handle = Callable[[web.BaseRequest, Heard], Any]


def answering_with(body: bytes, kind: str = "application/json", status: int = 200, **headers: str) -> Handle:
    async def answer(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=kind, headers=headers)

    return answer


def endless(kind: str) -> Handle:
    async def answer(request: web.BaseRequest, _: Heard) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        while True:
            await response.write(b" " * 65_536)

    return answer


async def silent(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


BOMB = gzip.compress(b" " * 50_000_000)


@pytest.mark.parametrize("path", ["/token", METADATA_PATH])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (endless("application/json"), "body is larger than"),
        (endless("text/event-stream"), "larger than"),
        (answering_with(BOMB, **{"Content-Encoding": "gzip"}), "grew more than"),
    ],
    ids=["body", "stream", "bomb"],
)
async def test_an_answer_without_end_is_cut(
    authority: Authority, open_session: OpenSession, path: str, answer: Handle, said: str
):
    authority.serve(metadata={})
    authority.agent.routes[path] = answer
    fault = await failed(await open_session(authority.url), "clientCredentials")
    assert said in fault.seen
    assert "the agent" not in fault.hint


@pytest.mark.parametrize("path", ["/token", METADATA_PATH])
async def test_a_server_that_does_not_answer_is_left_after_a_time(
    authority: Authority, open_session: OpenSession, path: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exchange, "_SECONDS", 0.2)
    authority.serve(metadata={})
    authority.agent.routes[path] = silent
    session = await open_session(authority.url)
    fault = await failed(session, "clientCredentials")
    assert fault.whose is Whose.NETWORK
    assert "no complete response" in fault.seen
    assert records(session, Kind.END)[-1].meta["how"] == "stopped"


async def test_a_device_is_polled_less_often_if_the_server_does_not_answer(
    authority: Authority, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exchange, "_SECONDS", 0.2)
    authority.serve()
    answers = [silent, authority.agent.routes["/token"]]

    async def answer(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        return await answers.pop(0)(request, heard)

    authority.agent.routes["/token"] = answer
    assert await device(authority, await open_session(authority.url)) == [2, 4]


async def test_calls_do_not_wait_again_for_a_server_that_does_not_renew_a_token(
    authority: Authority, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    authority.serve()
    authority.tokens = [(200, granted(expires_in=10, refresh_token="canary-refresh"))]
    session = await open_session(authority.url)
    await start(session, "authorizationCode", on_change=Browser()).run()
    authority.agent.routes["/token"] = silent
    monkeypatch.setattr(exchange, "_SECONDS", 0.2)
    for _ in range(3):
        assert await session.list_tasks().finish() is None
    assert steps(session).count("refresh") == 1
    later = time.time() + 61
    session.credentials.logins._clock = lambda: later
    await session.list_tasks().finish()
    assert steps(session).count("refresh") == 2


async def test_a_server_that_is_not_there_is_not_called_an_agent(authority: Authority, open_session: OpenSession):
    authority.serve(flows={"clientCredentials": {"tokenUrl": "http://127.0.0.1:1/token", "scopes": {}}})
    fault = await failed(await open_session(authority.url), "clientCredentials")
    assert fault.seen == "Request the token: Nothing listens at 127.0.0.1:1: the connection was refused."
    assert fault.hint == "Is the authorization server running, and on this port?"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answering_with(b"<html>", "text/html"), "is not a JSON object, but text/html"),
        (answering_with(b"[" * 200_000), "is not a JSON object."),
        (answering_with(json.dumps(granted()).encode("utf-16")), "is not a JSON object."),
        (answering_with(b"", status=204), "with status 204"),
        (giving(granted(access_token="a" * 70_000)), "too long for a header: 70,000 characters"),
        (giving(granted(access_token="abcdefgh\r\nX: 1")), "characters that a header cannot contain"),
    ],
)
async def test_an_answer_that_is_not_a_token_is_named(
    authority: Authority, open_session: OpenSession, answer: Handle, said: str
):
    authority.serve()
    authority.agent.routes["/token"] = answer
    assert said in (await failed(await open_session(authority.url), "clientCredentials")).seen


@pytest.mark.parametrize(
    ("expires_in", "rules"),
    [("1e999", {"AUTH-020"}), ("-5", {"AUTH-024"}), ('"soon"', {"AUTH-020"}), ("true", {"AUTH-020"}), ("1e300", set())],
)
async def test_an_unusable_expiry_is_a_finding_and_the_token_is_used(
    authority: Authority, open_session: OpenSession, expires_in: str, rules: set[str]
):
    authority.serve()
    body = f'{{"access_token": "{TOKEN}", "token_type": "Bearer", "expires_in": {expires_in}}}'
    authority.agent.routes["/token"] = answering_with(body.encode(), **{"Cache-Control": "no-store"})
    session = await open_session(authority.url)
    assert (await start(session, "clientCredentials").run()).expires_at is None
    found = {finding.rule for record in records(session) for finding in record.findings}
    assert {rule for rule in found if rule.startswith("AUTH-")} == rules


@pytest.mark.parametrize(
    ("members", "pauses"),
    [({"interval": 0}, 1), ({"interval": -1}, 5), ({"interval": 1e9}, 60), ({"interval": "x"}, 5)],
)
async def test_the_interval_of_a_device_has_limits(
    authority: Authority, open_session: OpenSession, members: Any, pauses: int
):
    authority.serve()
    assert await device(authority, await open_session(authority.url), **members) == [pauses]


async def test_a_device_is_not_waited_for_longer_than_an_hour(authority: Authority, open_session: OpenSession):
    authority.serve()
    authority.tokens = [(400, {"error": "authorization_pending"})]
    session = await open_session(authority.url)
    now = [1_767_225_600.0]
    session.credentials.logins._clock = lambda: now[0]
    answer = {"device_code": "canary-device-code", "user_code": "AB", "verification_uri": f"{authority.url}/verify"}
    authority.agent.routes["/device"] = giving({**answer, "expires_in": 1e10, "interval": 60})
    login = start(session, "deviceCode")

    async def pause(seconds: float) -> None:
        now[0] += seconds

    login._pause = pause
    with pytest.raises(FaultError, match="has expired"):
        await login.run()
    assert now[0] - 1_767_225_600.0 <= 3600


# Other servers


@pytest.mark.parametrize("path", ["/token", METADATA_PATH, "/.well-known/openid-configuration"])
async def test_no_redirect_is_followed(authority: Authority, stranger: Agent, open_session: OpenSession, path: str):
    authority.serve(metadata={}, openid="openid" in path)
    authority.agent.routes[path] = redirecting(f"{stranger.url}{path}", 307)
    session = await open_session(authority.url)
    login = start(session, "clientCredentials")
    if path == METADATA_PATH:  # the endpoints are on the card
        await login.run()
    else:
        with pytest.raises(FaultError, match="a redirect to"):
            await login.run()
    assert stranger.heard == []


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://a.example/\x1b[2J", "//a"])
@pytest.mark.parametrize("member", ["authorization_endpoint", "token_endpoint"])
async def test_an_endpoint_that_is_not_a_web_address_is_neither_opened_nor_called(
    authority: Authority, open_session: OpenSession, url: str, member: str
):
    authority.serve(openid=True)
    endpoints = {"authorization_endpoint": f"{authority.url}/authorize", "token_endpoint": f"{authority.url}/token"}
    document = {"issuer": authority.url, **endpoints, member: url}
    authority.agent.routes["/.well-known/openid-configuration"] = giving(document)
    session = await open_session(authority.url)
    browser = Browser()
    fault = await failed(session, "authorizationCode", on_change=browser)
    assert "is not a web address" in fault.seen or "characters that a URL cannot contain" in fault.seen
    assert not browser.opened
    assert steps(session) == ["metadata"]


@pytest.mark.parametrize("grant", ["clientCredentials", "authorizationCode", "deviceCode"])
async def test_a_public_agent_cannot_cause_requests_to_this_machine(
    authority: Authority, open_session: OpenSession, grant: str, monkeypatch: pytest.MonkeyPatch
):
    resolve = private_address._addresses

    async def addresses(host: str) -> Any:  # as if the agent had a public address
        return await resolve("8.8.8.8" if host == "127.0.0.1" else "127.0.0.1")

    monkeypatch.setattr(private_address, "_addresses", addresses)
    near = authority.url.replace("127.0.0.1", "localhost")
    end = {"tokenUrl": f"{near}/token", "scopes": {"read": "Read"}}
    more = {"authorizationUrl": f"{near}/authorize", "deviceAuthorizationUrl": f"{near}/device"}
    authority.serve(flows={grant: {**end, **more}})
    session = await open_session(authority.url)
    browser = Browser()
    login = start(session, grant, on_change=browser)
    with pytest.raises(FaultError, match="fewer machines can reach than the agent") as error:
        await login.run()
    assert f"--trust {near}" in error.value.fault.hint
    assert login.state.untrusted == near
    assert (authority.asked, browser.opened) == ([], {})
    session.trust(near)
    if grant == "clientCredentials":
        await start(session, grant).run()


@pytest.mark.parametrize(
    ("url", "agent", "refused"),
    [
        ("http://127.0.0.1:9/token", "http://localhost:8/", False),
        ("http://169.254.169.254/latest", "http://10.0.0.5/", True),
        ("http://2852039166/latest", "http://10.0.0.5/", True),
        ("http://0/", "http://10.0.0.5/", True),
        ("http://[::1]/", "http://10.0.0.5/", True),
        ("http://10.0.0.9/token", "http://10.0.0.5/", False),
        ("http://10.0.0.9/token", "http://8.8.8.8/", True),
        ("https://1.1.1.1/token", "http://8.8.8.8/", False),
        ("https://1.1.1.1/token", "http://127.0.0.1/", False),
    ],
)
async def test_servers_that_fewer_machines_can_reach_than_the_agent(url: str, agent: str, refused: bool):
    assert bool(await private_address.nearer_address(url, agent)) is refused


async def test_a_refresh_url_at_another_origin_is_not_used(
    authority: Authority, stranger: Agent, open_session: OpenSession
):
    for url in (f"{stranger.url}/token", f"{authority.url}/refresh"):
        end = {"tokenUrl": f"{authority.url}/token", "scopes": {"read": "Read"}, "refreshUrl": url}
        authority.serve(flows={"clientCredentials": end})
        authority.tokens = [(200, granted(refresh_token="canary-refresh"))]
        authority.agent.routes["/refresh"] = giving(granted(access_token="canary-renewed"))
        session = await open_session(authority.url)
        token = await start(session, "clientCredentials").run()
        await session.credentials.logins.refresh(token)
    assert stranger.heard == []
    assert authority.agent.heard[-1].path == "/refresh"


@pytest.mark.parametrize(
    ("scope", "rules"), [(None, {"AUTH-052"}), ("openid read", {"AUTH-052"}), ("read", {"AUTH-023"})]
)
async def test_a_missing_id_token_is_a_finding_and_the_access_token_is_used(
    authority: Authority, open_session: OpenSession, scope: str | None, rules: set[str]
):
    authority.serve(openid=True)
    endpoints = {"authorization_endpoint": f"{authority.url}/authorize", "token_endpoint": f"{authority.url}/token"}
    more = {"code_challenge_methods_supported": ["S256"], "grant_types_supported": ["authorization_code"]}
    document = {"issuer": authority.url, **endpoints, **more}
    authority.agent.routes["/.well-known/openid-configuration"] = giving(document)
    members = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600} | ({"scope": scope} if scope else {})
    authority.agent.routes["/token"] = giving(members, headers={"Cache-Control": "no-store"})
    session = await open_session(authority.url)
    browser = Browser()
    token = await start(session, "authorizationCode", on_change=browser).run()
    await browser.closed()
    assert token.subject == ""
    found = {finding.rule for record in records(session) for finding in record.findings}
    assert {rule for rule in found if rule.startswith("AUTH-")} == rules


async def test_tokens_in_a_redirect_are_masked(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    browser = Browser(code=None, access_token="canary-1", refresh_token="canary-2", id_token="canary-3")
    await failed(session, "authorizationCode", on_change=browser)
    await browser.closed()
    assert "canary-" not in repr([(record.label, record.raw, dict(record.meta)) for record in records(session)])
