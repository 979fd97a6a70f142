from __future__ import annotations

import asyncio
import re

import pytest
from aiohttp import web
from puppets import SECONDS, Call, MakeAgent, RunCli, chunk, status, task

QUICK = ("--poll-interval", "10ms")


def telling(*events: object, breaks_off: bool = False, stays: bool = False):  # type: ignore[no-untyped-def]
    """Answer a subscription with these events, and GetTask with a task that has ended."""

    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result(task("COMPLETED", artifacts=[{"artifactId": "a", "parts": [{"text": "all of it"}]}]))
        response = await call.stream(*events, breaks_off=breaks_off)
        if stays:
            await asyncio.sleep(SECONDS)
        return response

    return answer


def test_json_stream_has_one_event_per_line(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, chunk("one"), status("COMPLETED")))
    ran = cli("task", "subscribe", "task-1", "-a", agent.url, "--stream", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert [next(iter(line)) for line in ran.lines] == ["task", "artifactUpdate", "statusUpdate"]
    assert agent.methods == ["SubscribeToTask"]
    assert agent.calls[-1].rpc["params"] == {"id": "task-1"}


def test_text_output_ends_with_the_task_summary(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, chunk("one"), status("COMPLETED")))
    ran = cli("task", "subscribe", "task-1", "-a", agent.url, "--stream")
    assert "Artifact: notes\nText:\n  one\n" in ran.out
    assert ran.out.endswith("Task: task-1\nContext: context-1\nState: completed\n")


def test_an_id_that_begins_with_a_hyphen_follows_two_hyphens(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling())
    assert cli("task", "get", "-a", agent.url, "-o", "json", "--", "-1x").code == 0
    assert agent.calls[-1].rpc["params"] == {"id": "-1x"}
    assert cli("task", "get", "-a", agent.url, "--wait", "-1x").code == 2


def test_output_without_stream_is_the_complete_task(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, status("COMPLETED")))
    ran = cli("task", "subscribe", "task-1", "-a", agent.url, "-o", "json")
    assert ran.code == 0
    assert ran.json["artifacts"][0]["parts"] == [{"text": "all of it"}]
    assert agent.methods == ["SubscribeToTask", "GetTask"]
    shown = cli("task", "subscribe", "task-1", "-a", agent.url)
    assert shown.out.startswith("Task: task-1\nContext: context-1\nState: completed\n")
    assert "all of it" in shown.out


@pytest.mark.parametrize("stream", [["--stream"], []])
def test_broken_stream_is_continued_by_polling(cli: RunCli, make_agent: MakeAgent, stream: list[str]):
    agent = make_agent(telling({"task": task("WORKING")}, breaks_off=True))
    ran = cli("task", "subscribe", "task-1", "-a", agent.url, *stream, *QUICK)
    assert ran.code == 0
    assert "polled instead" in ran.err
    assert "State: completed\n" in ran.out


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """End a stream soon after an interruption."""
    monkeypatch.setattr("inspector.session.stream_deadline.INTERRUPTED_GRACE", 0.05)


@pytest.mark.usefixtures("short_grace")
@pytest.mark.parametrize(
    ("first", "resume"),
    [
        ({"task": task("INPUT_REQUIRED")}, "Resume: a2a-inspect send --task-id task-1"),
        ({"task": {**task("INPUT_REQUIRED"), "id": "-1"}}, "Resume: a2a-inspect send --task-id=-1 --text"),
        (status("AUTH_REQUIRED"), "then: a2a-inspect task get task-1 --wait"),
        ({"task": {**task("AUTH_REQUIRED"), "id": "-1"}}, " -- -1\n"),
    ],
)
def test_interrupted_task_ends_an_open_subscription(cli: RunCli, make_agent: MakeAgent, first: object, resume: str):
    agent = make_agent(telling(first, stays=True))
    ran = cli("task", "subscribe", "task-1", "-a", agent.url, "--stream")
    assert ran.code == 0
    assert resume in ran.out
    assert "needs" in ran.err


@pytest.mark.usefixtures("short_grace")
def test_interrupted_task_ends_an_open_message_stream(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, status("INPUT_REQUIRED", "which?"), stays=True))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--stream")
    assert ran.code == 0
    assert "Status message: which?" in ran.out


def test_events_shortly_after_an_interruption_are_printed(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, status("INPUT_REQUIRED"), chunk("more"), stays=True))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--stream", "-o", "json")
    assert (ran.code, len(ran.lines)) == (0, 3)


def test_open_stream_after_an_error_is_left(cli: RunCli, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("inspector.session.stream_deadline.TERMINAL_GRACE", 0.05)
    error = b'data: {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the model is gone"}}\n\n'
    agent = make_agent(telling({"task": task("WORKING")}, error, stays=True))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--stream")
    assert ran.code == 1
    assert "the model is gone" in ran.err


def test_open_stream_after_the_end_of_the_task_is_a_warning(
    cli: RunCli, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.session.stream_deadline.TERMINAL_GRACE", 2.1)
    agent = make_agent(telling({"task": task("WORKING")}, status("COMPLETED"), stays=True))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--stream", "--findings", "-o", "json")
    assert ran.code == 0
    assert "still open 2.1 s after" in ran.err
    assert [(line["finding"]["id"], line["finding"]["index"]) for line in ran.lines if "finding" in line] == [
        ("STREAM-022", 1)
    ]


def test_old_interrupted_state_does_not_end_the_stream(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("INPUT_REQUIRED")}, status("WORKING"), status("COMPLETED")))
    ran = cli("send", "-a", agent.url, "--task-id", "task-1", "--text", "this one", "--stream", "-o", "json")
    assert len(ran.lines) == 3


@pytest.mark.usefixtures("time_limit")  # reaching the end of the task may take longer than the limit
def test_a_timeout_after_the_end_of_the_task_is_not_an_error(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(telling({"task": task("WORKING")}, status("COMPLETED"), stays=True))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--stream", "-o", "json", "--timeout", "1s")
    assert (ran.code, len(ran.lines)) == (0, 2)
    waited = re.search("the stream was still open (.*) s after the task ended", ran.err)
    assert waited
    assert float(waited[1]) < 1, "the stream was left before the limit"


@pytest.mark.usefixtures("short_grace")
def test_artifact_after_the_old_state_does_not_end_the_stream(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        response = await call.stream({"task": task("INPUT_REQUIRED")}, chunk("one"))
        await asyncio.sleep(0.3)
        await response.write(call.frame(status("COMPLETED")))
        return response

    ran = cli("send", "-a", make_agent(answer).url, "--task-id", "task-1", "--text", "this", "--stream", "-o", "json")
    assert (ran.code, len(ran.lines)) == (0, 3)


def test_ended_task_is_an_error_with_a_command_to_print_it(cli: RunCli, mock: str):
    task_id = cli("send", "-a", mock, "--text", "fail", "-o", "json").json["task"]["id"]
    ran = cli("task", "subscribe", task_id, "-a", mock, "-o", "json")
    assert (ran.code, ran.out, ran.error["code"]) == (1, "", "UnsupportedOperationError")
    assert ran.error["hint"].endswith(
        f"a2a-inspect task get {task_id} -a {mock}"
    )  # without a period, which would be copied, too


def test_an_error_that_ends_a_stream_is_its_last_line(cli: RunCli, mock: str):
    ran = cli("task", "subscribe", "nobody", "-a", mock, "--stream", "-o", "json")
    assert ran.code == 1
    assert [line["error"]["code"] for line in ran.lines] == ["TaskNotFoundError"]


def test_a_running_task_is_followed_to_its_end(cli: RunCli, slow_mock: str):
    task_id = cli("send", "-a", slow_mock, "--text", "push", "--async", "-o", "json").json["task"]["id"]
    ran = cli("task", "subscribe", task_id, "-a", slow_mock, "--stream", "-o", "json")
    assert ran.code == 0
    assert ran.lines[0]["task"]["id"] == task_id
    assert ran.lines[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_agent_without_streaming_is_called_with_a_warning(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32004, "no streams here")

    agent = make_agent(answer, {"capabilities": {"streaming": False}})
    ran = cli("task", "subscribe", "task-1", "-a", agent.url)
    assert ran.code == 1
    assert ran.err.startswith("Warning: the card declares streaming: false; the request is sent anyway\n")
