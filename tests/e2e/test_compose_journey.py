"""A message with three sorts of parts, written in a real terminal, with the user's own editor, and a crash between."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from programs import Run, only_capture
from terminal import Ending, Terminal, assert_inert

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.jsonvalue import parse

EDITOR = """#!/bin/sh
printf 'written in the editor: a < b & c\\ttab' > "$1"
"""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes a text without user input."""
    path = tmp_path / "editor.sh"
    path.write_text(EDITOR)
    path.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(path))
    monkeypatch.delenv("VISUAL", raising=False)
    return path


def to_talk(terminal: Terminal) -> None:
    terminal.wait_for("A small agent for trying things out.")
    terminal.press("2", "i")
    terminal.wait_for("Write a message")


def test_editor_text_file_and_data_are_sent_in_one_message(inspect: Run, home: Path, tmp_path: Path, editor: Path):
    (tmp_path / "notes.md").write_bytes(b"# Notes\n")
    with inspect("demo", "--no-tour") as terminal:
        to_talk(terminal)
        terminal.press("ctrl+g")
        terminal.wait_for("written in the editor: a < b & c")
        terminal.press("ctrl+o")
        terminal.wait_for("Message outline")
        terminal.press("ctrl+n")
        terminal.wait_for("Add a part")
        terminal.press("down", "enter")
        terminal.wait_for("path of a file")
        terminal.send(str(tmp_path / "notes.md"))
        terminal.wait_for("text/markdown")
        terminal.press("ctrl+n")
        terminal.wait_for("Add a part")
        terminal.press("down", "down", "down", "enter")
        terminal.wait_for("Part 3 ─ data")
        terminal.send('{"lines": 5}')
        terminal.wait_for("application/json")
        terminal.wait_for('"lines": 5')
        terminal.press("ctrl+s")
        terminal.wait_for("Timeline")
        terminal.wait_for("1 event")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == Ending(0, frozenset())
    with Capture.open(only_capture(home)) as capture:
        requests = capture.select(kinds=(Kind.REQUEST,))
        sent = [record for record in requests if record.operation == "SendStreamingMessage"]
        parts = parse(sent[-1].raw)["params"]["message"]["parts"]
    assert parts == [
        {"text": "written in the editor: a < b & c\ttab"},
        {"raw": "IyBOb3Rlcwo=", "filename": "notes.md", "mediaType": "text/markdown"},
        {"data": {"lines": 5}, "mediaType": "application/json"},
    ]


def test_a_draft_survives_a_kill(inspect: Run, home: Path):
    with inspect("demo", "--no-tour") as terminal:
        to_talk(terminal)
        terminal.send("not sent yet")
        terminal.wait_for("▌ not sent yet")
        terminal.wait_for(lambda _: bool([*home.rglob("drafts/*.toml")]))
        terminal.signal(signal.SIGKILL)
        terminal.wait_exit()
    kept = next(home.rglob("drafts/*.toml"))
    assert "not sent yet" in kept.read_text()
