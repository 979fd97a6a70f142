"""Steps of tests, run against the mock agent: operations, raw requests, responses for the client, and assertions."""

from __future__ import annotations

import time
from typing import Any

import pytest
from check_files import CARD_STEP, ID, file_of, get, raw, send, stream, test_of
from check_runs import UNKNOWN, MakeMock, RunChecks, only, outcome
from inspector.sample_agents.server import MockAgent

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.document.steps import Repeat
from inspector.session.check.status import Status

COMPLETED = {"status": {"state": "TASK_STATE_COMPLETED"}}
PASSING: dict[str, list[Any]] = {
    "send": [send("tck-complete-task", expect={"status": 200, "body": {"task": COMPLETED}}, capture=ID), get()],
    "message": [send("echo hi", expect={"body": {"message": {"role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}})],
    "without body": [send("tck-complete-task", expect={"task": COMPLETED})],
    "stream": [stream("report 3", expect_stream={"min_count": 3, "ordering": "monotonic_state"})],
    "error": [get(UNKNOWN, expect_error={"error_type": "TaskNotFoundError", "message": {"contains": UNKNOWN}})],
    "error code": [get(UNKNOWN, expect_error={"code": "TaskNotFoundError"})],
    "any error": [get(UNKNOWN, expect_error={})],
    "any error as status": [get(UNKNOWN, expect={"status": "error"})],
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
    "member that the last event does not have": (
        [stream("report 3", expect_stream={"final_event": {"artifact": {"type": "object"}}})],
        'final_event.artifact: expected the type "object", got nothing: the last event is a status update',
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
    assert result.status is Status.FAIL
    assert message in failure.message
    assert failure.step == steps[-1]["id"]
    assert "client_response" in steps[-1] or "assertion" in steps[-1] or failure.exchange > 0
    assert result.steps[-1].status is Status.FAIL


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
    "pattern": ([send("echo a", expect={"message": {"messageId": {"matches": "{{x}}["}}})], {}, "not a valid regular"),
    "pattern of a test": (
        [send("echo a")],
        {"assertions": [{"source": "send.response", "path": "message.messageId", "match": {"matches": "{{x}}["}}]},
        "not a valid regular",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_a_step_that_cannot_be_performed_is_an_error_and_the_run_continues(name: str, run_checks: RunChecks):
    steps, members, message = ERRORS[name]
    run = await run_checks(file_of(test_of(*steps, **members), test_of(id="T-2"), variables={"x": "a"}))
    first, second = run.results
    assert (first.status, second.status) == (Status.ERROR, Status.PASS)
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
    assert [(item.status, item.failures) for item in run.results] == [(Status.PASS, [])] * 2


async def test_a_push_configuration_may_have_schemes_of_the_wrong_type(run_checks: RunChecks):
    config = {"taskId": "x", "url": "{{webhookUrl}}", "authentication": {"schemes": 5}}
    step = {"id": "set", "operation": "create_push_config", "params": config, "expect_error": {}}
    members = {
        "runner_requirements": ["webhook_endpoint"],
        "x-a2a-inspect": {"pushes": {"count": 0, "timeout_ms": 300}},
    }
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
    assert only(run).status is Status.PASS
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
