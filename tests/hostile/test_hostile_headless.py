"""Agents that try to act on the terminal through the headless commands: what reaches both of their streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from evil import C1, CARD, FIELDS, evil, pushes, say_everything, shown
from terminal import tokens
from villain import Asked, Lair, Villain, post

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_ON_CARD = FIELDS[: FIELDS.index("task")]
_SECONDS = 60


def run(home: Path, *words: str) -> tuple[int, str]:
    """Run the program, and return its exit code and all that it wrote, once that is found harmless."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    done = subprocess.run(
        [sys.executable, "-m", "inspector.cli", *words],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**environment, "A2A_INSPECT_HOME": str(home)},
        timeout=_SECONDS,
    )
    assert_harmless(done.stdout + done.stderr)
    return done.returncode, (done.stdout + done.stderr).decode()


def assert_harmless(raw: bytes) -> None:
    """Fail unless there is nothing in an output but text and line ends."""
    assert {(kind, body[:40]) for kind, body in tokens(raw) if kind != "text" and body != "\n"} == set()
    hidden = {one for one in raw.decode() if one != "\n" and unicodedata.category(one) in _HIDDEN}
    assert hidden == set()


def missing(fields: tuple[str, ...], output: str) -> list[str]:
    return [field for field in fields if not any(one in output for one in shown(field))]


@pytest.mark.parametrize("words", [["--verbose"], ["-o", "json"]], ids=" ".join)
def test_a_card(home: Path, lair: Lair, words: list[str]):
    with lair.serving(Villain(CARD, say_everything)) as agent:
        code, output = run(home, "card", "get", "-a", agent.url, *words)
    assert code == 0
    if words == ["-o", "json"]:
        assert missing(_ON_CARD, output) == []
    else:
        assert missing(("name", "description", "provider", "skill name", "extension", "scheme"), output) == []


@pytest.mark.parametrize("words", [["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_stream(home: Path, lair: Lair, words: list[str]):
    with lair.serving(Villain(CARD, say_everything)) as agent:
        code, output = run(home, "send", "-a", agent.url, "--text", "everything", "--stream", *words)
    assert code == 0
    fields = ("task", "context", "status", "artifact text", "filename", "data value", "part url", "question")
    assert missing(fields, output) == []


def test_a_task_and_an_error(home: Path, lair: Lair):
    with lair.serving(Villain(CARD, say_everything)) as agent:
        code, output = run(home, "task", "get", "-a", agent.url, evil("task"))
        assert code == 0
        assert missing(("task", "context"), output) == []
        code, output = run(home, "send", "-a", agent.url, "--text", "error")
        assert code == 1
        assert missing(("error message",), output) == []


@pytest.mark.parametrize("words", [["--verbose"], ["-o", "json"]], ids=" ".join)
def test_deliveries_to_the_listener(home: Path, lair: Lair, words: list[str]):
    wanted = pushes(Asked("", {}))
    with subprocess.Popen(
        [sys.executable, "-m", "inspector.cli", "listen", "--count", str(len(wanted)), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "A2A_INSPECT_HOME": str(home)},
    ) as listener:
        assert listener.stdout is not None
        head = listener.stdout.readline()
        if words == ["-o", "json"]:
            webhook = json.loads(head)["listening"]
        else:
            url, token = (line.split()[1].decode() for line in (head, listener.stdout.readline()))
            webhook = {"url": url, "token": token}
        for lines, body in wanted:
            assert lair.do(post(webhook, lines, body)).startswith(b"HTTP/1.")
        out, err = listener.communicate(timeout=_SECONDS)
    assert listener.returncode == 0
    assert_harmless(out + err)
    assert missing(("pushed text", "pushed junk", "push header", "question"), out.decode()) == []
    assert C1 not in out.decode()
