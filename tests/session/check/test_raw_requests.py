"""Raw requests of check files: what is sent, to which origins, and what is masked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp.web import BaseRequest, Response, StreamResponse
from check_files import file_of, raw, test_of
from check_runs import UNKNOWN, RunChecks, messages, only, outcome, run_file
from scripted import CARD_PATH, Agent, Heard, OpenSession, answering, card_of, giving

from inspector.session.check.result import TestResult as Outcome
from inspector.session.check.status import Status

RPC = {"jsonrpc": "2.0", "id": "1", "method": "GetTask", "params": {"id": UNKNOWN}}
VERSION = {"A2A-Version": "1.0"}


async def test_raw_requests_have_the_headers_and_bodies_of_the_file(run_checks: RunChecks):
    steps = [
        raw(
            body=RPC,
            headers=VERSION,
            expect={"status": 200, "body": {"error": {"code": -32001}}},
            capture={"code": "error.code"},
        ),
        raw(
            name="broken",
            body_raw="{not json",
            headers={**VERSION, "Content-Type": "application/json"},
            expect={"body": {"error": {"code": -32700}}},
        ),
        raw(
            "/.well-known/agent-card.json",
            name="card",
            method="GET",
            expect={"status": 200, "headers": {"content-type": {"contains": "json"}}},
        ),
        raw("/nothing/here", name="missing", method="GET", expect={"status": {"gte": 400}}),
        raw(name="error", body=RPC, headers=VERSION, expect_error={"code": {"one_of": [-32001, "TaskNotFoundError"]}}),
        {"id": "same", "assertion": {"source": "raw.code", "match": -32001}},
    ]
    assert await outcome(run_checks, *steps) == ("pass", [])


async def test_raw_requests_to_another_origin_have_no_credentials(agent: Agent, stranger: Agent, run_checks: RunChecks):
    for server in (agent, stranger):
        server.routes["/rpc"] = answering({})
    agent.serve_card()
    body = {"id": 1}
    steps = [raw(body=body), raw(f"{stranger.url}/rpc", name="other", body=body)]
    await run_checks(file_of(test_of(*steps)), agent.url, settings={"headers": {"Authorization": "Bearer secret-word"}})
    assert [request.headers.get("Authorization") for request in agent.calls] == ["Bearer secret-word"]
    assert [request.headers.get("Authorization") for request in stranger.calls] == [None]


@pytest.mark.parametrize("about_credentials", [False, True])
async def test_a_card_is_requested_once_with_the_headers_of_the_step(
    about_credentials: bool, agent: Agent, run_checks: RunChecks
):
    async def card(request: BaseRequest, heard: Heard) -> StreamResponse:
        if heard.headers.get("If-None-Match"):
            return Response(status=304)
        return await giving(card_of(f"{agent.url}/rpc"))(request, heard)

    agent.routes[CARD_PATH] = card
    step = raw(CARD_PATH, method="GET", headers={"X-Step": "a"}, expect={"body": {"name": {"type": "string"}}})
    unchanged = raw(CARD_PATH, name="again", method="GET", headers={"If-None-Match": '"1"'}, expect={"status": 304})
    members = {"runner_requirements": ["auth_credentials"]} if about_credentials else {}
    settings = {"headers": {"Authorization": "Bearer secret-word"}}
    limits = {"x-a2a-inspect": {"findings": {"max": "warning"}}}
    run = await run_checks(file_of(test_of(step, unchanged, **members, **limits)), agent.url, settings=settings)
    assert messages(run) == []
    _, first, second = agent.heard
    assert first.headers["X-Step"] == "a"
    assert second.headers["If-None-Match"] == '"1"'
    sent = None if about_credentials else "Bearer secret-word"
    assert [request.headers.get("Authorization") for request in (first, second)] == [sent, sent]


async def test_the_time_of_a_request_for_a_card_is_limited(agent: Agent, run_checks: RunChecks):
    async def slow(request: BaseRequest, heard: Heard) -> StreamResponse:
        await asyncio.sleep(0.05)
        return await giving(card_of(f"{agent.url}/rpc"))(request, heard)

    agent.serve_card()
    agent.routes["/.well-known/other.json"] = slow
    step = raw("/.well-known/other.json", method="GET", **{"x-a2a-inspect": {"total_ms": 20}})
    result, [message] = await outcome(run_checks, step, url=agent.url)
    assert result == "fail"
    assert message.startswith("total time: expected at most 20 ms")


@pytest.mark.parametrize("place", ["path", "header", "body", "variable"])
async def test_the_environment_is_sent_to_the_agent_and_trusted_origins_only(
    place: str, agent: Agent, stranger: Agent, run_checks: RunChecks, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("A_WORD_OF_THE_USER", "canary")
    word = "{{env.A_WORD_OF_THE_USER}}"
    for server in (agent, stranger):
        server.routes["/rpc"] = answering({})
    agent.serve_card()

    def request(url: str) -> dict[str, Any]:
        path = f"{url}/rpc?a={word}" if place == "path" else f"{url}/rpc"
        headers = {"X-Word": word} if place == "header" else {}
        return raw(path, headers=headers, body={"a": "{{indirect}}" if place == "variable" else word})

    async def run(url: str, *trusted: str) -> Outcome:
        text = file_of(test_of(request(url)), variables={"indirect": word})
        return only(await run_checks(text, agent.url, settings={"trusted": trusted}))

    assert (await run(agent.url)).status is Status.PASS
    refused = await run(stranger.url)
    assert refused.status is Status.ERROR
    assert refused.failures[0].message == (
        f"the environment variable A_WORD_OF_THE_USER is not sent to {stranger.url}; --trust {stranger.url} allows it"
    )
    assert stranger.calls == []
    assert (await run(stranger.url, stranger.url)).status is Status.PASS


@pytest.mark.parametrize("name", ["env.THE_API_TOKEN", "password"])
async def test_variables_with_the_names_of_secrets_are_masked(
    name: str, agent: Agent, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THE_API_TOKEN", "canary-4711")
    agent.routes["/rpc"] = answering({"echo": "canary-4711"})
    agent.serve_card()
    session = await open_session(agent.url)
    step = raw(body={"id": 1, "a": f"{{{{{name}}}}}"}, expect={"body": {"result": {"echo": "other"}}})
    text = file_of(test_of(step, assertions=[{"source": f"{{{{{name}}}}}", "match": "other"}]))
    result = only(await run_file(session, text, variables={"password": "canary-4711"}))
    assert b"canary-4711" in agent.calls[-1].body
    assert result.status is Status.FAIL
    assert "****" in result.failures[0].actual
    assert "canary" not in str(result)
    assert all(b"canary" not in record.raw for record in session.journal.capture.select())
