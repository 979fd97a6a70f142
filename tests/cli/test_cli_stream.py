from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from forking import Program
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import serve_in_thread
from puppets import SECONDS, Call, MakeAgent, RunCli, chunk, silence, status, task
from time_limit import TimeLimit

from inspector.cli.follow_task import Follower

PROGRAM = (sys.executable, "-m", "inspector.cli")
STREAM = ("--stream", "--text", "hi")


def test_a_stream_is_one_event_a_line(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, "--stream", "--text", "report 4", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    kinds = [next(iter(line)) for line in ran.lines]
    assert kinds == ["task", "statusUpdate", *["artifactUpdate"] * 4, "statusUpdate"]
    assert all(len(line) == 1 for line in ran.lines)
    last = ran.lines[-1]["statusUpdate"]
    assert last["status"]["state"] == "TASK_STATE_COMPLETED"
    assert last["taskId"] == ran.lines[0]["task"]["id"]
    assert last["contextId"] == ran.lines[0]["task"]["contextId"]


def test_a_stream_of_one_message_is_one_line(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, "--stream", "--text", "echo hi", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    [line] = ran.lines
    assert line["message"]["parts"] == [{"text": "hi"}]


def test_stream_as_text_ends_with_the_task_summary(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, "--stream", "--text", "ask")
    assert ran.code == 0
    task_line, context_line, state_line, resume_line = ran.out.splitlines()[-4:]
    assert task_line.startswith("Task: ")
    assert context_line.startswith("Context: ")
    assert state_line == "State: input-required"
    assert task_line.removeprefix("Task: ") in resume_line


def test_stream_as_text_prints_every_event(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        last = chunk("two", append=True, lastChunk=True)
        return await call.stream({"task": task("WORKING")}, chunk("one\n"), last, status("COMPLETED", "done"))

    assert cli("send", "-a", make_agent(answer).url, *STREAM).out == (
        "Task: task-1\nContext: context-1\nState: working\n"
        "Artifact: notes\nText:\n  one\n\n"
        "Artifact: notes (appended, last chunk)\nText:\n  two\n\n"
        "State: completed\nStatus message: done\n"
        "Task: task-1\nContext: context-1\nState: completed\n"
    )


def test_agent_without_streaming_is_called_without_streaming(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "SendMessage":
            return call.result({"task": task("WORKING")})
        return call.result(task("COMPLETED"))

    agent = make_agent(answer, {"capabilities": {}})
    ran = cli("send", "-a", agent.url, *STREAM, "-o", "json", "--poll-interval", "10ms")
    assert ran.code == 0
    assert [line["task"]["status"]["state"] for line in ran.lines] == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    assert agent.methods == ["SendMessage", "GetTask"]
    assert "streaming" in ran.err


def test_broken_stream_is_continued_by_polling(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result(task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "all of it"}]}]))
        return await call.stream({"task": task("WORKING")}, chunk("part"), breaks_off=True)

    agent = make_agent(answer)
    ran = cli("send", "-a", agent.url, *STREAM, "-o", "json", "--poll-interval", "10ms")
    assert ran.code == 0
    assert [next(iter(line)) for line in ran.lines] == ["task", "artifactUpdate", "task"]
    assert ran.lines[-1]["task"]["artifacts"][0]["parts"] == [{"text": "all of it"}]
    assert "broke off" in ran.err
    assert agent.methods == ["SendStreamingMessage", "GetTask"]


def test_closed_stream_is_continued_by_polling(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result(task("FAILED"))
        return await call.stream({"task": task("WORKING")})

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "--poll-interval", "10ms")
    assert ran.code == 0
    assert ran.out.endswith("State: failed\n")
    assert "the stream ended" in ran.err.lower()


def test_broken_stream_without_events_is_an_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream(breaks_off=True)

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 3
    assert ran.error["code"] == "A2ACLI_ERR_UNREACHABLE"
    assert [line["error"] for line in ran.lines] == [ran.error]


def test_an_error_inside_the_stream_ends_both_streams(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        broken = call.error(-32603, "the model fell over").body
        assert isinstance(broken, bytes)
        return await call.stream({"task": task("WORKING")}, b"data: " + broken + b"\n\n")

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 1
    assert ran.error["code"] == "InternalError"
    assert ran.error["a2aCode"] == -32603
    assert "the model fell over" in ran.error["message"]
    assert [next(iter(line)) for line in ran.lines] == ["task", "error"]
    assert ran.lines[-1]["error"] == ran.error


def test_unreadable_event_is_a_warning(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, b"data: {nonsense\n\n", status("COMPLETED"))

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 0
    assert [next(iter(line)) for line in ran.lines] == ["task", "statusUpdate"]
    assert "could not be read" in ran.err


def test_many_unreadable_events_are_counted(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, b"data:\n\n" * 5000, status("COMPLETED"))

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 0
    assert ran.err.count("an event could not be read") == 10
    assert "5,000 events could not be read" in ran.err
    assert ran.err.count("\n") == 12


def test_a_warning_is_between_the_events_around_it(make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        events = call.frame({"task": task("WORKING")}), call.frame(chunk("one")), b"data: {nonsense\n\n"
        return await call.stream(b"".join((*events, call.frame(status("COMPLETED")))))

    ran = subprocess.run(
        [*PROGRAM, "send", "-a", make_agent(answer).url, *STREAM, "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=True,
    )
    starts = [line[:10] for line in ran.stdout.decode().splitlines()]
    assert starts == ['{"task":{"', '{"artifact', "Warning: a", '{"statusUp']


def test_an_event_is_printed_before_the_next_one_arrives(make_agent: MakeAgent):
    is_printed = threading.Event()

    async def answer(call: Call) -> web.StreamResponse:
        response = await call.stream({"task": task("WORKING")})
        await asyncio.to_thread(is_printed.wait, SECONDS)
        await response.write(call.frame(status("COMPLETED")))
        return response

    with Program("send", "-a", make_agent(answer).url, *STREAM, "-o", "json") as program:
        assert program.stdout.readline().startswith('{"task":')
        is_printed.set()
        out, _ = program.communicate(timeout=SECONDS)
        assert out.startswith('{"statusUpdate":')
    assert program.returncode == 0


@pytest.mark.parametrize("words", [("--stream",), (), ("--stream", "--findings")], ids=" ".join)
def test_a_number_beyond_the_range_of_a_double_is_printed_as_json(
    cli: RunCli, make_agent: MakeAgent, words: tuple[str, ...]
):
    async def answer(call: Call) -> web.StreamResponse:
        result = {"task": task("COMPLETED", metadata={"number": 12345, "note": "Infinity"})}
        response = call.frame(result).replace(b"12345", b"-1e400")
        return await call.stream(response) if "--stream" in words else call.raw(response.removeprefix(b"data: "))

    ran = cli("send", "-a", make_agent(answer).url, "--text", "hi", *words, "-o", "json")
    assert ran.code == 0
    document, _ = json.JSONDecoder(parse_constant=pytest.fail).raw_decode(ran.out)
    assert document["task"]["metadata"] == {"number": -math.inf, "note": "Infinity"}


def test_json_response_instead_of_a_stream_is_one_line(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"task": task("COMPLETED")})

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == [{"task": task("COMPLETED")}]


def test_error_response_instead_of_a_stream_is_an_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32004, "no streams here")

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 1
    assert ran.error["code"] == "UnsupportedOperationError"


def test_empty_stream_is_an_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream(b": keep-alive\n\n")

    ran = cli("send", "-a", make_agent(answer).url, *STREAM)
    assert ran.code == 1
    assert ran.err.startswith("Error: ")


def test_broken_stream_after_the_end_of_the_task_is_a_warning(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, status("COMPLETED"), breaks_off=True)

    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json")
    assert ran.code == 0
    assert len(ran.lines) == 2
    assert "the task ended" in ran.err


def test_timeout_ends_a_stream(
    cli: RunCli, make_agent: MakeAgent, time_limit: TimeLimit, monkeypatch: pytest.MonkeyPatch
):
    async def answer(call: Call) -> web.StreamResponse:
        await call.stream({"task": task("WORKING")})
        return await silence(call)

    def take(follower: Follower, received: Sequence[Any]) -> None:
        take_received(follower, received)
        time_limit.end()

    take_received = Follower._take
    monkeypatch.setattr(Follower, "_take", take)
    ran = cli("send", "-a", make_agent(answer).url, *STREAM, "-o", "json", "--timeout", "1s")
    assert ran.code == 5
    assert [next(iter(line)) for line in ran.lines] == ["task", "error"]
    assert "task-1" in ran.error["message"]


def test_draft_1_1_is_used_with_the_option_only(cli: RunCli):
    with serve_in_thread(pace=0, profile=Profile(("1.0", "1.1"))) as url:
        ran = cli("send", "-a", url, "--text", "report 2", "--stream", "-o", "json", "--a2a-version", "1.1")
        plain = cli("send", "-a", url, "--text", "report 2", "--stream", "-o", "json")
    assert "A2A 1.1 is a draft" in ran.err
    events = [next(iter(line.values())) for line in ran.lines]
    assert [event["generation"] for event in events] == [str(number) for number in range(1, len(events) + 1)]
    assert plain.err == ""
    assert "generation" not in plain.out
