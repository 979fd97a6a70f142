"""Agents that try to act on the terminal: what reaches it, and what a person sees of it."""

from __future__ import annotations

import base64
import sys
import time
from pathlib import Path

import pytest
from evil import CARD, FIELDS, MARKUP, PAYLOADS, SPLIT, artifact, pushes, say_everything, shown, status
from programs import Run, the_capture
from rich.cells import cell_len
from terminal import Ending, Terminal, Token, assert_absent, assert_inert, foreign
from villain import Asked, Lair, Villain, stream

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.findings.finding import Severity
from inspector.findings.rules import RULES

PLAIN = {
    "name": "Villain",
    "description": "says what it likes",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}
IN_ORDER = Ending(0, frozenset())


class Tour:
    """A walk through the program that remembers all that was to be seen."""

    def __init__(self, terminal: Terminal, home: Path) -> None:
        self.terminal = terminal
        self.seen = ""
        self._home = home

    def look(self, what: str = "") -> None:
        """Wait for a text, and take in the screen."""
        self.terminal.wait_for(what)
        self.seen += self.terminal.screen_text() + "\n"

    @property
    def lines(self) -> list[str]:
        return self.terminal.screen_text().split("\n")

    def leave(self, sign: str) -> None:
        """Press escape, and wait for what tells that it was understood: what comes too soon is read with it."""
        self.terminal.press("escape")
        self.look(sign)

    def records(self, *kinds: Kind) -> list[Record]:
        with Capture.open(the_capture(self._home)) as capture:
            return capture.select(kinds=kinds or tuple(Kind))

    def through_records(self, wanted: list[Record]) -> None:
        """Look at the records of the list that has the focus, in all four ways; as bytes, one is like the other."""
        for view in ("raw", "hex", "head", "decoded"):
            self._choose(view)
            self.terminal.press("home")
            for record in wanted if view != "hex" else wanted[:1]:
                self.look(f"record       #{record.seq} " if view == "head" else f"#{record.seq} ")
                self.terminal.press("down")

    def _choose(self, view: str) -> None:
        """Click on a way to look, once the title stays where it is: it moves with the record that is shown."""
        before, now = "", "not looked at"
        while before != now:
            time.sleep(0.2)
            self.terminal.wait_for(" DETAIL  #")
            before, now = now, next(line for line in self.lines if " DETAIL  #" in line)
        row = self.lines.index(now)
        self.terminal.click(now.index(view, now.index(" DETAIL  #")), row)

    def go_to_text(self) -> None:
        """Go to the composer from wherever one is; who comes to Chat from elsewhere is there."""
        self.terminal.press("alt+1")
        self.terminal.wait_for("R refresh")
        self.terminal.press("alt+2")
        self.terminal.wait_for("^s send")

    def say(self, text: str) -> None:
        """Send a message from Chat and wait until the call is over."""
        before = len(self.records(Kind.END))
        self.go_to_text()
        self.terminal.send(text)
        self.terminal.wait_for(f"▌ {text}")
        self.terminal.press("enter")
        self.terminal.wait_for(lambda terminal: len(self.records(Kind.END)) > before)


def unharmed(terminal: Terminal) -> None:
    """Fail unless nothing foreign has reached the terminal so far."""
    assert_inert(terminal.raw)
    assert (terminal.title, terminal.bells) == ("", 0)


def test_hostile_text_in_every_field_is_visible_somewhere_and_acts_nowhere(inspect: Run, home: Path, lair: Lair):
    with lair.serving(Villain(CARD, say_everything, pushes=pushes)) as agent:
        terminal = inspect(agent.url, cols=120, rows=48)
        tour = Tour(terminal, home)
        tour.look("SKILLS")
        terminal.press("r")
        tour.look('"supportedInterfaces"')
        terminal.press("end")
        tour.look('"skills"')
        tour.say("everything")
        tour.look("the agent asks")
        tour.leave(" enter open")
        terminal.press("tab")
        for field, way in (("artifact text", 0), ("filename", 0), ("data value", 1)):
            terminal.press("a")
            tour.look(shown(field)[way])
        terminal.press("p")
        terminal.wait_for("push 127.0.0.1:")
        tour.say("push")
        terminal.wait_for(lambda terminal: len(tour.records(Kind.DELIVERY)) == 4)
        tour.look("the agent asks")
        tour.leave(" enter open")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        tour.leave(" enter open")
        tour.say("error")
        tour.look("problem")
        tour.leave(" enter open")
        terminal.press("4")
        tour.look("DELIVERIES")
        tour.through_records(tour.records(Kind.DELIVERY))
        terminal.press("5")
        tour.look(" enter show records")
        calls = [record for record in tour.records(Kind.REQUEST) if record.raw]
        for steps, call in ((0, calls[2]), (2, calls[0])):
            terminal.press("end", *["up"] * steps, "enter")
            tour.look(" enter open")
            tour.through_records([record for record in tour.records() if call.seq in (record.seq, record.exchange)])
            tour.leave(" enter show records")
        terminal.press("3")
        tour.look("task     ")
        terminal.press("6")
        broken = {finding.rule for record in tour.records() for finding in record.findings}
        assert broken >= {"PUSH-001", "PUSH-003", "RPC-001"}
        for rule in sorted(broken, key=lambda rule: (list(Severity).index(RULES[rule].severity), rule)):
            tour.look(f"│ {rule}")
            terminal.press("down")
        terminal.press("1", "o")
        tour.look("Connect to an agent")
        tour.leave('"skills"')
        terminal.press("f1")
        tour.look("KEYS")
        unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    unharmed(terminal)
    assert_absent(terminal.raw, ["\x1b]52", "\x9b\x9b", "]52;c;q00\x07"])
    assert [field for field in FIELDS if not any(one in tour.seen for one in shown(field))] == []


def streaming(*events: dict[str, object] | bytes) -> Villain:
    """Return a villain with a plain card that answers every message with these events."""

    def say(villain: Villain, asked: Asked) -> list[bytes]:
        return stream(*(event if isinstance(event, bytes) else asked.frame(event) for event in events))

    return Villain(PLAIN, say)


def test_every_attack_is_shown_as_what_it_is_and_its_neighbours_are_unharmed(inspect: Run, home: Path, lair: Lair):
    attacks = [attack for attack, _ in PAYLOADS.values()]
    whole = "\n".join(f"{attack}\nnext" for attack in attacks)
    first, second = SPLIT
    said = [status("WORKING", f"{attack} next") for attack in attacks]
    raw = b'data: {"jsonrpc":"2.0","id":"1","result":{"said":"\x9b2J\xc2\x9b2J"}}\n\n'
    cut = status("WORKING", "x" * 199 + "\x1b]0;evil\x07")
    pieces = [artifact([{"text": whole + "\n" + first}]), artifact([{"text": second + "\nthe end"}])]
    pieces[1]["artifactUpdate"]["append"] = True
    villain = streaming(*said, raw, cut, *pieces)
    villain.card = {**PLAIN, "description": whole}
    with lair.serving(villain) as agent:
        terminal = inspect(agent.url, cols=150, rows=2 * len(attacks) + 30)
        tour = Tour(terminal, home)
        tour.look("in use (preferred)")
        click_on_everything(terminal, "more lines")
        click_on_everything(terminal, "more lines")
        tour.look("press enter to show less")
        assert terminal.screen_text().count("\n  next\n") == len(attacks)
        tour.say("go")
        tour.look("the end")
        lines = tour.lines
        for name, (_, token) in PAYLOADS.items():
            assert tour.seen.count(token) >= 2, name
            assert any(f"working  {token} next"[:22] in line for line in lines), name
        assert "ab␛[2Jcd" in tour.seen
        assert "not UTF-8" in tour.seen
        tour.leave(" enter open")
        terminal.press("up", "up", "up")
        tour.look("as text")
        terminal.press("enter")
        terminal.wait_for(" v view")
        terminal.press("v")
        tour.look('data: {"jsonrpc"')
        assert_absent(terminal.raw, [attack for attack in attacks if attack != "\x1b]"])
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    unharmed(terminal)


def test_columns_stay_where_they_are_whatever_the_letters(inspect: Run, home: Path, lair: Lair):
    letters = [
        "e" + "\u0301" * 20_000,
        "日本語のテキスト",
        "שלום עולם",
        "مرحبا",
        "👩\u200d👩\u200d👧 family",
        "a\tb\tc",
        "नमस्ते",
        "✔\ufe0f 1\ufe0f\u20e3 ☂\ufe0e",
        "한국어",
        "\u0301alone",
    ]
    events = [status("WORKING", f"{one} end") for one in letters]
    with lair.serving(streaming(*events, artifact([{"text": "\n".join(letters)}]))) as agent:
        terminal = inspect(agent.url, cols=120, rows=40)
        tour = Tour(terminal, home)
        tour.look("says what it likes")
        tour.say("go")
        tour.look("19996 marks")
        rows = [line for line in tour.lines[3:-5] if "│" in line]
        assert len(rows) > 30
        assert len({cell_len(row[: row.index("│")]) for row in rows}) == 1, "\n".join(rows)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    unharmed(terminal)


def test_markup_is_shown_as_it_is_and_does_nothing_when_it_is_clicked(inspect: Run, home: Path, lair: Lair):
    whole = "\n".join(MARKUP)
    skill = {
        "id": "s",
        "name": MARKUP[2],
        "description": MARKUP[0],
        "tags": [MARKUP[5]],
        "examples": [MARKUP[2], whole],
    }
    villain = streaming(
        *(status("WORKING", text) for text in MARKUP),
        artifact([{"text": whole}], name=MARKUP[2]),
        status("INPUT_REQUIRED", MARKUP[2]),
    )
    villain.card = {**PLAIN, "name": MARKUP[2], "description": whole, "skills": [skill]}
    with lair.serving(villain) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("SKILLS")
        for text in MARKUP:
            assert text in tour.seen, text
        click_on_everything(terminal, "@click=", "app.quit]x", "[link=", "passwd]x")
        terminal.click(terminal.screen_text().index("quit]x") + 5, 0)
        terminal.wait_for("INTERFACES")
        tour.leave("1 Agent")
        terminal.wait_for(lambda terminal: "INTERFACES" not in terminal.screen_text())
        terminal.press("t")
        terminal.wait_for("▌ [@click=app.quit]x[/]")  # trying an example writes it, and that is all
        terminal.press("enter")
        tour.look("the agent asks  [@click=app.quit]x[/]")
        for text in MARKUP:
            assert any(f"working  {text[:8]}" in line for line in tour.lines), text
        click_on_everything(terminal, "@click=", "app.quit]x", "[link=", "passwd]x")
        tour.leave("enter open")
        terminal.press("4")
        terminal.wait_for("DELIVERIES")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    unharmed(terminal)


def click_on_everything(terminal: Terminal, *texts: str) -> None:
    """Click on the last letter of each of these texts in every line of the screen."""
    places = [
        (cell_len(line[: line.index(text) + len(text) - 1]), row)
        for row, line in enumerate(terminal.screen_text().split("\n"))
        for text in texts
        if row and text in line  # the first line is a menu of its own
    ]
    assert places
    for column, row in places:
        terminal.click(column, row)


def test_a_notification_is_no_way_in_either(inspect: Run, home: Path, lair: Lair):
    with lair.serving(Villain(CARD, say_everything, usable=False)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("no interface")
        terminal.press("2")
        terminal.wait_for("^s send")
        terminal.send("hello?")
        terminal.wait_for("▌ hello?")
        terminal.press("enter")
        tour.look("The card offers no interface that we can use")
        assert "q06" in terminal.screen_text().partition("The card offers")[2]
        unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_what_looks_like_a_question_of_ours_stays_in_its_pane(inspect: Run, home: Path, lair: Lair):
    forged = "\n" * 60 + "a2a-inspect needs your password\nPassword: \n" + "\n" * 60
    events = status("WORKING", forged), artifact([{"text": forged}]), status("COMPLETED", "done")
    with lair.serving(streaming(*events)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("says what it likes")
        tour.say("go")
        tour.look("● completed  done")
        lines = tour.lines
        assert "Villain" in lines[0]
        assert "1 Agent   2 Chat" in lines[1]
        assert "write a message" in lines[-2]
        assert not any("assword" in line.split("│")[0] for line in lines if "working" not in line)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_what_is_copied_is_what_the_agent_sent_and_leaves_as_base64(inspect: Run, home: Path, lair: Lair):
    text = "harmless\x1b]52;c;ZXZpbA==\x07\u202e[/]"
    with lair.serving(streaming(artifact([{"text": text}]))) as agent:
        terminal = inspect(agent.url, env={"DISPLAY": "", "WAYLAND_DISPLAY": "", "PATH": ""})
        tour = Tour(terminal, home)
        tour.look("says what it likes")
        tour.say("go")
        tour.leave("enter open")
        terminal.press("tab", "y")
        terminal.wait_for(f"Copied {len(text)} characters with the terminal (OSC 52)")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    [copied] = foreign(terminal.raw)
    assert copied == Token("osc", f"52;c;{base64.b64encode(text.encode()).decode()}")


WITHOUT = """
import sys
from inspector.text.sanitise import Cleaner
from inspector.tui.render.output_filter import OutputFilter

if "cleaner" in sys.argv[1]:
    Cleaner.feed = lambda self, text: text
if "filter" in sys.argv[1]:
    OutputFilter.apply = lambda self, segments, background: segments

from inspector.cli.main import main

sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(("missing", "leaks"), [("cleaner", False), ("filter", False), ("cleaner and filter", True)])
def test_either_of_the_two_barriers_holds_alone_and_without_both_the_attack_succeeds(
    home: Path, lair: Lair, tmp_path: Path, missing: str, leaks: bool
):
    script = tmp_path / "without.py"
    script.write_text(WITHOUT)
    with lair.serving(Villain(CARD, say_everything)) as agent:
        argv = [sys.executable, script, missing, agent.url]
        with Terminal(argv, env={"A2A_INSPECT_HOME": str(home)}, cols=120, rows=40) as terminal:
            terminal.wait_for("SKILLS")
            found = foreign(terminal.raw)
            assert (Token("osc", "52;c;q01") in found) is leaks
            assert bool(found) is leaks
