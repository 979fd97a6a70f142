"""The receiver by itself and the mock agent by itself, as programs that a signal ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from puppets import SECONDS, RunCli, status


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    program = subprocess.Popen(
        [sys.executable, "-m", "inspector.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate(timeout=SECONDS)


def read(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline()


def deliver(url: str, token: str, body: object) -> int:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "X-A2A-Notification-Token": token}
    return httpx.post(url, content=content, headers=headers, timeout=SECONDS).status_code


def test_deliveries_are_printed_as_json_with_their_verdict():
    with running("listen", "-o", "json", "--count", "3") as program:
        where = json.loads(read(program))["listening"]
        assert deliver(where["url"], where["token"], status("WORKING", "on it")) == 204
        assert deliver(where["url"], "wrong-token", status("COMPLETED")) == 401
        assert deliver(where["url"], where["token"], b"no json") == 204
        out, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")
    good, refused, odd = [json.loads(line)["delivery"] for line in out.splitlines()]
    assert good["method"] == "POST"
    assert good["body"] == status("WORKING", "on it")
    assert (good["refused"], good["status"], good["taskId"]) == ("", 204, "task-1")
    assert {check["name"]: check["good"] for check in good["checks"]}["token"] is True
    assert (refused["status"], bool(refused["refused"])) == (401, True)
    assert odd["body"] == "no json"
    assert where["token"] not in out
    assert "wrong-token" not in out


def test_deliveries_are_printed_as_fields():
    with running("listen", "--count", "2") as program:
        url, token = (read(program).split(": ", 1)[1].strip() for _ in range(2))
        deliver(url, token, status("INPUT_REQUIRED", "which \x1b[31mone?"))
        deliver(url, "wrong-token", status("COMPLETED"))
        out, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")
    assert "accepted\n" in out
    assert "+token" in out
    assert "Task: task-1\nState: input-required\nSays: which ␛[31mone?\n" in out
    assert "refused with 401\n" in out
    assert "Wrong: token: " in out
    assert "\x1b" not in out


def test_verbose_shows_headers_and_body_of_a_delivery():
    with running("listen", "--verbose", "--count", "1") as program:
        url, token = (read(program).split(": ", 1)[1].strip() for _ in range(2))
        deliver(url, token, status("WORKING"))
        out, _ = program.communicate(timeout=SECONDS)
    assert "\nHeaders:\n  " in out
    assert '\nBody:\n  {\n    "statusUpdate"' in out
    assert token not in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_listening_in_order(number: signal.Signals):
    with running("listen") as program:
        assert read(program).startswith("Url: http://127.0.0.1:")
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_mock_agent_in_order(number: signal.Signals):
    with running("mock", "--pace", "0") as program:
        url = read(program).strip()
        assert httpx.get(f"{url}/.well-known/agent-card.json", timeout=SECONDS).json()["name"] == "Mock Agent"
        program.send_signal(number)
        _, err = program.communicate(timeout=SECONDS)
    assert (program.returncode, err) == (0, "")


@pytest.mark.parametrize("command", ["listen", "mock"])
def test_a_port_that_is_taken_gets_a_sentence(cli: RunCli, command: str):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = cli(command, "--port", str(taken.getsockname()[1]))
    assert (ran.code, ran.out) == (2, "")
    assert "in use" in ran.err
    assert "\nHint: " in ran.err


@pytest.mark.parametrize("command", ["listen", "mock"])
def test_an_address_of_another_machine_gets_a_sentence(cli: RunCli, command: str):
    ran = cli(command, "--host", "192.0.2.1")
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_listening_for_a_time_is_no_failure_and_waiting_for_a_delivery_in_vain_is(cli: RunCli):
    assert cli("listen", "--timeout", "50ms").code == 0
    ran = cli("listen", "--timeout", "50ms", "--count", "1", "-o", "json")
    assert ran.code == 5
    assert ran.error["code"] == "A2ACLI_ERR_TIMEOUT"


def test_agents_are_told_the_public_url(cli: RunCli):
    ran = cli("listen", "--timeout", "50ms", "--public-url", "https://tunnel.example/hook", "-o", "json")
    assert ran.lines[0]["listening"]["url"].startswith("https://tunnel.example/hook/")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_wait_with_what_is_known(slow_mock: str, number: signal.Signals, code: int):
    with running("send", "-a", slow_mock, "--text", "long 60", "--stream", "-o", "json") as program:
        task_id = json.loads(read(program))["task"]["id"]
        program.send_signal(number)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == code
    assert err.startswith(f"Interrupted: task {task_id}, context ")
    assert f"Follow: a2a-inspect task get {task_id} --wait" in err
    assert all(json.loads(line) for line in out.splitlines())
