"""`chat`: messages from lines share a context, and continue an interrupted task."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from programs import running
from puppets import SECONDS, Call, MakeAgent, RunCli, task

LINES = b"ask me\n\nblue\necho end\n"


def test_each_line_is_a_message_in_the_same_context(cli: RunCli, mock: str):
    ran = cli("chat", mock, "-o", "json", stdin=LINES)
    assert ran.code == 0, ran.err
    first, second, third = ran.lines
    assert first["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert second["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert second["task"]["id"] == first["task"]["id"]
    assert third["message"]["contextId"] == second["task"]["contextId"] == first["task"]["contextId"]
    assert "taskId" not in third["message"]


def test_text_names_context_task_and_state(cli: RunCli, mock: str):
    ran = cli("chat", mock, "--stream", stdin=LINES)
    assert ran.code == 0, ran.err
    assert ran.out.count("State: completed\n") >= 1
    assert len({line for line in ran.out.splitlines() if line.startswith("Context: ")}) == 1


@pytest.mark.parametrize("words", [(), ("--stream",), ("-o", "json")])
def test_a_question_is_answered_with_the_next_line_or_with_another_command(cli: RunCli, mock: str, words: list[str]):
    answered = cli("chat", mock, *words, stdin=LINES)
    printed = answered.out + answered.err
    assert "Resume: answer with the next line\n" in printed
    assert "a2a-inspect send --task-id" not in printed
    asked = cli("chat", mock, *words, stdin=b"ask me\n")
    [task_id] = re.findall(r"\nResume: a2a-inspect send --task-id (\S+) ", f"\n{asked.out}{asked.err}")
    assert task_id in asked.out


def test_the_first_message_can_continue_a_task(cli: RunCli, mock: str):
    asked = cli("send", mock, "--text", "ask", "-o", "json").json["task"]
    ran = cli("chat", mock, "--task-id", asked["id"], "-o", "json", stdin=b"green\n")
    assert ran.lines[0]["task"]["id"] == asked["id"]


def test_without_input_nothing_is_sent(cli: RunCli, mock: str):
    ran = cli("chat", mock)
    assert (ran.code, ran.out) == (0, "")


def test_an_error_ends_the_chat_of_a_program(cli: RunCli, make_agent: MakeAgent):
    sent = []

    async def answer(call: Call) -> web.StreamResponse:
        sent.append(call.rpc["params"]["message"])
        if len(sent) == 1:
            return call.result({"task": task("INPUT_REQUIRED")})
        return call.error(-32004, "ended")

    ran = cli("chat", make_agent(answer).url, "-o", "json", stdin=b"one\ntwo\nthree\n")
    assert ran.code == 1
    assert [line.keys() for line in ran.lines] == [{"task"}, {"error"}]
    assert ran.lines[1]["error"]["code"] == "UnsupportedOperationError"
    assert [message.get("taskId") for message in sent] == [None, "task-1"]


def test_a_line_is_sent_when_it_arrives_in_a_pipe(mock: str):
    words = [sys.executable, "-m", "inspector", "chat", mock, "-o", "json"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        half = "echo grü".encode()  # the pipe may be read in the middle of a character
        process.stdin.write(half[:-1])
        process.stdin.flush()
        process.stdin.write(half[-1:] + b"n\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["message"]["parts"] == [{"text": "grün"}]
        process.stdin.write(b"echo last")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["message"]["parts"] == [{"text": "last"}]
        assert process.wait(SECONDS) == 0


def test_a_terminal_on_stdin_only_is_a_usage_error(mock: str):
    controller, terminal = os.openpty()
    try:
        words = [sys.executable, "-m", "inspector", "chat", mock]
        ran = subprocess.run(words, check=False, stdin=terminal, capture_output=True, text=True, timeout=SECONDS)
    finally:
        os.close(controller)
        os.close(terminal)
    assert ran.returncode == 2
    assert "stdin is a terminal, but stdout is not" in ran.stderr


def test_in_a_terminal_lines_are_prompted_and_continue_after_an_error(mock: str, tmp_path: Path):
    with running(tmp_path) as run:
        terminal = run("chat", mock, "--lines", "--task-id", "no-such-task")
        terminal.wait_for(">")
        terminal.send("hello\r")
        terminal.wait_for("TaskNotFoundError")
        terminal.send("\x04")
        assert terminal.wait_exit().status == 0


def test_in_a_terminal_the_app_opens(mock: str, tmp_path: Path):
    with running(tmp_path) as run:
        terminal = run("chat", mock)
        terminal.wait_for("Mock Agent")
        terminal.press("ctrl+q")
        assert terminal.wait_exit().status == 0


def test_input_that_is_not_text_is_an_error(cli: RunCli, mock: str, tmp_path: Path):
    ran = cli("chat", mock, stdin=b"\xff\xfe\n")
    assert ran.code == 2
    assert "stdin is not UTF-8 text." in ran.err
    path = tmp_path / "text"
    path.write_bytes(b"\xff\xfe\n")
    environment = os.environ | {"A2A_INSPECT_HOME": str(tmp_path), "LC_ALL": "C"}
    for reader in ("cat text | ", ""):
        command = f"{reader}{sys.executable} -m inspector.cli chat {mock} {'' if reader else '< text'}"
        ran = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False, env=environment)
        assert ran.returncode == 2
        assert b"stdin is not UTF-8 text." in ran.stderr
