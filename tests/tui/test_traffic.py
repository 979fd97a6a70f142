"""The Traffic view: the table of exchanges, the request and response of an exchange, its records, and copying."""

from __future__ import annotations

import asyncio
from typing import Any

import pyperclip
import pytest
from driving import Driver, Open
from players import begin, playing
from puppets import Call, status, task

from inspector.capture.records import Kind, Record
from inspector.tui.render.detail import request_head
from inspector.tui.render.text_lines import Paragraphs
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.screens.menu import MenuScreen
from inspector.tui.views.traffic import TrafficView
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Feed


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were copied to the clipboard."""
    texts: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", texts.append)
    return texts


async def traffic(driver: Driver, *messages: str) -> None:
    """Send messages and go to the Traffic view."""
    await driver.connected()
    for message in messages:
        await driver.ask(message)
    await driver.press("escape")
    await driver.go(5)
    await driver.settled()


async def choose(driver: Driver, entry: str) -> None:
    """Choose an entry of the open menu."""
    await driver.until(lambda: isinstance(driver.app.screen, MenuScreen))
    await driver.until(entry)
    await driver.click(entry)


async def test_the_heading_of_a_short_path_is_not_cut(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await traffic(driver, *["hello"] * 8)
        assert "agent-card.json" not in driver.screen, "each visible path is /"
        assert " PATH " in driver.line("METHOD")


async def test_exchanges_are_listed_with_headings_and_what_an_http_client_shows(open_app: Open, mock: str):
    async with open_app(mock, (130, 36)) as driver:
        await traffic(driver, "report 2")
        headings = ["TIME", "METHOD", "PATH", "OPERATION", "STATUS", "TYPE", "SIZE", "DURATION"]
        assert driver.line("METHOD").split()[1:-1] == headings
        card, message = driver.line("GetAgentCard").split()[2:6], driver.line("SendStreamingMessage").split()[1:6]
        assert card == ["GET", "/.well-known/agent-card.json", "GetAgentCard", "200"]
        assert message == ["POST", "/", "SendStreamingMessage", "200", "event-stream"]
        bars = [
            driver.line(operation).rstrip("│ ").split()[-1] for operation in ("GetAgentCard", "SendStreamingMessage")
        ]
        assert max(map(len, bars)) == 6
        assert set("".join(bars)) <= {"─", "━"}
        assert "Exchanges ─ 2" in driver.screen


async def test_an_exchange_shows_its_request_and_its_response(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await traffic(driver, "report 2")
        exchanges, detail = driver.widget("#exchanges", Feed), driver.widget("#traffic-detail", DetailPane)
        assert exchanges.has_focus
        assert "request headers body ─ response headers body" in driver.screen
        assert 'data: {"jsonrpc"' in driver.screen
        await driver.press("v")
        assert f"POST {mock}/" in driver.screen
        assert "Accept: text/event-stream" in driver.screen
        assert detail._exchange is not None
        lines = Paragraphs(request_head(detail._exchange))
        lines.layout(20, 0)
        assert "".join(text for text, _ in lines.line(0)).startswith("POST http://"), "the URL begins after the method"
        await driver.press("v")
        assert '"method": "SendStreamingMessage"' in driver.screen
        await driver.press("v")
        assert "HTTP/1.1 200 OK" in driver.screen
        assert "Content-Type: text/event-stream" in driver.screen
        await driver.press("up")
        await driver.until("request headers ─ response headers body")
        assert "Content-Type: application/json" in driver.screen
        await driver.press("tab", "down")
        assert driver.widget("#records", Feed).has_focus
        assert "#2 response ─ decoded raw hex headers" in driver.screen
        await driver.press("escape")
        assert exchanges.has_focus
        await driver.until("request headers ─ response headers body")
        await driver.click("request")
        assert f"GET {mock}/.well-known/agent-card.json" in driver.screen
        assert detail.record == driver.records(Kind.REQUEST)[0]


async def test_the_records_of_an_exchange_are_listed_and_opened(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await traffic(driver, "report 2")
        request = driver.records(Kind.REQUEST)[1]
        records = driver.widget("#records", Feed)
        assert f"Records ─ #{request.seq} SendStreamingMessage" in driver.screen
        assert "KIND" in driver.screen
        await driver.press("tab")
        assert records.has_focus
        assert f"#{request.seq} request ─ decoded" in driver.screen
        assert records.line_count == len(driver.records()) - driver.records(Kind.NOTE)[0].seq
        await driver.press("enter")
        assert driver.widget("#traffic-detail", DetailPane).has_focus_within
        await driver.press("v", "v", "v")
        assert "POST" in driver.line("method ")
        assert f"{mock}/" in driver.line("url ")
        await driver.press("escape")
        assert records.has_focus
        await driver.press("escape")
        assert driver.widget("#exchanges", Feed).has_focus


async def test_an_exchange_is_copied(open_app: Open, mock: str, copied: list[str]):
    async with open_app(mock, (120, 40)) as driver:
        await traffic(driver, "report 2")
        await driver.press("y")
        assert copied == [f"{mock}/"]
        await driver.press("Y")
        await choose(driver, "curl command")
        assert copied[-1].startswith("curl ")
        number = driver.records(Kind.REQUEST)[-1].seq
        await driver.press("Y")
        await driver.until(f"Copy #{number} SendStreamingMessage as")
        [heading] = [line.index("Request ") for line in driver.lines if line.strip("│ ").strip() == "Request"]
        assert driver.line("Request as HTTP text").index("Request as") == heading + 2, "entries are indented"
        assert "Headers and facts" not in driver.screen, "no record is selected"
        await choose(driver, "Request as HTTP text")
        first, *lines = copied[-1].splitlines()
        assert first == f"POST {mock}/"
        assert '"SendStreamingMessage"' in lines[-1]
        await driver.press("Y")
        await choose(driver, "Response body")
        assert copied[-1].startswith("data: {")
        assert copied[-1].count("data: ") == len(driver.records(Kind.FRAME))
        await driver.press("v", "enter", "y")
        assert copied[-1].startswith(f"POST {mock}/\n")


async def test_a_message_is_sent_again_from_its_exchange(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await traffic(driver, "report 2")
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, InterfacesScreen))
        await driver.press("enter")
        await driver.done(2)
        first, second = driver.sent("SendStreamingMessage")
        assert first["params"]["message"]["parts"] == second["params"]["message"]["parts"]


async def test_an_error_of_the_agent_is_in_the_row_of_its_exchange(open_app: Open):
    async def answer(call: Call):
        return call.error(-32603, "out of order")

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await traffic(driver, "go")
        row = driver.line("SendStreamingMessage")
        assert "-32603" in row
        assert " 200 " in row
        await driver.until('"message": "out of order"')


async def test_a_refused_connection_says_why(open_app: Open):
    async with open_app(None, (120, 36)) as driver:
        async with playing() as agent:
            driver.app.open(agent.url)
            await driver.connected()
        await driver.ask("is anybody there?")
        await driver.press("escape")
        await driver.go(5)
        await driver.until("connection was refused")
        assert " fail " in driver.line("SendStreamingMessage")
        assert "No response was received." in driver.screen
        assert "response headers body" not in driver.screen


async def test_a_running_exchange_shows_its_progress_and_its_end(open_app: Open):
    released = asyncio.Event()

    async def slowly(call: Call):
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        await released.wait()
        await response.write(call.frame(status("COMPLETED")))
        await response.write_eof()
        return response

    async with playing(slowly) as agent, open_app(agent.url, (120, 36)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: driver.records(Kind.FRAME))
        await driver.press("escape")
        await driver.go(5)
        await driver.until("1 in progress")
        assert "running" in driver.line("SendStreamingMessage")
        assert driver.screen.count("data: {") == 1
        released.set()
        await driver.until(lambda: driver.screen.count("data: {") == 2)
        await driver.until(lambda: "in progress" not in driver.screen)


async def test_on_a_small_screen_the_detail_is_one_key_away(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await traffic(driver, "report 2")
        assert "DURATION" in driver.screen
        assert "response headers" not in driver.screen
        await driver.press("enter")
        await driver.until("response headers body")
        assert "DURATION" not in driver.screen
        await driver.press("v")
        assert f"POST {mock}/" in driver.screen
        await driver.press("escape")
        assert "DURATION" in driver.screen
        assert driver.widget("#exchanges", Feed).has_focus


@pytest.mark.parametrize("size", [(100, 30), (120, 36), (200, 50)])
async def test_the_title_of_the_detail_is_not_cut(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size) as driver:
        await traffic(driver, "report 2")
        assert "request headers body ─ response headers body" in driver.screen
        await driver.go(2)
        await driver.press("escape")
        await driver.until("decoded raw hex headers diff")
        if size[0] >= 120:
            assert f"Detail ─ #{driver.widget('#chat-detail', DetailPane).record.seq}" in driver.screen


async def test_a_key_right_after_a_move_is_about_the_new_row(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("echo first")
        await driver.ask("echo second")
        await driver.go(5)
        view = driver.widget("TrafficView", TrafficView)
        feed = view._exchange_feed
        driver.app.screen.set_focus(feed)
        await driver.settled()
        last = view.selected_record()
        feed.cursor -= 1
        record = view.selected_record()  # before the message about the cursor is handled
        assert (last is not None and record is not None) and record.exchange < last.exchange
        assert record.seq == record.exchange == view._exchanges.number(feed.cursor)


async def test_the_focused_pane_stays_on_a_screen_that_becomes_narrow(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.go(5)
        await driver.press("enter")
        await driver.until(lambda: driver.widget("#traffic-detail", DetailPane).has_focus_within)
        await driver.click("GetAgentCard")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until("╭─ Exchanges")
        assert "╭─ Detail" not in driver.screen


async def test_an_exchange_whose_request_was_lost_is_shown(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    """After a failure of the disk, only the records in memory remain."""
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        capture = driver.session.journal.capture

        def read(*, limit: int | None = None, **chosen: Any) -> list[Record]:
            found = [record for record in select(**chosen) if record.kind is not Kind.REQUEST]
            return found[:limit]

        select = capture.select
        monkeypatch.setattr(capture, "select", read)
        number = driver.records(Kind.END)[-1].exchange
        await driver.go(5)
        await driver.until(lambda: driver.workbench.view == "traffic")
        driver.workbench.views.view.show_exchange(number)
        await driver.settled()
        assert "Records ─ #" in driver.screen
