from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from rich.cells import cell_len
from stage import Stage, drawn, settle

from inspector.tui.widgets.exchange_feed import ExchangeFeed
from inspector.tui.widgets.feed import Column, Feed, Row

COLUMNS = [
    Column("time", 7, "right"),
    Column("way", 1),
    Column("what"),
    Column("mark", 8, min_total_width=60),
    Column("size", 6, "right", min_total_width=30),
]


@dataclass
class Events:
    """Rows that are made when they are asked for, and counted."""

    count: int = 0
    what: str = "event"
    asked: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return self.count

    def row(self, index: int) -> Row:
        self.asked.append(index)
        return [
            (f"{index / 1000:.3f}", "feed--quiet"),
            ("←", "feed--received"),
            (f"{self.what} {index}", "feed--text"),
            ("token ✓", "feed--good"),
            ("180 B", "feed--muted"),
        ]


async def test_cells_are_aligned_in_columns() -> None:
    feed = Feed(COLUMNS, Events(2))
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert drawn(feed)[:3] == [
            "   0.000  ←  event 0                                          token ✓    180 B",
            "▌  0.001  ←  event 1                                          token ✓    180 B",
            "",
        ]


async def test_a_narrow_feed_leaves_columns_out_and_cuts_the_rest() -> None:
    feed = Feed(COLUMNS, Events(2, what="an event with a long name"))
    async with Stage(feed).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert drawn(feed)[0] == "   0.000  ←  an event with a …   180 B"
        await pilot.resize_terminal(20, 12)
        await settle(pilot)
        assert drawn(feed)[0] == "   0.000  ←  an e…"


HOSTILE = [
    "e" + "\u0301" * 20_000,
    "你好世界" * 100,
    "שלום עולם " * 50,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪 👍🏽 " * 20,
    "\x1b[2J\x9b\u202e\ud800\n\t" * 50,
    "[/][@click=app.quit]x[/]",
    "",
]


async def test_hostile_rows_are_as_wide_as_all_others() -> None:
    class Hostile(Events):
        def row(self, index: int) -> Row:
            return [(HOSTILE[index], style) for _, style in super().row(index)]

    feed = Feed(COLUMNS, Hostile(len(HOSTILE)))
    async with Stage(feed).run_test(size=(40, 12)) as pilot:
        for width in (40, 63, 80, 121):
            await pilot.resize_terminal(width, 12)
            await settle(pilot)
            for y in range(12):
                line = feed.render_line(y)
                assert cell_len(line.text) == line.cell_length == width
                assert line.text.isprintable()


async def test_the_cursor_follows_the_last_row_until_it_is_moved() -> None:
    rows = Events(5)
    feed = Feed(COLUMNS, rows)
    app = Stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert (feed.cursor, feed.following) == (4, True)
        await pilot.press("up")
        assert (feed.cursor, feed.following) == (3, False)
        rows.count = 100
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.cursor, feed.following, feed.scroll_offset.y) == (3, False, 0)
        assert feed.unseen == 100 - 24
        await pilot.press("end")
        assert (feed.cursor, feed.following, feed.unseen) == (99, True, 0)
        rows.count = 200
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.cursor, feed.scroll_offset.y) == (199, 200 - 24)


async def test_rows_that_were_there_when_following_stopped_are_not_new() -> None:
    rows = Events(50)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rows.count = 56  # not drawn yet
        feed.cursor = 20
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.following, feed.unseen) == (False, 0)
        rows.count = 60
        feed.refresh_rows()
        await settle(pilot)
        assert feed.unseen == 4


async def test_unseen_rows_become_fewer_while_the_cursor_moves_down() -> None:
    rows = Events(30)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        rows.count = 60
        feed.refresh_rows()
        assert feed.unseen == 30
        feed.cursor = 40
        await settle(pilot)
        assert feed.unseen == 60 - 41
        assert not feed.following


async def test_the_wheel_stops_and_resumes_following() -> None:
    rows = Events(100)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        feed.scroll_to(y=50, animate=False)
        assert not feed.following
        rows.count = 120
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.cursor, feed.scroll_offset.y, feed.unseen) == (99, 50, 20)
        feed.scroll_to(y=200, animate=False)
        await settle(pilot)
        assert (feed.cursor, feed.following, feed.unseen) == (119, True, 0)


async def test_scrolling_to_the_end_does_not_move_the_cursor() -> None:
    rows = Events(100)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        feed.scroll_to(y=200, animate=False)
        rows.count = 101
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.cursor, feed.following) == (0, False)


async def test_keys_move_the_cursor_and_keep_it_in_view() -> None:
    feed = Feed(COLUMNS, Events(100), follow=False)
    async with Stage(feed).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert feed.cursor == 0
        for keys, cursor, top in [
            (["down", "j"], 2, 0),
            (["pagedown"], 13, 2),
            (["k", "up"], 11, 2),
            (["end"], 99, 88),
            (["down"], 99, 88),
            (["pageup"], 88, 88),
            (["home"], 0, 0),
            (["up"], 0, 0),
            (["G"], 99, 88),
            (["g"], 0, 0),
        ]:
            await pilot.press(*keys)
            assert (feed.cursor, feed.scroll_offset.y) == (cursor, top), keys
            assert drawn(feed)[cursor - top].startswith("▌")


async def test_enter_opens_the_row_under_the_cursor() -> None:
    app = Stage(Feed(COLUMNS, Events(10)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("up", "enter")
        await settle(pilot)
        assert app.heard[-2:] == [("highlighted", 8), ("opened", 8)]


async def test_a_click_selects_a_second_click_opens_and_a_double_click_opens_once() -> None:
    app = Stage(Feed(COLUMNS, Events(10)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.heard.clear()
        await pilot.click(Feed, offset=(10, 3))
        await settle(pilot)
        assert app.heard == [("highlighted", 3)]
        await pilot.click(Feed, offset=(20, 3))
        await settle(pilot)
        assert app.heard == [("highlighted", 3), ("opened", 3)]
        await pilot.double_click(Feed, offset=(10, 5))
        await settle(pilot)
        assert app.heard[2:] == [("highlighted", 5), ("opened", 5)]
        await pilot.double_click(Feed, offset=(10, 5))
        await settle(pilot)
        assert app.heard[4:] == [("opened", 5)]
        await pilot.click(Feed, offset=(10, 20))
        await settle(pilot)
        assert app.heard[5:] == []


async def test_a_click_selects_the_row_at_the_scroll_position() -> None:
    feed = Feed(COLUMNS, Events(100))
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click(Feed, offset=(10, 0))
        assert feed.cursor == 76


async def test_a_burst_of_rows_is_one_message() -> None:
    first, second = Feed.Highlighted(Feed(COLUMNS, Events(0)), 1), Feed.Highlighted(Feed(COLUMNS, Events(0)), 2)
    assert first.can_replace(Feed.Highlighted(first.feed, 3))
    assert not first.can_replace(second)
    assert not first.can_replace(Feed.Opened(first.feed, 1))


@pytest.mark.parametrize("count", [100_000, 1_000_000])
async def test_only_visible_rows_are_built(count: int) -> None:
    rows = Events(count)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert (feed.cursor, feed.scroll_offset.y) == (count - 1, count - 24)
        assert f"event {count - 1} " in drawn(feed)[-1]
        await pilot.press("home")
        await settle(pilot)
        assert "event 0 " in drawn(feed)[0]
        assert feed.vertical_scrollbar.position == 0
        assert feed.vertical_scrollbar.window_virtual_size == count
        assert set(rows.asked) <= {*range(24), *range(count - 24, count)}


async def test_changed_rows_are_drawn_again() -> None:
    rows = Events(3)
    feed = Feed(COLUMNS, rows)
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rows.what = "chunk"
        feed.refresh_rows()
        await settle(pilot)
        assert "chunk 1" in drawn(feed)[1]


async def test_rows_added_before_the_first_layout_are_shown() -> None:
    rows = Events()
    feed = Feed(COLUMNS, rows)
    rows.count = 7
    feed.refresh_rows()
    app = Stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert feed.cursor == 6
        assert ("highlighted", 6) in app.heard


async def test_other_rows_are_shown_from_their_end_and_the_cursor_stays_in_range() -> None:
    feed = Feed(COLUMNS, Events(100))
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g")
        rows = Events(50, what="other")
        feed.show_rows(rows)
        await settle(pilot)
        assert (feed.cursor, feed.following, feed.scroll_offset.y, feed.unseen) == (49, True, 26, 0)
        await pilot.press("up")
        rows.count = 10
        feed.refresh_rows()
        await settle(pilot)
        assert (feed.cursor, feed.scroll_offset.y) == (9, 0)
        feed.show_rows(Events(0))
        await settle(pilot)
        assert feed.cursor == -1


async def test_an_empty_feed_shows_a_hint_and_no_cursor() -> None:
    rows = Events()
    feed = Feed(COLUMNS, rows, empty="Nothing yet. Press ctrl+s to send a message, and see what comes back.")
    app = Stage(feed)
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        await pilot.press("up", "down", "pageup", "end", "home", "enter")
        assert app.heard == []
        assert [line for line in drawn(feed) if line] == [
            "  Nothing yet. Press ctrl+s to send a",
            "   message, and see what comes back.",
        ]
        rows.count = 1
        feed.refresh_rows()
        await settle(pilot)
        assert app.heard == [("highlighted", 0)]
        assert drawn(feed)[0].startswith("▌")


async def test_a_smaller_terminal_keeps_the_tail_and_a_larger_one_fills_up() -> None:
    feed = Feed(COLUMNS, Events(100))
    async with Stage(feed).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert (feed.cursor, feed.following, feed.scroll_offset.y) == (99, True, 88)
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert (feed.cursor, feed.following, feed.scroll_offset.y) == (99, True, 60)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (20, 5)])
async def test_a_tiny_terminal_does_not_crash(size: tuple[int, int]) -> None:
    feed = Feed(COLUMNS, Events(100))
    async with Stage(feed).run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("up", "pageup", "end")
        for y in range(size[1]):
            assert cell_len(feed.render_line(y).text) == size[0]


async def test_the_styles_of_cells_are_those_of_the_theme() -> None:
    feed = Feed(COLUMNS, Events(1))
    app = Stage(feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)

        def colour_of(text: str) -> str:
            segment = next(segment for segment in feed.render_line(0) if text in segment.text)
            assert segment.style is not None
            assert segment.style.color is not None
            return segment.style.color.name

        variables = app.theme_variables
        assert colour_of("←") == variables["wire-received"].lower()
        app.theme = "textual-light"
        await settle(pilot)
        assert colour_of("←") == app.theme_variables["wire-received"].lower()
        assert app.theme_variables["wire-received"] != variables["wire-received"]


class Fixed:
    """Rows with given texts."""

    def __init__(self, *rows: Row) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]


class Exchanges(Fixed):
    """Rows of exchanges with a path and an operation."""

    def __init__(self, *texts: tuple[str, str]) -> None:
        between = [("12:00:00", "feed--muted"), (" GET ", "feed--badge-get")]
        after = [(text, "feed--text") for text in (" 200 ", "json", "1 kB", "12 ms", "", "")]
        super().__init__(*([*between, (path, "feed--text"), (name, "feed--sent"), *after] for path, name in texts))
        self.longest = max(len(path) for path, _ in texts), max(len(name) for _, name in texts)

    def scale(self, first: int, count: int, width: int) -> bool:
        return False


async def test_paths_and_operations_stay_in_their_columns() -> None:
    path = "/v1/tenants/one/tasks/11111111-1111-4111-8111-111111111111:subscribe"
    texts = [("/", "SendMessage"), (path, "Get"), ("/", "GetTask  -32001 TaskNotFoundError, a long name")]
    feed = ExchangeFeed(Exchanges(*texts), empty="", id="exchanges")  # type: ignore[arg-type]
    async with Stage(feed).run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        heading = "".join(text for text, _ in feed.headings())
        lines = [line[1:] for line in drawn(feed)[:3]]
        for name, starts in (("OPERATION", ["SendMessage", "Get", "GetTask"]), ("STATUS", [" 200"] * 3)):
            at = heading.index(name)
            assert [line[at:].startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * 3
        assert "/v1/tenant" in lines[1]
        assert "subscribe  Get" in lines[1]
        assert "GetTask  -32001" in lines[2]


async def test_operations_have_the_width_that_paths_leave() -> None:
    feed = ExchangeFeed(Exchanges(("/", "x" * 30)), empty="", id="exchanges")  # type: ignore[arg-type]
    async with Stage(feed).run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        assert "x" * 30 in drawn(feed)[0]


async def test_the_colour_of_a_badge_ends_with_its_text() -> None:
    columns = [Column("STATUS", 8), Column("PATH")]
    feed = Feed(columns, Fixed([(" 404 ", "feed--badge-bad"), ("/", "feed--text")]))
    async with Stage(feed).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        strip = feed.render_line(0)
        reversed_text = "".join(segment.text for segment in strip if segment.style and segment.style.reverse)
        assert reversed_text == " 404 "


async def test_columns_can_be_replaced() -> None:
    feed = Feed([Column("A", 3), Column("B")], Fixed([("a", "feed--text"), ("b", "feed--text")]))
    async with Stage(feed).run_test(size=(20, 4)) as pilot:
        await settle(pilot)
        assert drawn(feed)[0] == "▌a    b"
        feed.show_columns([Column("A", 6), Column("B")])
        feed.refresh_rows()
        await settle(pilot)
        assert drawn(feed)[0] == "▌a       b"
