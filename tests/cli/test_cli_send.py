from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from puppets import Call, MakeAgent, RunCli, done, status, task
from time_limit import TimeLimit

TEXT = "--text"


def fields(out: str) -> dict[str, str]:
    """Return the fields of a text, the last of each label, without the blocks."""
    lines = [line for line in out.splitlines() if line and not line.startswith("  ")]
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def test_message_response_is_printed(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "echo hello there")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("Text:\n  hello there\n\n")
    answer = cli("send", "-a", mock, TEXT, "echo hello there", "-o", "json").json
    assert list(answer) == ["message"]
    assert answer["message"]["parts"] == [{"text": "hello there"}]


def test_sending_waits_for_the_task_to_end(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "report 3", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == ["task"]
    assert ran.json["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert ran.json["task"]["artifacts"][0]["name"] == "report.md"


def test_every_kind_of_part_is_printed(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "file")
    assert fields(ran.out)["State"] == "completed"
    assert "\nFile: sunrise.png, image/png, 4,946 bytes\nData:\n  {\n" in ran.out
    assert '    "width": 64,\n' in ran.out
    assert "\nText:\n  A sunrise, drawn pixel by pixel.\n\n" in ran.out


def test_ids_and_state_are_printed(cli: RunCli, mock: str):
    shown = fields(cli("send", "-a", mock, TEXT, "report 2").out)
    assert shown["Task"]
    assert shown["Context"]
    assert shown["State"] == "completed"


def test_printed_resume_command_answers_the_task(cli: RunCli, mock: str):
    question = cli("send", "-a", mock, TEXT, "ask")
    assert question.code == 0
    assert "input" in question.err
    program, *words = shlex.split(fields(question.out)["Resume"])
    assert program == "a2a-inspect"
    words[words.index("your answer")] = "20:30"
    answered = cli(*words)
    assert answered.code == 0
    assert fields(answered.out)["Task"] == fields(question.out)["Task"]
    assert fields(answered.out)["State"] == "completed"
    assert "You said: 20:30" in answered.out


def test_resume_command_is_on_stderr_with_json(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "ask", "-o", "json")
    assert ran.json["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert f"--task-id {ran.json['task']['id']}" in ran.err


def test_failed_task_has_exit_code_0(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "fail")
    assert ran.code == 0
    assert fields(ran.out)["State"] == "failed"
    assert ran.err == "Warning: the task ended as failed\n"


def test_async_returns_the_ids_at_once(cli: RunCli, slow_mock: str):
    ran = cli("send", "-a", slow_mock, TEXT, "long 60", "--async")
    assert ran.code == 0
    shown = fields(ran.out)
    assert shown["State"] in ("submitted", "working")
    assert f"task get {shown['Task']} --wait" in shown["Follow"]
    assert cli("task", "cancel", shown["Task"], "-a", slow_mock).code == 0


@pytest.mark.parametrize("alias", ["--async", "--no-wait", "--return-immediately"])
def test_async_sets_return_immediately_and_does_not_poll(cli: RunCli, make_agent: MakeAgent, alias: str):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"task": task("WORKING")})

    agent = make_agent(answer)
    assert cli("send", "-a", agent.url, TEXT, "hi", alias, "-o", "json").json["task"]["id"] == "task-1"
    assert agent.methods == ["SendMessage"]
    assert agent.calls[-1].rpc["params"]["configuration"]["returnImmediately"] is True


def test_parts_keep_their_order_and_their_media_types(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    (tmp_path / "notes.bin").write_bytes(b"\x00\xff")
    (tmp_path / "facts").write_text('{"n": 1}', encoding="utf-8")
    agent = make_agent(done)
    ran = cli(
        *("send", "-a", agent.url),
        *("--data", str(tmp_path / "facts")),
        *(TEXT, "first", "--media-type", "text/markdown"),
        *("--file", str(tmp_path / "notes.bin"), "--media-type", "application/pdf"),
        *("--file", "https://files.example/a/picture.png?x=1"),
        *(TEXT, "second", "--verbose"),
        *("--data", "-", "--media-type", "application/vnd.x+json"),
        stdin=b"[1, 2]",
    )
    assert ran.code == 0, ran.err
    assert agent.calls[-1].rpc["params"]["message"]["parts"] == [
        {"data": {"n": 1}, "mediaType": "application/json"},
        {"text": "first", "mediaType": "text/markdown"},
        {
            "raw": base64.b64encode(b"\x00\xff").decode(),
            "filename": "notes.bin",
            "mediaType": "application/pdf",
        },
        {"url": "https://files.example/a/picture.png?x=1", "filename": "picture.png", "mediaType": "image/png"},
        {"text": "second"},
        {"data": [1, 2], "mediaType": "application/vnd.x+json"},
    ]


def test_a_media_type_is_inferred_where_none_is_given(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    for name in ("page.html", "noname"):
        (tmp_path / name).write_bytes(b"x")
    agent = make_agent(done)
    cli("send", "-a", agent.url, "--file", str(tmp_path / "page.html"), "--file", str(tmp_path / "noname"))
    parts = agent.calls[-1].rpc["params"]["message"]["parts"]
    assert [part["mediaType"] for part in parts] == ["text/html", "application/octet-stream"]


def test_ids_metadata_and_history_reach_the_agent_unchanged(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    words = ["--task-id", "t 1", "--context-id", "c", "--metadata", '{"k": [1]}', "--history", "3"]
    assert cli("send", "-a", agent.url, TEXT, "hi", *words).code == 0
    params = agent.calls[-1].rpc["params"]
    assert (params["message"]["taskId"], params["message"]["contextId"]) == ("t 1", "c")
    assert params["metadata"] == {"k": [1]}
    assert params["configuration"]["historyLength"] == 3


def test_new_task_has_no_id_in_the_request(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    cli("send", "-a", agent.url, TEXT, "hi")
    message = agent.calls[-1].rpc["params"]["message"]
    assert message.keys() == {"messageId", "role", "parts"}


def test_ids_can_be_set_in_the_environment(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    cli("send", "-a", agent.url, TEXT, "hi", A2ACLI_TASK_ID="t", A2ACLI_CONTEXT_ID="c", A2ACLI_STREAM="1")
    call = agent.calls[-1].rpc
    assert (call["params"]["message"]["taskId"], call["params"]["message"]["contextId"]) == ("t", "c")
    assert call["method"] == "SendMessage"


def test_rejected_task_id_is_an_error_without_a_task(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "hi", "--task-id", "made-up", "-o", "json")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["code"] == "TaskNotFoundError"
    assert ran.error["a2aCode"] == -32001
    assert "--debug" in ran.error["hint"]


def test_non_blocking_agent_is_polled_until_the_task_ends(cli: RunCli, make_agent: MakeAgent):
    states = iter(["SUBMITTED", "WORKING", "UNSPECIFIED", "COMPLETED"])

    async def answer(call: Call) -> web.StreamResponse:
        value: dict[str, Any] = task(next(states))
        return call.result({"task": value} if call.rpc["method"] == "SendMessage" else value)

    agent = make_agent(answer)
    ran = cli("send", "-a", agent.url, TEXT, "hi", "-o", "json", "--poll-interval", "10ms")
    assert ran.code == 0
    assert "the state of the task is unspecified" in ran.err
    assert ran.json["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert agent.methods == ["SendMessage", "GetTask", "GetTask", "GetTask"]


@pytest.mark.parametrize(
    ("state", "warning", "seen"),
    [
        ("TASK_STATE_WORKING", "", "it is working."),
        ("TASK_STATE_PAUSED", "the state of the task is paused", "it is paused."),
        ("\u200bdone", 'the state of the task is "‹U+200B›done"', 'it is "\u200bdone".'),
        (None, "the task has no state", "it is without a state."),
    ],
)
@pytest.mark.parametrize("command", ["send", "send --stream", "task get --wait"])
def test_waiting_for_a_task_that_never_ends_has_a_limit(
    cli: RunCli, make_agent: MakeAgent, state: str | None, warning: str, seen: str, command: str
):
    async def answer(call: Call) -> web.StreamResponse:
        # A new timestamp is not a change.
        value = task("WORKING") | {
            "status": {"state": state, "timestamp": f"2026-01-01T00:00:0{len(agent.calls) % 10}Z"}
        }
        if call.rpc["method"] == "SendStreamingMessage":
            return await call.stream({"task": value})
        return call.result({"task": value} if call.rpc["method"] == "SendMessage" else value)

    agent = make_agent(answer)
    words = ["task", "get", "task-1", "--wait"] if command.startswith("task") else [*command.split(), TEXT, "hi"]
    ran = cli(*words, "-a", agent.url, "-o", "json", "--poll-interval", "20ms", "--wait-timeout", "100ms")
    lines = ran.err.splitlines()
    error = json.loads(lines[-1])["error"]
    assert (ran.code, error["code"]) == (5, "A2ACLI_ERR_TIMEOUT")
    assert error["message"] == f"Task task-1 has not changed for 0.1 s; {seen}"
    assert error["hint"].endswith(f"a2a-inspect task get task-1 --wait -a {agent.url}")  # can be copied
    assert "--wait-timeout" in error["hint"]
    warnings = [line for line in lines[:-1] if "--wait-timeout is reached" in line]
    assert [warning in line for line in warnings] == [True] * bool(warning)
    assert agent.methods.count("GetTask") < 20


def test_a_task_that_changes_is_waited_for(cli: RunCli, make_agent: MakeAgent):
    steps = iter(range(1000))

    async def answer(call: Call) -> web.StreamResponse:
        step = next(steps)
        value = task("COMPLETED" if step == 8 else "WORKING") | {"metadata": {"step": step}}
        return call.result({"task": value} if call.rpc["method"] == "SendMessage" else value)

    ran = cli("send", make_agent(answer).url, TEXT, "hi", "--poll-interval", "100ms", "--wait-timeout", "400ms")
    assert (ran.code, fields(ran.out)["State"]) == (0, "completed")


def test_waiting_ends_when_the_task_is_interrupted(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "SendMessage":
            return call.result({"task": task("WORKING")})
        return call.result(task("AUTH_REQUIRED"))

    ran = cli("send", "-a", make_agent(answer).url, TEXT, "hi", "--poll-interval", "10ms")
    assert ran.code == 0
    assert fields(ran.out)["State"] == "auth-required"
    assert "authorization" in ran.err


def test_timeout_ends_waiting(cli: RunCli, make_agent: MakeAgent, time_limit: TimeLimit):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "SendMessage":
            return call.result({"task": task("WORKING")})
        time_limit.end()  # the client polls, so it has read the task
        return call.result(task("WORKING"))

    agent = make_agent(answer)
    words = ["send", "-a", agent.url, TEXT, "hi", "--poll-interval", "20ms", "--timeout", "1s"]
    ran = cli(*words, "-o", "json")
    assert (ran.code, ran.out) == (5, "")
    assert ran.error["code"] == "A2ACLI_ERR_TIMEOUT"
    assert "task-1" in ran.error["message"]
    assert "task get task-1 --wait" in ran.error["hint"]
    assert cli(*words).code == 5


def test_timeout_ends_a_call_without_a_response(cli: RunCli, make_agent: MakeAgent):
    ran = cli("send", "-a", make_agent().url, TEXT, "hi", "--timeout", "200ms", "-o", "json")
    assert (ran.code, ran.error["code"]) == (5, "A2ACLI_ERR_TIMEOUT")


def test_part_without_content_is_printed(cli: RunCli, make_agent: MakeAgent):
    parts = [{"x-thing": 1}, {"raw": "not base64!"}, {"url": "https://a.example/f", "text": "both"}, {"data": None}]

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}})

    out = cli("send", "-a", make_agent(answer).url, TEXT, "hi").out
    assert '"x-thing": 1' in out
    assert "invalid Base64" in out
    assert "  both\n" in out
    assert "https://a.example/f" in out
    assert "Data:\n  null\n" in out


def test_verbose_prints_the_sent_message_and_each_part(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, TEXT, "report 2", "--verbose")
    assert ran.out.count("Part: ") >= 4
    assert "(user)" in ran.out
    assert "Artifact id: " in ran.out
    assert "Status time: " in ran.out


def test_an_older_agent_is_printed_in_the_types_of_1_0_with_a_warning(cli: RunCli, mock: str):
    old = [*("send", "-a", mock, TEXT, "fail", "-o", "json"), "--a2a-version", "0.3"]
    ran = cli(*old)
    assert ran.json["task"]["status"]["state"] == "TASK_STATE_FAILED"
    assert "0.3" not in ran.err


@pytest.fixture
def interfaces(cli: RunCli, mock: str, tmp_path: Path) -> Callable[..., str]:
    """Make the card of the mock with only some of its interfaces, the first with the given versions."""

    def make(*versions: str) -> str:
        card = cli("card", "get", "-a", mock, "-o", "json").json
        declared = card["supportedInterfaces"]
        chosen = [next(each for each in declared if each["protocolVersion"] == version) for version in versions]
        path = tmp_path / "card.json"
        path.write_text(json.dumps(card | {"supportedInterfaces": chosen}), encoding="utf-8")
        return str(path)

    return make


def test_a_version_before_1_0_is_used_only_on_request(cli: RunCli, interfaces: Callable[..., str]):
    card = interfaces("0.3")
    words = ("send", "-a", card, TEXT, "echo hi", "-o", "json")
    ran = cli(*words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["code"] == "VersionNotSupportedError"
    assert ran.error["hint"] == "Request it: --a2a-version 0.3."
    assert cli(*words, "--a2a-version", "0.3").code == 0
    assert cli(*words, A2ACLI_A2A_VERSION="0.3").code == 0
    assert "supported with --a2a-version 0.3" in cli("card", "get", card).out
    assert cli("doctor", card).code == 0


def test_an_interface_with_1_0_has_priority_over_an_older_one_before_it(cli: RunCli, interfaces: Callable[..., str]):
    ran = cli("send", "-a", interfaces("0.3", "1.0"), TEXT, "echo hi", "--debug")
    assert ran.code == 0
    assert "A2A-Version: 1.0" in ran.err


@pytest.mark.parametrize(
    ("transport", "reason"),
    [
        ("GRPC", "the card declares no interface over GRPC"),
        ("HTTP+JSON", "HTTP+JSON was requested, but the card declares 0.3 for it"),
    ],
)
def test_another_transport_than_the_requested_one_is_used_with_a_warning(
    cli: RunCli, make_agent: MakeAgent, tmp_path: Path, transport: str, reason: str
):
    card = make_agent(done).whole_card()
    [own] = card["supportedInterfaces"]
    card["supportedInterfaces"].append(own | {"protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"})
    (tmp_path / "card.json").write_text(json.dumps(card))
    ran = cli("send", "-a", str(tmp_path / "card.json"), "--text", "hi", "--transport", transport)
    assert ran.code == 0
    assert f"Warning: {reason}: JSONRPC 1.0 is used\n" in ran.err


@pytest.mark.parametrize("version", ["7.0", "1.2", "1.1.x", "newest", "1.0.0.0", "0", " "])
def test_unsupported_version_is_an_error(cli: RunCli, mock: str, version: str):
    ran = cli("send", "-a", mock, TEXT, "hi", "--a2a-version", version, "-o", "json")
    assert (ran.code, ran.error["code"]) == (2, "A2ACLI_ERR_USAGE")
    assert "choose from 0.1, 0.2, 0.3, 1.0, opvs, 1.1 (a draft)" in ran.error["message"]


@pytest.mark.parametrize(
    ("version", "header"), [("1", "1.0"), ("1.0.1", "1.0"), ("1.1", "1.1"), ("1.1.0", "1.1"), ("0.3.0", None)]
)
def test_the_requested_version_is_sent(cli: RunCli, make_agent: MakeAgent, version: str, header: str | None):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"task": task("COMPLETED")} if header else task("COMPLETED") | {"kind": "task"})

    agent = make_agent(answer)
    cli("send", "-a", agent.url, TEXT, "hi", "--a2a-version", version)
    assert agent.calls[-1].request.headers.get("A2A-Version") == header


def test_event_response_is_printed(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(status("COMPLETED", "odd but readable"))

    ran = cli("send", "-a", make_agent(answer).url, TEXT, "hi", "-o", "json")
    assert ran.code == 0
    assert ran.json["statusUpdate"]["taskId"] == "task-1"


def test_task_without_an_id_is_not_polled(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"task": {"status": {"state": "TASK_STATE_WORKING"}}})

    ran = cli("send", "-a", make_agent(answer).url, TEXT, "hi")
    assert ran.code == 0
    assert "no id" in ran.err
