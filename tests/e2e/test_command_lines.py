"""Other users can see the command lines of processes, so no secret is in those of the programs that the app starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import Run
from terminal import Spawned

GIVEN, WRITTEN = "canary-61cc-given", "canary-61cc-written"
EDITOR = """#!/bin/sh
cp "$1" {seen}/text
cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm > {seen}/lines 2> /dev/null
mv {seen}/lines {seen}/processes
printf 'edited' > "$1"
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the command lines in /proc")
def test_no_secret_is_in_a_command_line_or_left_by_the_editor(inspect: Run, home: Path, tmp_path: Path):
    seen, temporary, editor = tmp_path / "seen", tmp_path / "temporary", tmp_path / "editor"
    seen.mkdir()
    temporary.mkdir()
    editor.write_text(EDITOR.format(seen=seen))
    editor.chmod(0o700)
    secrets = {"A2ACLI_BEARER": GIVEN, "A2ACLI_API_KEY": GIVEN}
    environment = {**secrets, "TMPDIR": str(temporary), "EDITOR": str(editor), "VISUAL": ""}
    with inspect("demo", "--no-tour", start=Spawned, env=environment) as terminal:
        terminal.wait_for("A small agent for trying things out.")
        terminal.press("2", "i")
        terminal.wait_for("Write a message")
        terminal.send(WRITTEN)
        terminal.wait_for(WRITTEN)
        terminal.press("ctrl+g")
        terminal.wait_for("▌ edited")
        terminal.press("ctrl+q")
        terminal.wait_exit()
        assert GIVEN.encode() not in terminal.raw
    assert (seen / "text").read_text() == WRITTEN, "the editor gets the text"
    processes = (seen / "processes").read_bytes()
    assert b"inspector.sample_agents.demo" in processes, "the agent of the demo was running"
    assert [secret for secret in (GIVEN, WRITTEN) if secret.encode() in processes] == []
    assert list(temporary.iterdir()) == []
    assert [path for path in home.rglob("*") if path.is_file() and GIVEN.encode() in path.read_bytes()] == []
