"""The terminal harness, and the output of a Textual app with hostile text, with and without our output filter."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest
from terminal import Display, Ending, Terminal, Token, Tokenizer, assert_absent, assert_inert, foreign, tokens

CALM = """
from textual.app import App
from textual.widgets import Input, Static
from textual.content import Content

class Calm(App):
    BINDINGS = [("ctrl+q", "quit", "Quit")]

    def compose(self):
        yield Static(Content("calm"), id="text")
        yield Input()

    def on_resize(self, event):
        self.query_one("#text").update(Content(f"{event.size.width} by {event.size.height}"))

    def on_input_submitted(self, event):
        self.query_one("#text").update(Content(f"got {len(event.value)}: {event.value[:20]}"))

    def on_click(self, event):
        self.query_one("#text").update(Content(f"clicked {event.screen_x},{event.screen_y}"))

Calm().run()
print("bye")
"""

HOSTILE = r"""
import sys
from functools import partial
from rich.console import Group
from rich.control import Control
from rich.text import Text
from textual.app import App
from textual.command import DiscoveryHit, Provider
from textual.content import Content
from textual.style import Style
from textual.widgets import Button, DataTable, Footer, Header, Input, Label, Log, Markdown, OptionList, RichLog
from textual.widgets import Static, TextArea, Tree
from textual.widgets.option_list import Option
from inspector.tui.render.output_filter import CleanOutput, OutputFilter

def bad(place):
    return f"\x1b]52;c;{place}\x1b\\."

class Commands(Provider):
    async def discover(self):
        yield DiscoveryHit(Content(bad("command")), self.app.bell, help="do")

    async def search(self, query):
        return
        yield

class Hostile(App):
    COMMANDS = {Commands}
    TITLE = bad("title")
    CSS = "Screen { layout: grid; grid-size: 3; } Screen > * { height: 3; min-height: 3; }"
    filters = [OutputFilter()] if "clean" in sys.argv else []

    def get_line_filters(self):
        return [*self.filters, *super().get_line_filters()]

    def compose(self):
        yield Header()
        bordered = Static(Content(bad("content")), id="content")
        bordered.border_title = Content(bad("border"))
        bordered.styles.border = ("round", "red")
        yield bordered
        yield Static(Text(bad("text")))
        yield Static(Group(Control.title("control"), Text("harmless")))
        yield Label(Content("x").stylize(Style(link="file:///passwd")))
        yield Button(Content(bad("button")))
        yield OptionList(Option(Content(bad("option"))))
        table = DataTable(show_header=False)
        table.add_column(Text("c"), width=30)
        table.add_row(Text(bad("cell")))
        yield table
        yield Tree(Text(bad("tree")))
        yield TextArea(bad("area"))
        yield Input(bad("input"))
        yield Markdown(bad("mark"))
        yield RichLog()
        yield Log()

    def on_mount(self):
        self.query_one(RichLog).write(Text(bad("rich")))
        self.query_one(Log).write_line(bad("log"))
        self.notify(bad("toast"), title=bad("head"), markup=False, timeout=60)
        self.query_one("#content").tooltip = Content(bad("tip"))
        self.error_console.push_render_hook(CleanOutput()) if self.filters else None

    def key_f1(self):
        raise RuntimeError("agent sent \x1bc and so on")

Hostile().run()
"""

PLACES = [
    *("title", "border", "content", "text", "button", "option", "cell", "tree", "area", "input", "mark", "rich", "log"),
    *("toast", "head", "tip", "command"),
]
"""Where the hostile app shows hostile text, in the order in which it does."""

ROWS = r"""
import json, sys
from textual.app import App
from textual.content import Content
from textual.widgets import Static
from inspector.tui.render.output_filter import OutputFilter

class Rows(App):
    CSS = "Static { height: 1; }"
    filters = [OutputFilter()] if "clean" in sys.argv else []

    def get_line_filters(self):
        return [*self.filters, *super().get_line_filters()]

    def compose(self):
        for number, text in enumerate(json.loads(sys.argv[1])):
            yield Static(Content(f"{number:2} {text}"))
            yield Static(Content(f"{number:2} unharmed"))

Rows().run()
"""

ATTACKS = {
    "set the clipboard": "\x1b]52;c;aGk=\x1b\\",
    "set the title": "\x1b]0;evil\x1b\\",
    "link with an end in its address": "\x1b]8;;https://example.org/\x1b\\\x1b]52;c;aGk=\x1b\\x\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[3J\x1b[H",
    "leave the screen": "\x1b[?1049l",
    "sixel": "\x1bPq#0\x1b\\",
    "kitty image": "\x1b_Gf=100;AAAA\x1b\\",
    "privacy message": "\x1b^x\x1b\\",
    "start of string": "\x1bXx\x1b\\",
    "ask where the cursor is": "\x1b[6n",
    "ask what it is": "\x1b[c",
    "ask for the background": "\x1b]11;?\x1b\\",
    "reset": "\x1bc",
    "C1 CSI": "\x9b2J",
    "C1 OSC": "\x9d0;evil\x9c",
    "go back": "ab\x1b[4Dcd",
    "raw byte": "\udc9b2J",
    "delete": "\x7f",
    "nothing": "\x00",
    "shift": "\x0e\x0f",
    "never ends": "\x1b]",
}


@pytest.fixture
def script(tmp_path: Path):
    def write(source: str) -> list[str | Path]:
        path = tmp_path / "app.py"
        path.write_text(source)
        return [sys.executable, path]

    return write


# Tokens


SAMPLE = "a€\x1b[1;31mé\x1b]52;c;x\x07\x1b]8;;http://x\x1b\\世\x1bP1q\x1b\\\x1b_G\x9c\x1b(B\x1b7\x9b\r\n\x1b[?2026$p\x00z".encode()


def merged(found: list[Token]) -> list[Token]:
    """Return the tokens with neighbouring texts made one: where a text is cut depends on the chunks."""
    result: list[Token] = []
    for token in found:
        if result and token.kind == result[-1].kind == "text":
            result[-1] = Token("text", result[-1].body + token.body)
        else:
            result.append(token)
    return result


def test_output_is_split_into_tokens():
    assert tokens(SAMPLE) == [
        Token("text", "a€"),
        Token("csi", "1;31m"),
        Token("text", "é"),
        Token("osc", "52;c;x"),
        Token("osc", "8;;http://x"),
        Token("text", "世"),
        Token("dcs", "1q"),
        Token("apc", "G"),
        Token("esc", "(B"),
        Token("esc", "7"),
        Token("c1", "\x9b"),
        Token("c0", "\r"),
        Token("c0", "\n"),
        Token("csi", "?2026$p"),
        Token("c0", "\x00"),
        Token("text", "z"),
    ]


def test_tokens_do_not_depend_on_chunk_boundaries():
    for cut in range(len(SAMPLE) + 1):
        tokenizer = Tokenizer()
        found = [*tokenizer.feed(SAMPLE[:cut]), *tokenizer.feed(SAMPLE[cut:])]
        assert merged(found) == merged(tokens(SAMPLE)), cut
        assert tokenizer.rest() == ""


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"\x9b2J", [Token("bad", "\udc9b"), Token("text", "2J")]),
        (b"a\x1b]0;x", [Token("text", "a"), Token("unfinished", "\x1b]0;x")]),
        (b"\x1b[12", [Token("unfinished", "\x1b[12")]),
        (b"\x1b", [Token("unfinished", "\x1b")]),
        (b"\x1b[1\x1b[2J", [Token("csi", ""), Token("text", "1"), Token("csi", "2J")]),
        (b"\x1b\x1b[2J", [Token("esc", ""), Token("csi", "2J")]),
    ],
)
def test_incomplete_sequence_is_an_unfinished_token(raw, found):
    assert tokens(raw) == found


# What is foreign


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_attack_is_foreign_anywhere_in_the_output(attack):
    raw = f"\x1b[?1049h\x1b[1;1Hx{attack}\x1b[2;1Hy\x1b[?1049l".encode("utf-8", "surrogateescape")
    with pytest.raises(AssertionError, match="not Textual's"):
        assert_inert(raw)


def test_links_to_the_web_are_not_foreign_and_others_are():
    assert foreign(b"\x1b]8;id=1;https://example.org/\x1b\\x\x1b]8;;\x1b\\") == []
    assert foreign(b"\x1b]8;;file:///etc/passwd\x1b\\") == [Token("osc", "8;;file:///etc/passwd")]


def test_drawing_outside_the_alternate_screen_is_foreign():
    assert foreign(b"\x1b[?1049h\x1b[1;1Hx\x1b[?1049lbye\r\n") == []
    assert foreign(b"\x1b[?1049h\x1b[?1049l\x1b[1;1Hx") == [Token("csi", "1;1H")]
    assert foreign(b"\x1b[?1049h\x1b[?1049h") == [Token("csi", "?1049h")]


def test_incomplete_own_output_is_not_foreign():
    raw = b"\x1b[?1049h\x1b[?2026$p\x1b[1;1Hx\x1b]22;text\x07\x1b]8;id=1;https://example.org\x1b\\\xc3\xa9\x1b]8;;\x1b\\\x1b[>1u"
    for end in range(len(raw) + 1):
        assert foreign(raw[:end]) == [], raw[:end]
    assert foreign(b"\x1b]0;ev") == [Token("unfinished", "\x1b]0;ev")]
    assert foreign(b"\x1bPq") == [Token("unfinished", "\x1bPq")]


def test_markers_are_searched_as_bytes_and_as_text():
    assert_absent("caf\xe9".encode(), ["\xe8", b"\xff", "\x9b"])
    for marker in ("\x9b", b"\xc2\x9b"):
        with pytest.raises(AssertionError, match="reached the terminal"):
            assert_absent("a\x9b2J".encode(), ["harmless", marker])


# The display


def shown(raw: bytes) -> list[str]:
    display = Display(20, 4)
    display.feed(raw)
    return [line.rstrip() for line in display.shown.display]


@pytest.mark.parametrize(
    "modern",
    [
        "[>25u",
        "[<u",
        "[=1;2u",
        "[?2026$p",
        "[?2026h",
        "[38:2::1:2:3m",
        "[2 q",
        "]22;text\x07",
        "P1$r\x1b\\",
        "(B",
        "[1;2;3;4A",
    ],
)
def test_sequences_unknown_to_pyte_leave_no_garbage(modern):
    assert shown(f"ab\x1b{modern}cd".encode()) == ["abcd", "", "", ""]


def test_main_screen_is_restored_after_the_alternate_screen():
    display = Display(20, 2)
    display.feed(b"before\x1b[?1049h\x1b[2;3Hinside")
    assert [line.rstrip() for line in display.shown.display] == ["", "  inside"]
    display.feed(b"\x1b[?1049l after\x1b[?1049h")
    assert [line.rstrip() for line in display.shown.display] == ["", ""]
    display.feed(b"\x1b[?1049l")
    assert [line.rstrip() for line in display.shown.display] == ["before after", ""]


def test_titles_and_bells_are_counted_and_not_drawn():
    display = Display(20, 1)
    display.feed(b"a\x07\x07\x1b]0;evil\x07b")
    assert (display.title, display.bells, display.shown.display[0].rstrip()) == ("evil", 2, "ab")


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        (b"", set()),
        (
            b"\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[>1u",
            {"alternate screen", "no cursor", "mouse", "keyboard protocol"},
        ),
        (b"\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[>1u\x1b[<u\x1b[?1000;1006l\x1b[?25h\x1b[?1049l", set()),
        (b"\x1b[?2004h\x1b[?7l", {"bracketed paste", "no line wrap"}),
        (b"\x1b[>1u\x1b[>5u\x1b[<u", {"keyboard protocol"}),
    ],
)
def test_modes_left_on_are_reported(raw, left):
    display = Display(20, 1)
    display.feed(raw)
    assert display.left() == left


# A program in a terminal


def test_app_restores_the_terminal(script):
    with Terminal(script(CALM), cols=60, rows=12) as terminal:
        terminal.wait_for("60 by 12")
        terminal.send("hello wörld")
        terminal.press("enter")
        terminal.wait_for("got 11: hello wörld")
        terminal.press("end", *["backspace"] * 11)
        terminal.paste("x" * 200_000)
        terminal.press("enter")
        terminal.wait_for("got 200000: xxx")
        terminal.click(7, 9)
        terminal.wait_for("clicked 7,9")
        terminal.resize(100, 30)
        terminal.wait_for("100 by 30")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == Ending(0, frozenset())
        assert terminal.screen_text().strip() == "bye"
        assert_inert(terminal.raw)
        assert terminal.bells == 0


def test_killed_app_leaves_terminal_modes_on(script):
    with Terminal(script(CALM)) as terminal:
        terminal.wait_for("120 by 40")
        terminal.signal(signal.SIGKILL)
        ending = terminal.wait_exit()
    assert ending.status == -signal.SIGKILL
    assert not ending.restored
    assert {"alternate screen", "mouse", "no cursor", "bracketed paste", "raw input"} <= ending.left


def test_missing_text_is_reported_with_the_screen(script):
    with Terminal(script(CALM)) as terminal:
        terminal.wait_for("120 by 40")
        with pytest.raises(AssertionError, match=r"(?s)not seen.*storm.*120 by 40"):
            terminal.wait_for("storm", timeout=0.1)
        with pytest.raises(AssertionError, match=r"(?s)still running.*120 by 40"):
            terminal.wait_exit(timeout=0.1)


def test_early_exit_is_reported_with_the_last_output():
    with (
        Terminal([sys.executable, "-c", "import sys; print('last words'); sys.exit(3)"]) as terminal,
        pytest.raises(AssertionError, match=r"(?s)ended without.*last words"),
    ):
        terminal.wait_for("a screen", timeout=60)
    with Terminal([sys.executable, "-c", "import sys; sys.exit(3)"]) as terminal:
        assert terminal.wait_exit().status == 3


def test_program_has_its_own_terminal_and_a_plain_environment():
    source = """
import os, sys
with open("/dev/tty") as tty:
    print("tty", os.isatty(tty.fileno()), os.getsid(0) == os.getpid() == os.tcgetpgrp(0))
print(os.environ["TERM"], os.environ["HOME"], [name for name in os.environ if "TEXTUAL" in name or name == "NO_COLOR"])
"""
    with Terminal([sys.executable, "-c", source], env={"HOME": "/nowhere"}) as terminal:
        assert terminal.wait_exit().status == 0
        assert "tty True True" in terminal.screen_text()
        assert "xterm-256color /nowhere []" in terminal.screen_text()


def test_closing_kills_what_the_program_started():
    source = """
import signal, subprocess
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the child inherits it, and outlives its terminal
print("child", subprocess.Popen(["sleep", "600"]).pid, "runs", flush=True)
input()
"""
    with Terminal([sys.executable, "-c", source]) as terminal:
        terminal.wait_for("runs")
        child = int(terminal.screen_text().split()[1])
        terminal.press("enter")
        assert terminal.wait_exit().status == 0
        assert runs(child)
    deadline = time.monotonic() + 20
    while runs(child) and time.monotonic() < deadline:
        os.sched_yield()
    assert not runs(child)


def runs(pid: int) -> bool:
    """Say whether a process lives; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# Hostile text


def drive_through_all_places(terminal: Terminal) -> Ending:
    """Make the app show its title, its widgets, a toast, a tooltip, the command palette and a traceback."""
    for place in PLACES:
        if place == "tip":
            terminal.hover(10, 3)
        if place == "command":
            terminal.press("ctrl+p")
        terminal.wait_for(lambda terminal, place=place: f"52;c;{place}".encode() in terminal.raw)
    terminal.press("f1")
    return terminal.wait_exit()


def test_textual_without_the_filter_writes_hostile_text(script):
    with Terminal(script(HOSTILE), cols=150, rows=50) as terminal:
        drive_through_all_places(terminal)
        raw = terminal.raw
    assert [place for place in PLACES if f"\x1b]52;c;{place}".encode() not in raw] == []
    assert Token("osc", "0;control") in foreign(raw)
    assert any(token.kind == "osc" and token.body.endswith(";file:///passwd") for token in foreign(raw))
    assert Token("esc", "c") in foreign(raw)
    with pytest.raises(AssertionError, match="reached the terminal"):
        assert_absent(raw, ["\x1b]52"])


def test_filter_removes_hostile_text_everywhere(script):
    with Terminal([*script(HOSTILE), "clean"], cols=150, rows=50) as terminal:
        ending = drive_through_all_places(terminal)
        assert ending.restored
        assert_absent(terminal.raw, ["\x1b]52", "\x1b]0", "\x1b]8", "file:", "\x1bc"])
        assert foreign(terminal.raw) == [Token("c0", "\x07")], "Textual rings when it crashes"
        assert terminal.title == ""
        assert "RuntimeError: agent sent ␛c and so on" in terminal.screen_text()


def test_attack_reaches_the_terminal_without_the_filter(script):
    with Terminal([*script(ROWS), json.dumps(["\x1b[3J\x9b2J"])]) as terminal:
        terminal.wait_for(lambda terminal: b"\x1b[3J" in terminal.raw)
        assert b"\xc2\x9b2J" in terminal.raw
        assert Token("csi", "3J") in foreign(terminal.raw)


def test_filter_makes_attacks_visible_and_keeps_other_text(script):
    with Terminal([*script(ROWS), json.dumps(list(ATTACKS.values())), "clean"], rows=2 * len(ATTACKS)) as terminal:
        terminal.wait_for(f"{len(ATTACKS) - 1:2} unharmed")
        lines = terminal.screen_text().split("\n")
        for number, (name, attack) in enumerate(ATTACKS.items()):
            assert re.search("[\u2400-\u2421\ufffd]", lines[2 * number]), name
            assert len(lines[2 * number]) == len(f"{number:2} {attack}"), name
            assert lines[2 * number + 1] == f"{number:2} unharmed", name
        assert_inert(terminal.raw)
        assert_absent(terminal.raw, [attack for name, attack in ATTACKS.items() if name != "never ends"])
        assert (terminal.title, terminal.bells) == ("", 0)
