"""Completions of command lines, in Python and in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.capture.recent_agents import RecentAgent, recent_path, remember
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.cli.complete import FILES, complete
from inspector.cli.completion import SCRIPTS
from inspector.cli.main import main

BASH = shutil.which("bash") or "bash"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path))
    return tmp_path


def values_of(*words: str) -> list[str]:
    return [line.partition("\t")[0] for line in complete(words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["card", "g"], ["get"]),
        (["auth", ""], ["login", "status", "logout", "token"]),
        (["task", "push-config", "d"], ["delete"]),
        (["help", "do"], ["doctor"]),
        (["send", "--transp"], ["--transport"]),
        (["send", "--transport", "G"], ["GRPC"]),
        (["send", "--transport=H"], ["--transport=HTTP+JSON"]),
        (["task", "list", "--status", "c"], ["completed", "canceled"]),
        (["completion", "z"], ["zsh"]),
        (["lint", "card.json", "-o", "s"], ["sarif"]),
        (["--them"], ["--theme"]),
        (["web", "de"], ["demo"]),
        (["send", "de"], []),
        (["web", "--visit"], ["--visitors"]),
        (["send", "--no-such-option", "--transp"], ["--transport"]),
        (["no-such-command", "x", "y"], []),
        (["check", "--report", "j"], ["json", "junit"]),
        (["mock", "--fault", "break"], ["break-off"]),
    ],
)
def test_words_are_completed(words: list[str], expected: list[str]):
    assert [value for value in values_of(*words) if value != FILES] == expected


def test_the_first_word_is_a_command_or_an_agent():
    found = values_of("")
    assert {"send", "card", "help", "demo", FILES} <= set(found)
    assert values_of("car") == ["card", FILES]
    assert any(line.startswith("doctor\tdiagnose") for line in complete([""]))


def test_files_are_left_to_the_shell():
    assert FILES in values_of("open", "")
    assert values_of("send", "--client-cert", "x") == [FILES]
    assert FILES in values_of("check", "")
    assert FILES not in values_of("send", "--text", "")


def test_recent_agents_are_proposed(home: Path):
    remember(RecentAgent("http://localhost:9000/", "Mock\x1b[31m", "1.0", 1.0))
    assert recent_path().is_relative_to(home)
    lines = complete(["send", "-a", "http"])
    assert lines[0].startswith("http://localhost:9000/\tMock")
    assert "\x1b" not in "".join(lines)


def test_tasks_of_the_newest_capture_are_proposed(home: Path):
    (home / "captures").mkdir()
    with Capture.create(home / "captures" / "2026-01-01_00-00-00_a.a2a") as capture:
        for number, (task, state) in enumerate(
            [("old", "TASK_STATE_COMPLETED"), ("new", "TASK_STATE_WORKING"), ("bad\nid", "")]
        ):
            capture.append(Kind.NOTE, float(number), task=task, state=state)
    assert complete(["task", "get", ""])[:2] == ["new\tworking", "old\tcompleted"]
    assert values_of("task", "cancel", "o") == ["old"]


def test_a_damaged_capture_proposes_nothing(home: Path):
    (home / "captures").mkdir()
    (home / "captures" / "x.a2a").write_bytes(b"not a database" * 100)
    assert values_of("task", "get", "") == []


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_printed_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]):
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell]


def test_an_unknown_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]):
    assert main(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err


def in_bash(line: str, home: Path) -> list[str]:
    """Return what bash completes at the end of a line."""
    script = f'{SCRIPTS["bash"]}\nCOMP_LINE="$1"; COMP_POINT=${{#1}}; _a2a_inspect; printf "%s\\n" "${{COMPREPLY[@]}}"'
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "-c", script, "bash", line],
        capture_output=True,
        text=True,
        cwd=home,
        env={**os.environ, "PATH": path},
        check=True,
    )
    return done.stdout.splitlines()


def test_bash_completes_commands_and_options(home: Path):
    assert in_bash("a2a-inspect card ", home) == ["get", "diff"]
    assert in_bash("a2a-inspect send --transport HT", home) == ["HTTP+JSON"]


def test_bash_completes_the_part_after_a_colon(home: Path):
    remember(RecentAgent("http://localhost:9000/", "Mock", "1.0", 1.0))
    assert in_bash("a2a-inspect send http://loc", home) == ["//localhost:9000/"]
    assert in_bash("a2a-inspect send --transport=G", home) == ["GRPC"]


def test_bash_completes_files(home: Path):
    (home / "session one.a2a").touch()
    assert in_bash("a2a-inspect open ses", home) == ["session one.a2a"]
