"""Streams that need the runner, webhooks, and our additions: findings, pushes, artifacts, times, secrets."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest
from aiohttp import ClientSession
from aiohttp.web import BaseRequest, StreamResponse
from check_files import file_of, get, raw, send, stream, test_of
from check_runs import MakeMock, RunChecks
from inspector.sample_agents.server import MockAgent
from scripted import Agent, Heard, answering, frame, status, streaming, task

from inspector.session import stream_deadline
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.status import Status

OURS = "x-a2a-inspect"
TASK = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}
WORKING = {"task": task("WORKING")}


async def outcome(run_checks: RunChecks, *steps: Any, test: Any = None, **options: Any) -> tuple[str, list[str]]:
    """Run one test and return its result and the messages of its failures, or the reason why it was skipped."""
    run = await run_checks(file_of(test_of(*steps, **(test or {}))), **options)
    [result] = run.results
    return result.status.value, [failure.message for failure in result.failures] or [result.reason] * bool(
        result.reason
    )


@pytest.mark.parametrize("transport", Transport)
async def test_a_second_stream_has_the_same_events(transport: Transport, run_checks: RunChecks, slow_mock: MockAgent):
    step = stream("report 100", expect_stream={"min_count": 4})
    found = await outcome(
        run_checks,
        step,
        url=slow_mock.url,
        transports=(transport,),
        test={"runner_requirements": ["concurrent_streams"]},
    )
    assert found == ("pass", [])


@pytest.mark.parametrize("transport", Transport)
async def test_a_stream_continues_after_a_disconnection(
    transport: Transport, run_checks: RunChecks, slow_mock: MockAgent
):
    expected = {"min_count": 2, "final_event": {"status_update": {"status": {"state": "TASK_STATE_COMPLETED"}}}}
    run = await run_checks(
        file_of(test_of(stream("report 50", expect_stream=expected), runner_requirements=["stream_disconnect"])),
        slow_mock.url,
        transports=(transport,),
    )
    [result] = run.results
    assert result.failures == []
    assert len(result.steps[0].exchanges) == 2


PUSHED = {
    "id": "send",
    "operation": "send_message",
    "params": {
        "message": {"parts": [{"text": "report 2"}]},
        "configuration": {"taskPushNotificationConfig": {"url": "{{webhookUrl}}"}},
    },
}
WEBHOOK = {"runner_requirements": ["webhook_endpoint"]}


def pushed(**config: Any) -> dict[str, Any]:
    """Return a step that registers the webhook with a configuration."""
    params = {**PUSHED["params"], "configuration": {"taskPushNotificationConfig": {"url": "{{webhookUrl}}", **config}}}
    return {**PUSHED, "params": params}


@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize(
    "config",
    [{}, {"token": "my-token"}, {"authentication": {"scheme": "Bearer", "credentials": "my-secret"}}],
    ids=["token of the runner", "own token", "credentials"],
)
async def test_pushes_with_the_credentials_of_the_configuration_are_accepted(
    config: dict[str, Any], transport: Transport, run_checks: RunChecks
):
    assert await outcome(run_checks, pushed(**config), test=WEBHOOK, transports=(transport,)) == ("pass", [])


@pytest.mark.parametrize(
    ("fault", "config", "message"),
    [
        ("push-unsigned", {"token": "my-token"}, "push 1: expected an accepted push, got"),
        ("push-unsigned", {"authentication": {"scheme": "Bearer", "credentials": "x"}}, "push 1: expected an accepted"),
        ("push-wrong-token", {"token": "my-token"}, "push 1: expected an accepted push, got"),
        ("push-never", {}, "pushes: expected at least 1, got 0"),
    ],
)
async def test_pushes_with_wrong_credentials_fail(
    fault: str, config: dict[str, Any], message: str, run_checks: RunChecks, make_mock: MakeMock
):
    agent = await make_mock(fault)
    test = {**WEBHOOK, OURS: {"pushes": {"timeout_ms": 700}}}
    result, messages = await outcome(run_checks, pushed(**config), test=test, url=agent.url)
    assert result == "fail"
    assert message in messages[0]


STATES = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]


@pytest.mark.parametrize(
    ("pushes", "message"),
    [
        ({"count": {"gte": 2}}, ""),
        ({"states": STATES}, ""),
        ({"count": 99}, "pushes: expected 99, got "),
        ({"states": STATES[:1]}, "states of the pushes: expected 1 element, got "),
        ({"states": ["TASK_STATE_FAILED", *STATES[1:]]}, 'states of the pushes[0]: expected "TASK_STATE_FAILED"'),
    ],
)
async def test_pushes_are_counted_and_their_states_compared(
    pushes: dict[str, Any], message: str, run_checks: RunChecks
):
    wait = 700 if message else 20_000  # a test that passes does not wait until the end
    result, messages = await outcome(
        run_checks, PUSHED, test={**WEBHOOK, OURS: {"pushes": {"timeout_ms": wait, **pushes}}}
    )
    assert result == ("fail" if message else "pass")
    assert message in "".join(messages)


@pytest.mark.parametrize(("count", "result"), [(0, "fail"), ({"lt": 1}, "fail"), (1, "pass"), ({"lte": 2}, "pass")])
async def test_an_upper_limit_of_pushes_is_tested_until_the_time_is_over(
    count: Any, result: str, agent: Agent, run_checks: RunChecks
):
    jobs: list[asyncio.Task[None]] = []

    async def answer(request: BaseRequest, heard: Heard) -> StreamResponse:
        config = heard.json["params"]["configuration"]["taskPushNotificationConfig"]

        async def deliver() -> None:
            await asyncio.sleep(0.6)
            async with ClientSession() as client:
                await client.post(config["url"], json=TASK, headers={"X-A2A-Notification-Token": config["token"]})

        jobs.append(asyncio.create_task(deliver()))
        return await answering(TASK)(request, heard)

    agent.answer(answer)
    pushes = {"count": count, "timeout_ms": 1500}
    test = {**WEBHOOK, OURS: {"pushes": pushes}}
    found, messages = await outcome(run_checks, pushed(token="my-token"), test=test, url=agent.url)
    await asyncio.gather(*jobs)
    assert found == result, messages


async def test_tests_that_run_at_the_same_time_have_their_own_webhooks(run_checks: RunChecks, slow_mock: MockAgent):
    tests = [
        test_of(pushed(token=f"token-{number}"), id=f"T-{number}", **WEBHOOK, **{OURS: {"pushes": {"states": STATES}}})
        for number in range(4)
    ]
    run = await run_checks(file_of(*tests), slow_mock.url, jobs=4)
    assert [result.failures for result in run.results] == [[], [], [], []]
    assert run.counts.passed == 4


async def test_a_webhook_that_cannot_listen_is_an_error_of_its_test(run_checks: RunChecks):
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    run = await run_checks(file_of(test_of(PUSHED, **WEBHOOK), test_of(id="T-2")), settings={"receiver_port": port})
    server.close()
    assert [result.status for result in run.results] == [Status.ERROR, Status.PASS]
    assert str(port) in run.results[0].failures[0].message


REPORT = hashlib.sha256(b"Generated text content").hexdigest()


@pytest.mark.parametrize(
    ("text", "artifact", "message"),
    [
        ("tck-artifact-text", {"text": "Generated text content", "sha256": REPORT}, ""),
        ("tck-artifact-text", {"name": "output", "text": {"contains": "text"}}, ""),
        ("tck-artifact-data", {"data": {"key": "value", "count": {"gt": 1}}}, ""),
        ("tck-artifact-file", {"media_type": "text/plain"}, ""),
        ("report 9", {"text": {"starts_with": "# How a task travels", "contains": "End of the report"}}, ""),
        (
            "tck-artifact-text",
            {"text": "else"},
            'the first artifact: text: expected "else", got "Generated text content"',
        ),
        (
            "tck-artifact-text",
            {"sha256": "0" * 64},
            f'the first artifact: sha256: expected "{"0" * 64}", got "{REPORT}"',
        ),
        ("tck-artifact-text", {"media_type": "image/png"}, 'media type: expected "image/png", got'),
        ("tck-artifact-text", {"data": {"a": 1}}, "the first artifact: data: expected an object with a, got nothing"),
        ("tck-artifact-data", {"data": {"key": "x"}}, 'the first artifact: data.key: expected "x", got "value"'),
        (
            "tck-artifact-text",
            {"name": "other", "text": "x"},
            "artifact other: expected an artifact, got the artifacts of the task: output",
        ),
        ("echo", {"text": "x"}, "the first artifact: expected an artifact, got the artifacts of the task: none"),
    ],
)
@pytest.mark.parametrize("way", [send, stream])
async def test_artifacts_are_assembled_and_compared(
    way: Any, text: str, artifact: dict[str, Any], message: str, run_checks: RunChecks
):
    result, messages = await outcome(run_checks, way(text, **{OURS: {"artifacts": [artifact]}}))
    assert result == ("fail" if message else "pass"), messages
    assert message in "".join(messages)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"first_event_ms": 5000, "gap_ms": 5000, "total_ms": 5000}, ""),
        ({"gap_ms": 20}, "longest gap: expected at most 20 ms, got "),
        ({"total_ms": 50}, "total time: expected at most 50 ms, got "),
    ],
)
async def test_times_are_limited(limits: dict[str, int], message: str, run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock(pace=2)
    result, messages = await outcome(run_checks, stream("report 4", **{OURS: limits}), url=agent.url)
    assert result == ("fail" if message else "pass")
    assert message in "".join(messages)


async def test_the_first_event_and_the_whole_test_have_limits(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("slow-start:0.3")
    step = stream("report 4", **{OURS: {"first_event_ms": 100}})
    result, messages = await outcome(run_checks, step, url=agent.url)
    assert (result, messages[0][:42]) == ("fail", "first event: expected at most 100 ms, got ")
    test = {OURS: {"total_ms": 100}}
    result, messages = await outcome(run_checks, stream("report 4"), url=agent.url, test=test)
    assert (result, messages[0][:39]) == ("fail", "the test: expected at most 100 ms, got ")


@pytest.mark.parametrize(
    ("findings", "message"),
    [
        ({"max": "error"}, ""),
        ({"max": "hint"}, "findings: expected no finding above hint, got error STREAM-004"),
        ({"max": "none"}, "findings: expected no finding, got error STREAM-004"),
        ({}, "findings: expected no finding above warning, got error STREAM-004"),
        ({"allow": ["STREAM-004", "STREAM-020"]}, ""),
        ({"allow": ["STREAM-001"]}, "STREAM-004"),
    ],
)
async def test_findings_are_limited(findings: dict[str, Any], message: str, run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("append-first")
    result, messages = await outcome(run_checks, stream("report 4"), url=agent.url, test={OURS: {"findings": findings}})
    assert result == ("fail" if message else "pass"), messages
    assert message in "".join(messages)


async def test_a_good_agent_has_no_findings(run_checks: RunChecks):
    steps = [stream("report 4"), send("mixed")]
    assert await outcome(run_checks, *steps, test={OURS: {"findings": {"max": "hint"}}}) == ("pass", [])


@pytest.mark.parametrize(
    ("text", "leaks"), [("you sent secret-word", True), ("nothing", False), ("card **** 5678", False), ("1234", True)]
)
async def test_an_agent_that_repeats_a_secret_fails(text: str, leaks: bool, agent: Agent, run_checks: RunChecks):
    artifact = {"artifactId": "a", "parts": [{"text": text}]}
    agent.answer(answering({"task": {**TASK["task"], "artifacts": [artifact]}}))
    result, messages = await outcome(
        run_checks,
        send("hi"),
        url=agent.url,
        settings={"headers": {"Authorization": "Bearer secret-word", "X-Secret": "x9kQ", "X-Pin": "1234"}},
        test={OURS: {"no_secrets": True}},
    )
    assert result == ("fail" if leaks else "pass")
    assert bool(messages) is leaks
    assert "secret-word" not in "".join(messages)


async def test_headers_of_a_response_are_compared_without_case(agent: Agent, run_checks: RunChecks):
    agent.answer(answering(TASK))
    good = send(
        "hi", expect={"headers": {"CONTENT-TYPE": {"starts_with": "application/json"}, "x-none": {"absent": True}}}
    )
    bad = send("hi", "bad", **{OURS: {"headers": {"X-Other": {"exists": True}}}})
    assert await outcome(run_checks, good, url=agent.url) == ("pass", [])
    assert await outcome(run_checks, bad, url=agent.url) == ("fail", ["header X-Other: expected a value, got nothing"])


async def test_a_stream_that_stays_open_after_its_end_fails(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, run_checks: RunChecks
):
    monkeypatch.setattr(stream_deadline, "TERMINAL_GRACE", 0.3)
    agent.answer(streaming(TASK, then=asyncio.Event().wait))
    result, messages = await outcome(run_checks, stream("hi"), url=agent.url)
    assert result == "fail"
    assert messages == ["events: expected the end of the stream after the final state, got a stream that stays open"]


async def test_a_stream_that_continues_after_a_question_is_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, run_checks: RunChecks
):
    monkeypatch.setattr(stream_deadline, "INTERRUPTED_GRACE", 0.3)
    take, waits = stream_deadline.StreamDeadline.take, asyncio.Event()

    def take_and_tell(deadline: Any, answers: Any) -> float | None:
        """Notice that the runner has begun to wait for the end of the interruption."""
        leaves_at = take(deadline, answers)
        if leaves_at is not None:
            waits.set()
        return leaves_at

    monkeypatch.setattr(stream_deadline.StreamDeadline, "take", take_and_tell)

    async def answer(request: BaseRequest, heard: Heard) -> StreamResponse:
        response = StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for event in (WORKING, status("AUTH_REQUIRED")):
            await response.write(frame(event, heard.json["id"]))
        await waits.wait()
        await response.write(frame(status("WORKING"), heard.json["id"]))
        await asyncio.sleep(0.6)
        await response.write(frame(status("COMPLETED"), heard.json["id"]))
        return response

    agent.answer(answer)
    final = {"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}}
    found = await outcome(run_checks, stream("hi", expect_stream={"final_event": final}), url=agent.url)
    assert found == ("pass", [])


async def test_a_stream_that_begins_with_the_old_state_of_the_task_is_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, run_checks: RunChecks
):
    monkeypatch.setattr(stream_deadline, "INTERRUPTED_GRACE", 0.05)

    async def answer(request: BaseRequest, heard: Heard) -> StreamResponse:
        response = StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(frame({"task": task("INPUT_REQUIRED")}, heard.json["id"]))
        await asyncio.sleep(0.3)  # longer than an interrupted stream is followed
        await response.write(frame(status("COMPLETED"), heard.json["id"]))
        return response

    agent.answer(answer)
    final = {"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}}
    step = stream("more", expect_stream={"final_event": final})
    step["params"]["message"]["taskId"] = "t"
    assert await outcome(run_checks, step, url=agent.url) == ("pass", [])


async def test_requests_of_streams_that_are_left_belong_to_their_step(agent: Agent, run_checks: RunChecks):
    async def answer(request: BaseRequest, heard: Heard) -> StreamResponse:
        events = [] if heard.json["method"] == "SubscribeToTask" else [WORKING]
        return await streaming(*events, then=asyncio.Event().wait)(request, heard)

    agent.answer(answer)
    step = stream("hi", expect_stream={"timeout_ms": 300})
    run = await run_checks(file_of(test_of(step, runner_requirements=["concurrent_streams"])), agent.url)
    [result] = run.results
    assert result.status is Status.FAIL
    assert len(result.steps[0].exchanges) == 3


async def test_a_broken_stream_fails(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("break-off:2")
    result, messages = await outcome(run_checks, stream("report 9"), url=agent.url)
    assert result == "fail"
    assert messages[0].startswith("the response: expected a result, got")


async def test_the_status_of_an_unavailable_agent_can_be_expected(run_checks: RunChecks, make_mock: MakeMock):
    agent = await make_mock("unavailable:1")
    body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t"}}
    for step in (
        get("none", expect={"status": 503}),
        raw(body=body, headers={"A2A-Version": "1.0"}, expect={"status": 503}),
    ):
        assert await outcome(run_checks, step, url=agent.url) == ("pass", [])
