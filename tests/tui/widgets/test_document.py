from __future__ import annotations

import pytest
from rich.cells import cell_len
from stage import Stage, drawn, settle
from textual.selection import SELECT_ALL

from inspector.tui.widgets.document import Document


async def test_text_is_wrapped_at_the_width_and_again_at_another() -> None:
    document = Document("the quick brown fox jumps over the lazy dog\nand sleeps", follow=False)
    async with Stage(document).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert drawn(document)[:3] == ["the quick brown fox jumps over the", "lazy dog", "and sleeps"]
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert drawn(document)[:3] == ["the quick brown fox jumps over the lazy dog", "and sleeps", ""]


async def test_growing_text_is_followed_until_the_user_scrolls_up() -> None:
    document = Document()
    async with Stage(document).run_test(size=(40, 12)) as pilot:
        for number in range(100):
            document.append(f"chunk {number}")
            document.append("\n")
        await settle(pilot)
        assert drawn(document)[-1] == "chunk 99"
        await pilot.press("pageup")
        document.append("more\n" * 7)
        await settle(pilot)
        assert (drawn(document)[-1], document.unseen) == ("chunk 88", 7)
        await pilot.press("G")
        await settle(pilot)
        assert (drawn(document)[-1], document.unseen, document.following) == ("more", 0, True)


async def test_rows_do_not_depend_on_the_pieces_of_the_text() -> None:
    text = (
        "Some words, 你好世界, e\u0301 and\ttabs.\n\nThen a very_long_word_that_does_not_fit_anywhere_at_all_today. "
        * 3
    )
    slow, fast = Document(), Document(text)
    async with Stage(slow).run_test(size=(40, 24)) as pilot:
        for letter in text:
            slow.append(letter)
        await settle(pilot)
        seen = drawn(slow)
    async with Stage(fast).run_test(size=(40, 24)) as pilot:
        await settle(pilot)
        assert drawn(fast) == seen


async def test_a_resize_keeps_the_paragraph_at_the_top() -> None:
    document = Document("".join(f"P{number} " + "word " * 30 + "\n" for number in range(100)), follow=False)
    async with Stage(document).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        top = next(index for index in range(document.line_count) if document._wrapped.row(index).startswith("P50"))
        document.scroll_to(y=top, animate=False)
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert drawn(document)[0].startswith("P50")


async def test_another_text_is_shown_from_its_start_or_its_end() -> None:
    document = Document("x\n" * 100, follow=False)
    async with Stage(document).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        await pilot.press("end")
        document.set_text("first\n" + "y\n" * 50)
        await settle(pilot)
        assert drawn(document)[0] == "first"
        document.set_text("")
        document.empty = "No text."
        await settle(pilot)
        assert [line.strip() for line in drawn(document) if line] == ["No text."]


@pytest.mark.parametrize("text", ["\u200b" * 5_000, "e" + "\u0301" * 20_000, "\x1b[2J" * 1_000, "👍🏽你 " * 1_000])
async def test_hostile_text_stays_in_its_columns(text: str) -> None:
    document = Document(text)
    async with Stage(document).run_test(size=(41, 12)) as pilot:
        await settle(pilot)
        for y in range(12):
            line = document.render_line(y).text
            assert cell_len(line) == 41
            assert line.isprintable()


async def test_copied_text_has_the_line_breaks_of_the_text_and_not_those_of_the_pane() -> None:
    text = "the quick brown fox jumps over the lazy dog and\nsleeps"
    document = Document(text)
    async with Stage(document).run_test(size=(20, 12)) as pilot:
        await settle(pilot)
        assert document.line_count > 3
        assert document.get_selection(SELECT_ALL) == (text, "\n")
