"""Hostile agents and the headless commands: no control characters reach stdout and stderr."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from forking import Program
from hostile_agent import HostileAgent, ReceivedRequest, ServerThread, post
from hostile_text import C1, CARD, FIELDS, hostile_text, pushes, respond_with_everything, shown
from terminal import tokens

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_ON_CARD = FIELDS[: FIELDS.index("task")]
_SECONDS = 60


def run(home: Path, *arguments: str) -> tuple[int, str]:
    """Run the program, check that its output is harmless, and return its exit code and output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    with Program(*arguments, env={**environment, "A2A_INSPECT_HOME": str(home)}) as program:
        out, err = program.communicate(timeout=_SECONDS)
    assert_harmless(out + err)
    return program.wait(), out + err


def assert_harmless(output: str) -> None:
    """Fail if an output contains anything except text and newlines."""
    assert {(kind, body[:40]) for kind, body in tokens(output.encode()) if kind != "text" and body != "\n"} == set()
    hidden = {char for char in output if char != "\n" and unicodedata.category(char) in _HIDDEN}
    assert hidden == set()


def missing(fields: tuple[str, ...], output: str) -> list[str]:
    return [field for field in fields if not any(text in output for text in shown(field))]


@pytest.mark.parametrize("arguments", [["--verbose"], ["-o", "json"]], ids=" ".join)
def test_a_card(home: Path, server_thread: ServerThread, arguments: list[str]):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        code, output = run(home, "card", "get", "-a", agent.url, *arguments)
    assert code == 0
    if arguments == ["-o", "json"]:
        assert missing(_ON_CARD, output) == []
    else:
        assert missing(("name", "description", "provider", "skill name", "extension", "scheme"), output) == []


@pytest.mark.parametrize("arguments", [["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_stream(home: Path, server_thread: ServerThread, arguments: list[str]):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        code, output = run(home, "send", "-a", agent.url, "--text", "everything", "--stream", *arguments)
    assert code == 0
    fields = ("task", "context", "status", "artifact text", "filename", "data value", "part url", "question")
    assert missing(fields, output) == []


def test_a_task_and_an_error(home: Path, server_thread: ServerThread):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        code, output = run(home, "task", "get", "-a", agent.url, hostile_text("task"))
        assert code == 0
        assert missing(("task", "context"), output) == []
        code, output = run(home, "send", "-a", agent.url, "--text", "error")
        assert code == 1
        assert missing(("error message",), output) == []


@pytest.mark.parametrize("arguments", [["--verbose"], ["-o", "json"]], ids=" ".join)
def test_deliveries_to_the_listener(home: Path, server_thread: ServerThread, arguments: list[str]):
    expected = pushes(ReceivedRequest("", {}))
    words = ("listen", "--count", str(len(expected)), *arguments)
    with Program(*words, env={**os.environ, "A2A_INSPECT_HOME": str(home)}) as listener:
        head = listener.stdout.readline()
        if arguments == ["-o", "json"]:
            webhook = json.loads(head)["listening"]
        else:
            url, token = (line.split()[1] for line in (head, listener.stdout.readline()))
            webhook = {"url": url, "token": token}
        for lines, body in expected:
            assert server_thread.run(post(webhook, lines, body)).startswith(b"HTTP/1.")
        out, err = listener.communicate(timeout=_SECONDS)
    assert listener.returncode == 0
    assert_harmless(out + err)
    assert missing(("pushed text", "pushed junk", "push header", "question"), out) == []
    assert C1 not in out
