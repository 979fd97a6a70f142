from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from inspector.text.sanitise import MARKS, Cleaner, clean, clean_line
from inspector.tui.render.content import plain

HOSTILE = (
    "\x00\x07\x08\x09\x0a\x0d\x1b\x7f\x80\x9b\x9d\u202a\u202e\u2066\u2069\u200e\u200f\u061c\u200b\u200d\u2060\ufeff"
)
HOSTILE += "\u2028\u2029\ud800\udfff\ue000\U000e0041\U000e01ef\U0010ffff\u00ad\u3164\ufe0f\ufe00\u0301\u0e31\u20e3"

texts = st.text(st.one_of(st.sampled_from(HOSTILE), st.characters(), st.sampled_from("ab ❤5👍🏽")))


def is_forbidden(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
        or code in {0x034F, 0x115F, 0x1160, 0x3164, 0xFFA0}
    )


@given(texts)
@example(HOSTILE)
def test_what_comes_out_has_nothing_that_a_terminal_could_obey_or_hide(text: str) -> None:
    assert not [character for character in clean(text) if is_forbidden(character)]


@given(texts)
@example(HOSTILE)
def test_of_all_controls_only_the_line_break_is_left_where_lines_may_break(text: str) -> None:
    assert not [c for c in clean(text, newlines=True) if is_forbidden(c) and c != "\n"]


@given(texts)
def test_no_letter_carries_more_than_a_few_marks_and_no_mark_is_without_a_letter(text: str) -> None:
    run = MARKS
    for character in clean(text):
        run = run + 1 if unicodedata.category(character).startswith("M") else 0
        assert run <= MARKS


@given(texts)
@example("❤\ufe0f 1\ufe0f\u20e3 👍🏽")
def test_the_width_of_what_comes_out_is_the_sum_of_its_letters(text: str) -> None:
    text = clean(text)
    assert cell_len(text) == sum(map(cell_len, text))


@given(texts, st.lists(st.integers(0, 60), max_size=4))
def test_a_text_in_pieces_has_no_forbidden_character_either(text: str, cuts: list[int]) -> None:
    cleaner = Cleaner(newlines=True)
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert not [c for c in "".join(map(cleaner.feed, pieces)) if is_forbidden(c) and c != "\n"]


@given(texts, st.integers(-2, 40))
@example("你好世界", 3)
@example("e" + "\u0301" * 20_000, 1)
def test_a_line_never_takes_more_cells_than_it_may(text: str, width: int) -> None:
    line = clean_line(text, width)
    assert cell_len(line) <= max(0, width)
    assert "\n" not in line


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_ascii_stays_as_it_is(text: str) -> None:
    assert clean(text) == text
    assert clean(text, newlines=True) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J", "␛[2J"),
        ("a\x7fb\x00", "a␡b␀"),
        ("\x9b31m", "‹U+009B›31m"),
        ("abc\u202etxt.exe", "abc‹U+202E›txt.exe"),
        ("a\u200bb\ufeff", "a‹U+200B›b‹U+FEFF›"),
        ("one\r\ntwo\tthree", "one␍␊two␉three"),
        ("\ud83d", "‹U+D83D›"),
        ("\U000e0041", "‹U+E0041›"),
        ("\u0301", "◌\u0301"),
        ("héé\u0301", "héé\u0301"),
        ("❤\ufe0f", "❤"),
        ("1\ufe0f\u20e3", "1\u20e3"),
        ("a\ufe0f", "a‹U+FE0F›"),
        ("x\ufe00\ufe01", "x‹U+FE00›‹U+FE01›"),
        ("👍🏽", "👍🏽"),
        ("한국 שלום नमस्ते", "한국 שלום नमस्ते"),
        ("[bold]x[/]", "[bold]x[/]"),
    ],
)
def test_each_character_that_cannot_be_drawn_has_its_own_token(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_lines_break_at_both_kinds_of_line_end_but_a_lone_return_overwrites_nothing() -> None:
    assert clean("a\r\nb\nc\rd", newlines=True) == "a\nb\nc␍d"


def test_tabs_go_to_the_next_stop_even_when_the_line_came_in_pieces() -> None:
    assert clean("ab\tc\n\td", newlines=True) == "ab  c\n    d"
    cleaner = Cleaner(newlines=True)
    assert [cleaner.feed(piece) for piece in ("a", "b", "\tc", "\n\td")] == ["a", "b", "  c", "\n    d"]


def test_an_accent_that_comes_after_its_letter_in_another_piece_is_not_alone() -> None:
    cleaner = Cleaner()
    assert cleaner.feed("e") + cleaner.feed("\u0301") == "e\u0301"


def test_too_many_marks_become_their_number() -> None:
    assert clean("e" + "\u0301" * 20_000 + "x") == "e" + "\u0301" * MARKS + f"‹+{20_000 - MARKS} marks›x"


def test_marks_that_trickle_in_one_by_one_stay_bounded() -> None:
    cleaner = Cleaner()
    text = cleaner.feed("e") + "".join(cleaner.feed("\u0301") for _ in range(20))
    assert text == "e" + "\u0301" * MARKS + "‹+1 marks›" * 16


def test_a_limit_cuts_and_says_so() -> None:
    assert clean("abcdef", limit=3) == "abc…"
    assert clean("abc", limit=3) == "abc"
    assert clean("abc", limit=0) == "…"


def test_no_more_of_a_huge_text_is_looked_at_than_a_line_can_show() -> None:
    class Watched(str):
        seen = 0

        def __getitem__(self, key):
            part = str.__getitem__(self, key)
            Watched.seen += len(part)
            return part

        def __iter__(self):
            raise AssertionError("the whole text was walked")

    assert clean_line(Watched("\x1bx" * 1_000_000), 80).endswith("…")
    assert Watched.seen < 10_000


def test_a_wide_letter_that_does_not_fit_leaves_the_line_aligned() -> None:
    assert clean_line("你好世界", 6) == "你好 …"


def test_markup_is_content_like_any_other() -> None:
    content = plain("[@click=app.quit]x[/] [/ \x1b]0;t\x07")
    assert isinstance(content, Content)
    assert content.plain == "[@click=app.quit]x[/] [/ ␛]0;t␇"
    assert content.spans == []


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧",
        "👩🏽\u200d💻 writes",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "🏳\ufe0f\u200d🌈",
        "🏃\u200d♀\ufe0f",
        "☎\ufe0e",
    ],
)
def test_a_valid_emoji_sequence_stays_in_text_output(text: str):
    assert clean(text, newlines=True, emoji=True) == text
    assert clean(text, newlines=True) != text, "columns have to stay aligned on every terminal"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a‹U+200D›b"),
        ("👩\u200db", "👩‹U+200D›b"),
        ("👩\u200d", "👩‹U+200D›"),
        ("👩\u200d\u200d👩", "👩‹U+200D›‹U+200D›👩"),
        ("\u200d👩", "‹U+200D›👩"),
        ("a\ufe0f", "a‹U+FE0F›"),
        ("👩\u200d\u202e👧", "👩‹U+200D›‹U+202E›👧"),
        ("🏴\U000e0067\U000e007f", "🏴‹U+E0067›‹U+E007F›"),
    ],
)
def test_what_can_deceive_is_shown_in_text_output_with_emoji(text: str, shown: str):
    assert clean(text, newlines=True, emoji=True) == shown


def test_an_endless_emoji_sequence_is_cut_into_visible_pieces():
    assert clean("👩\u200d" * 50 + "👩", emoji=True).count("‹U+200D›") == 40
