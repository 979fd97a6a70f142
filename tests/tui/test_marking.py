"""Bookmarks and remarks on rows: their keys and symbols, and navigation between them."""

from __future__ import annotations

import pytest
from driving import Driver, Open
from players import deliver

from inspector.capture.records import Kind
from inspector.tui.screens.form import FormScreen
from inspector.tui.widgets.feed import Feed

SIZE = (220, 40)


def status(said: str) -> dict[str, object]:
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": said}]}
    told = {"state": "TASK_STATE_WORKING", "message": message}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": told}}


async def three_deliveries(driver: Driver) -> None:
    """Go to Webhooks, with three deliveries there and the last one selected."""
    await driver.connected()
    await driver.go(4)
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    registration = driver.session.push.register("t", version="1.0").registration
    hook = {"url": registration.url, "token": registration.token}
    for said in ("first", "second", "third"):
        assert await deliver(hook, status(said)) == 204
    await driver.until("third")
    await driver.until(lambda: driver.app.screen.focused is not None)
    await driver.press("end")
    await driver.settled()


def selected(driver: Driver) -> str:
    """Return the lines of the rows under the cursors."""
    return "\n".join(line for line in driver.lines if "▌" in line)


async def test_a_bookmark_shows_on_its_row_and_another_one_takes_it_back(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await three_deliveries(driver)
        await driver.press("b")
        await driver.until("★")
        assert "★" in driver.line("third")
        assert "★" not in driver.line("second")
        await driver.press("b")
        await driver.until(lambda: "★" not in driver.screen)
        said = [record.event for record in driver.records(Kind.NOTE) if "mark" in record.event]
        assert said == ["bookmark", "unbookmark"]


async def test_a_note_is_written_shown_changed_and_taken_back(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await three_deliveries(driver)
        await driver.press("A")
        await driver.until("Remark on #")
        await driver.type("why so late? [/]")
        await driver.press("enter")
        await driver.until("✎")
        await driver.until("why so late? [/]")
        assert "✎" in driver.line("third")
        await driver.press("A")
        await driver.until("Remark on #")
        assert "why so late? [/]" in driver.screen
        await driver.press("ctrl+u", "enter")
        await driver.until(lambda: "✎" not in driver.screen)


async def test_a_note_that_is_too_long_is_not_taken(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await three_deliveries(driver)
        await driver.press("A")
        await driver.until("Remark on #")
        await driver.paste("x" * 201)
        await driver.press("enter")
        await driver.until("The remark has 201 characters; the maximum is 200.")
        assert isinstance(driver.app.screen, FormScreen)
        await driver.press("escape")
        assert len(driver.session.bookmarks) == 0


async def test_a_key_goes_to_the_next_mark_and_from_the_last_to_the_first(open_app: Open, mock: str):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        await three_deliveries(driver)
        await driver.press("B")
        await driver.until("There is no bookmark or remark.")
        first, _, third = (record.seq for record in driver.records(Kind.DELIVERY))
        driver.session.bookmarks.toggle(1)  # not a delivery: Webhooks does not list it
        driver.session.bookmarks.toggle(first)
        driver.session.bookmarks.remark(third, "the last")
        await driver.settled()
        for row in ("first", "third", "first"):
            await driver.press("B")
            await driver.until(lambda row=row: row in selected(driver))


async def test_traffic_marks_exchanges_and_records(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.go(5)
        await driver.until("GetAgentCard")
        feed = driver.app.screen.query_one("#records", Feed)
        driver.app.screen.set_focus(feed)
        await driver.press("home")
        await driver.settled()
        await driver.press("b")
        await driver.until("★")
        assert sum("★" in line for line in driver.lines) == 2  # the request is a record, and opened the exchange


async def test_without_a_row_there_is_nothing_to_mark(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.go(4)
        for key in ("b", "A"):
            await driver.press(key)
        await driver.settled()
        assert not isinstance(driver.app.screen, FormScreen)
        assert len(driver.session.bookmarks) == 0


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_the_signs_have_ascii_stand_ins(open_app: Open, mock: str, ascii_only: bool):
    async with open_app(mock, SIZE, ascii=ascii_only) as driver:
        await three_deliveries(driver)
        seq = driver.records(Kind.DELIVERY)[0].seq
        driver.session.bookmarks.toggle(seq)
        driver.session.bookmarks.remark(seq, "both")
        await driver.until('^ " both' if ascii_only else "★ ✎ both")


async def test_the_timeline_says_what_each_push_is_to_the_stream(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.go(4)
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.ask("push")
        await driver.until(lambda: driver.session.push.registrations[0].accepted >= 3)
        await driver.go(2)
        await driver.settled()
        pushed = [line for line in driver.lines if "⇐  push" in line]
        streamed = next(record for record in driver.records(Kind.FRAME) if record.state)
        assert any(f" stream #{streamed.seq}" in line for line in pushed), driver.screen
        assert any(line.split("│")[1].rstrip().endswith("⇐") for line in driver.lines if "←  status" in line)


async def test_a_bookmark_is_on_the_timeline_and_the_note_about_it_is_not(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.ask("echo hello")
        await driver.press("escape", "end")
        await driver.settled()
        rows = len([line for line in driver.lines if line])
        await driver.press("b")
        await driver.until("★")
        assert "★" in driver.line("▌")
        assert "bookmark #" not in driver.screen
        assert len([line for line in driver.lines if line]) == rows
