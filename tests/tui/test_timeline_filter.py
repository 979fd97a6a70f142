"""The filter of the timeline, while events arrive."""

from __future__ import annotations

from driving import Driver, Open
from textual.widgets import Input

from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.filter_line import FilterLine
from inspector.tui.widgets.timeline_pane import TimelinePane


async def filtering(driver: Driver, line: str) -> None:
    driver.widget("#chat #filter-words", Input).value = ""
    await driver.type(line)


async def test_a_filter_leaves_its_hits_of_the_timeline_and_escape_takes_it_away(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 3")
        everything = driver.timeline.line_count
        await driver.press("escape", "slash")
        line = driver.widget("#chat FilterLine", FilterLine)
        await filtering(driver, "state:")
        assert not line.has_class("-good")
        await filtering(driver, "state:wor")
        assert "state:working" in driver.screen
        await driver.press("tab")
        await driver.until(lambda: driver.timeline.line_count == 1)
        assert line.has_class("-good")
        assert f"1 of {everything} rows" in driver.line("Timeline")
        await driver.press("enter")
        assert driver.timeline.has_focus
        assert driver.widget("#chat-detail", DetailPane).record.state == "TASK_STATE_WORKING"
        await driver.press("escape")
        assert driver.timeline.line_count == everything
        assert not driver.widget("#timeline-pane", TimelinePane).filtering


async def test_a_filter_goes_on_with_what_comes_and_folds_as_the_timeline_does(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 3")
        await driver.press("escape", "slash")
        await filtering(driver, "kind:artifact")
        await driver.until(lambda: driver.timeline.line_count == 1)
        await driver.press("enter", "f")
        await driver.until(lambda: driver.timeline.line_count == 3)
        await driver.press("f")
        await driver.until(lambda: driver.timeline.line_count == 1)
        await driver.ask("report 4")
        await driver.until(lambda: driver.timeline.line_count == 2)


async def test_a_filter_without_a_hit_says_how_to_see_all_again(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 3")
        await driver.press("escape", "slash")
        await filtering(driver, "state:failed")
        await driver.until("No match.")
        await driver.press("escape")
        await driver.until(lambda: driver.timeline.line_count > 1)
