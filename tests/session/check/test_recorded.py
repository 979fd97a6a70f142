"""Check files made from recorded exchanges: they pass against the same agent, and fail against a changed one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.scenario.catalog import Scenarios
from recorded_checks import (
    Use,
    agent,
    assert_passed,
    cancel_while_streaming,
    converse_with_pushes,
    draft,
    fail_to_get,
    made,
    record,
    run,
    send_mixed,
    steps_of,
    stream_report,
)

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Message, Part, SendRequest
from inspector.protocol.operations import REQUESTS, Operation
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.matching import mismatches
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile, parse_document
from inspector.session.check.recorded.assertions import expectation, text_expectation
from inspector.session.check.recorded.making import make_check
from inspector.session.check.recorded.merging import merge, merge_tests
from inspector.session.check.recorded.yaml_text import write_yaml
from inspector.session.check.result import RunResult
from inspector.session.check.runner import Runner, choices
from inspector.session.check.status import Status
from inspector.session.check.variables import Variables, references
from inspector.session.session import Session


@pytest.mark.parametrize("use", [stream_report, send_mixed, converse_with_pushes, cancel_while_streaming, fail_to_get])
async def test_a_check_passes_against_the_same_agent_over_every_transport(use: Use, tmp_path: Path):
    async with agent(pace=0.05) as url:
        await record(tmp_path / "recorded.a2a", url, use)
        document = made(tmp_path / "recorded.a2a")
        assert_passed(await run(document, url, tmp_path / "run.a2a", transports=tuple(Transport)))


async def use_every_operation(session: Session) -> None:
    immediately = {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "ask"}]},
        "configuration": {"returnImmediately": True},
    }
    call = session.call(Operation.SEND, SendRequest.model_validate(immediately))
    await call.finish()
    task = call.exchange.task_id
    while session.tasks.get(task).now.state != "TASK_STATE_INPUT_REQUIRED":  # type: ignore[union-attr]
        await session.get(task).finish()
    for operation, members in (
        (Operation.SET_PUSH, {"taskId": task, "id": "config", "url": "http://127.0.0.1:9/hook"}),
        (Operation.GET_PUSH, {"taskId": task, "id": "config"}),
        (Operation.LIST_PUSH, {"taskId": task}),
        (Operation.DELETE_PUSH, {"taskId": task, "id": "config"}),
    ):
        await session.call(operation, REQUESTS[operation].model_validate(members), task_id=task).finish()
    await session.cancel(task).finish()
    await session.get(task).finish()


@pytest.mark.parametrize("transport", Transport)
async def test_every_operation_is_recorded_over_every_transport(transport: Transport, tmp_path: Path):
    async with agent() as url:
        await record(tmp_path / "recorded.a2a", url, use_every_operation, transport)
        document = made(tmp_path / "recorded.a2a", complete=True)
        [test] = document["suites"][0]["tests"]
        names = [step["operation"] for step in test["steps"]]
        names.remove("get_task")
        assert test["x-a2a-inspect"]["pushes"] == {"count": {"gte": 0}}
        assert names == [
            "send_message",
            "create_push_config",
            "get_push_config",
            "list_push_configs",
            "delete_push_config",
            "cancel_task",
            "get_task",
        ]
        assert_passed(await run(document, url, tmp_path / "run.a2a", transports=tuple(Transport)))


@pytest.mark.parametrize("keep_tasks", [False, True])
async def test_the_tasks_of_a_test_are_forgotten_if_no_screen_shows_them(keep_tasks: bool, tmp_path: Path):
    async with agent() as url:
        await record(tmp_path / "stream.a2a", url, stream_report)
        parsed = parse_document(write_yaml(made(tmp_path / "stream.a2a"), []), "made.acts.yaml")
        planned = plan([CheckFile(Path("made.acts.yaml"), parsed, parsed.variables)], Selection())
        session = Session(tmp_path / "run.a2a")
        await session.connect(url)
        result = RunResult("1.0", "", "", 0.0)
        runner = Runner(session, choices(session, ()), planned, result, trials=3, keep_tasks=keep_tasks)
        async for _ in runner.results():
            pass
        await session.close()
    assert_passed(result)
    assert len(session.tasks) == (3 if keep_tasks else 0)


@pytest.mark.parametrize(("limit", "passed"), [("p50_ms", False), ("p95_ms", False), ("", True)])
async def test_limits_of_percentiles_hold_for_all_trials(limit: str, passed: bool, tmp_path: Path):
    async with agent(pace=0.05) as url:
        await record(tmp_path / "stream.a2a", url, stream_report)
        document = made(tmp_path / "stream.a2a")
        limits = {limit: 1} if limit else {"p50_ms": 60_000, "p95_ms": 60_000}
        document["suites"][0]["tests"][0]["x-a2a-inspect"] |= limits
        result = await run(document, url, tmp_path / "run.a2a", trials=3)
    results = [each.status for each in result.results]
    assert results.count(Status.FAIL) == (0 if passed else 1)
    if not passed:
        [failure] = [failure for each in result.results for failure in each.failures]
        assert failure.path == f"{limit[:3]} of 3 trials"
        assert failure.exchange


async def test_a_check_passes_fifty_times_in_a_row(tmp_path: Path):
    async with agent() as url:
        await record(tmp_path / "stream.a2a", url, stream_report)
        result = await run(made(tmp_path / "stream.a2a"), url, tmp_path / "run.a2a", trials=50)
    assert_passed(result)
    assert len(result.results) == 50


FAULTS = [
    "error-before",
    "too-many",
    "unavailable",
    "html",
    "content-type",
    "break-off:2",
    "malformed-json",
    "invalid-utf8",
    "duplicate",
    "reorder",
    "drop",
    "drop-last",
    "wrong-task",
    "wrong-context",
    "unknown-state",
    "fresh-artifacts",
    "append-first",
    "chunk-after-last",
    "after-terminal",
    "message-in-stream",
    "error-in-stream",
    "error-after",
    "hostile-text",
    "wrong-rpc-id",
    "final",
    "no-timezone",
    "snake-case",
]


@pytest.fixture(scope="module")
def recorded_stream(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("recorded") / "stream.a2a"

    async def work() -> None:
        async with agent() as url:
            await record(path, url, stream_report)

    asyncio.run(work())
    return made(path)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_check_fails_for_each_fault(fault: str, recorded_stream: dict[str, Any], tmp_path: Path):
    async with agent(fault) as url:
        result = await run(recorded_stream, url, tmp_path / "run.a2a")
    assert [each.status for each in result.results] == [Status.FAIL]
    assert result.results[0].failures[0].message


@pytest.mark.parametrize("fault", ["push-never", "push-unsigned", "push-wrong-token", "push-malformed"])
async def test_a_check_with_a_webhook_fails_for_each_fault_of_pushes(fault: str, tmp_path: Path):
    async with agent() as url:
        await record(tmp_path / "recorded.a2a", url, converse_with_pushes)
    document = made(tmp_path / "recorded.a2a")
    document["suites"][0]["tests"][0]["x-a2a-inspect"]["pushes"]["timeout_ms"] = 1000
    async with agent(fault) as url:
        result = await run(document, url, tmp_path / "run.a2a")
    assert [each.status for each in result.results] == [Status.FAIL]
    assert "push" in result.results[0].failures[0].message


async def test_ids_of_the_agent_are_captured_and_used_again(tmp_path: Path):
    async with agent() as url:
        await record(tmp_path / "recorded.a2a", url, converse_with_pushes)
    document = made(tmp_path / "recorded.a2a")
    [test] = document["suites"][0]["tests"]
    first, second, third = test["steps"]
    assert test["runner_requirements"] == ["webhook_endpoint"]
    assert first["capture"] == {"taskId": "task.id", "contextId": "task.contextId"}
    assert first["params"]["configuration"]["taskPushNotificationConfig"] == {"url": "{{webhookUrl}}"}
    assert "messageId" not in first["params"]["message"]
    assert second["params"]["message"]["taskId"] == "{{send.taskId}}"
    assert second["expect"]["body"]["task"]["id"] == "{{send.taskId}}"
    assert third["params"] == {"id": "{{send.taskId}}"}
    assert test["x-a2a-inspect"]["pushes"]["states"][-1] == "TASK_STATE_COMPLETED"


async def test_a_stream_that_was_canceled_becomes_a_message_that_returns_immediately(tmp_path: Path):
    async with agent(pace=0.05) as url:
        await record(tmp_path / "recorded.a2a", url, cancel_while_streaming)
    first, second = steps_of(made(tmp_path / "recorded.a2a"))
    assert first["operation"] == "send_message"
    assert first["params"]["configuration"]["returnImmediately"] is True
    assert second["operation"] == "cancel_task"
    assert second["expect"]["body"]["status"]["state"] == "TASK_STATE_CANCELED"


async def test_repeated_requests_for_a_task_become_one_step(tmp_path: Path):
    async def poll(session: Session) -> None:
        call = session.call(
            Operation.SEND,
            SendRequest.model_validate(
                {
                    "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "long 2"}]},
                    "configuration": {"returnImmediately": True},
                }
            ),
        )
        await call.finish()
        task = call.exchange.task_id
        for _ in range(200):
            await session.get(task).finish()
            if session.tasks.get(task).now.state == "TASK_STATE_COMPLETED":  # type: ignore[union-attr]
                return
            await asyncio.sleep(0.05)

    async with agent(pace=0.05) as url:
        await record(tmp_path / "recorded.a2a", url, poll)
        document = made(tmp_path / "recorded.a2a")
        assert_passed(await run(document, url, tmp_path / "run.a2a"))
    send, get = steps_of(document)
    assert send["expect"]["body"]["task"]["status"]["state"] == {
        "one_of": ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]
    }
    assert get["repeat"]["until"] == "status.state == TASK_STATE_COMPLETED"


async def test_findings_of_the_recording_are_allowed(tmp_path: Path):
    async with agent("after-terminal") as url:
        await record(tmp_path / "recorded.a2a", url, stream_report)
        document = made(tmp_path / "recorded.a2a")
        assert_passed(await run(document, url, tmp_path / "run.a2a"))
    extension = document["suites"][0]["tests"][0]["x-a2a-inspect"]
    assert extension["findings"] == {"max": "hint", "allow": ["STREAM-003"]}
    with closing(Capture.open(tmp_path / "recorded.a2a")) as capture:
        [note] = make_check(capture).notes
    assert note.startswith("findings of the recorded agent are allowed: STREAM-003.")


async def test_a_filter_selects_exchanges(tmp_path: Path):
    async def use(session: Session) -> None:
        await stream_report(session)
        await send_mixed(session)

    async with agent() as url:
        await record(tmp_path / "recorded.a2a", url, use)
    names = [test["name"] for test in made(tmp_path / "recorded.a2a", "op:SendMessage")["suites"][0]["tests"]]
    assert names == ["mixed"]
    with pytest.raises(FaultError, match="no request of A2A matches the filter"):
        made(tmp_path / "recorded.a2a", "op:CancelTask")


def weather(degrees: int) -> str:
    head = 'name = "Weather"\ndescription = "The weather."\ntags = ["weather"]\nexamples = ["weather in Rome"]\n'
    return f'{head}steps = [{{ working = "Looking." }}, {{ completed = "It is {degrees} degrees." }}]'


async def test_a_second_recording_shows_which_values_vary(tmp_path: Path):
    async def ask(session: Session) -> None:
        await session.send(draft("weather in Rome"), stream=False).finish()

    scenario, paths = tmp_path / "weather.toml", [tmp_path / "first.a2a", tmp_path / "second.a2a"]
    for path, degrees in zip(paths, (20, 7), strict=True):
        scenario.write_text(weather(degrees))
        async with agent(scenarios=Scenarios((scenario,))) as url:
            await record(path, url, ask)
    [alone] = steps_of(made(paths[0]))
    assert alone["expect"]["body"]["task"]["status"]["message"]["parts"] == [{"text": "It is 20 degrees."}]
    document = made(paths[0], "", paths[1])
    [step] = steps_of(document)
    assert step["expect"]["body"]["task"]["status"]["message"]["parts"] == [{"text": {"type": "string"}}]
    assert step["expect"]["body"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    scenario.write_text(weather(-3))
    async with agent(scenarios=Scenarios((scenario,))) as url:
        assert_passed(await run(document, url, tmp_path / "run.a2a"))


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ("a", "a", "a"),
        ("a", "b", {"type": "string"}),
        (1, 2, {"type": "number"}),
        (True, 1, {"exists": True}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1}),
        ([1, 2], [1, 3], [1, {"type": "number"}]),
        ([1, 2], [1], {"type": "array", "count_gte": 1}),
        ({"matches": "^a$"}, "b", {"type": "string"}),
        ({"starts_with": "a", "ends_with": "b"}, {"starts_with": "a", "ends_with": "c"}, {"type": "string"}),
    ],
)
def test_merged_assertions_hold_for_both_recordings(first: Any, second: Any, merged: Any):
    assert merge(first, second) == merged


@pytest.mark.parametrize("word", ["string", "integer", "strng"])
def test_a_recorded_member_type_is_not_read_as_the_operator(word: str):
    assert expectation({"schema": {"type": word}}, {}) == {"schema": {"type": {"one_of": [word]}}}


def test_an_artifact_of_two_recordings_is_expected_without_what_differs():
    def recorded(digest: str) -> dict[str, Any]:
        artifacts = [{"name": "report", "text": "done", "sha256": digest}]
        step = {"id": "stream", "x-a2a-inspect": {"artifacts": artifacts}}
        return {"steps": [step], "x-a2a-inspect": {"findings": {"max": "hint"}}}

    [step] = merge_tests(recorded("a"), recorded("b"))["steps"]
    assert step["x-a2a-inspect"] == {"artifacts": [{"name": "report", "text": "done"}]}


def volatile_texts() -> Iterator[tuple[str, str]]:
    yield (
        "Report 2b0d7d7a-6f5e-4a6e-9a5e-3f2f7f0f9c11 is ready.",
        "Report 9c1d7d7a-6f5e-4a6e-9a5e-3f2f7f0f9c22 is ready.",
    )
    yield "Written at 2026-11-23T10:00:00Z.", "Written at 2027-01-01T00:00:00.123Z."
    yield "See https://files.example/a.pdf?sig=abc", "See https://files.example/a.pdf?sig=xyz&x=1"


@pytest.mark.parametrize(("recorded", "later"), list(volatile_texts()))
def test_volatile_parts_of_a_text_become_patterns(recorded: str, later: str):
    wanted = text_expectation(recorded)
    assert not mismatches(wanted, recorded)
    assert not mismatches(wanted, later)
    assert mismatches(wanted, f"{later} And more.") or recorded.endswith(("abc",))
    assert mismatches(wanted, "something else")


def test_braces_in_a_text_are_not_variables():
    wanted = text_expectation("Use {{name}} here.")
    assert wanted == {"matches": r"^Use \{\{name\}\} here\.$"}


REFERENCE = "{{env.HOME}}"
"""What a text of an agent may contain: if it became a reference, a check would send the environment to the agent."""


@pytest.mark.parametrize(
    "value",
    [
        {REFERENCE: 1},
        {"artifactId": REFERENCE},
        {"url": f"http://host/{REFERENCE}"},
        {"url": f"http://host/{REFERENCE}?a=b"},
        {"parts": [{"data": {REFERENCE: {f"{{{REFERENCE}": REFERENCE * 100}}}]},
    ],
    ids=str,
)
def test_no_recorded_text_becomes_a_reference(value: Any):
    wanted = expectation(value, {})
    assert references(wanted) <= {"braces"}
    assert mismatches(Variables({"braces": "{{"}).resolve(wanted), value) == []


async def test_references_in_a_recorded_message_are_sent_as_they_are(tmp_path: Path):
    async def send(session: Session) -> None:
        message = Message(
            message_id="m",
            role="ROLE_USER",
            parts=[Part(text=f"echo {REFERENCE}"), Part(data={REFERENCE: REFERENCE})],
            metadata={REFERENCE: {f"{{{REFERENCE}": 1}},
        )
        await session.call(Operation.SEND, SendRequest(message=message)).finish()

    async with agent() as url:
        await record(tmp_path / "first.a2a", url, send)
        document = made(tmp_path / "first.a2a")
        assert references(steps_of(document)) <= {"braces"}
        assert_passed(await run(document, url, tmp_path / "second.a2a"))
    requests = []
    for name in ("first", "second"):
        with Capture.open(tmp_path / f"{name}.a2a") as capture:
            sent = next(item for item in capture.select(kinds=(Kind.REQUEST,)) if item.operation == "SendMessage")
            message = json.loads(sent.raw)["params"]["message"]
            requests.append({name: message[name] for name in ("parts", "metadata")})
    assert requests[0] == requests[1]


def test_ids_of_messages_are_left_out():
    message = {"messageId": "m", "taskId": "t", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}
    assert expectation(message, {}) == {"role": "ROLE_AGENT", "parts": [{"text": "x"}]}


@pytest.mark.parametrize(
    "text", ["no", "1.0", "0o17", "12:30", "null", " leading", "a: b", "# x", "line\nline\n", "é😀"]
)
def test_texts_survive_yaml(text: str):
    document = {
        "acts_version": "1.0",
        "spec_version": "1.0",
        "variables": {"text": text},
        "suites": [{"id": "s", "name": text, "tests": []}],
    }
    read = parse_document(write_yaml(document, []), "x.yaml")
    assert read.variables["text"] == text
    assert read.suites[0].name == text


async def test_the_ids_of_tests_are_those_of_their_requests(tmp_path: Path):
    async def use_in_another_order(session: Session) -> None:
        await send_mixed(session)
        await stream_report(session)

    async def use(session: Session) -> None:
        await stream_report(session)
        await send_mixed(session)

    async with agent() as url:
        await record(tmp_path / "a.a2a", url, use)
        await record(tmp_path / "b.a2a", url, use_in_another_order)
    first, second = (
        {test["name"]: test["id"] for test in made(tmp_path / f"{name}.a2a")["suites"][0]["tests"]} for name in "ab"
    )
    assert first == second
    assert len(set(first.values())) == 2
    assert all(re.fullmatch(r"RECORDED-[0-9A-F]{8}", each) for each in first.values())
