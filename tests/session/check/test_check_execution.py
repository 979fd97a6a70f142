"""Steps of tests, run against the mock agent: operations, raw requests, responses for the client, and assertions."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from check_files import CARD_STEP, ID, file_of, get, raw, send, stream, suite_of, test_of
from check_runs import MakeMock, RunChecks, run_file
from inspector.sample_agents.server import MockAgent
from scripted import PATIENCE, Agent, OpenSession, answering, giving

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.document.steps import Repeat
from inspector.session.check.result import Result, RunResult
from inspector.session.check.result import TestResult as Outcome

COMPLETED = {"status": {"state": "TASK_STATE_COMPLETED"}}
UNKNOWN = "00000000-0000-0000-0000-000000000000"


def only(run: RunResult) -> Outcome:
    [result] = run.results
    return result


def messages(run: RunResult) -> list[str]:
    return [failure.message for failure in only(run).failures]


async def outcome(run_checks: RunChecks, *steps: Any, test: Any = None, **options: Any) -> tuple[str, list[str]]:
    """Run one test and return its result and the messages of its failures."""
    run = await run_checks(file_of(test_of(*steps, **(test or {}))), **options)
    return only(run).result.value, messages(run)


PASSING: dict[str, list[Any]] = {
    "send": [send("tck-complete-task", expect={"status": 200, "body": {"task": COMPLETED}}, capture=ID), get()],
    "message": [send("echo hi", expect={"body": {"message": {"role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}})],
    "without body": [send("tck-complete-task", expect={"task": COMPLETED})],
    "stream": [stream("report 3", expect_stream={"min_count": 3, "ordering": "monotonic_state"})],
    "error": [get(UNKNOWN, expect_error={"error_type": "TaskNotFoundError", "message": {"contains": UNKNOWN}})],
    "error code": [get(UNKNOWN, expect_error={"code": "TaskNotFoundError"})],
    "any error": [get(UNKNOWN, expect_error={})],
    "error as body": [get(UNKNOWN, expect={"body": {"error": {"name": "TaskNotFoundError"}}})],
    "card": [{**CARD_STEP, "expect": {"status": 200, "body": {"name": {"type": "string"}}}}],
    "several turns": [
        send("tck-multi-turn", expect={"task": {"status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}, capture=ID),
        {
            "id": "reply",
            "operation": "send_message",
            "params": {"message": {"taskId": "{{send.id}}", "parts": [{"text": "done"}]}},
            "expect": {"body": {"task": {"id": "{{send.id}}", **COMPLETED}}},
        },
    ],
    "cancel": [
        {
            **send("ask", capture=ID),
            "params": {"message": {"parts": [{"text": "ask"}]}, "configuration": {"returnImmediately": True}},
        },
        {
            "id": "cancel",
            "operation": "cancel_task",
            "params": {"id": "{{send.response.task.id}}"},
            "expect": {"body": {"status": {"state": "TASK_STATE_CANCELED"}}},
        },
    ],
    "push configuration": [
        send("tck-complete-task", capture=ID),
        {
            "id": "set",
            "operation": "create_push_config",
            "params": {"taskId": "{{send.id}}", "pushNotificationConfig": {"url": "https://example.com/hook"}},
            "expect": {"body": {"url": "https://example.com/hook"}},
            "capture": {"config": "id"},
        },
        {
            "id": "one",
            "operation": "get_push_config",
            "params": {"taskId": "{{send.id}}", "id": "{{set.config}}"},
            "expect": {"body": {"id": "{{set.config}}"}},
        },
        {
            "id": "list",
            "operation": "list_push_configs",
            "params": {"taskId": "{{send.id}}"},
            "expect": {"body": {"configs": {"count": 1}}},
        },
        {
            "id": "delete",
            "operation": "delete_push_config",
            "params": {"taskId": "{{send.id}}", "id": "{{set.config}}"},
        },
        {
            "id": "gone",
            "operation": "list_push_configs",
            "params": {"taskId": "{{send.id}}"},
            "expect": {"body": {"configs": {"any_of": [{"absent": True}, {"count": 0}]}}},
        },
    ],
    "assertions": [
        send(
            "tck-artifact-text",
            assertions=[{"source": "send.response", "path": "task.artifacts", "match": {"count": 1}}],
        ),
        {
            "id": "check",
            "assertion": {
                "source": "{{send.response}}",
                "any": {"path": "task.artifacts[*].parts[*]", "match": {"text": {"type": "string"}}},
            },
        },
    ],
    "client response": [
        {
            "id": "read",
            "client_response": {
                "operation": "send_message",
                "wire_payload": {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "result": {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "a"}]}},
                },
            },
            "expect_parsed": {"message": {"messageId": "m"}},
            "assertions": [{"source": "read.response", "path": "message.parts[0].text", "match": "a"}],
        }
    ],
}


@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize("name", PASSING)
async def test_steps_pass_over_every_transport(name: str, transport: Transport, run_checks: RunChecks):
    found = await outcome(run_checks, *PASSING[name], transports=(transport,))
    assert found == ("pass", [])


@pytest.mark.parametrize("binding", ["JSONRPC", "GRPC", "HTTP+JSON"])
async def test_steps_pass_with_protocol_version_0_3(binding: str, run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock(versions=("0.3",))
    transport = next(transport for transport in Transport if transport.binding == binding)
    names = ("send", "stream", "error", "several turns", "cancel", "push configuration", "client response")
    tests = [test_of(*PASSING[name], id=name) for name in names]
    run = await run_checks(file_of(*tests), agent.url, transports=(transport,))
    assert {result.test.id: result.failures for result in run.results} == {name: [] for name in names}
    assert run.counts.passed == len(names)


FAILING: dict[str, tuple[list[Any], str]] = {
    "body": (
        [send("tck-complete-task", expect={"body": {"task": {"status": {"state": "TASK_STATE_FAILED"}}}})],
        'task.status.state: expected "TASK_STATE_FAILED", got "TASK_STATE_COMPLETED"',
    ),
    "members without body": ([send("echo", expect={"task": {}})], "task: expected an object, got nothing"),
    "status": ([send("echo", expect={"status": 201})], "status: expected 201, got 200"),
    "any error": ([send("echo", expect={"status": "error"})], "the response: expected an error, got"),
    "unexpected error": ([get(UNKNOWN)], "the response: expected a result, got"),
    "error instead of a body": ([get(UNKNOWN, expect={"body": {"id": UNKNOWN}})], "the response: expected a result"),
    "expected error": (
        [send("echo", expect_error={"error_type": "TaskNotFoundError"})],
        'error: expected the error "TaskNotFoundError", got a result',
    ),
    "another error": (
        [get(UNKNOWN, expect_error={"error_type": "UnsupportedOperationError"})],
        'error: expected "UnsupportedOperationError", got "TaskNotFoundError"',
    ),
    "message of an error": (
        [get(UNKNOWN, expect_error={"message": {"contains": "else"}})],
        'error.message: expected a value that contains "else"',
    ),
    "count of events": ([stream("report 3", expect_stream={"min_count": 90})], "events: expected at least 90, got "),
    "most events": ([stream("report 3", expect_stream={"max_count": 1})], "events: expected at most 1, got "),
    "last event": (
        [
            stream(
                "report 3", expect_stream={"final_event": {"status_update": {"status": {"state": "TASK_STATE_FAILED"}}}}
            )
        ],
        'final_event.status_update.status.state: expected "TASK_STATE_FAILED", got "TASK_STATE_COMPLETED"',
    ),
    "each event": (
        [stream("report 3", expect_stream={"each_event": {"task": {"type": "object"}}})],
        'events[1].task: expected the type "object", got nothing',
    ),
    "event at a position": (
        [stream("report 3", expect_stream={"events": [{"index": 99, "task": {"id": {"exists": True}}}]})],
        "events[99]",
    ),
    "event anywhere": (
        [
            stream(
                "report 3",
                expect_stream={
                    "events": [{"match": "any_position", "description": "words", "message": {"exists": True}}]
                },
            )
        ],
        "events: expected an event: words, got none of",
    ),
    "capture": (
        [send("echo", capture={"x": "task.id"})],
        "task.id: expected a value to capture as x, got nothing",
    ),
    "assertion": (
        [send("echo"), {"id": "a", "assertion": {"source": "send.response", "path": "message.role", "match": "x"}}],
        'message.role: expected "x", got "ROLE_AGENT"',
    ),
    "parsed response": (
        [
            {
                "id": "read",
                "client_response": {
                    "operation": "get_task",
                    "wire_payload": {"id": "t", "contextId": "c", **COMPLETED},
                },
                "expect_parsed": {"id": "other"},
            }
        ],
        'id: expected "other", got "t"',
    ),
    "repeat": (
        [
            send("tck-complete-task", capture=ID),
            get(repeat={"until": "status.state == X", "max_attempts": 2, "delay_ms": 1}),
        ],
        'status.state: expected status.state == X after 2 attempts, got "TASK_STATE_COMPLETED"',
    ),
}


@pytest.mark.parametrize("name", FAILING)
async def test_a_step_fails(name: str, run_checks: RunChecks):
    steps, message = FAILING[name]
    run = await run_checks(file_of(test_of(*steps)))
    result, failure = only(run), only(run).failures[0]
    assert result.result is Result.FAIL
    assert message in failure.message
    assert failure.step == steps[-1]["id"]
    assert "client_response" in steps[-1] or "assertion" in steps[-1] or failure.exchange > 0
    assert result.steps[-1].result is Result.FAIL


ERRORS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "variable": ([get("{{nothing}}")], {}, "the variable {{nothing}} has no value; set it with --var nothing=VALUE"),
    "variable of a test": ([], {"assertions": [{"source": "nothing", "match": 1}]}, "the variable {{nothing}} has no"),
    "parameters": ([{**CARD_STEP, "operation": "get_task", "params": {"id": []}}], {}, "params of GetTask: id: "),
    "message": ([{**send("echo"), "params": {"message": "x"}}], {}, "params of SendMessage: message: "),
    "condition": ([send("echo", repeat={"until": "{{x}}"})], {}, "the condition 'a' is not `path == value`"),
    "operation of a response": (
        [{"id": "a", "client_response": {"operation": "x", "wire_payload": {}}, "expect_parsed": {}}],
        {},
        "unknown operation 'x'",
    ),
    "concurrent": (
        [stream("{{nothing}}")],
        {"runner_requirements": ["concurrent_streams"]},
        "the variable {{nothing}} has no value",
    ),
    "raw": ([raw("http://")], {}, "http://"),
    "raw address": ([raw("http://[::1")], {}, "is not a valid URL: Invalid IPv6 URL"),
    "raw header": ([raw("/", headers={"A": "b\r\nC: d"})], {}, "Illegal header value"),
    "raw body": ([raw("/", body_raw="\ud800")], {}, "body_raw cannot be sent as UTF-8"),
    "pattern": ([send("echo a", expect={"message": {"messageId": {"matches": "["}}})], {}, "not a valid regular"),
    "pattern of a test": (
        [send("echo a")],
        {"assertions": [{"source": "send.response", "path": "message.messageId", "match": {"matches": "["}}]},
        "not a valid regular",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_a_step_that_cannot_be_performed_is_an_error_and_the_run_continues(name: str, run_checks: RunChecks):
    steps, members, message = ERRORS[name]
    run = await run_checks(file_of(test_of(*steps, **members), test_of(id="T-2"), variables={"x": "a"}))
    first, second = run.results
    assert (first.result, second.result) == (Result.ERROR, Result.PASS)
    assert message in first.failures[0].message


OBJECT = "{{send.response}}"
"""A reference to an object where a text is expected."""
PLACES: dict[str, dict[str, Any]] = {
    "path": raw(OBJECT, expect={"status": 404}),
    "header value": raw("/nothing", headers={"X-Value": OBJECT}, expect={"status": 404}),
    "body_raw": raw("/nothing", body_raw=OBJECT, expect={"status": 404}),
    "key of a parameter": {
        **send("echo", "second"),
        "params": {"message": {"parts": [{"text": "echo"}], "metadata": {OBJECT: 1}}},
    },
    "key of an assertion": send("echo", "second", expect={OBJECT: {"absent": True}}),
    "name of a header": send("echo", "second", expect={"headers": {OBJECT: {"absent": True}}}),
    "key of an event": stream("report 3", expect_stream={"each_event": {OBJECT: {"absent": True}}}),
}


@pytest.mark.parametrize("place", PLACES)
async def test_an_object_where_a_text_is_expected_is_written_as_json(place: str, run_checks: RunChecks):
    run = await run_checks(file_of(test_of(send("echo"), PLACES[place]), test_of(id="T-2")))
    assert [(item.result, item.failures) for item in run.results] == [(Result.PASS, [])] * 2


async def test_a_push_configuration_may_have_schemes_of_the_wrong_type(run_checks: RunChecks):
    config = {"taskId": "x", "url": "{{webhookUrl}}", "authentication": {"schemes": 5}}
    step = {"id": "set", "operation": "create_push_config", "params": config, "expect_error": {}}
    members = {"runner_requirements": ["webhook_endpoint"], "x-a2a-inspect": {"pushes": {"count": 0}}}
    assert await outcome(run_checks, step, test=members) == ("pass", [])


async def test_steps_after_a_failure_do_not_run(run_checks: RunChecks):
    run = await run_checks(file_of(test_of(get(UNKNOWN), CARD_STEP)))
    assert [step.id for step in only(run).steps] == ["get"]


async def test_a_failed_assertion_of_a_test_is_a_failure(run_checks: RunChecks):
    found = await outcome(
        run_checks, send("echo"), test={"assertions": [{"source": "send.response", "match": {"task": {}}}]}
    )
    assert found == ("fail", ["task: expected an object, got nothing"])


async def test_a_step_is_repeated_until_its_condition_is_met(run_checks: RunChecks, slow_mock: MockAgent):
    start = send("long 2", capture=ID)
    start["params"]["configuration"] = {"returnImmediately": True}
    poll = get(repeat={"until": "status.state in [TASK_STATE_COMPLETED]", "max_attempts": 200, "delay_ms": 20})
    run = await run_checks(file_of(test_of(start, poll)), slow_mock.url)
    assert only(run).result is Result.PASS
    assert len(only(run).steps[1].exchanges) > 1


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [("none", [1, 1, 1, 1]), ("linear", [1, 2, 3, 4]), ("exponential", [1, 2, 4, 8])],
)
def test_the_pause_between_attempts_grows(backoff: Any, delays: list[int]):
    repeat = Repeat(until="a == b", delay_ms=1000, backoff=backoff)
    assert [repeat.delay(attempt) for attempt in (1, 2, 3, 4)] == delays


async def test_a_step_waits_before_its_request(run_checks: RunChecks):
    began = time.monotonic()
    assert (await outcome(run_checks, {**CARD_STEP, "delay_ms": 150}))[0] == "pass"
    assert time.monotonic() - began >= 0.15


async def test_a_value_of_a_stream_is_that_of_its_last_event(run_checks: RunChecks):
    step = stream("report 3", capture={"id": "task.id", "state": "status.state"})
    check = {"id": "check", "assertion": {"source": "stream.state", "match": "TASK_STATE_COMPLETED"}}
    assert await outcome(run_checks, step, get("{{stream.id}}"), check) == ("pass", [])


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

    assert (await run(agent.url)).result is Result.PASS
    refused = await run(stranger.url)
    assert refused.result is Result.ERROR
    assert refused.failures[0].message == (
        f"the environment variable A_WORD_OF_THE_USER is not sent to {stranger.url}; --trust {stranger.url} allows it"
    )
    assert stranger.calls == []
    assert (await run(stranger.url, stranger.url)).result is Result.PASS


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
    assert result.result is Result.FAIL
    assert "****" in result.failures[0].actual
    assert "canary" not in str(result)
    assert all(b"canary" not in record.raw for record in session.journal.capture.select())


async def test_the_limit_of_a_test_is_a_failure_with_the_request(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("hang:1")
    run = await run_checks(file_of(test_of(stream("report 3"))), agent.url, seconds=0.5)
    [failure] = only(run).failures
    assert (failure.message, failure.step) == ("timed out after 0.5 s", "stream")
    assert failure.exchange > 0
    assert [step.id for step in only(run).steps] == ["stream"]


async def test_a_stream_that_does_not_end_in_time_fails(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("hang:2")
    run = await run_checks(file_of(test_of(stream("report 3", expect_stream={"timeout_ms": 300}))), agent.url)
    [failure] = only(run).failures
    assert failure.message == "events: expected the end of the stream within 300 ms, got a stream that stays open"
    assert failure.exchange > 0


async def test_an_agent_that_stops_during_the_run_is_an_error_of_each_test(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock()
    tests = [test_of(send("report 3"), id=f"T-{number}") for number in range(3)]
    stopping = test_of(
        {"id": "a", "operation": "get_agent_card"}, get(UNKNOWN, expect_error={}, delay_ms=500), id="first"
    )
    running = asyncio.create_task(run_checks(file_of(stopping, *tests), agent.url))
    await asyncio.sleep(0.25)
    await agent.stop()
    run = await asyncio.wait_for(running, PATIENCE)
    assert [result.result for result in run.results] == [Result.ERROR] * 4
    assert "127.0.0.1" in run.results[-1].failures[0].message


async def test_jobs_run_at_the_same_time_and_results_have_the_order_of_the_plan(
    run_checks: RunChecks, slow_mock: MockAgent
):
    tests = [test_of({**CARD_STEP, "delay_ms": 300 - 90 * number}, id=f"T-{number}") for number in range(4)]
    began = time.monotonic()
    run = await run_checks(file_of(*tests), slow_mock.url, jobs=4)
    assert time.monotonic() - began < 0.3 + 0.21 + 0.12 + 0.03
    assert [result.test.id for result in run.results] == ["T-0", "T-1", "T-2", "T-3"]
    assert run.passed


async def test_no_test_starts_after_a_failure_with_fail_fast(run_checks: RunChecks):
    tests = [test_of(id="T-0"), test_of(get(UNKNOWN), id="T-1"), test_of(id="T-2")]
    run = await run_checks(file_of(*tests), fail_fast=True)
    assert [result.test.id for result in run.results] == ["T-0", "T-1"]
    assert not run.interrupted


async def test_every_test_runs_in_every_trial_over_every_transport(run_checks: RunChecks):
    run = await run_checks(file_of(test_of(send("echo"))), trials=3, transports=tuple(Transport), jobs=4)
    assert [(result.transport, result.trial) for result in run.results] == [
        (transport, trial) for transport in Transport for trial in (1, 2, 3)
    ]
    assert run.passed


async def test_a_run_that_is_cancelled_has_the_results_that_are_complete(
    open_session: OpenSession, slow_mock: MockAgent, run_checks: RunChecks
):
    from pathlib import Path

    from check_files import parsed

    from inspector.session.check.plan import Selection, plan
    from inspector.session.check.reading import CheckFile
    from inspector.session.check.runner import Runner, choices

    session = await open_session(slow_mock.url)
    slow = {**CARD_STEP, "delay_ms": 60_000}
    document = parsed(file_of(test_of(id="T-0"), test_of(slow, id="T-1"), test_of(id="T-2")), "a.json")
    run = RunResult("1.0", "agent", "1", 0)
    planned = plan([CheckFile(Path("a.json"), document, {})], Selection())
    seen = asyncio.Event()

    async def follow() -> None:
        async for _ in Runner(session, choices(session, ()), planned, run).results():
            seen.set()

    running = asyncio.create_task(follow())
    await seen.wait()
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert run.interrupted
    assert [(result.test.id, result.result, result.reason) for result in run.results] == [
        ("T-0", Result.PASS, ""),
        ("T-1", Result.SKIP, "interrupted"),
    ]


def test_tests_are_selected_by_words_tags_and_levels():
    from pathlib import Path

    from check_files import parsed

    from inspector.session.check.document.enumerations import Level
    from inspector.session.check.plan import Selection, plan
    from inspector.session.check.reading import CheckFile

    text = json.dumps(
        {
            "acts_version": "1.0",
            "spec_version": "1.0",
            "suites": [
                suite_of(test_of(id="A-1", tags=["x"]), test_of(id="A-2", level="may"), tags=["all"]),
                suite_of(test_of(id="B-1", name="Streaming"), id="other"),
            ],
        }
    )
    file = CheckFile(Path("a.json"), parsed(text, "a.json"), {})

    def ids(**members: Any) -> list[str]:
        return [item.test.id for item in plan([file], Selection(**members))]

    assert ids() == ["A-1", "A-2", "B-1"]
    assert ids(words=("a-1", "stream")) == ["A-1", "B-1"]
    assert ids(words=("other",)) == ["B-1"]
    assert ids(tags=frozenset({"x"})) == ["A-1"]
    assert ids(tags=frozenset({"all"}), levels=frozenset({Level.MAY})) == ["A-2"]
    assert ids(words=("nothing",)) == []


async def test_a_test_that_does_not_apply_is_skipped_with_its_reason(run_checks: RunChecks):
    run = await run_checks(file_of(test_of(preconditions={"skills": [{"id": "x"}]})))
    assert (only(run).result, only(run).reason) == (Result.SKIP, "the card has no skill 'x'")
    assert run.passed


async def test_a_transport_that_the_card_does_not_declare_is_refused(agent: Agent, run_checks: RunChecks):
    from inspector.protocol.errors import FaultError

    agent.serve_card()
    agent.routes["/rpc"] = giving({})
    with pytest.raises(FaultError, match="The card declares no interface for grpc"):
        await run_checks(file_of(test_of()), agent.url, transports=(Transport.GRPC,))
