"""Completions in bash, zsh and fish, typed in a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.append(str(Path(__file__).parents[1] / "e2e"))  # has the module `terminal`

from terminal import Terminal

from inspector.capture.recent_agents import RecentAgent, remember
from inspector.capture.records import Kind
from inspector.capture.store import Capture

pytestmark = pytest.mark.interop
SECONDS = 20


class Shell(NamedTuple):
    """A shell: the command that starts it without the files of the user, and the line that loads the completions."""

    command: tuple[str, ...]
    load: str


SHELLS = {
    "bash": Shell(("bash", "--norc", "--noprofile", "-i"), "source <(a2a-inspect completion bash)"),
    "zsh": Shell(("zsh", "-f", "-i"), "autoload -Uz compinit; compinit -u -D; source <(a2a-inspect completion zsh)"),
    "fish": Shell(("fish", "--no-config", "-i"), "a2a-inspect completion fish | source"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a named agent, a recent agent, and a task in the newest capture."""
    home = tmp_path / "home"
    monkeypatch.setenv("A2A_INSPECT_HOME", str(home))
    remember(RecentAgent("http://localhost:9000/", "Mock", "1.0", 1.0))
    (home / "captures").mkdir()
    with Capture.create(home / "captures" / "2026-01-01_00-00-00_a.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, task="task-of-this-test", state="TASK_STATE_WORKING")
    work = tmp_path / "work"
    work.mkdir()
    (work / "agents.toml").write_text('[agents.staging]\nurl = "http://127.0.0.1:9"\n')
    (work / "recorded.a2a").touch()
    return work


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, folder: Path) -> Iterator[Terminal]:
    """A shell with the completions."""
    name = request.param
    assert shutil.which(name), f"{name} is missing: install it, for example with apt-get install {name}"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"HOME": str(folder), "A2A_INSPECT_HOME": os.environ["A2A_INSPECT_HOME"], "PATH": path, "LANG": "C.UTF-8"}
    with Terminal(list(SHELLS[name].command), env=env, cwd=folder, cols=200) as terminal:
        terminal.send(f"{SHELLS[name].load}; echo rea''dy\r")
        terminal.wait_for("ready", SECONDS)
        yield terminal


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a2a-inspect confi\t", "a2a-inspect config"),
        ("a2a-inspect task push-config del\t", "a2a-inspect task push-config delete"),
        ("a2a-inspect send --transp\tGR\t", "a2a-inspect send --transport GRPC"),
        ("a2a-inspect lint card.json -o sa\t", "-o sarif"),
        ("a2a-inspect send -a sta\t", "a2a-inspect send -a staging"),
        ("a2a-inspect send -a http\t", "a2a-inspect send -a http://localhost:9000/"),
        ("a2a-inspect task get task-o\t", "a2a-inspect task get task-of-this-test"),
        ("a2a-inspect open rec\t", "a2a-inspect open recorded.a2a"),
        ("a2a-inspect web --read\t", "a2a-inspect web --read-only"),
    ],
)
def test_a_word_is_completed(shell: Terminal, typed: str, expected: str):
    for piece in typed.split("\t")[:-1]:
        shell.send(piece)
        shell.wait_for(piece.split(" ")[-1], SECONDS)
        before = shell.screen_text()
        shell.send("\t")
        shell.wait_for(lambda terminal, before=before: terminal.screen_text() != before, SECONDS)
    shell.wait_for(lambda terminal: expected in terminal.screen_text().replace("\\:", ":"), SECONDS)
