"""Hostile text in the borders of panes, in tables, dialogs, menus and the header."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
from hostile_agent import HostileAgent, ReceivedRequest, ServerThread, answer
from hostile_text import CARD, MARKUP, PAYLOADS, artifact, hostile_text, respond_with_everything, shown, status
from operating import IN_ORDER, PLAIN, WAITING, Tour, assert_unharmed, click_on_everything, edges_of, streaming
from programs import Run, only_capture
from rich.cells import cell_len
from terminal import Terminal, assert_absent, assert_inert

from inspector.text.sanitise import clean
from inspector.text.short_id import short_id

ATTACKS = [*PAYLOADS.values(), *((text, text) for text in MARKUP)]
"""Texts that an agent sends, each with the text on the screen."""
ESCAPE = "\x1b[27u"
"""The escape key in the keyboard protocol of kitty: the program needs not wait for the rest of a sequence."""
WIDE = "日本語のエージェント" * 6


def line_with(tour: Tour, text: str) -> str:
    """Return the only line of the screen that contains a text."""
    [line] = [line for line in tour.lines if text in line]
    return line


def close_dialog(terminal: Terminal, hint: str) -> None:
    """Close a dialog with escape, and wait until the hint of its footer disappears."""
    terminal.send(ESCAPE)
    terminal.wait_for(lambda terminal: hint not in terminal.screen_text())


def test_hostile_names_in_a_title_do_not_change_the_border(inspect: Run, home: Path, server_thread: ServerThread):
    names = [*ATTACKS, (WIDE, WIDE[:4]), ("e" + "\u0301" * 20_000, "\u00e9")]
    events = [artifact([{"text": "x"}], name=name, artifactId=str(n)) for n, (name, _) in enumerate(names)]
    with server_thread.serving(streaming(*events, status("COMPLETED", "done"))) as agent:
        terminal = inspect(agent.url, cols=180)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        tour.say("go")
        tour.look("● completed  done")
        tour.leave(" enter open")
        terminal.press("tab")
        edges = edges_of(line_with(tour, "╭─ Artifact "))
        for number, (_, token) in enumerate(names, 1):
            terminal.press(">")
            tour.look(f"─ {number} of {len(names)} ─")
            title = line_with(tour, "╭─ Artifact ")
            assert f"╭─ Artifact ─ {token[:16]}" in title
            assert (cell_len(title), edges_of(title)) == (180, edges)
        click_on_everything(terminal, "╭─ Artifact ─ \u00e9")
        tour.look(f"─ 1 of {len(names)} ─")
        assert_absent(terminal.raw, [attack for attack, _ in PAYLOADS.values() if attack != "\x1b]"])
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def list_tasks(hostile_agent: HostileAgent, request: ReceivedRequest) -> bytes:
    """Return a task for each attack, which is its id, its context, its artifact and its message."""
    tasks = [
        {
            "id": f"{attack}{number}",
            "contextId": attack,
            "status": status("WORKING", attack)["statusUpdate"]["status"],
            "artifacts": [{"artifactId": "a", "name": attack, "parts": [{"text": attack}]}],
        }
        for number, (attack, _) in enumerate(ATTACKS)
    ]
    return answer(request.result({"tasks": tasks, "nextPageToken": "", "pageSize": 50, "totalSize": len(tasks)}))


def test_hostile_ids_in_tables_titles_menus_and_questions(inspect: Run, home: Path, server_thread: ServerThread):
    with server_thread.serving(HostileAgent(PLAIN, list_tasks)) as agent:
        terminal = inspect(agent.url, cols=140, rows=60)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        terminal.press("3")
        tour.look("╭─ Tasks ")
        terminal.press("l")
        tour.look(f"{len(ATTACKS)} of {len(ATTACKS)} listed by the agent")
        rows = [line for line in tour.lines if "◐ working  " in line and "so far" not in line and "╭" not in line]
        assert len(rows) == len(ATTACKS)
        assert {(cell_len(row), len(edges_of(row))) for row in rows} == {(140, 2)}
        heading = line_with(tour, " CONTEXT ")
        column = cell_len(heading[: heading.index("CONTEXT")])
        terminal.press("home")
        for number, (attack, _) in reversed(list(enumerate(ATTACKS))):
            name = clean(short_id(f"{attack}{number}"))
            tour.look(f"╭─ Task ─ {name}")
            row = next(row for row in tour.lines if row.startswith("│▌"))
            assert row[column:].startswith(clean(short_id(attack))[:5]), row
            terminal.press("x")
            tour.look(f"│ Cancel task {name}")
            close_dialog(terminal, "esc no")
            terminal.press("a")
            tour.look(f"╭─ Task {name}")
            close_dialog(terminal, "esc close")
            terminal.press("down")
        terminal.press("enter")
        tour.look(f"╭─ Timeline ─ {clean(short_id(f'{ATTACKS[0][0]}0'))}")
        assert_absent(terminal.raw, [attack for attack, _ in PAYLOADS.values() if attack != "\x1b]"])
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_a_line_break_in_an_id_is_not_one_in_the_question(inspect: Run, home: Path, server_thread: ServerThread):
    task = {"id": "a?\nquit?", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}

    def respond(hostile_agent: HostileAgent, request: ReceivedRequest) -> bytes:
        return answer(request.result({"tasks": [task], "nextPageToken": "", "pageSize": 50, "totalSize": 1}))

    with server_thread.serving(HostileAgent(PLAIN, respond)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        terminal.press("3")
        tour.look("╭─ Tasks ")
        terminal.press("l")
        tour.look("1 of 1 listed by the agent")
        terminal.press("x")
        tour.look("│ Cancel task a?␊quit?? The agent stops working")
        close_dialog(terminal, "esc no")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_the_menus_of_interfaces_and_of_copies_show_hostile_text(inspect: Run, home: Path, server_thread: ServerThread):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("● connected")
        terminal.press("I")
        tour.look("╭─ Interfaces ")
        assert f"{shown('other version')[0]};c;q07␇ · {shown('other binding')[0]}" in tour.seen
        click_on_everything(terminal, "q06␛]52")  # it cannot be chosen
        close_dialog(terminal, "esc close")
        tour.say("everything")
        tour.look(f"╭─ Reply to task {clean(short_id(hostile_text('task')))} (input-required) ")
        assert WAITING in tour.seen
        tour.leave(" enter open")
        terminal.press("a")
        tour.look("Cancel the task (CancelTask)")
        close_dialog(terminal, "esc close")
        assert_inert(terminal.raw)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


def test_the_headings_of_menus_show_hostile_text_of_a_capture(inspect: Run, home: Path, server_thread: ServerThread):
    with server_thread.serving(streaming(status("COMPLETED", "done"))) as agent:
        terminal = inspect(agent.url)
        tour = Tour(terminal, home)
        tour.look("a plain card")
        tour.say("go")
        tour.look("● completed  done")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    path = only_capture(home)
    with sqlite3.connect(path) as database:
        changed = database.execute("UPDATE record SET event = ? WHERE event = 'status'", [hostile_text("event")])
        assert changed.rowcount == 1
    terminal = inspect("open", path)
    tour = Tour(terminal, home)
    tour.look("● completed  done")
    terminal.press("5")
    tour.look("╭─ Exchanges ")
    terminal.press("tab", "end", "up")
    tour.look(f" {shown('event')[0]};c;q19␇ ─ decoded raw hex headers")
    terminal.press("a")
    tour.look(f"{shown('event')[0]};c;q19␇ ──")
    close_dialog(terminal, "esc close")
    terminal.press("Y")
    tour.look("╭─ Copy #")
    assert any("╭─ Copy #" in line and shown("event")[0] in line for line in tour.lines)
    close_dialog(terminal, "esc close")
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        (WIDE, WIDE[:10]),
        ("N" * 2000, "N" * 30),
        ("\u202e" * 50, "‹U+202E›" * 3),
        ("\x1b]0;evil\x07" * 9, "␛]0;evil␇" * 3),
    ],
)
def test_a_long_name_removes_neither_itself_nor_the_state(
    inspect: Run, home: Path, server_thread: ServerThread, name: str, token: str
):
    agent = streaming()
    agent.card = {**PLAIN, "name": name}
    with server_thread.serving(agent):
        terminal = inspect(agent.url, cols=80, rows=24)
        terminal.wait_for("● connected")
        header = terminal.screen_text().split("\n")[0]
        assert header.startswith(f" {token}")
        assert "● connected" in header
        assert cell_len(header) <= 80
        assert_unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER


def test_hostile_names_of_several_agents_are_tabs(inspect: Run, home: Path, server_thread: ServerThread):
    names = {MARKUP[2]: MARKUP[2], "\x1b]2;evil\x1b\\": "␛]2;evil␛\\", "\u202elive": "‹U+202E›live", WIDE: WIDE[:5]}
    first, *others = (HostileAgent({**PLAIN, "name": name}, respond_with_everything) for name in names)
    servings = [server_thread.serving(agent) for agent in (first, *others)]
    with servings[0], servings[1], servings[2], servings[3]:
        terminal = inspect(first.url, cols=140)
        tour = Tour(terminal, home)
        tour.look("● connected")
        for count, agent in enumerate(others, 2):
            terminal.press("o")
            tour.look("Connect to an agent")
            terminal.paste(agent.url)
            terminal.press("enter")
            known = [token[:5] for token in names.values()][:count]
            terminal.wait_for(
                lambda terminal, known=known: (
                    all(token in (header := terminal.screen_text().split("\n")[0]) for token in known)
                    and "● connected" in header
                )
            )
        header = tour.lines[0]
        for token in names.values():
            assert token[:12] in header
        assert cell_len(header) <= 140
        column = cell_len(header[: header.index("@click=")])
        terminal.hover(column, 0)
        time.sleep(0.7)  # longer than Textual waits before it shows a tooltip
        assert tour.lines[0] == header
        terminal.click(column, 0)  # goes to the tab of the agent, and does not quit
        terminal.wait_for(f":{first.url.rpartition(':')[2]}/rpc")
        terminal.resize(80, 24)
        terminal.wait_for("1 of 4")
        assert "● connected" in tour.lines[0]
        assert cell_len(tour.lines[0]) <= 80
        assert_unharmed(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_unharmed(terminal)
