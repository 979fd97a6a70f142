from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.text.sanitise import clean
from inspector.text.units import size
from inspector.tui.render.text_lines import WrappedText

texts = st.text(st.one_of(st.sampled_from("ab  \n\t\r你好\u0301\x1b👍-"), st.characters()), max_size=200)
widths = st.integers(1, 30)


def wrapped(text: str, width: int, **options) -> WrappedText:
    lines = WrappedText(style="line--text", **options)
    lines.layout(width, 0)
    lines.append(text)
    return lines


def rows(lines: WrappedText) -> list[str]:
    return ["".join(text for text, _ in lines.line(index)) for index in range(len(lines))]


@given(texts, widths, st.booleans())
@example("a  b", 1, True)
def test_no_text_is_lost_at_any_width(text: str, width: int, words: bool) -> None:
    lines = wrapped(text, width, words=words)
    assert lines.text == clean(text, newlines=True)


@given(texts, st.integers(2, 30), st.booleans())
def test_no_row_is_wider_than_the_width(text: str, width: int, words: bool) -> None:
    assert all(cell_len(row) <= width for row in rows(wrapped(text, width, words=words)))


@given(st.lists(st.text("ab 你\u0301\n-", max_size=12), max_size=12), st.integers(2, 12), st.booleans())
@example(["aaaa bb", "bbb"], 6, True)
@example(["aaaa", " ", "b"], 4, True)
def test_wrapping_does_not_depend_on_the_pieces_of_the_text(pieces: list[str], width: int, words: bool) -> None:
    lines = wrapped("", width, words=words)
    for piece in pieces:
        lines.append(piece)
    assert rows(lines) == rows(wrapped(lines.text, width, words=words))


@given(
    texts, st.text(st.one_of(st.sampled_from("ab  \n-"), st.characters()), max_size=60), texts, widths, st.booleans()
)
@example("aaaa b", "b", "", 6, True)
@example("aaaaaaa", "aaaa", "\u0301", 3, True)
@example("a\t", "b", "\tc", 9, True)
def test_take_back_restores_the_rows_before_append(text: str, end: str, more: str, width: int, words: bool) -> None:
    lines = wrapped(text + end, width, words=words)
    before = rows(lines)
    if lines.take_back(end):
        assert rows(lines) == rows(wrapped(text, width, words=words))
        lines.append(more)
        assert lines.text == wrapped(text + more, width, words=words).text
    else:
        assert rows(lines) == before
        plain = (text + end).replace("\n", "")
        assert not (plain.isascii() and plain.isprintable())


@given(texts, widths, widths)
def test_a_new_width_wraps_like_a_new_text(text: str, before: int, after: int) -> None:
    lines = wrapped(text, before)
    lines.layout(after, 0)
    assert rows(lines) == rows(wrapped(lines.text, after))


def test_rows_break_between_words() -> None:
    assert rows(wrapped("the quick brown fox\njumps", 10)) == ["the quick", "brown fox", "jumps"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert rows(wrapped("see https://example.org/x", 10)) == ["see", "https://ex", "ample.org/", "x"]


def test_a_space_at_the_edge_does_not_start_a_row() -> None:
    assert rows(wrapped("hello world \nnext", 5)) == ["hello", "world", "next"]


def test_chinese_breaks_anywhere() -> None:
    assert rows(wrapped("ok 你好世界你好", 8)) == ["ok 你好", "世界你好"]


def test_code_breaks_anywhere_too() -> None:
    assert rows(wrapped("let answer = 42", 8, words=False)) == ["let answ", "er = 42"]


def test_blank_lines_stay() -> None:
    assert rows(wrapped("a\n\n\nb\n", 10)) == ["a", "", "", "b"]


def test_the_line_at_the_top_is_found_again_after_a_new_width() -> None:
    lines = wrapped("".join(f"paragraph {number} has some words in it\n" for number in range(50)), 40)
    top = lines.layout(10, 25)
    assert lines.row(top).startswith("paragraph")
    assert lines.layout(40, top) == 25


def test_text_beyond_the_limit_is_counted_and_reported() -> None:
    lines = wrapped("x" * 95, 10, limit=100)
    lines.append("y" * 1000)
    assert lines.text == "x" * 95 + "y" * 5
    assert lines.line(len(lines) - 1) == [("… 995 more characters are not shown", "line--note")]


def test_tokens_do_not_make_more_of_a_text_than_the_limit_by_much() -> None:
    lines = wrapped("\u200b" * 1_000_000, 80, limit=100_000)
    assert len(lines.text) < 100_000 + 9 * 65_536
    assert lines.row(len(lines) - 1).endswith("more characters are not shown")


def test_a_head_is_shown_above_the_text_in_rows_of_the_same_width() -> None:
    lines = wrapped("one two three", 5, head="about it")
    assert rows(lines) == ["about", "it", "one", "two", "three"]
    assert [style for row in (0, 1) for _, style in lines.line(row)] == ["line--note"] * 2
    assert lines.layout(20, 4) == 1
    assert rows(lines) == ["about it", "one two three"]


def test_only_the_last_row_is_laid_out_again_when_text_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = wrapped("", 80)
    taken: list[int] = []
    wrap = lines._wrap
    monkeypatch.setattr(lines, "_wrap", lambda text: (taken.append(len(text)), wrap(text)))
    for _ in range(5_000):
        lines.append("no newline in sight ")
    assert max(taken) <= 81 + len("no newline in sight ")
    assert lines.text == "no newline in sight " * 5_000


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_951, "10 kB"),
        (31_200, "31 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (4_000_000, "4.0 MB"),
        (5 * 10**12, "5.0 TB"),
        (10**18, "1000000 TB"),
    ],
)
def test_a_size_has_two_or_three_digits(count: int, expected: str) -> None:
    assert size(count) == expected
