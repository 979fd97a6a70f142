"""The demo in a real terminal, and how the program ends: by keys, by signals, by errors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import Run, only_capture
from terminal import Ending, Spawned, Terminal, assert_inert, tokens

from inspector.capture.records import Kind
from inspector.capture.store import Capture

IN_ORDER = Ending(0, frozenset())


def to_chat(terminal: Terminal) -> None:
    """Go to Chat once the agent is there."""
    terminal.wait_for("A small agent for trying things out.")
    terminal.press("2", "i")
    terminal.wait_for("Timeline")


def say(terminal: Terminal, text: str) -> None:
    terminal.wait_for("Write a message")
    terminal.send(text)
    terminal.wait_for(f"▌ {text}")
    terminal.press("enter")


def test_demo_from_the_card_to_a_delivery_and_exit(inspect: Run, home: Path):
    with inspect("demo", start=Spawned) as terminal:
        terminal.wait_for("Mock Agent  1.0.0   by a2a-inspect")
        terminal.wait_for("✓ no findings")
        terminal.press("p")
        terminal.wait_for("webhook 127.0.0.1:")
        terminal.press("2", "i")
        say(terminal, "report 5")
        terminal.wait_for("● completed")
        terminal.click(80, 5)  # into the artifact, which shows its beginning if it was complete when it was first drawn
        terminal.wait_for("i write")
        terminal.press("G")
        terminal.wait_for("End of the report.")
        terminal.press("i")
        terminal.wait_for("esc timeline")
        terminal.wait_for(lambda terminal: re.search("⇐  push .*● completed.* ✓", terminal.screen_text()))
        terminal.send("half a word")
        terminal.wait_for("▌ half a word")
        terminal.press("alt+4")
        terminal.wait_for("Deliveries")
        terminal.press("2")
        terminal.wait_for("▌ half a word")
        terminal.click(2, 1)
        terminal.wait_for("Skills   19")
        assert_inert(terminal.raw)
        assert (terminal.title, terminal.bells) == ("", 0)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
        assert terminal.screen_text().strip() == ""
        assert_inert(terminal.raw)
    with Capture.open(only_capture(home)) as capture:
        assert capture.select(kinds=(Kind.DELIVERY,))


def test_demo_is_chosen_on_the_connect_screen_and_q_quits(inspect: Run):
    with inspect(cols=80, rows=24) as terminal:
        terminal.wait_for("Connect to an agent")
        terminal.press("enter")
        terminal.wait_for("A small agent for trying things out.")
        terminal.press("q")
        assert terminal.wait_exit() == IN_ORDER


def test_ctrl_q_quits_on_the_connect_screen_and_while_typing(inspect: Run):
    with inspect() as terminal:
        terminal.wait_for("Connect to an agent")
        terminal.send("http://")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_signal_during_a_stream_restores_the_terminal_and_completes_only_capture(
    inspect: Run, home: Path, mock: str, number: signal.Signals
):
    with inspect(mock) as terminal:
        to_chat(terminal)
        say(terminal, "long 30")
        terminal.wait_for("0 of 30 seconds done")
        terminal.signal(number)
        ending = terminal.wait_exit()
    assert ending.restored, ending.left
    assert ending.status == 128 + number
    with Capture.open(only_capture(home)) as capture:
        assert capture.select(kinds=(Kind.END,))[-1].meta["how"] == "stopped"


def test_the_app_reads_what_is_typed_while_it_is_continued_several_times(inspect: Run):
    text = "http://" + "0123456789" * 6
    with inspect() as terminal:
        terminal.wait_for("Connect to an agent")
        for letter in text:
            terminal.signal(signal.SIGCONT)
            terminal.send(letter)
        terminal.wait_for(text)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_the_app_is_suspended_from_the_palette_and_continued(inspect: Run):
    heading = "Connect to an agent"
    with inspect() as terminal:
        terminal.wait_for(heading)
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.send("suspend a2a-inspect")
        terminal.wait_for("fg in the shell continues it")
        terminal.press("enter")
        terminal.wait_for(lambda terminal: terminal.is_stopped() and heading not in terminal.screen_text())
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(heading)  # drawn again: before, the terminal itself would obey ctrl+q
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def written(path: Path, event: str) -> int:
    """Return how many records are on the disk, 0 until one of this event is among them."""
    with Capture.open(path) as capture:
        records = capture.slice(1, len(capture))
    return len(records) if any(record.event == event for record in records) else 0


def test_killed_program_leaves_a_readable_capture(inspect: Run, home: Path, mock: str):
    with inspect(mock) as terminal:
        to_chat(terminal)
        say(terminal, "report 400")
        terminal.wait_for("report.md")
        path = only_capture(home)
        terminal.wait_for(lambda _: written(path, "artifact") > 0)
        before = written(path, "artifact")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_exit().status == -signal.SIGKILL
    with Capture.open(path) as capture:
        records = capture.slice(1, len(capture))
        assert len(records) >= before
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        assert any(record.event == "artifact" for record in records)
        assert all(record.raw for record in records if record.kind is Kind.FRAME)


def test_terminal_can_be_resized_during_a_stream(inspect: Run, mock: str):
    with inspect(mock) as terminal:
        to_chat(terminal)
        say(terminal, "report 40")
        terminal.wait_for("report.md")
        for cols, rows in ((80, 24), (20, 5), (1, 1), (200, 60), (40, 12), (120, 40)):
            before = len(terminal.raw)
            terminal.resize(cols, rows)
            terminal.wait_for(lambda terminal, before=before: len(terminal.raw) > before)
        terminal.wait_for("40 chunks", timeout=20)
        terminal.wait_for("● completed")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_long_paste_becomes_a_part(inspect: Run, mock: str):
    with inspect(mock) as terminal:
        to_chat(terminal)
        terminal.wait_for("Write a message")
        terminal.paste("echo a few words")
        terminal.wait_for("▌ echo a few words")
        terminal.send(f"\x1b[200~{'All work and no play. ' * 50_000}\x1b[201~", timeout=120)
        terminal.wait_for("with  echo a few wordsAll work and no play.", timeout=120)
        terminal.send("still here")
        terminal.wait_for("▌ still here")
        terminal.press("ctrl+o")
        terminal.wait_for("1.1 MB")
        terminal.press("escape")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_no_color_disables_colours(inspect: Run):
    with inspect(env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("Connect to an agent")
        colours = {
            tuple(match)
            for token in tokens(terminal.raw)
            if token.kind == "csi" and token.body.endswith("m")
            for match in re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", token.body)
        }
        assert colours
        assert all(red == green == blue for red, green, blue in colours)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


@pytest.mark.parametrize("words", [["demo"], []], ids=["demo", "connect"])
def test_dumb_terminal_is_rejected(inspect: Run, words: list[str]):
    with inspect(*words, env={"TERM": "dumb"}) as terminal:
        ending = terminal.wait_exit()
        assert ending == Ending(2, frozenset())
        assert "TERM=dumb" in terminal.screen_text()
        assert all(token.kind in ("text", "c0") for token in tokens(terminal.raw))


def test_missing_terminal_is_a_usage_error(home: Path):
    done = subprocess.run(
        [sys.executable, "-m", "inspector.cli", "demo"],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "A2A_INSPECT_HOME": str(home)},
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "needs a terminal" in done.stderr
    assert "\x1b" not in done.stderr
    assert not home.exists()


def test_uncreatable_capture_ends_the_program_with_an_error(inspect: Run, tmp_path: Path):
    path = tmp_path / "[bold]no[\\] folder" / "x.a2a"
    path.parent.write_text("a file")
    with inspect("demo", "--capture", path, cols=300) as terminal:
        assert terminal.wait_exit() == Ending(2, frozenset())
        assert path.parent.name in terminal.screen_text()
