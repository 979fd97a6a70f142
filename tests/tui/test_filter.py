"""The filter of the Traffic view: validation and completion while typing, and new records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from driving import Driver, Open
from textual.widgets import Input

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.tui.views.chat import ChatView
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.filter_line import FilterLine


async def filtering(driver: Driver, line: str) -> None:
    driver.widget("#filter-words", Input).value = ""
    await driver.press(*({" ": "space"}.get(letter, letter) for letter in line))


def judged(driver: Driver) -> str:
    line = driver.widget("FilterLine", FilterLine)
    return "bad" if line.has_class("-bad") else "good" if line.has_class("-good") else ""


async def test_a_filter_leaves_its_hits_and_follows_what_comes(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.go(5)
        await driver.press("slash")
        assert driver.widget("#filter-words", Input).has_focus
        await filtering(driver, "kind:artifact")
        artifacts = driver.records(event="artifact")
        hits = driver.widget("#hits", Feed)
        await driver.until(f"Matching records ─ {len(artifacts)} of {len(driver.records())}")
        assert judged(driver) == "good"
        assert hits.line_count == len(artifacts)
        assert driver.line("CONTENT").strip("│ ").split() == ["TIME", "GAP", "KIND", "CONTENT", "SUMMARY"]
        assert driver.line("CONTENT").index("CONTENT") == driver.line("report.md").index("report.md")
        await driver.press("enter", "home")
        assert hits.has_focus
        detail = driver.widget("#traffic-detail", DetailPane)
        await driver.until(lambda: detail.record == artifacts[0])
        await driver.press("enter")
        assert driver.widget("#records", Feed).has_focus
        await driver.ask("report 2")
        await driver.go(5)
        more = driver.records(event="artifact")
        assert len(more) > len(artifacts)
        await driver.until(f"Matching records ─ {len(more)} of {len(driver.records())}")
        assert hits.has_focus
        await driver.press("escape")
        await driver.until("Exchanges ─ 3")
        exchanges = driver.widget("#exchanges", Feed)
        assert exchanges.has_focus
        assert detail.record is not None
        assert driver.records(Kind.REQUEST)[exchanges.cursor].seq == detail.record.exchange
        assert not driver.widget("FilterLine", FilterLine).display


async def test_the_records_of_no_exchange_have_no_title_of_an_exchange(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.go(5)
        await driver.until("Records ─ #")
        await driver.press("slash")
        await filtering(driver, "kind:note")
        await driver.press("enter", "home")
        detail = driver.widget("#traffic-detail", DetailPane)
        await driver.until(lambda: detail.record is not None and detail.record.kind is Kind.NOTE)
        await driver.until(lambda: "Records ─ #" not in driver.screen)
        assert "╭─ Records ─" in driver.screen


async def test_a_search_that_fails_is_not_an_invalid_filter(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> Iterator[Any]:
        raise CaptureError("The capture cannot be read: the disk failed.")
        yield

    monkeypatch.setattr(Capture, "search", fail)
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.go(5)
        await driver.press("slash")
        await driver.type("kind:note")
        await driver.until("The capture cannot be read: the disk failed.")
        assert "Invalid filter" not in driver.screen


async def test_the_error_of_a_filter_is_shown_completely(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("slash")
        await filtering(driver, "colour:red")
        await driver.until("op, finding, gap, size, at, duration.")
        assert driver.widget("FilterLine", FilterLine).size.height == 3
        await filtering(driver, "kind:note")
        await driver.until(lambda: driver.widget("FilterLine", FilterLine).size.height == 2)


async def test_a_filter_that_is_wrong_says_why_and_tab_completes_one_that_is_not_finished(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.go(5)
        await driver.press("slash")
        await filtering(driver, "colour:red")
        await driver.until("Invalid filter: Unknown key colour; the keys are kind, task")
        assert judged(driver) == "bad"
        await filtering(driver, "op:sendm")
        await driver.until("tab op:SendMessage")
        await filtering(driver, "kind:ar")
        await driver.until("tab kind:artifact")
        assert judged(driver) == ""  # the word is only incomplete
        await driver.press("tab")
        assert driver.widget("#filter-words", Input).value == "kind:artifact"
        assert judged(driver) == "good"
        await filtering(driver, "-kind:frame -gap<0s [/]")
        await driver.until("Matching records ─ 0 of")
        await driver.until("No record matches -kind:frame -gap<0s")
        assert "esc to remove it" in driver.screen
        await driver.press("escape")
        await driver.until("Exchanges ─ 2")
        assert driver.widget("#exchanges", Feed).has_focus


async def test_another_filter_keeps_the_record_under_the_cursor(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 3")
        await driver.go(5)
        await driver.press("slash")
        await filtering(driver, "kind:frame")
        frames = driver.records(Kind.FRAME)
        hits = driver.widget("#hits", Feed)
        await driver.until(lambda: hits.line_count == len(frames))
        chosen = next(record for record in frames if record.event == "artifact")
        await driver.press("enter", "home", *["down"] * frames.index(chosen))
        detail = driver.widget("#traffic-detail", DetailPane)
        await driver.until(lambda: detail.record == chosen)
        await driver.press("slash")
        await filtering(driver, "kind:artifact")
        artifacts = driver.records(event="artifact")
        await driver.until(lambda: hits.line_count == len(artifacts))
        assert hits.cursor == 0
        assert detail.record == chosen


async def test_a_record_that_is_wanted_elsewhere_is_shown_although_the_filter_hides_it(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "slash")
        await filtering(driver, "kind:artifact")
        artifacts, statuses = driver.records(event="artifact"), driver.records(event="status")
        chat, feed = driver.widget("#chat", ChatView), driver.widget("#timeline", Feed)
        await driver.until(lambda: feed.line_count == 1)  # the chunks share a row
        chat.show_seq(artifacts[0].seq)
        assert chat.selected_record() in artifacts
        assert judged(driver) == "good"
        chat.show_seq(statuses[0].seq)
        assert chat.selected_record() == statuses[0]
        await driver.until(lambda: feed.line_count > 1)
        await driver.settled()
        assert chat.selected_record() == statuses[0]
        assert judged(driver) == ""
        assert not driver.widget("FilterLine", FilterLine).display
