"""The outcomes of calls, with real servers: whose fault an error is, and HTTP errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    Agent,
    Handle,
    OpenSession,
    answering,
    checked,
    giving,
    hurry,
    records,
    redirecting,
    rules,
    say,
)

from inspector.protocol.errors import FaultCode, Whose
from inspector.session.denial import CREDENTIALS_HINT, FORBIDDEN_HINT, REJECTED_HINT
from inspector.session.hints import CHECK_RESPONSE, SEND_EVENT_STREAM

# What a call came to


OUTCOMES: dict[str, tuple[Handle, Whose, str, str]] = {
    "401": (giving(b"", status=401), Whose.YOURS, FaultCode.CREDENTIALS_MISSING, "401 Unauthorized"),
    "401 with an error": (
        answering(error={"code": -32000, "message": "who are you"}),
        Whose.AGENT,
        "Error",
        "who are you",
    ),
    "403": (giving(b"<html>", status=403), Whose.YOURS, FaultCode.AUTH_FAILED, "403 Forbidden"),
    "403 with a reason": (
        giving(b'{"detail": "not in your plan"}', status=403),
        Whose.YOURS,
        FaultCode.AUTH_FAILED,
        '403 Forbidden: {"detail":"not in your plan"}.',
    ),
    "404": (giving(b"<html>", status=404), Whose.AGENT, "InvalidAgentResponseError", "404 Not Found: a web page"),
    "500": (giving(b"boom", status=500), Whose.AGENT, "InternalError", "500 Internal Server Error"),
    "503": (giving(b"", status=503), Whose.AGENT, FaultCode.UNREACHABLE, "503 Service Unavailable."),
    "308": (redirecting("/rpc/", 308), Whose.AGENT, "InvalidAgentResponseError", "redirects (308) to /rpc/"),
    "302 to nowhere": (giving(b"", status=302), Whose.AGENT, "InvalidAgentResponseError", "to no location"),
    "a page": (giving(b"<html>", content_type="text/html"), Whose.AGENT, "InvalidAgentResponseError", "a web page"),
    "nothing": (giving(b"", status=204), Whose.AGENT, "InvalidAgentResponseError", "empty"),
    "unknown error": (answering(error={"code": 5, "message": ""}), Whose.AGENT, "Error", "(Error, code 5)"),
    "version": (
        answering(error={"code": -32009, "message": "no"}),
        Whose.AGENT,
        "VersionNotSupportedError",
        "protocol version",
    ),
}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "once"])
@pytest.mark.parametrize("case", OUTCOMES)
async def test_the_outcome_of_a_call_names_whose_fault_it_is(
    agent: Agent, open_session: OpenSession, case: str, stream: bool
):
    handle, whose, code, seen = OUTCOMES[case]
    agent.answer(handle)
    session = await open_session(agent.url)
    fault = checked((await say(session, stream=stream)).fault)
    assert (fault.whose, fault.code) == (whose, code)
    assert seen in fault.seen


@pytest.mark.parametrize(("body", "hint"), [(b"OK", CHECK_RESPONSE), (b"data: {}\n\n", SEND_EVENT_STREAM)])
async def test_the_content_type_is_to_be_changed_only_if_the_body_is_a_stream(
    agent: Agent, open_session: OpenSession, body: bytes, hint: str
):
    agent.answer(giving(body, content_type="text/plain"))
    session = await open_session(agent.url)
    assert checked((await say(session)).fault).hint == hint


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_the_hint_about_a_status_of_a_proxy_names_the_proxy(agent: Agent, open_session: OpenSession, status: int):
    agent.answer(giving(b"", status=status))
    session = await open_session(agent.url)
    assert "A proxy sends this status" in checked((await say(session)).fault).hint


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer a-canary-token"}, {"X-Key": "a-canary-key"}])
async def test_rejected_credentials_are_not_recommended_again(
    agent: Agent, open_session: OpenSession, status: int, headers: dict[str, str]
):
    agent.answer(giving(b"", status=status))
    session = await open_session(agent.url, headers=headers)
    hint = checked((await say(session)).fault).hint
    assert hint == (REJECTED_HINT if headers else FORBIDDEN_HINT if status == 403 else CREDENTIALS_HINT)


@pytest.mark.parametrize("streaming", [True, False])
async def test_after_a_timeout_streaming_is_recommended_if_the_agent_has_it(
    agent: Agent, open_session: OpenSession, streaming: bool
):
    async def wait(*_: Any) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    agent.answer(wait)
    agent.serve_card(capabilities={"streaming": streaming})
    session = await open_session(agent.url)
    hurry(session, 0.1)
    hint = checked((await say(session, stream=False)).fault).hint
    assert ("or with streaming" in hint) is streaming
    assert "longer --timeout" in hint


@pytest.mark.parametrize("status", [401, 403, 302])
async def test_http_errors_are_not_findings(agent: Agent, open_session: OpenSession, status: int):
    agent.answer(giving(b"<html>", status=status, content_type="text/html"))
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) == ({"HTTP-008"} if status == 401 else set())


async def test_a_401_for_a_scheme_on_the_card_is_not_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(giving(b"", status=401, headers={"WWW-Authenticate": "Bearer"}))
    schemes = {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
    agent.serve_card(securitySchemes=schemes, securityRequirements=[{"schemes": {"token": {"list": []}}}])
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) == set()


async def test_required_credentials_take_precedence_over_the_error(agent: Agent, open_session: OpenSession):
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no"}}
    agent.answer(giving(body, status=401, headers={"WWW-Authenticate": "Bearer realm=x"}))
    session = await open_session(agent.url)
    fault = checked((await say(session, stream=False)).fault)
    assert fault.code == FaultCode.CREDENTIALS_MISSING
    assert "Bearer realm=x" in fault.seen


async def test_an_address_that_only_the_card_names_is_named_as_such(agent: Agent, open_session: OpenSession):
    interface = {"url": "http://127.0.0.1:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    agent.serve_card(supportedInterfaces=[interface])
    fault = checked((await say(await open_session(agent.url), stream=False)).fault)
    assert (fault.code, fault.seen) == (
        FaultCode.UNREACHABLE,
        "Nothing listens at 127.0.0.1:1: the connection was refused.",
    )
    assert "address of the interface on the card" in fault.hint


async def test_an_agent_that_disconnects_during_the_response_is_reported(agent: Agent, open_session: OpenSession):
    async def vanish(request: web.BaseRequest, _: Any) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    agent.answer(vanish)
    session = await open_session(agent.url)
    fault = checked((await say(session, stream=False)).fault)
    assert fault.code == FaultCode.UNREACHABLE
    assert "on the card" not in fault.hint, "the card is from the same server"
    assert records(session)[-1].meta["how"] == "broken"


@pytest.mark.parametrize(
    ("headers", "seen"),
    [({"Content-Length": "2000"}, "expected 2000"), ({"Content-Encoding": "gzip"}, "gzip")],
    ids=["short", "not in its coding"],
)
async def test_a_truncated_response_is_a_finding(
    agent: Agent, open_session: OpenSession, headers: dict[str, str], seen: str
):
    async def begin(request: web.BaseRequest, _: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"} | headers)
        await response.prepare(request)
        await response.write(b'{"jsonrpc": "2.0"')
        if request.transport is not None:
            request.transport.close()
        return response

    agent.answer(begin)
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert "HTTP-009" in rules(session)
    assert seen in next(
        finding.seen for record in records(session) for finding in record.findings if finding.rule == "HTTP-009"
    )
