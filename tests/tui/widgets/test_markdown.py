"""Markdown as lines: structure, links as text, no control characters, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.tui.render.markdown import LONGEST, _Layout, _parser, in_one_line, markdown_lines
from inspector.tui.widgets.document import MarkdownView


def text(source: str, width: int = 40) -> list[str]:
    return ["".join(piece for piece, _ in line).rstrip() for line in markdown_lines(source, width)]


def test_blocks_are_stacked_and_wrapped_after_their_marks():
    source = """# Trips
Books **flights** and
`trains`.

- one
- two, which is long enough to be wrapped
  - deeper
2. second
3. third

> quoted

```py
x = 1
  y
```
***
last"""
    assert text(source, 24) == [
        "Trips",
        "",
        "Books flights and",
        "trains.",
        "",
        "- one",
        "- two, which is long",
        "  enough to be wrapped",
        "  - deeper",
        "",
        "2. second",
        "3. third",
        "",
        "| quoted",
        "",
        "py",
        "x = 1",
        "  y",
        "",
        "--------",
        "",
        "last",
    ]


def test_emphasis_is_a_style():
    [line] = markdown_lines("a **b** *c* `d`", 40)
    assert [(piece, style) for piece, style in line if piece.strip()] == [
        ("a ", "card--text"),
        ("b", "card--strong"),
        ("c", "card--emphasis"),
        ("d", "card--code"),
    ]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[docs](https://a.example/x)", "docs (https://a.example/x)"),
        ("[run](javascript:alert)", "[run](javascript:alert)"),
        ("[run](file:///etc/passwd)", "[run](file:///etc/passwd)"),
        ("![logo](http://169.254.169.254/x.png)", "[picture: logo] http://169.254.169.254/x.png"),
        ("<b onclick=x>bold</b>", "<b onclick=x>bold</b>"),
        ("[/] [@click=app.quit]x[/]", "[/] [@click=app.quit]x[/]"),
        ("a\x1b[2Jb\u202ec", "a␛[2Jb‹U+202E›c"),
        ("a\\", "a\\"),
        ("\\*not emphasis\\*", "\\not emphasis\\"),
        ("&#27;[2J &lt;", "&#27;[2J &lt;"),
        ("[hidden]: https://a.example/", "[hidden]: https://a.example/"),
        ("", ""),
    ],
)
def test_links_html_and_escapes_are_shown_as_text(source: str, shown: str):
    assert text(source, 80) == ([shown] if shown else [])


@pytest.mark.parametrize("source", ["> " * 5000 + "x", "- " * 40 + "x", "*" * 100_000, "a\n" * 50_000])
def test_text_beyond_the_limit_is_plain_text(source: str):
    lines = text(source)
    assert sum(map(len, lines)) <= LONGEST + 100
    assert lines[0].startswith(source[:1])


@pytest.mark.parametrize("source", ["[" * LONGEST, "*a **" * 800, "![" * 2000, "`" * LONGEST, "<!--" * 1000, "&#0;"])
def test_pathological_text_comes_to_an_end(source: str):
    assert all(len(line) <= 40 for line in text(source))


def test_one_line_is_the_beginning_in_plain_words():
    assert in_one_line("# A\n\nDoes **this**\n\n- and that", 80).split() == ["A", "Does", "this", "-", "and", "that"]


@given(st.text(alphabet=st.sampled_from("ab1 .,:;!?-+*_#>=~`&<[]()|\\\n\t\r\x00\u00a0\u2028é"), max_size=20))
def test_text_that_is_shown_without_the_parser_is_shown_as_by_the_parser(source: str):
    assert markdown_lines(source, 40) == _Layout(40, keep_breaks=True).lines(_parser().parse(source))


TABLE = """| City | Degrees | Note |
|:-----|--------:|------|
| Oslo | 12.5 | mild |
| 東京 | 7 |
| a \x1b[31mred | 100 | `code` and **more words** that are long |
"""


def test_a_table_has_aligned_columns():
    assert text(TABLE, 72) == [
        "City       | Degrees | Note",
        "-----------+---------+----------------------------------",
        "Oslo       |    12.5 | mild",
        "東京       |       7 |",
        "a ␛[31mred |     100 | code and more words that are long",
    ]


def test_a_wide_table_wraps_its_long_texts_within_their_columns():
    lines = text(TABLE, 44)
    assert max(map(len, lines)) <= 44
    assert lines[-2:] == [
        "a ␛[31mred |     100 | code and more words",
        "           |         | that are long",
    ]


def test_a_table_with_too_many_columns_is_a_list_of_values_with_their_headings():
    assert text(TABLE, 20)[:7] == [
        "City: Oslo",
        "Degrees: 12.5",
        "Note: mild",
        "--------",
        "City: 東京",
        "Degrees: 7",
        "Note:",
    ]


def test_a_table_in_a_quote_or_an_item_keeps_its_marks():
    quoted = "".join(f"> {line}\n" for line in ("| a | b |", "|---|---|", "| 1 | 2 |"))
    assert text(quoted) == ["| a | b", "| --+--", "| 1 | 2"]


@given(st.lists(st.text(alphabet="ab| 東\x1b`*-:\n", max_size=30), max_size=6), st.integers(4, 60))
def test_no_line_of_a_table_is_wider_than_the_view(cells: list[str], width: int):
    source = "| x | y |\n|---|---|\n" + "\n".join(f"| {cell} | 1 |" for cell in cells)
    for line in markdown_lines(source, width):
        assert sum(cell_len(piece) for piece, _ in line) <= max(width, 12)


def test_every_piece_of_a_table_has_a_style_of_the_view():
    styles = {style for width in (20, 44, 72) for line in markdown_lines(TABLE, width) for _, style in line}
    assert styles <= MarkdownView.PARTS
