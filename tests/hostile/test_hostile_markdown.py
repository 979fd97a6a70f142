"""Cases 7, 8 and 10 in a terminal: links open nothing, large Markdown does not delay keys, no window title is set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hostile_agent import HostileAgent, ServerThread
from hostile_text import artifact, respond_with_everything, status
from operating import IN_ORDER, PLAIN, Tour, assert_unharmed, click_on_everything, streaming
from programs import Run
from terminal import foreign

LINKS = {
    "[a](file:///etc/passwd)": "file:///etc/passwd",
    "[b](javascript:alert)": "javascript:alert",
    "[c](vscode://open)": "vscode://open",
    "[d](data:text/html,x)": "data:text/html,x",
    "[https://good.example](https://evil.example)": "https://good.example (https://evil.example)",
    "[user](https://good.example@evil.example)": "good.example@evil.example",
    "[homoglyph](https://\u0430pple.example)": "xn--pple-43d.example",
    "![picture](http://127.0.0.1:1/x.png)": "127.0.0.1:1/x.png",
    "<https://auto.example>": "https://auto.example",
    "[e]\n\n[e]: file:///etc/hosts": "file:///etc/hosts",
}
"""Markdown with a link, and what must be visible of its address."""
SHOWN = "\n\n".join(LINKS)
OPENERS = ("xdg-open", "open", "x-www-browser", "firefox", "chromium", "gio", "wslview", "code")


@pytest.fixture
def openers(tmp_path: Path) -> Path:
    """Programs that open links; each of them creates the file `opened`."""
    folder = tmp_path / "openers"
    folder.mkdir()
    for name in OPENERS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {folder}/opened\n")
        (folder / name).chmod(0o700)
    return folder


def test_links_show_their_address_and_open_nothing(
    inspect: Run, home: Path, server_thread: ServerThread, openers: Path
):
    hostile_agent = streaming(artifact([{"text": SHOWN, "mediaType": "text/markdown"}]), status("COMPLETED", "done"))
    hostile_agent.card = {**PLAIN, "description": SHOWN, "documentationUrl": "file:///etc/group"}
    environment = {"PATH": f"{openers}:{os.environ['PATH']}", "BROWSER": str(openers / "firefox")}
    with server_thread.serving(hostile_agent) as agent:
        terminal = inspect(agent.url, cols=150, rows=60, env=environment)
        tour = Tour(terminal, home)
        tour.look("in use")
        click_on_everything(terminal, "more lines")  # selects the line
        click_on_everything(terminal, "more lines")
        tour.look("press enter to show less")
        assert [address for address in LINKS.values() if address not in tour.seen] == []
        click_on_everything(terminal, *LINKS.values())
        tour.seen = ""
        tour.say("go")
        tour.look("● completed  done")
        tour.look("─ Markdown ")
        assert [address for address in LINKS.values() if address.split()[0][:30] not in tour.seen] == []
        click_on_everything(terminal, *(address for address in LINKS.values() if address in tour.seen))
        terminal.press("escape", "tab", "enter", "escape")
        tour.look("enter")
        assert foreign(terminal.raw) == []
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert not (openers / "opened").exists()
    assert_unharmed(terminal)


LARGE = {
    "quotes": ">" * 100_000 + "x",
    "quotes with spaces": "> " * 100_000 + "x",
    "a wide table": "|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n" + ("|" + "b|" * 3_000 + "\n") * 20,
    "a long table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 30_000,
    "nested lists": "".join(" " * (number % 40) + "- x\n" for number in range(5_000)),
    "stars": "*" * 50_000 + "a" + "*" * 50_000,
    "brackets": "[" * 50_000 + "a" + "](" * 20_000,
    "backticks": "".join("`" * number for number in range(1, 400)),
}
KEY_SECONDS = 2.0
"""The CPU time that the program may need for a key, usually 0.1 s. Quadratic work would need minutes."""


@pytest.mark.slow  # 10 s of CPU time
@pytest.mark.parametrize("what", LARGE)
def test_large_markdown_does_not_delay_keys(inspect: Run, home: Path, server_thread: ServerThread, what: str):
    text = LARGE[what]
    hostile_agent = streaming(artifact([{"text": text, "mediaType": "text/markdown"}]), status("COMPLETED", "done"))
    hostile_agent.card = {**PLAIN, "description": text}
    with server_thread.serving(hostile_agent) as agent:
        terminal = inspect(agent.url, cols=120, rows=36)
        tour = Tour(terminal, home)
        tour.look("in use")
        tour.say("go")
        tour.look("● completed  done")
        tour.look("╭─ Artifact ")
        tour.leave(" enter open")
        for key, sign in (("tab", "╭─ Artifact "), ("end", "╭─ Artifact "), ("f1", "╭─ Help ")):
            before = terminal.cpu_seconds()
            terminal.press(key)
            terminal.wait_for(sign)
            assert terminal.cpu_seconds() - before < KEY_SECONDS, key
        tour.leave("╭─ Artifact ")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def used_files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file() and path.suffix not in (".a2a", ".a2a-wal", ".a2a-shm")]


def test_the_title_of_the_window_and_the_other_files_contain_no_control_characters(
    inspect: Run, home: Path, server_thread: ServerThread
):
    """The program has no log; recent agents and the history of messages are files that a shell may print."""
    with server_thread.serving(
        HostileAgent({**PLAIN, "name": "\x1b]2;evil\x07\u202e"}, respond_with_everything)
    ) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("● connected")
        tour.say("error")
        tour.look("Error: ")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)
    assert used_files(home)
    for path in used_files(home):
        raw = path.read_bytes()
        assert not any(byte in raw for byte in (b"\x1b", b"\x07", b"\x9b")), path
