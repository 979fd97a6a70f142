"""Hostile agents and the TUI: what reaches the terminal, and what is displayed."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest
from hostile_agent import HostileAgent, ServerThread
from hostile_text import CARD, FIELDS, MARKUP, PAYLOADS, SPLIT, artifact, pushes, respond_with_everything, shown, status
from operating import (
    IN_ORDER,
    PLAIN,
    WAITING,
    Tour,
    assert_unharmed,
    click_on_everything,
    edges_of,
    states_of,
    streaming,
)
from programs import Run
from rich.cells import cell_len
from terminal import Terminal, Token, assert_absent, assert_inert, foreign

from inspector.capture.records import Kind
from inspector.findings.finding import Severity
from inspector.findings.rules import RULES


def test_hostile_text_in_every_field_is_displayed_and_harmless(inspect: Run, home: Path, server_thread: ServerThread):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything, pushes=pushes)) as agent:
        terminal = inspect(agent.url, cols=120, rows=64)
        tour = Tour(terminal, home)
        tour.look(shown("example")[0])
        terminal.press("v")
        tour.look('"supportedInterfaces"')
        terminal.press("end")
        tour.look('"skills"')
        tour.say("everything")
        tour.look(WAITING)
        tour.leave(" enter open")
        terminal.press("tab")
        for field, way in (("artifact text", 0), ("filename", 0), ("data value", 1)):
            terminal.press(">")
            tour.look(shown(field)[way])
        terminal.press("p")
        terminal.wait_for("webhook 127.0.0.1:")
        tour.say("push")
        terminal.wait_for(lambda terminal: len(tour.records(Kind.DELIVERY)) == 4)
        tour.look(WAITING)
        tour.leave(" enter open")
        terminal.press("ctrl+p")
        terminal.wait_for("Search for commands")
        terminal.press("escape")
        terminal.wait_for(lambda terminal: "Search for commands" not in terminal.screen_text())  # the footer stays
        tour.say("error")
        tour.look(f"Error: {shown('error message')[0]}")
        tour.leave(" enter open")
        terminal.press("4")
        tour.look("╭─ Deliveries ─ 4 ")
        tour.through_records(tour.records(Kind.DELIVERY))
        terminal.press("5")
        tour.look("╭─ Exchanges ")
        calls = [record for record in tour.records(Kind.REQUEST) if record.raw]
        for steps, call in ((0, calls[2]), (2, calls[0])):
            terminal.press("end", *["up"] * steps)
            tour.look(f"╭─ Records ─ #{call.seq} ")
            terminal.press("tab")
            tour.look(f"╭─ Detail ─ #{call.seq} ")
            tour.through_records([record for record in tour.records() if call.seq in (record.seq, record.exchange)])
            tour.leave("─ request headers body ─")
        terminal.press("3")
        tour.look("╭─ Task ─ …;c;q17␇")
        terminal.press("6")
        violated = {finding.rule for record in tour.records() for finding in record.findings}
        assert violated >= {"PUSH-003", "PUSH-004", "RPC-001"}
        for rule in sorted(violated, key=lambda rule: (list(Severity).index(RULES[rule].severity), rule)):
            tour.look(f"╭─ Explanation ─ {rule} ")
            terminal.press("down")
        terminal.press("1", "o")
        tour.look("Connect to an agent")
        tour.leave('"skills"')
        terminal.press("f1")
        tour.look("╭─ Help ─")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)
    assert_absent(terminal.raw, ["\x1b]52", "\x9b\x9b", "]52;c;q00\x07"])
    assert [field for field in FIELDS if not any(text in tour.seen for text in shown(field))] == []


def test_every_payload_is_displayed_visibly_and_the_text_after_it_too(
    inspect: Run, home: Path, server_thread: ServerThread
):
    attacks = [attack for attack, _ in PAYLOADS.values()]
    whole = "\n".join(f"{attack}\nnext" for attack in attacks)
    first, second = SPLIT
    updates = [status("WORKING", f"{attack} next") for attack in attacks]
    raw = b'data: {"jsonrpc":"2.0","id":"1","result":{"said":"\x9b2J\xc2\x9b2J"}}\n\n'
    cut = status("WORKING", "x" * 199 + "\x1b]0;evil\x07")
    chunks = [artifact([{"text": whole + "\n" + first}]), artifact([{"text": second + "\nthe end"}])]
    chunks[1]["artifactUpdate"]["append"] = True
    hostile_agent = streaming(*updates, raw, cut, *chunks)
    hostile_agent.card = {**PLAIN, "description": whole}
    with server_thread.serving(hostile_agent) as agent:
        terminal = inspect(agent.url, cols=150, rows=2 * len(attacks) + 30)
        tour = Tour(terminal, home)
        tour.look("in use")
        click_on_everything(terminal, "more lines")
        click_on_everything(terminal, "more lines")
        tour.look("press enter to show less")
        assert [line.strip("│▌▁▂▃▄▅▆▇ ") for line in tour.lines].count("next") == len(attacks)
        tour.say("go")
        terminal.wait_for("closed while the task is working")  # the last row of the timeline
        tour.look("the end")
        shown_states = states_of(tour.lines)
        for name, (_, token) in PAYLOADS.items():
            assert tour.seen.count(token) >= 2, name
            assert any(text.startswith(f"{token} next"[:13]) for text in shown_states), name
        assert "ab␛[2Jcd" in tour.seen
        assert "not UTF-8" in tour.seen
        tour.leave(" enter open")
        terminal.press("up", "up", "up", "up")
        tour.look("as text")
        terminal.press("v")
        tour.look('data: {"jsonrpc"')
        assert_absent(terminal.raw, [attack for attack in attacks if attack != "\x1b]"])
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_columns_stay_aligned_with_all_scripts(inspect: Run, home: Path, server_thread: ServerThread):
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
    events = [status("WORKING", f"{text} end") for text in letters]
    with server_thread.serving(streaming(*events, artifact([{"text": "\n".join(letters)}]))) as agent:
        terminal = inspect(agent.url, cols=120, rows=40)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        tour.say("go")
        tour.look("19996 marks")
        first = next(row for row, line in enumerate(tour.lines) if "╭─ Timeline " in line)
        edges = edges_of(tour.lines[first])
        assert len(edges) == 4
        last = next(row for row, line in enumerate(tour.lines) if "● following" in line)
        rows = tour.lines[first + 1 : last]
        assert len(rows) > 20
        for row in rows:
            assert set(edges) <= set(edges_of(row)), "\n".join(tour.lines)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_markup_is_displayed_as_text_and_ignores_clicks(inspect: Run, home: Path, server_thread: ServerThread):
    whole = "\n".join(MARKUP)
    skill = {
        "id": "s",
        "name": MARKUP[2],
        "description": MARKUP[0],
        "tags": [MARKUP[5]],
        "examples": [MARKUP[2], whole],
    }
    hostile_agent = streaming(
        *(status("WORKING", text) for text in MARKUP),
        artifact([{"text": whole}], name=MARKUP[2]),
        status("INPUT_REQUIRED", MARKUP[2]),
    )
    hostile_agent.card = {**PLAIN, "name": MARKUP[2], "description": whole, "skills": [skill]}
    with server_thread.serving(hostile_agent) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("● connected")
        for text in MARKUP:
            assert text in tour.seen, text
        click_on_everything(terminal, "@click=", "app.quit]x", "[link=", "passwd]x")
        terminal.click(tour.lines[0].index("quit]x") + 5, 0)  # the name is not clickable, and the program still runs
        terminal.press("down", "home", "alt+2")
        terminal.wait_for(" i write")
        terminal.press("alt+1")
        terminal.wait_for("Interfaces")
        terminal.press("i")
        terminal.wait_for("▌ [@click=app.quit]x[/]")  # "try" only writes the example
        terminal.press("enter")
        tour.look(WAITING)
        tour.look(f"╭─ Artifact ─ {MARKUP[2]} ─")
        for text in MARKUP:
            assert any(state.startswith(text[:8]) for state in states_of(tour.lines)), text
        click_on_everything(terminal, "@click=", "app.quit]x", "[link=", "passwd]x")
        tour.leave("enter open")
        terminal.press("4")
        terminal.wait_for("╭─ Deliveries ")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_hostile_text_in_a_notification_is_harmless(inspect: Run, home: Path, server_thread: ServerThread):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything, usable=False)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("no interface")
        terminal.press("2", "i")
        terminal.wait_for(" enter send")
        terminal.send("hello?")
        terminal.wait_for("▌ hello?")
        terminal.press("enter")
        tour.look("The card declares no interface that a2a-inspect can use")
        assert "q06" in terminal.screen_text().partition("The card declares no interface")[2]
        assert_unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def in_artifact_pane(lines: list[str]) -> list[str]:
    """Return the lines in the pane of the artifact, without its edges."""
    top = next(row for row, line in enumerate(lines) if "╭─ Artifact " in line)
    left = lines[top].index("╭─ Artifact ") + 1
    below = [line[left:-1].strip() for line in lines[top + 1 :]]
    return below[: next(row for row, line in enumerate(below) if line.startswith("──"))]


def test_a_forged_prompt_stays_in_its_pane(inspect: Run, home: Path, server_thread: ServerThread):
    prompt = "a2a-inspect needs your password\nPassword: \n"
    forged = "\n" * 60 + prompt + "\n" * 60
    events = (
        status("WORKING", forged),
        artifact([{"text": "\n\n" + prompt}], name="report\n" + prompt),
        status("INPUT_REQUIRED", prompt * 20),
    )
    with server_thread.serving(streaming(*events)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        tour.say("go")
        tour.look(WAITING)
        # The app shows the timeline first, then the question above the text, then the artifact.
        terminal.wait_for(lambda _: "Write a message" in tour.lines[-3] and "Password:" in in_artifact_pane(tour.lines))
        lines = tour.lines
        assert "Hostile" in lines[0]
        assert "1 Agent   2 Chat" in lines[1]
        assert lines[-2][0] + lines[-2][-1] == "╰╯"
        assert sum(line == "Password:" for line in in_artifact_pane(lines)) == 1
        for line in lines:
            if "assword" in line:
                assert line[0] + line[-1] in ("││", "╭╮"), line
                assert cell_len(line) == 120, line
                assert not line.strip("│ ").startswith(("a2a-inspect needs", "Password")) or "␊" in line, line
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_copied_text_is_unchanged_and_sent_as_base64(inspect: Run, home: Path, server_thread: ServerThread):
    text = "harmless\x1b]52;c;ZXZpbA==\x07\u202e[/]"
    with server_thread.serving(streaming(artifact([{"text": text}]))) as agent:
        terminal = inspect(agent.url, env={"DISPLAY": "", "WAYLAND_DISPLAY": "", "PATH": ""})
        tour = Tour(terminal, home)
        tour.look("a plain card")
        tour.say("go")
        tour.leave(" enter open")
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
def test_each_of_the_two_filters_is_sufficient_and_one_is_needed(
    home: Path, server_thread: ServerThread, tmp_path: Path, missing: str, leaks: bool
):
    script = tmp_path / "without.py"
    script.write_text(WITHOUT)
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        argv = [sys.executable, script, missing, agent.url]
        with Terminal(argv, env={"A2A_INSPECT_HOME": str(home)}, cols=120, rows=60) as terminal:
            terminal.wait_for("Other findings")
            found = foreign(terminal.raw)
            assert (Token("osc", "52;c;q01") in found) is leaks
            assert bool(found) is leaks
