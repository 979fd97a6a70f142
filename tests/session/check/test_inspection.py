"""What a test asks of the runner: the inspection of headers, valid responses and pushes, streams, credentials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.protocol.jsonvalue import dump
from inspector.session.check.calls import Response
from inspector.session.check.document.enumerations import Level, Transport
from inspector.session.check.headers import inspect_headers
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile, parse_document
from inspector.session.check.result import RunResult
from inspector.session.check.runner import Runner, choices
from inspector.session.check.status import Status

Run = Callable[..., Awaitable[list[Any]]]
SEND = {"id": "send", "operation": "send_message", "params": {"message": {"parts": [{"text": "tck-complete-task"}]}}}
STREAM = {**SEND, "operation": "send_streaming_message", "expect_stream": {"min_count": 1}}
PUSHED = {
    "id": "send",
    "operation": "send_message",
    "params": {
        "message": {"parts": [{"text": "tck-artifact-text"}]},
        "configuration": {"taskPushNotificationConfig": {"url": "{{webhookUrl}}"}},
    },
}


@asynccontextmanager
async def mock_with(*faults: str, auth: str = "", version: str = "1.0", pace: float = 0) -> AsyncIterator[str]:
    agent = MockAgent(
        Profile((version,)),
        pace=pace,
        push_pause=0,
        faults=tuple(map(parse_fault, faults)),
        authenticator=Authenticator(auth) if auth else None,
    )
    await agent.start()
    try:
        yield agent.url
    finally:
        await agent.stop()


@pytest.fixture
def run(open_session: OpenSession) -> Run:
    """Return a function that runs one test against an agent and returns its results."""

    async def run(url: str, test: dict[str, Any], *transports: Transport, **settings: Any) -> list[Any]:
        session = await open_session(url, **settings)
        whole = {"id": "T-1", "name": "A test", "level": "should", **test}
        suites = [{"id": "s", "name": "A suite", "tests": [whole]}]
        text = dump({"acts_version": "1.0", "spec_version": "1.0", "suites": suites}).decode()
        file = CheckFile(Path("a.json"), parse_document(text, "a.json"), {})
        result = RunResult("1.0", "", "", 0.0)
        found = choices(session, transports)
        async for _ in Runner(session, found, plan([file], Selection()), result, seconds=10).results():
            pass
        return result.results

    return run


def first_failure(results: list[Any]) -> str:
    assert [result.status for result in results] == [Status.FAIL], results
    return results[0].failures[0].message


@pytest.mark.parametrize("asked", [{"runner_requirements": ["header_inspection"]}, {"tags": ["content-type"]}])
async def test_the_content_type_is_checked_where_a_test_asks_for_headers(run: Run, asked: dict[str, Any]) -> None:
    async with mock_with() as url:
        results = await run(url, {"steps": [SEND], **asked}, *Transport)
        assert [result.status for result in results] == [Status.PASS] * 3, results
    async with mock_with("content-type") as url:
        failure = first_failure(await run(url, {"steps": [SEND], **asked}))
        assert failure == "header Content-Type: expected application/json, got text/plain"
        assert (await run(url, {"steps": [SEND]}))[0].status is Status.PASS


@pytest.mark.parametrize(
    ("headers", "binding", "level", "wrong"),
    [
        ({"content-type": "application/a2a+json; charset=utf-8"}, "HTTP+JSON", Level.SHOULD, []),
        ({"content-type": "application/json"}, "HTTP+JSON", Level.MUST, []),
        ({"content-type": "application/json"}, "HTTP+JSON", Level.SHOULD, ["header Content-Type"]),
        ({"content-type": "application/a2a+json"}, "JSONRPC", Level.MUST, ["header Content-Type"]),
        ({}, "JSONRPC", Level.MAY, ["header Content-Type"]),
        ({}, "GRPC", Level.MUST, []),
    ],
)
def test_each_binding_has_its_media_type(headers: dict[str, str], binding: str, level: Level, wrong: list[str]) -> None:
    response = Response(status=200, headers=headers)
    assert [found.path for found in inspect_headers(response, binding, level, is_card=False)] == wrong


def test_a_stream_has_the_media_type_of_server_sent_events() -> None:
    response = Response(status=200, headers={"content-type": "application/json"}, streamed=True)
    (found,) = inspect_headers(response, "JSONRPC", Level.MUST, is_card=False)
    assert found.expected == "text/event-stream"


@pytest.mark.parametrize(("headers", "wrong"), [({}, ["headers"]), ({"etag": '"1"'}, []), ({"cache-control": ""}, [])])
def test_a_card_has_a_header_for_caches(headers: dict[str, str], wrong: list[str]) -> None:
    response = Response(status=200, headers={"content-type": "application/json", **headers})
    assert [found.path for found in inspect_headers(response, "GRPC", Level.MUST, is_card=True)] == wrong


async def test_the_tag_schema_validation_allows_no_errors_in_findings(run: Run) -> None:
    async with mock_with("no-timezone") as url:
        assert (await run(url, {"steps": [SEND]}))[0].status is Status.PASS
        assert "findings: expected no finding above warning, got error " in first_failure(
            await run(url, {"steps": [SEND], "tags": ["schema-validation"]})
        )


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_message_waits_for_its_task_unless_it_says_otherwise(run: Run, version: str) -> None:
    async with mock_with(version=version, pace=0.2) as url:
        for configuration, states in (({}, ["COMPLETED"]), ({"returnImmediately": True}, ["SUBMITTED", "WORKING"])):
            params = {"message": {"parts": [{"text": "report 1"}]}, "configuration": configuration}
            state = {"one_of": [f"TASK_STATE_{name}" for name in states]}
            step = {**SEND, "params": params, "expect": {"body": {"task": {"status": {"state": state}}}}}
            results = await run(url, {"steps": [step]}, *Transport)
            assert [result.status for result in results] == [Status.PASS] * 3, results


async def test_a_push_with_an_invalid_payload_fails_a_test_with_a_webhook(run: Run) -> None:
    test = {"steps": [PUSHED], "runner_requirements": ["webhook_endpoint"]}
    async with mock_with() as url:
        assert (await run(url, test))[0].status is Status.PASS
    async with mock_with("push-malformed") as url:
        anything = {**test, "x-a2a-inspect": {"pushes": {"valid": False}}}
        assert (await run(url, anything))[0].status is Status.PASS
        pushes = {"x-a2a-inspect": {"pushes": {"timeout_ms": 500}}}
        assert ": expected a valid payload, got " in first_failure(await run(url, {**test, **pushes}))


async def test_a_refused_stream_fails_a_test_with_concurrent_streams(run: Run) -> None:
    test = {"steps": [STREAM], "runner_requirements": ["concurrent_streams"]}
    async with mock_with("forbidden") as url:
        assert first_failure(await run(url, test)).startswith("the response: expected a result, got ")


async def test_a_message_without_a_task_skips_a_test_with_concurrent_streams(run: Run) -> None:
    message = {**STREAM, "params": {"message": {"parts": [{"text": "hello"}]}}}
    async with mock_with() as url:
        (result,) = await run(url, {"steps": [message], "runner_requirements": ["concurrent_streams"]})
        assert (result.status, result.reason) == (
            Status.SKIP,
            "the task ended before a second stream could be opened",
        )


async def test_raw_requests_of_a_test_about_credentials_have_only_their_own(run: Run) -> None:
    raw = {
        "id": "get",
        "raw": {"method": "GET", "path": "/tasks", "headers": {"A2A-Version": "1.0"}},
        "expect": {"status": 401, "body": {"error": {"code": 401, "status": "UNAUTHENTICATED"}}},
    }
    about = {"tags": ["auth", "runner-special"], "transport": ["rest"]}
    async with mock_with(auth="bearer") as url:
        settings = {"headers": {"Authorization": "Bearer open-sesame"}}
        (result,) = await run(url, {"steps": [raw], **about}, Transport.REST, **settings)
        assert result.status is Status.PASS, result.failures
        (signed,) = await run(url, {"steps": [raw], "transport": ["rest"]}, Transport.REST, **settings)
        assert signed.failures[0].actual == "200"


async def test_a_test_about_credentials_is_skipped_without_them(run: Run) -> None:
    raw = {"id": "get", "raw": {"method": "GET", "path": "/tasks", "headers": {"Authorization": "Bearer {{weak}}"}}}
    about = {"tags": ["auth", "runner-special"], "transport": ["rest"]}
    async with mock_with() as url:
        (result,) = await run(url, {"steps": [raw], **about}, Transport.REST)
        assert (result.status, result.reason) == (Status.SKIP, "needs credentials: set --var weak=VALUE")
