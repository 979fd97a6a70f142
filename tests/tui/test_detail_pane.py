"""The detail of a record: its position, its changes, searching and copying."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pyperclip
import pytest
from driving import Driver, Open
from players import begin, playing
from puppets import Call, chunk, status, task

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import RULES
from inspector.session.replay.position import position_of
from inspector.text.units import duration
from inspector.tui.render.finding_lines import findings_of
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.json_view import JsonView


async def rewriting(call: Call):
    """Append to an artifact, replace it, and end."""
    response = await begin(call)
    for event in (
        {"task": task("SUBMITTED")},
        status("WORKING", "At it."),
        chunk("one\ntwo\n"),
        chunk("three\n", append=True),
        chunk("one\nTWO\nthree\n", lastChunk=True),
        status("COMPLETED"),
    ):
        await response.write(call.frame(event))
    await response.write_eof()
    return response


async def asked(driver: Driver) -> DetailPane:
    await driver.connected()
    await driver.ask("go")
    await driver.press("escape", "f")
    return driver.widget("#chat-detail", DetailPane)


def frames(driver: Driver) -> list[Record]:
    return [record for record in driver.records() if record.kind == "frame"]


async def show(driver: Driver, record: Record) -> None:
    driver.widget("#chat", type(driver.workbench.query_one("#chat"))).show_seq(record.seq)
    await driver.until(lambda: driver.widget("#chat-detail", DetailPane).record.seq == record.seq)


async def test_the_beginning_of_an_event_is_not_called_invalid_json(open_app: Open):
    async def interrupted(call: Call):
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}) + b'data: {"jsonrpc":"2.0","id":')
        return response

    async with playing(interrupted) as agent, open_app(agent.url, (150, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.until("an incomplete event, as text:")
        assert 'data: {"jsonrpc":"2.0","id":' in driver.screen
        assert "not JSON" not in driver.screen


async def test_a_record_says_where_it_stands_in_its_exchange(open_app: Open):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40)) as driver:
        await asked(driver)
        for number, record in enumerate(frames(driver), 1):
            await show(driver, record)
            before = driver.session.journal.capture.get(record.seq - 1)
            place = f"event {number}/6, gap {duration(record.at - before.at)}"
            await driver.until(f"SendStreamingMessage, {place}")
            assert position_of(record, driver.session.journal) == place


async def test_the_only_event_of_an_exchange_has_no_number(open_app: Open):
    async def answer(call: Call):
        return call.result({"task": task("COMPLETED")})

    async with playing(answer) as agent, open_app(agent.url, (150, 40)) as driver:
        await asked(driver)
        (body,) = [record for record in driver.records(Kind.BODY) if record.event == "task"]
        await driver.until(lambda: driver.session.journal.exchanges.get(body.exchange).seconds is not None)
        await show(driver, body)
        assert position_of(body, driver.session.journal) == ""


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_an_opened_detail_stays_on_its_record_until_it_is_left(open_app: Open, size: tuple[int, int]):
    more, end = asyncio.Event(), asyncio.Event()

    async def answer(call: Call) -> Any:
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        await more.wait()
        await response.write(call.frame(status("INPUT_REQUIRED")))
        await end.wait()
        await response.write(call.frame(status("COMPLETED")))
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url, size) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: driver.records(Kind.FRAME))
        await driver.press("escape", "enter")
        pane = driver.widget("#chat-detail", DetailPane)
        first = driver.records(Kind.FRAME)[0]
        assert pane.record == first
        more.set()
        await driver.until(lambda: len(driver.records(Kind.FRAME)) == 2)
        await driver.settled()
        assert pane.record == first
        assert driver.workbench.views.chat.selected_record() == first
        await driver.press("escape")
        assert pane.record == driver.records(Kind.FRAME)[1]
        await driver.press("up", "enter", "escape")  # a row that the user has chosen
        end.set()
        await driver.done()
        assert pane.record == first


async def test_what_an_event_changed_is_shown_as_a_difference(open_app: Open):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40)) as driver:
        pane = await asked(driver)
        pane.choose("diff")
        _, working, first, appended, replaced, done = frames(driver)
        await show(driver, working)
        await driver.until("○ submitted → ◐ working")
        assert "At it." in driver.screen
        await show(driver, first)
        await driver.until("+ one")
        await show(driver, appended)
        await driver.until("+ three")
        assert "+ one" not in driver.screen
        await show(driver, replaced)
        await driver.until("- two")
        assert "+ TWO" in driver.screen
        await show(driver, done)
        await driver.until("◐ working → ● completed")


async def test_what_tells_nothing_of_a_task_has_no_change_to_show(open_app: Open):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40)) as driver:
        pane = await asked(driver)
        pane.choose("diff")
        request = next(record for record in driver.records() if record.operation == "SendStreamingMessage")
        await show(driver, request)
        assert "headers diff" not in driver.screen
        await driver.until('"jsonrpc"')


async def test_every_view_is_searched_and_the_next_places_are_gone_to(open_app: Open):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40)) as driver:
        pane = await asked(driver)
        await show(driver, frames(driver)[1])
        for view in ("decoded", "raw", "headers"):
            pane.choose(view)
            pane.focus_body()
            await driver.press("slash")
            await driver.type("working" if view != "headers" else "frame")
            await driver.until("1 of ")
            await driver.press("enter", "n", "N")
        pane.choose("hex")
        pane.focus_body()
        await driver.press("slash")
        await driver.type("no such thing")
        await driver.until("no match")
        await driver.press("escape")


async def copy_as(driver: Driver, entry: str) -> None:
    """Choose an entry of the menu of forms."""
    await driver.press("Y")
    await driver.until("Copy #")
    await driver.until(f"│   {entry} ")
    await driver.click(f"│   {entry} ", aside=5)


async def test_a_value_is_copied_as_it_is_as_json_and_by_its_pointer(open_app: Open, monkeypatch):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40)) as driver:
        pane = await asked(driver)
        copied: list[str] = []
        monkeypatch.setattr(pyperclip, "copy", copied.append)
        await show(driver, frames(driver)[1])
        pane.choose("decoded")
        pane.focus_body()
        view = pane.query_one("#decoded", JsonView)
        view.go_to("/result/statusUpdate/status/state")
        await driver.press("y")
        await copy_as(driver, "JSON")
        await copy_as(driver, "Pointer")
        assert copied == [
            "TASK_STATE_WORKING",
            '"TASK_STATE_WORKING"',
            "/result/statusUpdate/status/state",
        ]
        view.go_to("")
        await copy_as(driver, "JSON")
        assert json.loads(copied[-1])["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_WORKING"


async def test_the_request_of_a_record_is_copied_with_the_credentials(open_app: Open, monkeypatch):
    async with playing(rewriting) as agent, open_app(agent.url, (150, 40), bearer="sesame-street") as driver:
        pane = await asked(driver)
        copied: list[str] = []
        monkeypatch.setattr(pyperclip, "copy", copied.append)
        await show(driver, frames(driver)[1])
        pane.focus_body()
        await copy_as(driver, "curl command")
        assert copied[0].startswith("curl ")
        assert agent.url in copied[0]
        assert "Authorization: Bearer sesame-street" in copied[0]
        assert "SendStreamingMessage" in copied[0]
        await copy_as(driver, "Python program (httpx)")
        assert "httpx.stream('POST'" in copied[1]
        assert "sesame-street" in copied[1]
        note = next(record for record in driver.records() if not record.exchange)
        await show(driver, note)
        await driver.press("Y")
        await driver.until("Headers and facts")
        assert "curl command" not in driver.screen


async def test_findings_of_a_rule_at_several_places_have_one_remedy_and_their_places():
    found = [Finding("CARD-073", Severity.ERROR, f"/securitySchemes/{name}", "seen") for name in "abcde"]
    lines = [f"{line.head[0]}{line.text}" for line in findings_of(found, UNICODE)]
    assert lines[0].startswith("! CARD-073  ")
    assert lines[0].endswith(": seen at /securitySchemes/a")
    assert lines[1:4] == ["  seen at /securitySchemes/b", "  seen at /securitySchemes/c", "  and at 2 more places"]
    assert RULES["CARD-073"].remedy in lines[4]
    assert len(lines) == 5


def test_the_worst_finding_of_a_record_is_the_first():
    found = [Finding(rule, severity, "", "seen") for rule, severity in _UNORDERED]
    lines = [f"{line.head[0]}{line.text}" for line in findings_of(found, UNICODE)]
    assert [line.split()[1] for line in lines if line[:2] in ("! ", "~ ", "i ")] == ["RPC-001", "RPC-005", "CLIENT-008"]


_UNORDERED = (("CLIENT-008", Severity.HINT), ("RPC-001", Severity.ERROR), ("RPC-005", Severity.WARNING))
