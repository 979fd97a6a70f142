"""Logins against an authorization server over sockets: the three flows, their checks, and their records."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any
from urllib.parse import unquote_plus

import pytest
from authority import CLIENT, SECRET, TOKEN, Authority, Browser, form, granted, start
from scripted import Agent, OpenSession, giving, redirecting

from inspector.capture.records import LOGIN, Kind, Record
from inspector.protocol.errors import Fault, FaultCode, FaultError
from inspector.session.login.state import LoginState, Step
from inspector.session.session import Session


async def failed(session: Session, grant: str, **members: Any) -> Fault:
    login = start(session, grant, **members)
    with pytest.raises(FaultError) as error:
        await login.run()
    assert login.state.error == error.value.fault
    assert login.state.finished
    assert not login.state.open_url
    assert not session.credentials.logins.tokens
    return error.value.fault


def steps(session: Session) -> list[str]:
    """Return the steps of the requests and notes of logins."""
    records = session.journal.capture.select()
    return [
        record.meta[LOGIN] for record in records if record.kind in (Kind.REQUEST, Kind.NOTE) and LOGIN in record.meta
    ]


def recorded(session: Session) -> list[Record]:
    return list(session.journal.capture.select())


def basic(heard_header: str) -> str:
    return base64.b64decode(heard_header.removeprefix("Basic ")).decode()


async def test_client_credentials(authority: Authority, open_session: OpenSession):
    authority.serve()
    authority.tokens = [(200, granted(scope="read write"))]
    session = await open_session(authority.url)
    states: list[LoginState] = []
    token = await start(session, "clientCredentials", on_change=states.append).run()
    assert (token.access_token, token.scopes, token.key.origin) == (TOKEN, ("read", "write"), authority.url)
    assert authority.asked == [{"grant_type": "client_credentials", "scope": "read", "client_id": CLIENT}]
    [asked] = authority.token_requests
    assert basic(asked.headers["Authorization"]) == f"{CLIENT}:{SECRET}"
    assert [state.current for state in states] == [Step.TOKEN, None]
    assert states[-1].succeeded
    assert await session.list_tasks().finish() is None
    assert authority.agent.heard[-1].headers["Authorization"] == f"Bearer {TOKEN}"


BOTH = ["client_secret_basic", "client_secret_post"]


@pytest.mark.parametrize(
    ("methods", "secret", "posted"),
    [
        (["client_secret_post"], SECRET, True),
        (BOTH, SECRET, False),
        # Some servers do not decode the form encoding inside of Basic credentials: it is avoided where possible.
        (BOTH, "s3cret/+ &", True),
        (["client_secret_basic"], "s3cret/+ &", False),
    ],
)
async def test_the_secret_is_sent_as_the_metadata_demands(
    authority: Authority, open_session: OpenSession, methods: list[str], secret: str, posted: bool
):
    authority.serve(metadata={"token_endpoint_auth_methods_supported": methods})
    session = await open_session(authority.url)
    await start(session, "clientCredentials", client_secret=secret).run()
    [asked] = authority.token_requests
    assert form(asked).get("client_secret") == (secret if posted else None)
    sent = asked.headers.get("Authorization", "")
    assert unquote_plus(basic(sent)) == ("" if posted else f"{CLIENT}:{secret}")


async def test_authorization_code_uses_pkce_and_the_redirect_uri(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    browser = Browser()
    await start(session, "authorizationCode", on_change=browser).run()
    await browser.closed()
    opened, [asked] = browser.opened, authority.asked
    digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
    assert opened["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert opened["code_challenge_method"] == "S256"
    assert len(asked["code_verifier"]) >= 43
    assert (opened["tenant"], opened["response_type"], opened["client_id"]) == ("a", "code", CLIENT)
    assert asked["redirect_uri"] == opened["redirect_uri"]
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert (asked["grant_type"], asked["code"], asked["client_id"]) == (
        "authorization_code",
        "canary-code-1234",
        CLIENT,
    )
    assert "Authorization" not in authority.token_requests[0].headers
    assert browser.pages[0].status_code == 200
    assert steps(session) == ["authorize", "redirect", "token"]


async def test_nothing_is_recorded_or_kept_that_is_secret(authority: Authority, open_session: OpenSession):
    authority.serve()
    authority.tokens = [(200, granted(refresh_token="canary-refresh", id_token="canary-id"))]
    session = await open_session(authority.url)
    browser = Browser()
    await start(session, "authorizationCode", on_change=browser, client_secret=SECRET).run()
    await browser.closed()
    everything = repr([(record.label, record.raw, dict(record.meta)) for record in recorded(session)])
    secrets = [TOKEN, SECRET, "canary-refresh", "canary-id", "canary-code-1234", authority.asked[0]["code_verifier"]]
    secrets.append(authority.token_requests[0].headers["Authorization"].removeprefix("Basic "))
    assert [secret for secret in secrets if secret in everything] == []
    assert TOKEN not in repr(session.credentials.logins.tokens)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"state": "other"}, "another state"),
        ({"state": None}, "no state"),
        ({"iss": "https://other.example"}, "another issuer: https://other.example"),
        ({"iss": None, "code": None, "error": "access_denied", "error_description": "No"}, "access_denied: No"),
        ({"code": None}, "neither a code nor an error"),
    ],
)
async def test_a_redirect_is_checked(authority: Authority, open_session: OpenSession, answer: Any, said: str):
    authority.serve(metadata={})
    session = await open_session(authority.url)
    browser = Browser(**answer)
    fault = await failed(session, "authorizationCode", on_change=browser)
    await browser.closed()
    assert said in fault.seen
    assert fault.code == FaultCode.AUTH_FAILED
    assert fault.hint
    assert authority.asked == []
    assert steps(session)[-1] == "redirect"


async def test_a_missing_issuer_is_refused_if_the_metadata_announces_it(
    authority: Authority, open_session: OpenSession
):
    authority.serve(metadata={"authorization_response_iss_parameter_supported": True})
    session = await open_session(authority.url)
    browser = Browser()
    assert "another issuer: none" in (await failed(session, "authorizationCode", on_change=browser)).seen
    await browser.closed()
    browser = Browser(iss=authority.url)
    await start(session, "authorizationCode", on_change=browser).run()
    await browser.closed()


async def device(authority: Authority, session: Session, **members: Any) -> list[float]:
    """Log in with a device code; return the pauses between two requests."""
    answer = {
        "device_code": "canary-device-code",
        "user_code": "ABCD-EFGH",
        "verification_uri": f"{authority.url}/verify",
        "expires_in": 600,
        "interval": 2,
    }
    authority.agent.routes["/device"] = giving({**answer, **members})
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    login = start(session, "deviceCode")
    login._pause = pause
    await login.run()
    return pauses


async def test_device_code_polls_as_the_server_demands(authority: Authority, open_session: OpenSession):
    authority.serve()
    pending, slow = (400, {"error": "authorization_pending"}), (400, {"error": "slow_down"})
    authority.tokens = [pending, slow, pending, (200, granted())]
    session = await open_session(authority.url)
    assert await device(authority, session) == [2, 2, 7, 7]
    assert {asked["device_code"] for asked in authority.asked} == {"canary-device-code"}
    assert authority.asked[0]["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"
    assert steps(session) == ["device", *["token"] * 4]
    assert b"canary-device-code" not in b"".join(record.raw for record in recorded(session))


async def test_device_code_polls_more_slowly_while_the_server_is_busy(authority: Authority, open_session: OpenSession):
    authority.serve()
    busy = (503, {"error": "Service Unavailable"})
    authority.tokens = [(503, {}), (400, {"error": "authorization_pending"}), (429, {}), busy, (200, granted())]
    session = await open_session(authority.url)
    assert await device(authority, session) == [2, 4, 4, 8, 16]


async def test_the_user_code_and_its_url_are_shown(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)
    states: list[LoginState] = []
    answer = {"device_code": "d" * 9, "user_code": "WD-1", "verification_uri": f"{authority.url}/v", "interval": 1}
    complete = {**answer, "verification_uri_complete": f"{authority.url}/v?code=WD-1"}
    authority.agent.routes["/device"] = giving(complete)
    login = start(session, "deviceCode", on_change=states.append)
    login._pause = lambda _: asyncio.sleep(0)
    await login.run()
    [shown] = [state for state in states if state.user_code]
    assert (shown.user_code, shown.open_url) == ("WD-1", f"{authority.url}/v?code=WD-1")
    assert shown.expires_at is not None
    assert not states[-1].user_code


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"verification_uri": "javascript:alert(1)"}, "not a web address"),
        ({"verification_uri": "https://a.example/\x1b]0;x\x07"}, "characters that a URL cannot contain"),
        ({"verification_uri": "https://ex\u0430mple.com/"}, "characters that a URL cannot contain"),
        ({"verification_uri": "file:///etc/passwd"}, "not a web address"),
        ({"verification_uri": "https://user@a.example/"}, "contains a user name"),
        ({"verification_uri": f"https://a.example/{'a' * 9000}"}, "is too long"),
        ({"verification_uri_complete": "javascript:alert(1)"}, "not a web address"),
        ({"user_code": "A" * 65}, "cannot be shown"),
        ({"device_code": ["a"]}, "no device_code"),
        ({"verification_uri": "http://login.example/"}, "is http"),
        ({"user_code": "\x1b[2J"}, "cannot be shown"),
        ({"user_code": ""}, "no user_code"),
        ({"expires_in": 1}, "has expired"),
    ],
)
async def test_a_hostile_device_response_is_refused(
    authority: Authority, open_session: OpenSession, members: Any, said: str
):
    authority.serve()
    session = await open_session(authority.url)
    with pytest.raises(FaultError, match=said) as error:
        await device(authority, session, **members)
    assert "\x1b" not in str(error.value)
    assert authority.asked == []


@pytest.mark.parametrize(
    ("answer", "said", "hint"),
    [
        ((401, {"error": "invalid_client"}), "invalid_client", "client secret"),
        ((400, {"error": "invalid_scope", "error_description": "no \x1b[2J"}), "invalid_scope: no", "scopes"),
        ((200, {"error": "access_denied"}), "access_denied", "allow"),
        ((200, granted(token_type="mac")), "not supported: mac", "Bearer"),
        ((200, granted(token_type=None)), "not supported: none", "Bearer"),
        ((200, granted(access_token="a b")), "header cannot contain", ""),
        ((200, granted(access_token=None)), "no access_token", ""),
        ((200, []), "not a JSON object", ""),
        ((404, {}), "status 404", "right URL"),
        ((500, {"error": "invalid_client"}), "invalid_client", "client secret"),
    ],
)
async def test_a_refused_token_has_a_reason(
    authority: Authority, open_session: OpenSession, answer: Any, said: str, hint: str
):
    authority.serve()
    authority.tokens = [answer]
    session = await open_session(authority.url)
    fault = await failed(session, "clientCredentials")
    assert said in fault.seen
    assert hint in fault.hint
    assert fault.code == FaultCode.AUTH_FAILED


@pytest.mark.parametrize(
    ("status", "answer", "seen"),
    [
        (429, {}, "status 429."),
        (500, {}, "status 500."),
        (503, {"error": "Service Unavailable"}, "status 503 (Service Unavailable)."),
        (400, {"error": "temporarily_unavailable"}, "status 400 (temporarily_unavailable)."),
    ],
)
async def test_a_server_that_cannot_answer_now_has_not_refused_the_token(
    authority: Authority, open_session: OpenSession, status: int, answer: Any, seen: str
):
    authority.serve()
    authority.tokens = [(status, answer)]
    fault = await failed(await open_session(authority.url), "clientCredentials")
    assert fault.seen == f"The authorization server could not answer the request for the token: {seen}"
    assert fault.hint == f"Try again later, or check the log of the server at {authority.url}/token."
    assert fault.code == FaultCode.UNREACHABLE


async def test_credentials_do_not_follow_a_redirect(authority: Authority, stranger: Agent, open_session: OpenSession):
    authority.serve()
    authority.agent.routes["/token"] = redirecting(f"{stranger.url}/token", 307)
    session = await open_session(authority.url)
    assert "a redirect to" in (await failed(session, "clientCredentials")).seen
    assert stranger.heard == []


async def test_the_type_of_a_token_is_read_without_case_and_an_expiry_may_be_text(
    authority: Authority, open_session: OpenSession
):
    authority.serve()
    authority.tokens = [(200, granted(token_type="bEARER", expires_in="60"))]
    session = await open_session(authority.url)
    token = await start(session, "clientCredentials").run()
    assert token.expires_at is not None
    assert token.scopes == ("read",)


@pytest.mark.parametrize("issuer", ["https://other.example", "", 7])
async def test_metadata_of_another_issuer_is_refused(authority: Authority, open_session: OpenSession, issuer: Any):
    authority.serve(metadata={"issuer": issuer})
    session = await open_session(authority.url)
    assert "for another issuer" in (await failed(session, "clientCredentials")).seen
    assert authority.asked == []


async def test_metadata_that_cannot_be_read_does_not_stop_a_flow_of_the_card(
    authority: Authority, open_session: OpenSession
):
    authority.serve(metadata={})
    del authority.agent.routes["/.well-known/oauth-authorization-server"]
    session = await open_session(authority.url)
    await start(session, "clientCredentials").run()
    assert steps(session) == ["metadata", "token"]


async def test_a_login_can_be_canceled(authority: Authority, open_session: OpenSession):
    authority.serve()
    session = await open_session(authority.url)

    def cancel(state: LoginState) -> None:
        if state.open_url:
            login.cancel()

    login = start(session, "authorizationCode", on_change=cancel)
    with pytest.raises(FaultError, match="canceled"):
        await login.run()
    assert login.state.error is not None
    early = start(session, "authorizationCode")
    early.cancel()
    with pytest.raises(FaultError, match="canceled"):
        await early.run()


@pytest.mark.parametrize(
    ("grant", "members", "said"),
    [
        ("clientCredentials", {"client_secret": ""}, "needs the secret"),
        ("authorizationCode", {"client_id": ""}, "needs a client id"),
        ("clientCredentials", {"client_secret": "env:NO_SUCH_SECRET"}, "NO_SUCH_SECRET is not set"),
    ],
)
async def test_what_is_missing_is_named_before_anything_is_sent(
    authority: Authority, open_session: OpenSession, grant: str, members: Any, said: str
):
    authority.serve(metadata={})
    session = await open_session(authority.url)
    assert said in (await failed(session, grant, **members)).seen
    assert steps(session) == []


async def test_the_metadata_of_the_agent_is_fetched_if_its_401_names_it(
    authority: Authority, stranger: Agent, open_session: OpenSession
):
    authority.serve()
    session = await open_session(authority.url)
    place = "/.well-known/oauth-protected-resource"
    authority.agent.routes[place] = giving({"resource": authority.url})
    for host, fetched in ((stranger.url, False), (authority.url, True)):
        challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{host}{place}"'}
        authority.agent.routes["/rpc"] = giving({}, status=401, headers=challenge)
        await session.list_tasks().finish()
        login = start(session, "clientCredentials")
        await login.run()
        assert (Step.RESOURCE in login.state.done) is fetched
    assert stranger.heard == []
