"""A capture in the app: every view shows its content, and nothing can be sent."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from driving import Driver, Open

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.finding import Finding, Severity
from inspector.protocol.errors import Fault
from inspector.protocol.lifecycle import State
from inspector.session import reconnect
from inspector.tui.screens.session_screen import SessionScreen
from inspector.tui.widgets.composer import Composer


@pytest.fixture
async def recorded(open_app: Open, mock: str, tmp_path: Path) -> Path:
    """A copy of the capture of a session with two messages and a finding."""
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 40")
        await driver.ask("careless")
        path = driver.session.journal.capture.path
    return Path(shutil.copy(path, tmp_path / "earlier.a2a"))


async def read(driver: Driver) -> None:
    """Wait until the capture is read."""
    await driver.until(lambda: driver.app.session is not None and driver.app.session.recorded)
    await driver.until("● capture ")
    await driver.settled()


async def test_every_view_shows_the_content_of_a_capture(open_app: Open, recorded: Path):
    async with open_app(None, (120, 40), recording=recorded) as driver:
        await read(driver)
        assert "earlier.a2a" in driver.lines[0]
        assert driver.line("you ▸  report 40")
        assert "Artifact" in driver.screen
        await driver.go(1)
        assert "This is a capture file" in driver.screen
        assert "v" in driver.line("the card that was recorded").split()
        assert "v view" in driver.lines[-1]
        await driver.press("v")
        await driver.until('"supportedInterfaces": [')
        assert "the card that was recorded" in driver.screen
        await driver.press("v")
        await driver.until("This is a capture file")
        await driver.go(3)
        assert driver.screen.count("completed") >= 1
        assert "No tasks yet" not in driver.screen
        await driver.go(4)
        assert "A capture has no receiver" in driver.screen
        assert "The capture contains no deliveries." in driver.screen
        await driver.go(5)
        assert driver.line("SendStreamingMessage").split()[2:4] == ["POST", "/"]
        await driver.go(6)
        assert "STREAM-004" in driver.screen


async def test_nothing_is_sent_from_a_capture(open_app: Open, recorded: Path):
    async with open_app(None, (120, 40), recording=recorded, run={"notifications": True}) as driver:
        await read(driver)
        assert not driver.widget("#composer", Composer).display
        assert [driver.enabled(key) for key in ("i", "p", "d", "e", "I")] == [False] * 5
        assert driver.timeline.has_focus
        await driver.press("i")
        assert driver.timeline.has_focus
        await driver.go(4)
        assert [driver.enabled(key) for key in ("R", "O", "w", "e")] == [False] * 4
        await driver.go(1)
        await driver.press("r")
        assert driver.session.recorded


async def test_a_capture_is_searched_and_its_records_are_shown(open_app: Open, recorded: Path):
    async with open_app(None, (120, 40), recording=recorded) as driver:
        await read(driver)
        await driver.go(5)
        await driver.press("slash")
        await driver.type("kind:task")
        await driver.until(" of ")
        await driver.press("enter")
        await driver.settled()
        assert "task" in driver.screen
        await driver.press("v")


async def test_a_capture_is_selected_on_the_connect_screen(open_app: Open, recorded: Path, home: Path):
    async with open_app(None, (120, 40)) as driver:
        await driver.until("the built-in mock agent")
        [path] = (home / "captures").iterdir()
        assert "Captures" in driver.screen
        await driver.click(path.name, times=2)
        await read(driver)
        assert path.name in driver.lines[0]


async def test_a_view_that_is_chosen_while_a_capture_is_read_keeps_the_focus(
    open_app: Open, recorded: Path, monkeypatch: pytest.MonkeyPatch
):
    mounted, chosen = SessionScreen.mounted, asyncio.Event()

    async def mounted_slowly(screen: SessionScreen, *views: str) -> None:
        await mounted(screen, *views)
        if len(views) > 1:
            await chosen.wait()

    monkeypatch.setattr(SessionScreen, "mounted", mounted_slowly)
    async with open_app(None, (120, 40), recording=recorded) as driver:
        await driver.until(lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.press("6")
        chosen.set()
        await read(driver)
        await driver.settled()
        assert driver.workbench.view == "findings"
        assert not driver.workbench.chat.has_focus_within


async def test_a_capture_path_is_entered_on_the_connect_screen_and_an_agent_is_selected_afterwards(
    open_app: Open, recorded: Path, mock: str
):
    async with open_app(None, (120, 40)) as driver:
        await driver.paste(str(recorded))
        await driver.press("enter")
        await read(driver)
        driver.app.open(mock)
        await driver.connected()
        assert not driver.session.recorded
        await driver.ask("report 3")


@pytest.mark.parametrize(("content", "said"), [(b"no capture", "is not a capture"), (b"", "is empty")])
async def test_a_file_that_is_not_a_capture_is_reported_on_the_current_screen(
    open_app: Open, tmp_path: Path, content: bytes, said: str
):
    (tmp_path / "odd.a2a").write_bytes(content)
    async with open_app(None, (120, 40), run={"notifications": True}) as driver:
        await driver.paste(str(tmp_path / "odd.a2a"))
        await driver.press("enter")
        await driver.until(said)
        await driver.until("Connect to an agent")
    async with open_app(None, (120, 40), recording=tmp_path / "odd.a2a") as driver:
        await driver.until(lambda: driver.app.return_value is not None)
        assert isinstance(driver.app.return_value, Fault)
        assert said in driver.app.return_value.seen


async def test_a_capture_that_is_being_written_is_shown_with_a_warning(open_app: Open, tmp_path: Path):
    with Capture.create(tmp_path / "now.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, label="the first of all")
        assert capture.flush(10)
        async with open_app(None, (120, 40), recording=tmp_path / "now.a2a", run={"notifications": True}) as driver:
            await driver.until("is still writing this capture")
            await driver.until("the first of all")
        capture.append(Kind.NOTE, 2.0)
        assert capture.flush(10)


async def test_a_damaged_capture_reports_how_much_was_read(open_app: Open, tmp_path: Path):
    path = tmp_path / "torn.a2a"
    with Capture.create(path) as capture:
        for number in range(20_000):
            capture.append(Kind.NOTE, 1.0, label=f"note {number} " + "x" * 100)
    content = bytearray(path.read_bytes())
    page = content.index(b"note 15000 ") // 4096 * 4096
    content[page : page + 4096] = b"\xee" * 4096
    path.write_bytes(content)
    async with open_app(None, (120, 40), recording=path, run={"notifications": True}) as driver:
        await driver.until("damaged")


async def test_an_unknown_rule_of_another_release_is_shown(open_app: Open, tmp_path: Path):
    with Capture.create(tmp_path / "newer.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, label="odd", findings=[Finding("FUTURE-001", Severity.ERROR, "/a", "seen")])
    async with open_app(None, (120, 40), recording=tmp_path / "newer.a2a") as driver:
        await read(driver)
        await driver.go(6)
        await driver.until("FUTURE-001")
        assert "does not know" in driver.screen


async def test_the_task_of_the_selected_request_is_compared(open_app: Open, recorded: Path):
    async with open_app(None, (120, 40), recording=recorded) as driver:
        await read(driver)
        first = driver.session.tasks.all()[-1]
        await driver.press("home", "down")
        assert driver.line("▌").count("report 40") == 1
        await driver.press("c")
        await driver.until(f"Stream, push and GetTask: task {first.id[:8]}")


async def test_a_capture_of_a_task_that_waits_for_an_authorization_sends_nothing(
    open_app: Open, mock: str, tmp_path: Path
):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("approval")
        assert driver.session.tasks.all()[0].now.state == State.AUTH_REQUIRED
        path = driver.session.journal.capture.path
    shutil.copy(path, tmp_path / "waiting.a2a")
    async with open_app(None, recording=tmp_path / "waiting.a2a", run={"notifications": True}) as driver:
        await read(driver)
        await driver.go(2)
        await driver.until("auth-required")
        await asyncio.sleep(2 * reconnect.DELAYS[0])
        assert not driver.app._notifications
