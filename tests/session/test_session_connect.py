"""Finding the card and choosing an interface, with real servers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    CARD_PATH,
    OLD_CARD_PATH,
    Agent,
    Heard,
    OpenSession,
    answering,
    card_of,
    giving,
    message,
    old_card_of,
    records,
    refused,
    rules,
    say,
    streaming,
)

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.protocol.model import PushConfig
from inspector.session.card.lint import lint_url
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.http import Limits

BEARER = {"Authorization": "Bearer canary-4711"}


def tries_of(session: Any) -> list[tuple[str, str]]:
    return [(attempt.url, attempt.outcome) for attempt in session.connection.attempts]


def secrets_heard(agent: Agent) -> list[bool]:
    return ["canary" in f"{request.path} {request.headers} {request.body!r}" for request in agent.heard]


# Where the card is


async def test_a_card_at_the_first_place_is_one_try(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(agent.url)
    connection = session.connection
    assert tries_of(session) == [(f"{agent.url}{CARD_PATH}", "found")]
    assert (connection.url, connection.name) == (f"{agent.url}{CARD_PATH}", "Scripted")
    assert (connection.choice.dialect.version, connection.choice.interface.url) == ("1.0", f"{agent.url}/rpc")
    assert session.host == agent.url.removeprefix("http://")
    kinds = [(record.kind, record.operation, record.exchange) for record in records(session)]
    assert kinds[:4] == [(kind, "GetAgentCard", 1) for kind in (Kind.REQUEST, Kind.RESPONSE, Kind.BODY, Kind.END)]
    assert kinds[4][0] is Kind.NOTE
    assert records(session)[2].event == "card"
    assert json.loads(records(session)[2].raw) == card_of(f"{agent.url}/rpc")
    assert rules(session) == set()


@pytest.mark.parametrize("name", ["", 5])
async def test_an_agent_without_a_name_is_called_by_its_host(agent: Agent, open_session: OpenSession, name: Any):
    agent.serve_card(name=name)
    session = await open_session(agent.url)
    assert session.connection.name == session.host
    assert records(session, Kind.NOTE)[0].label.startswith(f"connected to {session.host}: 1.0 over JSONRPC")


async def test_a_card_at_the_second_place_has_two_tries(agent: Agent, open_session: OpenSession):
    agent.routes[OLD_CARD_PATH] = giving(old_card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    assert tries_of(session) == [(f"{agent.url}{CARD_PATH}", "404"), (f"{agent.url}{OLD_CARD_PATH}", "found")]
    assert session.connection.attempts[0].exchange == 1
    assert session.journal.exchanges.get(session.connection.attempts[1].exchange).status == 200
    assert rules(session) == {"CARD-112"}


async def test_a_card_under_a_path_is_found_before_the_one_at_the_root(agent: Agent, open_session: OpenSession):
    agent.serve_card("/a/b/.well-known/agent-card.json", name="Nested")
    agent.serve_card()
    session = await open_session(f"{agent.url}/a/b/")
    assert session.connection.card.name == "Nested"
    assert len(session.connection.attempts) == 1


async def test_a_card_of_the_root_is_found_for_a_path(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(f"{agent.url}/a/b")
    assert [outcome for _, outcome in tries_of(session)] == ["404", "404", "found"]


async def test_a_url_that_is_the_card_itself_is_found_as_given(agent: Agent, open_session: OpenSession):
    agent.serve_card("/cards/mine.json")
    agent.serve_card("/plain")
    assert tries_of(await open_session(f"{agent.url}/cards/mine.json")) == [(f"{agent.url}/cards/mine.json", "found")]
    assert tries_of(await open_session(f"{agent.url}/plain"))[-1] == (f"{agent.url}/plain", "found")


async def test_other_content_in_place_of_the_card_is_reported(agent: Agent, open_session: OpenSession):
    agent.routes[CARD_PATH] = giving(b"<!doctype html>", content_type="text/html")
    agent.routes[OLD_CARD_PATH] = giving([1])
    fault = await refused(open_session, agent.url)
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.CARD_NOT_FOUND)
    assert "a web page or XML, not JSON (text/html)" in fault.seen
    assert "JSON, but an array instead of an object" in fault.seen


async def test_a_card_that_cannot_be_read_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.serve_card(supportedInterfaces="many")
    session = await open_session()
    with pytest.raises(FaultError) as raised:
        await session.connect(agent.url)
    assert raised.value.fault.code == FaultCode.CARD_INVALID
    assert "supportedInterfaces" in raised.value.fault.seen
    assert rules(session) == {"CARD-002"}
    assert session.connection is None


async def test_a_mistake_in_another_member_of_the_card_is_a_finding_of_a_connected_agent(
    agent: Agent, open_session: OpenSession
):
    agent.serve_card(skills="many", securitySchemes={"x": None})
    session = await open_session(agent.url)
    assert rules(session) == {"CARD-002"}
    assert session.connection is not None
    assert (session.connection.card.skills, session.connection.card.security_schemes) == ([], {"x": {}})


async def test_a_stream_in_place_of_the_card_is_closed(agent: Agent, open_session: OpenSession):
    forever = asyncio.Event()
    agent.routes[CARD_PATH] = streaming(b"data: 1\n\n", then=forever.wait)
    agent.serve_card(OLD_CARD_PATH)
    async with asyncio.timeout(5):
        session = await open_session(agent.url)
    assert tries_of(session)[0] == (f"{agent.url}{CARD_PATH}", "a stream of events instead of a card")
    assert records(session, Kind.END)[0].meta["how"] == "stopped"


@pytest.mark.parametrize(("status", "code"), [(401, FaultCode.CREDENTIALS_MISSING), (403, FaultCode.AUTH_FAILED)])
async def test_a_protected_card_asks_for_credentials(agent: Agent, open_session: OpenSession, status: int, code: str):
    agent.routes[CARD_PATH] = giving(b"", status=status)
    fault = await refused(open_session, agent.url)
    assert (fault.whose, fault.code) == (Whose.YOURS, code)


async def test_an_agent_that_is_not_there_is_asked_once(open_session: OpenSession, closed_port: int):
    place = f"127.0.0.1:{closed_port}"
    session = await open_session()
    with pytest.raises(FaultError) as raised:
        await session.connect(place)
    assert raised.value.fault.code == FaultCode.UNREACHABLE
    assert place in raised.value.fault.seen
    [end] = records(session, Kind.END)
    assert (end.meta["how"], end.meta["whose"], end.meta["seen"]) == ("broken", "the agent", raised.value.fault.seen)


@pytest.mark.parametrize(
    "reference", ["http://[", "http://a:b", "ftp://x", "http://", "[", "x" * 5000, "http://\udc80/"]
)
async def test_an_invalid_url_is_reported(open_session: OpenSession, reference: str):
    await refused(open_session, reference)


async def test_a_card_of_many_skills_is_read(agent: Agent, open_session: OpenSession):
    skill = {"id": "any", "name": "Any", "description": "x" * 400, "tags": ["test"]}
    agent.serve_card(skills=[skill | {"id": f"skill-{number}"} for number in range(5000)])
    session = await open_session(agent.url)
    assert len(session.connection.card.skills) == 5000
    assert rules(session) == {"CARD-039"}


async def test_a_card_without_an_end_is_too_large(agent: Agent, open_session: OpenSession):
    agent.routes["/card.json"] = giving(b'{"name": "' + b"x" * 300_000, content_type="application/json")
    fault = await refused(open_session, f"{agent.url}/card.json", limits=Limits(document=200_000))
    assert "Stopped reading: the body is larger than 200,000 bytes" in fault.seen


async def test_a_card_whose_transfer_breaks_off_is_not_judged(agent: Agent, open_session: OpenSession):
    async def break_off(request: web.BaseRequest, _: Heard) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "5000"})
        await response.prepare(request)
        await response.write(b'{"name": "a card without')
        assert request.transport is not None
        request.transport.close()
        return response

    agent.routes[CARD_PATH] = break_off
    fault = await refused(open_session, agent.url)
    assert "closed the connection before the end of the response" in fault.seen
    assert "log of the agent" in fault.hint
    session = await open_session("")
    with pytest.raises(FaultError, match="closed the connection before the end"):
        await lint_url(session, Credentials(), agent.url)
    assert not [finding for record in records(session) for finding in record.findings if finding.rule != "HTTP-009"]


# Interfaces


async def test_a_card_of_0_3_leads_to_its_url(agent: Agent, open_session: OpenSession):
    agent.routes[CARD_PATH] = giving(old_card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    assert session.connection.found.dialect.version == "0.3"
    assert (session.choice.dialect.version, session.choice.interface.url) == ("0.3", f"{agent.url}/rpc")


async def test_a_card_with_members_of_both_versions_is_read_as_1_0(agent: Agent, open_session: OpenSession):
    agent.serve_card(url=f"{agent.url}/rpc", protocolVersion="0.3.0", preferredTransport="JSONRPC")
    session = await open_session(agent.url)
    assert (session.choice.dialect.version, session.choice.interface.url) == ("1.0", f"{agent.url}/rpc")
    assert rules(session) == set()


async def test_a_card_without_a_supported_interface_can_be_read_but_not_called(agent: Agent, open_session: OpenSession):
    agent.serve_card(
        supportedInterfaces=[{"url": agent.url, "protocolBinding": "https://example.com/b", "protocolVersion": "1.0"}]
    )
    session = await open_session(agent.url)
    assert session.connection.choice is None
    assert rules(session) == {"CARD-005"}
    with pytest.raises(FaultError) as raised:
        session.get("t")
    assert "https://example.com/b" in raised.value.fault.seen
    assert raised.value.fault.hint


async def test_nothing_can_be_called_before_a_connection(open_session: OpenSession):
    session = await open_session()
    with pytest.raises(FaultError) as raised:
        session.get("t")
    assert (raised.value.fault.whose, session.host) == (Whose.YOURS, "")


@pytest.mark.parametrize("url", ["localhost:8080", "", "/rpc", "file:///etc/passwd", "http://h:port/"])
async def test_an_invalid_interface_url_is_a_fault_of_the_agent(agent: Agent, open_session: OpenSession, url: str):
    agent.routes[CARD_PATH] = giving(card_of(url))
    session = await open_session(agent.url)
    call = await say(session)
    assert call.fault is not None
    assert call.fault.whose is Whose.AGENT
    assert call.fault.hint


# Credentials

GIVEN: dict[str, dict[str, Any]] = {
    "bearer": {"headers": BEARER},
    "header": {"headers": {"X-Custom": "canary-4711"}},
    "API key": {"api_key": "canary-key"},
    "userinfo": {},
}


@pytest.mark.parametrize("given", GIVEN)
async def test_an_agent_that_serves_its_card_to_everybody_gets_no_credentials_with_that_request(
    agent: Agent, open_session: OpenSession, given: str
):
    agent.routes["/rpc"] = answering(message("hi"))
    agent.serve_card()
    url = agent.url.replace("://", "://me:canary-4711@") if given == "userinfo" else agent.url
    session = await open_session(url, **GIVEN[given])
    await session.refresh()
    await say(session, stream=False)
    names = ("Authorization", "X-Custom", "X-API-Key")
    sent = [any(name in request.headers for name in names) for request in agent.heard]
    assert sent == [False, False, True]


@pytest.mark.parametrize("given", GIVEN)
async def test_an_agent_that_asks_with_401_gets_the_credentials_with_the_next_request_for_the_card(
    agent: Agent, open_session: OpenSession, given: str
):
    async def card(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        if not any(name in request.headers for name in ("Authorization", "X-Custom", "X-API-Key")):
            return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
        return await giving(card_of(f"{agent.url}/rpc"))(request, heard)

    agent.routes[CARD_PATH] = card
    url = agent.url.replace("://", "://me:canary-4711@") if given == "userinfo" else agent.url
    session = await open_session(url, **GIVEN[given])
    assert len(agent.heard) == 2
    assert len(records(session, Kind.REQUEST)) == 2, "both requests are recorded"


async def test_credentials_are_not_sent_to_an_interface_at_another_origin(
    agent: Agent, stranger: Agent, open_session: OpenSession
):
    agent.routes[CARD_PATH] = giving(card_of(f"{stranger.url}/rpc"))
    stranger.routes["/rpc"] = answering(message("hi"))
    session = await open_session(agent.url, headers=BEARER, api_key="canary-key", auth_card=True)
    await say(session, stream=False)
    assert secrets_heard(agent) == [True]
    assert secrets_heard(stranger) == [False]
    notes = [record.label for record in records(session, Kind.NOTE)]
    assert any(stranger.url in note and "not sent" in note and "--trust" in note for note in notes)


async def test_credentials_are_sent_to_an_origin_that_is_trusted(
    agent: Agent, stranger: Agent, open_session: OpenSession
):
    agent.routes[CARD_PATH] = giving(card_of(f"{stranger.url}/rpc"))
    stranger.routes["/rpc"] = answering(message("hi"))
    session = await open_session(agent.url, headers=BEARER, trusted=(stranger.url.removeprefix("http://"),))
    await say(session, stream=False)
    assert secrets_heard(stranger) == [True]
    assert not any("not sent" in record.label for record in records(session, Kind.NOTE))


async def test_an_invalid_trusted_origin_is_ignored(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(agent.url, headers=BEARER, trusted=("[", "", "http://"))
    assert len(session.credentials.current.origins) == 1


async def test_credentials_of_one_agent_do_not_go_to_the_next(agent: Agent, stranger: Agent, open_session: OpenSession):
    agent.serve_card()
    stranger.serve_card()
    session = await open_session(agent.url.replace("://", "://me:canary-4711@"), auth_card=True)
    await session.connect(stranger.url)
    assert agent.heard[0].headers["Authorization"].startswith("Basic ")
    assert "Authorization" not in stranger.heard[0].headers


async def test_user_and_password_of_the_reference_are_credentials_of_its_origin(
    agent: Agent, stranger: Agent, open_session: OpenSession
):
    agent.serve_card()
    agent.routes["/rpc"] = answering(message("hi"))
    session = await open_session(agent.url.replace("://", "://me:canary-4711@"), auth_card=True)
    await say(session, stream=False)
    assert [request.headers["Authorization"] for request in agent.heard] == ["Basic bWU6Y2FuYXJ5LTQ3MTE="] * 2
    assert "canary" not in f"{session.connection.reference} {session.connection.url} {tries_of(session)}"


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ({"location": "header", "name": "X-Key"}, ("/rpc", {"X-Key": "canary-key"})),
        ({"location": "query", "name": "k"}, ("/rpc?k=canary-key", {})),
        ({"location": "cookie", "name": "sid"}, ("/rpc", {"Cookie": "sid=canary-key"})),
    ],
)
async def test_an_api_key_goes_where_the_card_wants_it(
    agent: Agent, open_session: OpenSession, scheme: dict[str, str], expected: tuple[str, dict[str, str]]
):
    agent.answer(answering(message("hi")))
    agent.serve_card(securitySchemes={"key": {"apiKeySecurityScheme": scheme}})
    session = await open_session(agent.url, api_key="canary-key")
    await say(session, stream=False)
    path, headers = expected
    assert agent.calls[0].path == path
    assert headers.items() <= agent.calls[0].headers.items()


# Files


async def test_a_card_from_a_file_leads_to_its_interface(agent: Agent, open_session: OpenSession, tmp_path: Path):
    agent.routes["/rpc"] = answering(message("hi"))
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_of(f"{agent.url}/rpc", name=None)), encoding="utf-8")
    session = await open_session(str(path), headers=BEARER)
    assert (session.connection.url, session.host) == ("", "")
    assert [finding.rule for finding in session.connection.findings] == ["CARD-001"]
    await say(session, stream=False)
    assert secrets_heard(agent) == [False]


async def test_a_missing_card_file_is_reported(open_session: OpenSession, tmp_path: Path):
    fault = await refused(open_session, str(tmp_path / "missing.json"))
    assert fault.whose is Whose.YOURS


@pytest.mark.parametrize(
    ("path", "said"), [("/agent", True), ("/agents", False), ("/agents/other", False), ("/agents/other/deeper", True)]
)
async def test_a_card_for_another_path_is_noticed(agent: Agent, open_session: OpenSession, path: str, said: bool):
    url = f"{agent.url}/agents/other"
    agent.serve_card(supportedInterfaces=[{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}])
    session = await open_session(f"{agent.url}{path}")
    assert bool(session.connection.elsewhere) is said


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, FaultCode.CREDENTIALS_MISSING), (403, FaultCode.AUTH_FAILED), (503, FaultCode.CARD_NOT_FOUND)],
)
async def test_the_card_of_the_host_does_not_replace_a_card_that_is_refused(
    agent: Agent, open_session: OpenSession, status: int, code: str
):
    async def refusing(*_: object) -> web.Response:
        return web.Response(status=status)

    agent.serve_card()
    agent.routes["/agents/other/.well-known/agent-card.json"] = refusing
    fault = await refused(open_session, f"{agent.url}/agents/other")
    assert fault.code == code
    assert f"{agent.url}/agents/other/.well-known/agent-card.json: {status}" in fault.seen
    assert fault.hint.endswith(f"The card at {agent.url}/.well-known/agent-card.json has no interface below this path.")


async def test_a_secret_before_the_fragment_of_a_webhook_is_masked(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(agent.url)
    session.set_push(PushConfig(task_id="t", url="http://127.0.0.1:9/?api_key=canary-7f#part"))
    assert "canary-7f" not in session.journal.redactor.text("repeats canary-7f alone")
