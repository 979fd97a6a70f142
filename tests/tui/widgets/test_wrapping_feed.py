"""The row under the cursor is wrapped, and every key, click and scroll still means the row that is drawn there."""

from __future__ import annotations

import pytest
from stage import Stage
from test_feed import Fixed, drawn, settle

from inspector.tui.widgets.feed import Column
from inspector.tui.widgets.wrapping_feed import WrappingFeed

COLUMNS = [Column("TIME", 4), Column("TEXT"), Column("NOTE", 4, "right", shrinks=True)]
LONG = "There is one at 18:00 and one at 20:30. Which do you want?"


def texts(*rows: str) -> Fixed:
    numbered = enumerate(rows)
    cells = ([(f"+{number}", "feed--muted"), (text, "feed--text"), ("ok", "feed--good")] for number, text in numbered)
    return Fixed(*cells)


def feed_of(*rows: str, follow: bool = False) -> WrappingFeed:
    return WrappingFeed(COLUMNS, texts(*rows), follow=follow)


async def test_the_selected_row_shows_its_whole_text_and_the_rows_below_move() -> None:
    feed = feed_of("a", LONG, "c")
    async with Stage(feed).run_test(size=(44, 10)) as pilot:
        await settle(pilot)
        assert drawn(feed)[2].startswith(" +2    c")
        assert "…" in drawn(feed)[1]
        await pilot.press("down")
        await settle(pilot)
        shown = [line.rstrip() for line in drawn(feed)]
        assert shown[1].split("ok")[0].rstrip() == "▌+1    There is one at 18:00 and one"
        assert shown[2] == "▌      at 20:30. Which do you want?"
        assert shown[3].startswith(" +2    c")
        await pilot.press("up")
        await settle(pilot)
        assert drawn(feed)[2].startswith(" +2    c")


async def test_a_text_of_more_than_three_lines_is_cut_on_the_third() -> None:
    feed = feed_of("word " * 100)
    async with Stage(feed).run_test(size=(44, 10)) as pilot:
        await settle(pilot)
        shown = [line.rstrip() for line in drawn(feed)]
        assert shown[2].endswith("…")
        assert not shown[3]


async def test_a_click_selects_the_row_that_is_drawn_there() -> None:
    feed = feed_of(LONG, "b", "c")
    async with Stage(feed).run_test(size=(44, 10)) as pilot:
        await settle(pilot)
        await pilot.click(feed, offset=(3, 1))
        assert feed.cursor == 0
        await pilot.click(feed, offset=(3, 3))
        assert feed.cursor == 2


@pytest.mark.parametrize("follow", [True, False])
async def test_the_whole_row_is_scrolled_into_view(follow: bool) -> None:
    feed = feed_of(*"abcdefghijkl", LONG, follow=follow)
    async with Stage(feed).run_test(size=(44, 5)) as pilot:
        await settle(pilot)
        if not follow:
            await pilot.press("end")
            await settle(pilot)
        assert drawn(feed)[4].startswith("▌      at 20:30. Which do you want?")
        await pilot.press("home")
        await settle(pilot)
        assert drawn(feed)[0].startswith("▌+0    a")


async def test_a_row_that_grows_is_wrapped_again() -> None:
    feed = feed_of("a", "b")
    async with Stage(feed).run_test(size=(44, 10)) as pilot:
        await settle(pilot)
        feed.show_rows(texts(LONG, "b"))
        await settle(pilot)
        assert drawn(feed)[1].startswith("▌      at 20:30.")
        assert drawn(feed)[2].startswith(" +1    b")
