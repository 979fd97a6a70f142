"""Pictures of the screens at several sizes and in two themes."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from driving import Driver, Open
from players import eventually, misbehave, playing, reporting
from rich.segment import Segment
from rich.style import Style
from snapshots import PICTURES, Normaliser, Snapshots
from textual.strip import Strip

from inspector.capture.recent_agents import RecentAgent, remember
from inspector.capture.records import Kind
from inspector.tui.screens.help import HelpScreen
from inspector.tui.views.registry import VIEWS

NORMAL, SMALL, NARROW, WIDE = (120, 40), (80, 24), (40, 12), (200, 60)
UNREACHABLE = "http://127.0.0.1:1"
"""A URL where nothing listens."""

usual_sizes = pytest.mark.parametrize("size", [NORMAL, SMALL], ids=lambda size: f"{size[0]}x{size[1]}")
other_sizes = pytest.mark.parametrize("size", [NARROW, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")


@usual_sizes
async def test_the_connect_screen(open_app: Open, snapshots: Snapshots, size):
    for days, name in enumerate(["Weather", "A travel agent with a long name, by the sea"], 2):
        agent = RecentAgent(f"https://{days}.example.org/agent", name, "1.0", time.time() - days * 86400 - 60)
        assert remember(agent) == ""
    async with open_app(None, size) as driver:
        await driver.until("the built-in mock agent")
        await driver.snap(snapshots, "connect")


@usual_sizes
async def test_the_agent_view_an_input_required_task_and_the_help(
    open_app: Open, snapshots: Snapshots, mock: str, size
):
    async with open_app(mock, size) as driver:
        await driver.connected()
        await driver.snap(snapshots, "agent")
        await driver.ask("ask")
        await driver.snap(snapshots, "chat-asking")
        await driver.press("escape", "f1")
        await driver.until("╭─ Help ")
        await driver.snap(snapshots, "help")


async def test_the_agent_view_and_an_input_required_task_in_the_light_theme(
    open_app: Open, snapshots: Snapshots, mock: str
):
    async with open_app(mock, NORMAL, theme="paper") as driver:
        await driver.connected()
        await driver.snap(snapshots, "agent-paper")
        await driver.ask("ask")
        await driver.snap(snapshots, "chat-asking-paper")


@other_sizes
async def test_the_agent_view_and_an_input_required_task_at_other_sizes(
    open_app: Open, snapshots: Snapshots, mock: str, size
):
    async with open_app(mock, size) as driver:
        await driver.connected()
        await driver.snap(snapshots, "agent", coloured=False)
        await driver.ask("ask")
        await driver.snap(snapshots, "chat-asking", coloured=False)


async def report_with_push(driver: Driver) -> None:
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    await driver.ask("report, please")


@pytest.mark.usefixtures("all_views")
@usual_sizes
async def test_a_report_with_push(open_app: Open, snapshots: Snapshots, size):
    drivers: list[Driver] = []
    numbers = itertools.count(1)

    async def gate() -> None:
        wanted = next(numbers)
        await eventually(lambda: len(drivers[0].records(Kind.FRAME)) == wanted)

    async with playing(reporting(gate)) as agent, open_app(agent.url, size) as driver:
        drivers.append(driver)
        await driver.connected()
        await report_with_push(driver)
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 4)
        await driver.press("escape", "up")
        await driver.snap(snapshots, "chat-pushed")
        await driver.go(4)
        await driver.snap(snapshots, "webhooks")
        await driver.go(5)
        await driver.press("enter", "up")
        await driver.snap(snapshots, "traffic")


@usual_sizes
async def test_an_agent_that_breaks_the_rules(open_app: Open, snapshots: Snapshots, size):
    async with playing(misbehave) as agent, open_app(agent.url, size) as driver:
        await driver.connected()
        await driver.ask("misbehave")
        await driver.go(6)
        await driver.snap(snapshots, "findings")


_CHECKS = """\
acts_version: "1.0"
spec_version: "1.0"
suites:
- id: reports
  name: Reports
  tests:
  - {id: REPORT-001, name: A report is written, level: must, tags: [report], steps: [{id: send, operation: send_message,
     params: {message: {parts: [{text: report 2}]}}, expect: {task: {status: {state: TASK_STATE_COMPLETED}}}}]}
  - {id: REPORT-002, name: A report without a topic is rejected, level: should, spec_ref: "1.0 §3.1.1",
     description: A message that is only the name of the skill., steps: [
     {id: send, description: Ask for a report., operation: send_message, params: {message: {parts: [{text: report 2}]}},
      expect: {task: {status: {state: TASK_STATE_REJECTED}, artifacts: {count: 0}}}, capture: {id: task.id}},
     {id: get, operation: get_task, params: {id: "{{send.id}}"}}]}
- id: extended-card
  name: The extended card
  tests:
  - {id: CARD-001, name: The extended card is returned, level: may,
     preconditions: {capabilities: {extendedAgentCard: true}}, steps: [{id: get, operation: get_extended_agent_card}]}
"""


@usual_sizes
async def test_a_test_of_a_check_file_that_failed(
    open_app: Open, snapshots: Snapshots, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size
):
    monkeypatch.chdir(tmp_path)  # the path on the screen is always the same
    path = Path("checks.yaml")
    path.write_text(_CHECKS, encoding="utf-8")
    async with open_app(mock, size, check_file=path) as driver:
        await driver.connected()
        await driver.until("checks.yaml ─ 3 tests")
        await driver.press("u", "down", "down")
        await driver.until("MUST ✓ 1 ─ SHOULD ✕ 1 ─ MAY · 1")
        await driver.snap(snapshots, "checks")


@usual_sizes
async def test_an_unreachable_agent(open_app: Open, snapshots: Snapshots, size):
    async with open_app(UNREACHABLE, size) as driver:
        await driver.until("Next step")
        await driver.snap(snapshots, "unreachable")


@pytest.mark.parametrize("size", [(1, 1), (20, 5), (400, 200)], ids=str)
async def test_every_view_works_at_extreme_sizes(open_app: Open, mock: str, size):
    async with open_app(mock, size) as driver:
        await driver.connected()
        for view in (view.id for view in VIEWS):
            driver.workbench.view = view
            await driver.pilot.pause()
        assert len(driver.lines) == size[1]
        await driver.press("f1")
        assert isinstance(driver.app.screen, HelpScreen)


# The pictures themselves


def test_every_picture_belongs_to_a_test():
    normal = [
        "connect",
        "agent",
        "chat-asking",
        "help",
        "chat-pushed",
        "webhooks",
        "traffic",
        "findings",
        "checks",
        "unreachable",
    ]
    named = {f"{name}-{size}" for name in normal for size in ("120x40", "80x24")}
    named |= {f"{name}-paper-120x40" for name in ("agent", "chat-asking")}
    plain = {f"{name}-{size}" for name in ("agent", "chat-asking") for size in ("40x12", "200x60")}
    named |= {"tour-message-80x24", "tour-finding-120x40"}
    kept = {path.name for path in PICTURES.iterdir()}
    assert kept == {f"{name}.txt" for name in named | plain} | {f"{name}.svg" for name in named}


def picture(*lines: str, style: str = "") -> list[Strip]:
    return [Strip([Segment(line, Style.parse(style))]) for line in lines]


def test_a_changed_screen_fails_with_a_diff_and_stores_the_new_picture(tmp_path):
    kept, failed = tmp_path / "kept", tmp_path / "failed"
    Snapshots(update=True, pictures=kept, failed=failed).check("x", picture("same   ", "before "))
    snapshots = Snapshots(update=False, pictures=kept, failed=failed)
    with pytest.raises(AssertionError, match=r"(?s)x\.txt has changed.*\n-before\n\+after"):
        snapshots.check("x", picture("same   ", "after  "))
    assert (failed / "x.txt").read_text() == "same\nafter\n"
    assert (failed / "x.svg").exists()
    snapshots.check("x", picture("same   ", "before "))
    assert list(failed.iterdir()) == []


def test_a_screen_in_other_colours_fails_too(tmp_path):
    kept, failed = tmp_path / "kept", tmp_path / "failed"
    Snapshots(update=True, pictures=kept, failed=failed).check("x", picture("same", style="red"))
    snapshots = Snapshots(update=False, pictures=kept, failed=failed)
    snapshots.check("x", picture("same", style="blue"), coloured=False)
    with pytest.raises(AssertionError, match=r"(?s)x\.svg has changed.*fill"):
        snapshots.check("x", picture("same", style="blue"))


def test_a_screen_without_a_picture_fails(tmp_path):
    with pytest.raises(AssertionError, match="has changed"):
        Snapshots(update=False, pictures=tmp_path, failed=tmp_path / "failed").check("x", picture("new"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+0 ms    0 ms  ←", "+0 ms          ←"),
        ("127.0.0.1:46391/", "127.0.0.1:60001/"),
        ("  1 s    12 s  ", " 59 s     9 s  "),
        ("2026-01-02T17:01:33.123Z", "2031-12-31T00:00:00.000Z"),
        ("dcea3396 ● dcea3396-3f5f-418c-bd36-9ae… 6f8264d5", "01234567 ● 01234567-89ab-cdef-0123-456… 89abcdef"),
        ("✓ 22 ms after stream #10", "✓ 75 ms after stream #10"),
        ("│ dialog │2  │", "│ dialog │d  │"),
        ("    0 ms  ──━━━   │", "    0 ms  ─━━━━━━ │"),
        ('││3d55141cc185", "result"', '││1e63438b3fc3", "result"'),
        ('     1f",  ', '     d8",  '),
        ("http://h/push/Ab-_0 ", "http://h/push/zzzzz "),
    ],
)
def test_variable_texts_are_replaced_by_texts_of_the_same_width(one, other):
    assert Normaliser().line(one) == Normaliser().line(other)
    assert len(Normaliser().line(one)) == len(one)


@pytest.mark.parametrize("text", ["1.0.0  1.0 · JSONRPC", "31 kB  412 chunks", "30 seconds", "xdeadbeef", "12:07"])
def test_constant_texts_are_not_replaced(text):
    assert Normaliser().line(text) == text


def test_equal_ids_get_equal_replacements():
    normaliser = Normaliser()
    assert normaliser.line("dcea3396 6f8264d5") == "11111111 22222222"
    assert normaliser.line("6f8264d5-cd68 dcea3396") == "22222222-2222 11111111"
