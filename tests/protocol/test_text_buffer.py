"""A growing text: the tail from any position equals the tail of the whole text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.text_buffer import TextBuffer


@given(st.lists(st.text(max_size=5)), st.integers(-3, 30))
def test_the_tail_equals_the_tail_of_the_whole_text(pieces: list[str], position: int):
    text = TextBuffer()
    for piece in pieces:
        text.append(piece)
    whole = "".join(pieces)
    assert str(text) == whole
    assert len(text) == len(whole)
    assert text.after(position) == whole[max(0, position) :]


@given(st.lists(st.integers(0, 150_000), max_size=6), st.integers(0, 900_000))
def test_the_tail_is_correct_across_blocks(sizes: list[int], position: int):
    text, whole = TextBuffer(), ""
    for number, size in enumerate(sizes):
        piece = chr(ord("a") + number) * size
        text.append(piece)
        whole += piece
    assert text.after(position) == whole[position:]


def test_reading_incrementally_returns_every_character_once():
    text, seen = TextBuffer(), ""
    for number in range(5000):
        text.append(f"{number} and some more text, ")
        if number % 7 == 0:
            seen += text.after(len(seen))
    assert seen + text.after(len(seen)) == str(text)


def test_empty_texts_are_not_stored():
    text = TextBuffer()
    for _ in range(10_000):
        text.append("")
    assert not text._tail


@given(st.lists(st.integers(0, 150_000), max_size=6), st.integers(0, 900_000), st.integers(0, 200_000))
def test_a_part_is_correct_across_blocks(sizes: list[int], start: int, length: int):
    text, whole = TextBuffer(), ""
    for number, size in enumerate(sizes):
        piece = chr(ord("a") + number) * size
        text.append(piece)
        whole += piece
    assert text.between(start, start + length) == whole[start : start + length]
