from __future__ import annotations

import pytest
from rich.cells import cell_len
from stage import Stage, drawn, settle
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.selection import SELECT_ALL, Selection

from inspector.tui.render.hexdump import HexDump
from inspector.tui.render.text_lines import Line
from inspector.tui.themes import fallback_variables
from inspector.tui.widgets import lines
from inspector.tui.widgets.lines import LineView


class Numbers:
    """Lines with their number, as many and as long as wanted."""

    def __init__(self, count: int, text: str = "line") -> None:
        self.count = count
        self.text = text

    def __len__(self) -> int:
        return self.count

    def layout(self, width: int, keep: int) -> int:
        return keep

    def line(self, index: int) -> Line:
        return [(f"{self.text} ", "line--text"), (str(index), "line--quiet")]


def wheel(kind: type[events.MouseEvent]) -> events.MouseEvent:
    return kind(None, 5, 5, 0, 0, 0, False, False, False, screen_x=5, screen_y=5)


async def test_only_visible_lines_are_drawn_and_keys_scroll() -> None:
    view = LineView(Numbers(1_000_000))
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        for keys, top in [(["down", "j"], 2), (["pagedown"], 13), (["k"], 12), (["G"], 999_988), (["home"], 0)]:
            await pilot.press(*keys)
            await settle(pilot)
            assert drawn(view)[0] == f"line {top}", keys


async def test_a_view_that_follows_stays_at_the_end_until_it_is_moved() -> None:
    numbers = Numbers(100)
    view = LineView(numbers, follow=True)
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert drawn(view)[-1] == "line 99"
        numbers.count = 200
        view.refresh_source()
        await settle(pilot)
        assert drawn(view)[-1] == "line 199"
        await pilot.press("up")
        numbers.count = 300
        view.refresh_source()
        await settle(pilot)
        assert (drawn(view)[-1], view.following, view.unseen) == ("line 198", False, 100)
        await pilot.press("end")
        assert (view.following, view.unseen) == (True, 0)


async def test_a_view_that_is_moved_between_a_layout_and_its_resize_event_stays_there() -> None:
    """A task can end at this moment, so that its artifact is read from its beginning."""
    view = LineView(Numbers(100), follow=True)
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert drawn(view)[-1] == "line 99"
        moved = []

        def move(_: object) -> None:
            if not moved and view.size.width < 40:
                moved.append(view.size.width)
                view.refresh_source()
                view.following = False
                view.action_first()

        view.screen.screen_layout_refresh_signal.subscribe(view, move, immediate=True)
        view.styles.width = 20
        await settle(pilot)
        assert moved == [20]
        assert (drawn(view)[0], view.following) == ("line 0", False)


async def test_the_wheel_scrolls_and_reaching_the_end_is_following() -> None:
    numbers = Numbers(20)
    view = LineView(numbers, follow=True)
    app = Stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        app.post_message(wheel(events.MouseScrollUp))
        await settle(pilot)
        await pilot.wait_for_animation()
        assert not view.following
        app.post_message(wheel(events.MouseScrollDown))
        await settle(pilot)
        await pilot.wait_for_animation()
        assert view.following


async def test_a_wide_line_is_cut_and_can_be_scrolled() -> None:
    view = LineView(Numbers(3, text="x" * 100))
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert drawn(view)[0] == "x" * 37 + "…"
        for _ in range(10):
            view.action_aside(8)
        await settle(pilot)
        assert drawn(view)[0].endswith("x 0")
        assert cell_len(view.render_line(0).text) == 40


async def test_controls_never_reach_a_line() -> None:
    view = LineView(Numbers(1, text="\x1b]0;title\x07\n\u202e"))
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert drawn(view)[0] == "␛]0;title␇␊‹U+202E› 0"


async def test_the_cache_of_drawn_lines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_CACHED", 100)
    view = LineView(Numbers(5_000))
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for top in range(0, 240, 24):
            view.scroll_to(y=top, animate=False)
            drawn(view)
        assert len(view._strips) <= 100


async def test_another_source_starts_at_its_beginning() -> None:
    view = LineView(Numbers(100))
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("end")
        view.show(Numbers(50, text="other"))
        await settle(pilot)
        assert drawn(view)[0] == "other 0"
        view.show(Numbers(0))
        view.empty = "Nothing here."
        await settle(pilot)
        assert [line.strip() for line in drawn(view) if line] == ["Nothing here."]


async def test_a_source_that_is_given_to_a_hidden_view_is_laid_out_when_it_is_shown() -> None:
    view = LineView(Numbers(5))
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        view.display = False
        await settle(pilot)
        view.show(HexDump(bytes(800)))
        await settle(pilot)
        view.display = True
        await settle(pilot)
        assert drawn(view)[0] == "0000  00 00  00 00  ...."
        assert view.max_scroll_y == 200 - 12
        view.action_last()
        await settle(pilot)
        assert drawn(view)[-1].startswith("031c")


async def test_a_resize_keeps_the_bytes_that_are_at_the_top() -> None:
    view = LineView(HexDump(bytes(8_000)))
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        view.scroll_to(y=100, animate=False)
        await pilot.resize_terminal(41, 12)
        await settle(pilot)
        assert drawn(view)[0].startswith("0640")
        assert view.scroll_offset.y > 100
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert drawn(view)[0].startswith("0640")


async def test_lines_are_selected_with_the_mouse_and_copied_as_they_are_seen() -> None:
    view = LineView(Numbers(100, text="你好 line"))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        view.scroll_to(y=10, animate=False)
        await settle(pilot)
        await pilot.mouse_down(LineView, offset=(5, 1))
        await pilot.hover(LineView, offset=(4, 3))
        await pilot.mouse_up(LineView, offset=(4, 3))
        await settle(pilot)
        assert app.screen.get_selected_text() == "line 11\n你好 line 12\n你好 "
        style = app.screen.get_component_rich_style("screen--selection")
        marked = "".join(s.text for s in view.render_line(1) if s.style and s.style.bgcolor == style.bgcolor)
        assert marked == "line 11"


async def test_a_selection_of_everything_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_COPIED", 100)
    view = LineView(Numbers(120))
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        copied = view.get_selection(SELECT_ALL)
        assert copied is not None
        assert copied[0].endswith("line 99\n… 20 more lines are not copied")
        copied = view.get_selection(Selection(Offset(2, 1), Offset(3, 2)))
        assert copied == ("ne 1\nlin", "\n")


async def test_added_lines_do_not_cause_a_layout_of_the_screen() -> None:
    numbers = Numbers(100)

    class Two(App[None]):
        layouts = 0

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return fallback_variables(self.current_theme)

        def compose(self) -> ComposeResult:
            yield LineView(numbers, follow=True)
            yield Neighbour()

    class Neighbour(Vertical):
        def pre_layout(self, layout) -> None:
            Two.layouts += 1

    app = Two()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = Two.layouts
        view = app.query_one(LineView)
        for _ in range(5):
            numbers.count += 100
            view.refresh_source()
            await settle(pilot)
        assert drawn(view)[-1] == "line 599"
        assert Two.layouts == before
