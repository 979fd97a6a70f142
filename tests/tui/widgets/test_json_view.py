from __future__ import annotations

import json

from stage import Stage, drawn, settle
from textual.selection import SELECT_ALL

from inspector.tui.widgets.json_view import JsonView

VALUE = {"id": 1, "result": {"task": {"id": "59f8", "history": [1, 2]}, "text": "a\nb"}}


async def test_a_value_is_laid_out_with_the_cursor_on_its_first_line() -> None:
    view = JsonView()
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        view.show_value(VALUE)
        await settle(pilot)
        assert drawn(view)[:6] == [
            "▌▾ {",
            '     "id": 1,',
            '   ▾ "result": {',
            '     ▾ "task": {',
            '         "id": "59f8",',
            '       ▾ "history": [',
        ]
        assert app.heard == [("highlighted", "")]


async def test_arrows_fold_unfold_and_walk_the_tree() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value(VALUE)
        await settle(pilot)
        await pilot.press("down", "down", "down", "down")
        assert (view.pointer, view.value) == ("/result/task/id", "59f8")
        await pilot.press("left")
        assert view.pointer == "/result/task"
        await pilot.press("left")
        assert drawn(view)[3] == '▌    ▸ "task": { 2 members },'
        assert json.loads(view.value) == VALUE["result"]["task"]
        await pilot.press("right")
        assert drawn(view)[3] == '▌    ▾ "task": {'
        await pilot.press("right")
        assert view.pointer == "/result/task/id"
        await pilot.press("right")
        assert view.pointer == "/result/task/id"
        await pilot.press("home", "enter")
        assert drawn(view)[:2] == ["▌▸ { 2 members }", ""]
        await pilot.press("left")
        assert view.cursor == 0


async def test_a_second_click_folds() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value(VALUE)
        await settle(pilot)
        await pilot.double_click(JsonView, offset=(10, 2))
        assert drawn(view)[2] == '▌  ▸ "result": { 2 members }'


async def test_bytes_are_shown_as_they_were_written() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        view.show_bytes(b'{"n": 1.0, "n": 1E400}')
        await settle(pilot)
        assert drawn(view)[1:3] == ['     "n": 1.0,', '     "n": 1E400']


async def test_bytes_that_are_not_json_are_shown_as_text_with_the_reason() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)) as pilot:
        view.show_bytes(b"<html>\r\n<b>\x1b[2J502</b>")
        await settle(pilot)
        assert drawn(view)[:3] == [
            "▌a web page or XML, not JSON; as text:",
            " <html>",
            " <b>␛[2J502</b>",
        ]
        await pilot.press("left", "right", "enter", "down")
        assert (view.pointer, view.cursor) == ("", 1)
        assert view.value == "<html>\n<b>␛[2J502</b>"


async def test_a_long_reason_is_wrapped() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(30, 12)) as pilot:
        view.show_bytes(b"OK")
        await settle(pilot)
        assert drawn(view)[:4] == ["▌not JSON: expected value at", " line 1 column 1 ('OK'); as", " text:", " OK"]


async def test_json_that_is_nested_without_end_is_shown_as_text() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_bytes(b"[" * 200_000)
        await settle(pilot)
        assert drawn(view)[:2] == ["▌nested too deeply to be shown; as text:", " " + "[" * 77]
        await pilot.press("end")
        await settle(pilot)
        assert view.cursor == view.line_count - 1


async def test_a_long_line_is_marked_and_scrolls_sideways() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(40, 12)) as pilot:
        view.show_value([int("7" * 120)])
        await settle(pilot)
        assert drawn(view)[1].endswith("…")
        await pilot.press("shift+right")
        assert view.scroll_offset.x == 8
        for _ in range(15):
            view.action_aside(8)
        await settle(pilot)
        assert drawn(view)[1].endswith("777")


async def test_the_cursor_stays_at_its_value_when_the_width_changes() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value({"text": "many words " * 10, "id": "59f8", "last": 1})
        await settle(pilot)
        view.go_to("/id")
        await settle(pilot)
        wide = view.cursor
        await pilot.resize_terminal(30, 24)
        await settle(pilot)
        assert (view.pointer, view.value) == ("/id", "59f8")
        assert view.cursor > wide
        assert drawn(view)[view.cursor] == '▌    "id": "59f8",'


async def test_enter_unfolds_a_long_string() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value({"id": 1, "text": "many words " * 60 + "the end"})
        await settle(pilot)
        assert not any("the end" in line for line in drawn(view))
        view.go_to("/text")
        await pilot.press("enter")
        await settle(pilot)
        assert any("the end" in line for line in drawn(view))
        assert view.pointer == "/text"


async def test_a_large_value_asks_only_for_the_lines_in_view() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value([{"id": number, "name": "x" * 50} for number in range(40_000)])
        await settle(pilot)
        assert view.line_count == 160_002
        await pilot.press("end")
        await settle(pilot)
        assert drawn(view)[-1] == "▌  ]"
        assert len(view._strips) <= 60


async def test_copied_lines_are_json_without_the_marks() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(80, 24)) as pilot:
        view.show_value(VALUE)
        await settle(pilot)
        copied = view.get_selection(SELECT_ALL)
        assert copied is not None
        assert json.loads(copied[0]) == VALUE


LONG = {"name": "Agent", "skills": [{"id": f"s{i}", "name": f"Name {i}"} for i in range(30)], "Ünal": "STRASSE name"}


async def test_a_search_goes_to_the_hit_and_unfolds_its_parents() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)) as pilot:
        view.show_value(LONG)
        await settle(pilot)
        await pilot.press("down", "down", "left")
        assert view.line_count == 5
        assert view.find("NAME 7") == "1 of 1"
        await settle(pilot)
        assert (view.pointer, view.line_count) == ("/skills/7/name", 126)
        assert view.find("name") == "9 of 32"
        await pilot.press("n")
        assert view.pointer == "/skills/8/name"
        await pilot.press("N", "N")
        assert view.pointer == "/skills/6/name"
        await pilot.press("home")
        assert view.find("name") == "1 of 32"
        await pilot.press("N")
        assert view.pointer == "/Ünal"
        assert view.find("nowhere") == "no match"
        assert view.find("") == ""


async def test_hits_are_highlighted() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)) as pilot:
        view.show_value({"a": "one two one"})
        view.find("one")
        await settle(pilot)
        marked = [segment.text for segment in view.render_line(1) if segment.style and segment.style.underline]
        assert marked == ["one", "one"]


async def test_only_json_is_searched() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)):
        view.show_bytes(b"<html>")
        assert view.find("html") == "only JSON can be searched"
        view.go_to("/a")
        assert view.nearest("/a") == ""


async def test_a_pointer_leads_to_its_line_or_to_the_nearest_around_it() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)) as pilot:
        view.show_value({"a/b": {"~": [1, {"c": 2}]}, "d": 3})
        await settle(pilot)
        for pointer in ("/a~1b/~0/1/c", "/d", "/a~1b", ""):
            view.go_to(pointer)
            assert view.pointer == pointer
        view.go_to("/a~1b/~0/7/x")
        assert view.pointer == "/a~1b/~0"
        assert view.nearest("/nowhere") == ""


async def test_notes_are_shown_after_their_lines() -> None:
    view = JsonView()
    async with Stage(view).run_test(size=(60, 12)) as pilot:
        view.show_value({"a": 1, "b": [2]})
        view.note({"/a": ("! RULE-1", "json--error"), "/b/0": ("~ RULE-2", "json--warning")})
        await settle(pilot)
        assert drawn(view)[1:4] == ['     "a": 1,   ! RULE-1', '   ▾ "b": [', "       2   ~ RULE-2"]
