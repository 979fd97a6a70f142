"""Several agents and captures at once: each has a tab with its own session, capture and draft."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest
from driving import Driver, Open

from inspector.capture import paths
from inspector.capture.paths import is_being_written
from inspector.capture.records import Kind
from inspector.options import Options
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.session import Session
from inspector.tui.demo_agent import DemoAgent
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.workbench import WorkbenchScreen


async def connect(driver: Driver, reference: str) -> None:
    """Connect to one more agent, as a user does."""
    await driver.press("o")
    await driver.until("Connect to an agent")
    await driver.paste(reference)
    before = driver.app.session
    await driver.press("enter")
    await driver.until(lambda: driver.app.session is not before)
    await driver.connected()


async def test_each_agent_has_a_tab_with_its_own_session_and_draft(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.type("unsent here")
        first, count = driver.session, len(driver.session.journal.capture)
        await driver.press("escape")
        await connect(driver, slow_mock)
        assert driver.session is not first
        assert driver.lines[0].count("Mock Agent") == 2
        await driver.press("ctrl+pageup")
        await driver.until(lambda: driver.app.session is first)
        assert len(first.journal.capture) == count
        assert driver.workbench.view == "chat"
        assert driver.composer.text == "unsent here"
        await driver.press("escape", "ctrl+pagedown")
        await driver.until(lambda: driver.app.session is not first)
        column = driver.lines[0].index("Mock Agent")
        await driver.pilot.click(offset=(column + 1, 0))
        await driver.until(lambda: driver.app.session is first)


async def test_a_task_of_another_tab_goes_on(open_app: Open, mock: str, slow_mock: str):
    async with open_app(slow_mock) as driver:
        await driver.connected()
        await driver.say("long 2")
        first = driver.session
        await driver.until(driver.sent)  # on a busy machine, the call may end meanwhile
        await driver.press("escape")
        await connect(driver, mock)
        await driver.until(lambda: not first.journal.exchanges.open)
        assert first.tasks.all()[0].now.state.endswith("COMPLETED")
        await driver.press("ctrl+pageup")
        await driver.until("● completed")


async def test_closing_a_tab_ends_its_session_and_shows_the_tab_before(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        first = driver.session
        await connect(driver, slow_mock)
        second = driver.session
        await driver.app.run_action("app.close_connection")
        await driver.until(lambda: driver.app.session is first)
        assert isinstance(driver.app.screen, WorkbenchScreen)
        assert not is_being_written(second.journal.capture.path)
        assert driver.lines[0].count("Mock Agent") == 1
        await driver.app.run_action("app.close_connection")
        await driver.until(lambda: isinstance(driver.app.screen, ConnectScreen))
        assert not is_being_written(first.journal.capture.path)
        assert driver.app.session is None


async def test_a_tab_is_closed_with_its_key_its_mark_or_the_actions_menu(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        first = driver.session
        assert "close tab" not in driver.lines[-1]
        assert "✕" not in driver.lines[0]
        for way in ("key", "mark", "menu"):
            await connect(driver, slow_mock)
            await driver.until("close tab")
            match way:
                case "key":
                    await driver.press("X")
                case "mark":
                    await driver.click("✕")
                case _:
                    await driver.press("a")
                    await driver.until("enter choose")
                    await driver.press("end")
                    assert "X" in driver.line("Close this tab: the agent or capture")
                    await driver.press("enter")
            await driver.until(lambda: driver.app.session is first)
            await driver.until(lambda: "close tab" not in driver.lines[-1])


async def test_closing_a_tab_with_a_running_call_asks_first(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        first = driver.session
        await connect(driver, slow_mock)
        await driver.say("long 20")
        await driver.until(lambda: driver.session.journal.exchanges.open)
        await driver.press("escape", "X")
        await driver.until("A call is running, and would be stopped.")
        await driver.press("escape", "X", "enter")
        await driver.until(lambda: driver.app.session is first)


async def test_a_capture_is_a_tab_beside_the_agent(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        path = Path(driver.session.journal.capture.path)
        await driver.press("escape", "o")
        await driver.paste(str(path))
        await driver.press("enter")
        await driver.until(lambda: driver.session.recorded)
        await driver.until(path.name[:20])
        await driver.press("ctrl+pageup")
        await driver.until(lambda: not driver.session.recorded)
        await driver.ask("report 2")


async def test_captures_with_the_same_file_name_have_a_tab_each(open_app: Open, mock: str, tmp_path: Path):
    async with open_app(mock, capture=tmp_path / "x.a2a") as driver:
        await driver.connected()
    (tmp_path / "other").mkdir()
    other = tmp_path / "other/x.a2a"
    shutil.copy(tmp_path / "x.a2a", other)
    async with open_app(None, recording=tmp_path / "x.a2a") as driver:
        await driver.until(lambda: driver.app.session is not None)
        for path in (other, other):  # a second time, it replaces its own tab
            await driver.press("escape", "o")
            await driver.paste(str(path))
            await driver.press("enter")
            await driver.until(lambda: driver.session.journal.capture.path == other)
        assert len(driver.app._sessions._workbenches) == 2


async def test_an_agent_beside_an_opened_capture_gets_the_options_of_the_connection(
    open_app: Open, mock: str, tmp_path: Path
):
    async with open_app(mock, capture=tmp_path / "first.a2a") as driver:
        await driver.connected()
    chosen = {"capture": tmp_path / "second.a2a", "headers": (("X-Team", "blue"),), "transports": ("HTTP+JSON",)}
    async with open_app(None, recording=tmp_path / "first.a2a", **chosen) as driver:
        await driver.until(lambda: driver.app.session is not None)
        await connect(driver, mock)
        await driver.ask("hello")
        request = driver.records(Kind.REQUEST)[-1]
        assert "x-team" in [name.lower() for name, _ in request.meta["headers"]]
        assert request.meta["url"].endswith("/message:stream")
        assert driver.session.journal.capture.path == tmp_path / "second.a2a"


async def test_an_agent_that_is_opened_from_chat_and_does_not_answer_is_shown_with_the_reason(
    open_app: Open, mock: str
):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("o")
        await driver.until("Connect to an agent")
        await driver.type("127.0.0.1:1")
        await driver.press("enter")
        await driver.until("Nothing listens at 127.0.0.1:1")


async def test_an_attempt_that_failed_is_replaced_by_the_next(open_app: Open, mock: str):
    async with open_app("http://127.0.0.1:9") as driver:
        await driver.until("refused")
        await connect(driver, mock)
        assert "127.0.0.1:9" not in driver.lines[0]
        await driver.press("ctrl+pageup")
        assert driver.session.connection is not None, "there is one tab"


async def test_the_same_agent_again_is_a_new_connection_in_the_same_tab(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        first = driver.session
        await connect(driver, mock)
        assert driver.session is not first
        assert not is_being_written(first.journal.capture.path)
        assert driver.lines[0].count("Mock Agent") == 1


async def test_many_tabs_are_counted_where_there_is_no_room_for_their_names(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        for reference in (mock.replace("127.0.0.1", "localhost"), mock + "/", mock + "/.well-known/agent-card.json"):
            await connect(driver, reference)
        assert "4 of 4" in driver.lines[0]


async def test_the_help_lists_the_keys_of_the_next_agent_as_available(open_app: Open, mock: str):
    async with open_app(mock, size=(120, 100)) as driver:
        await driver.connected()
        await driver.press("question_mark")
        await driver.until("Not available here")
        heading = re.compile(r"\b(Go to|Edit|Move) {8,}")
        found = list(heading.finditer(driver.screen))
        assert found[0][1] == "Go to"
        listed = driver.screen[found[0].end() : found[1].start()]
        assert "Go to the next agent or capture" in listed
        assert "Go to the previous agent or capture" in listed
        assert "Go to the next pane" in listed
        assert driver.screen.count("Go to the next agent or capture") == 1
        assert driver.screen.count("^q") == 1


async def test_agents_of_the_same_name_are_told_apart_by_host_and_port(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        assert "127.0.0.1" not in driver.lines[0]
        await connect(driver, slow_mock)
        await driver.settled()
        for url in (mock, slow_mock):
            assert url.removeprefix("http://") in driver.lines[0]
        assert "no findings" in driver.lines[0]
        await driver.pilot.resize_terminal(140, 30)
        await driver.settled()
        for url in (mock, slow_mock):
            assert f"Mock Agent {url.removeprefix('http://')}" in driver.lines[0]


async def test_several_connections_to_one_agent_are_numbered(open_app: Open, mock: str, slow_mock: str):
    async with open_app(mock, size=(140, 30)) as driver:
        await driver.connected()
        await connect(driver, slow_mock)
        await connect(driver, mock)
        await driver.settled()
        host, other = (url.removeprefix("http://") for url in (mock, slow_mock))
        assert f"Mock Agent {host} #1" in driver.lines[0]
        assert f"Mock Agent {host} #2" in driver.lines[0]
        assert f"Mock Agent {other}  " in driver.lines[0]
        await driver.press("ctrl+pageup", "X")
        await driver.settled()
        assert driver.lines[0].count("Mock Agent #") == 2


async def test_an_agent_without_a_card_is_named_by_host_and_port(open_app: Open, mock: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        await driver.press("o")
        await driver.until("Connect to an agent")
        await driver.type("http://127.0.0.1:9")
        await driver.press("enter")
        await driver.until("unreachable since")
        await driver.settled()
        assert " 127.0.0.1:9 " in driver.lines[0]
        assert "Mock Agent" in driver.lines[0]


@pytest.mark.parametrize("milliseconds", [0, 2, 5, 10, 20, 40])
async def test_closing_a_tab_twice_closes_one_tab(open_app: Open, mock: str, slow_mock: str, milliseconds: int):
    async with open_app(mock) as driver:
        await driver.connected()
        first = driver.session
        await connect(driver, slow_mock)
        second = driver.session
        await driver.app.run_action("close_connection")
        await asyncio.sleep(milliseconds / 1000)
        if driver.app.session is not first:
            await driver.app.run_action("close_connection")
        await driver.until(lambda: driver.app.session is first and not driver.app.workers._workers)
        assert not is_being_written(second.journal.capture.path)
        assert driver.app.screen is driver.app.workbench


async def test_a_session_is_closed_although_another_agent_is_chosen_meanwhile(
    open_app: Open, mock: str, slow_mock: str, monkeypatch: pytest.MonkeyPatch
):
    began, close = asyncio.Event(), Session.close

    async def close_slowly(session: Session) -> None:
        began.set()
        await asyncio.sleep(0.05)
        await close(session)

    async with open_app(mock) as driver:
        await driver.connected()
        first = driver.session
        monkeypatch.setattr(Session, "close", close_slowly)
        driver.app.open(mock)
        await began.wait()
        driver.app.open(slow_mock)
        await driver.until(lambda: driver.app.workbench and driver.app.workbench.reference == slow_mock)
        await driver.connected()
        assert not is_being_written(first.journal.capture.path)
        assert driver.lines[0].count("Mock Agent") == 1


@pytest.mark.parametrize("reason", ["certificate", "capture"])
async def test_after_an_agent_that_cannot_be_opened_the_tab_before_is_shown(
    open_app: Open, mock: str, slow_mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
):
    async with open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        first = driver.session
        await connect(driver, slow_mock)
        await driver.press("ctrl+pageup")
        await driver.until(lambda: driver.app.session is first)
        options = Options(client_cert=tmp_path / "bad-file") if reason == "certificate" else None
        (tmp_path / "bad-file").write_text("")
        monkeypatch.setattr(paths, "new_capture_path", lambda *_: tmp_path / "bad-file" / "new")
        driver.app.open("http://127.0.0.1:1", options)
        await driver.until("bad-file")
        await driver.until(lambda: driver.app.session is first and driver.app.screen is driver.app.workbench)


async def test_a_demo_agent_that_cannot_start_leaves_the_other_tabs(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: DemoAgent) -> str:
        raise FaultError(Fault(Whose.YOURS, FaultCode.UNREACHABLE, "The mock agent did not start."))

    monkeypatch.setattr(DemoAgent, "url", fail)
    async with open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        first = driver.session
        driver.app.open(DEMO)
        await driver.until("The mock agent did not start.")
        assert driver.session is first


async def test_the_same_agent_again_does_not_end_a_running_call(open_app: Open, slow_mock: str):
    async with open_app(slow_mock) as driver:
        await driver.connected()
        first = driver.session
        await driver.say("long 20")
        await driver.until(lambda: first.journal.exchanges.open)
        await driver.press("escape")
        await connect(driver, slow_mock)
        assert driver.session is not first
        assert first.journal.exchanges.open
        assert driver.lines[0].count("Mock Agent") == 2


async def test_the_keys_of_tabs_tell_why_they_wait_while_an_agent_is_connected(open_app: Open, mock: str):
    silent = await asyncio.start_server(lambda reader, _: reader.read(), "127.0.0.1", 0)
    async with silent, open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.press("o")
        await driver.until("Connect to an agent")
        await driver.paste("http://{}:{}".format(*silent.sockets[0].getsockname()))
        await driver.press("enter")
        await driver.until("connecting")
        await driver.press("ctrl+pageup")
        await driver.until("An agent is being connected: esc cancels it.")
        await driver.press("escape")
        await driver.until("canceled")
