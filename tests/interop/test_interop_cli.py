"""The headless commands, run as a user runs them, with agents of the official SDKs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import environments
import pytest
from calling import Caller, send_request, texts
from sdk_agent import Agent

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.dialects import v1_0
from inspector.protocol.jsonvalue import read
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Event, Message, PushConfig, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation

pytestmark = pytest.mark.interop

SECONDS = 60


@dataclass(frozen=True)
class Program:
    """The command line of the inspector, for one agent."""

    agent: Agent
    home: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
        environment["A2A_INSPECT_HOME"] = str(self.home)
        environment["A2ACLI_A2A_VERSION"] = self.agent.version  # versions before 1.0 are used only on request
        command = [sys.executable, "-m", "inspector.cli", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.home, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, "-a", self.agent.url) as process:
            stdout, stderr = finished(process)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def json(self, *arguments: str) -> object:
        ran = self.run(*arguments, "-o", "json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def send(self, text: str, *arguments: str) -> Event:
        return event(self.json("send", "--text", text, *arguments))

    def stream(self, text: str, *arguments: str) -> list[Event]:
        ran = self.run("send", "--stream", "--text", text, *arguments, "-o", "json")
        assert ran.returncode == 0, ran.stderr
        return [event(json.loads(line)) for line in ran.stdout.splitlines()]

    def task(self, verb: str, task_id: str) -> Task:
        task = read(Task, self.json("task", verb, task_id))
        assert isinstance(task, Task), task
        return task


@pytest.fixture
def program(agent: Agent, tmp_path: Path) -> Program:
    return Program(agent, tmp_path)


def finished(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def event(value: object) -> Event:
    found = v1_0.decode_event(value)
    assert isinstance(found, Event), found
    return found


def test_card_get_prints_the_card_of_the_agent(agent: Agent, program: Program):
    card = program.json("card", "get")
    version = (
        card["protocolVersion"] if "protocolVersion" in card else card["supportedInterfaces"][0]["protocolVersion"]
    )
    assert version.startswith(agent.version)
    shown = program.run("card", "get")
    assert shown.returncode == 0, shown.stderr
    assert card["name"] in shown.stdout


def test_the_official_cards_are_valid(program: Program):
    judged = program.run("card", "get", "--validate")
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_send_prints_the_response_message(program: Program):
    reply = program.send("echo hello there")
    assert isinstance(reply, Message)
    assert texts(reply.parts) == "hello there"


def test_send_waits_for_the_whole_task(program: Program):
    task = program.send("stream 3")
    assert isinstance(task, Task)
    assert task.status.state == State.COMPLETED
    assert texts(task.artifacts[0].parts) == "chunk 1 chunk 2 chunk 3 "


def test_send_prints_the_result_as_text(program: Program):
    shown = program.run("send", "--text", "stream 3")
    assert shown.returncode == 0, shown.stderr
    assert "chunk 1 chunk 2 chunk 3" in shown.stdout
    assert "completed" in shown.stdout


def test_a_stream_prints_one_line_for_each_event(program: Program):
    events = program.stream("stream 5")
    assert [type(item) for item in events] == [
        Task,
        TaskStatusUpdateEvent,
        *[TaskArtifactUpdateEvent] * 5,
        TaskStatusUpdateEvent,
    ]
    assert "".join(texts(item.artifact.parts) for item in events[2:-1]) == "".join(f"chunk {n} " for n in range(1, 6))
    assert events[-1].status.state == State.COMPLETED


@pytest.mark.parametrize("how", ["waited for", "streamed"])
def test_a_reply_continues_the_task_in_its_context(program: Program, how: str):
    asked = program.send("input")
    assert asked.status.state == State.INPUT_REQUIRED
    aim = ("--task-id", asked.id, "--context-id", asked.context_id)
    last = program.send("the blue color", *aim) if how == "waited for" else program.stream("the blue color", *aim)[-1]
    done = program.task("get", asked.id)
    assert (done.id, done.context_id, done.status.state) == (asked.id, asked.context_id, State.COMPLETED)
    assert last.context_id == asked.context_id
    assert texts(last.status.message.parts) == texts(done.status.message.parts) == "your reply: the blue color"


def test_a_task_is_canceled_once(agent: Agent, program: Program):
    with program.start("send", "--stream", "--text", "long 600", "-a", agent.url, "-o", "json") as sending:
        try:
            started = event(json.loads(sending.stdout.readline()))
            assert program.task("get", started.id).status.state in (State.SUBMITTED, State.WORKING)
            assert program.task("cancel", started.id).status.state == State.CANCELED
            assert program.task("get", started.id).status.state == State.CANCELED
        finally:
            sending.kill()
    again = program.run("task", "cancel", started.id, "-o", "json")
    if agent.sdk.waits:
        assert again.returncode == 0, again.stderr
    else:
        assert again.returncode != 0
        assert json.loads(again.stderr.splitlines()[-1])["error"]["code"] == "TaskNotCancelableError"


@pytest.mark.parametrize("how", ["waited for", "streamed"])
def test_a_failed_task_has_its_reason(program: Program, how: str):
    last = program.send("fail") if how == "waited for" else program.stream("fail")[-1]
    assert last.status.state == State.FAILED
    assert texts(last.status.message.parts) == "failed as asked"


def test_a_failed_task_is_printed_as_text(program: Program):
    shown = program.run("send", "--text", "fail")
    assert "failed as asked" in shown.stdout
    assert "failed" in shown.stderr


def test_an_unknown_task_has_the_a2a_error(program: Program):
    refused = program.run("task", "get", "no-such-task", "-o", "json")
    assert refused.returncode != 0
    error = json.loads(refused.stderr.splitlines()[-1])["error"]
    assert (error["code"], error["a2aCode"]) == ("TaskNotFoundError", -32001)


def test_listen_shows_the_pushes_of_a_task(agent: Agent, caller: Caller, program: Program):
    count = 1 if agent.sdk.waits else 6
    with program.start("listen", "--count", str(count), "--timeout", f"{SECONDS // 2}s", "-o", "json") as listener:
        listening = json.loads(listener.stdout.readline())["listening"]
        config = PushConfig(id="ours", url=listening["url"], token=listening["token"])
        task = caller.call(
            Operation.SEND, send_request("push", return_immediately=True, task_push_notification_config=config)
        )
        stdout, stderr = finished(listener)
    assert listener.returncode == 0, stderr
    deliveries = [json.loads(line)["delivery"] for line in stdout.splitlines()]
    assert len(deliveries) >= count
    for delivery in deliveries:
        assert delivery["rejection"] == ""
        assert delivery["taskId"] == task.id
        assert all(check["passed"] is not False for check in delivery["checks"]), delivery["checks"]


@pytest.mark.parametrize(
    ("agent", "transport"),
    [(name, transport) for name, sdk in environments.SDKS.items() for transport in sdk.transports],
    indirect=["agent"],
)
def test_every_transport_can_be_selected(agent: Agent, program: Program, transport: str):
    events = program.stream("stream 3", "--transport", transport, "--capture", "seen")
    assert events[-1].status.state == State.COMPLETED
    task = program.json("task", "get", events[0].id, "--transport", transport)
    assert task["status"]["state"] == State.COMPLETED
    with Capture.open(program.home / "seen") as capture:
        sent = list(capture.select(kinds=(Kind.REQUEST,)))
    assert {item.meta["binding"] for item in sent if "binding" in item.meta} == {transport}


@pytest.mark.parametrize("agent", ["v1", "v0_3"], indirect=True)
def test_the_card_is_read_over_grpc_alone(agent: Agent, program: Program):
    shown = program.run("card", "get").stdout.splitlines()
    target = next(line.split()[1] for line in shown if line.startswith("Interface:") and " GRPC " in line)
    only_grpc = replace(program, agent=replace(agent, url=f"grpc://{target}"))
    name = program.json("card", "get")["name"]
    assert only_grpc.json("card", "get")["name"] == name
    sent = only_grpc.send("echo hi")
    assert isinstance(sent, Message)
    assert texts(sent.parts) == "hi"
