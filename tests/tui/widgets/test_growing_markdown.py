"""Markdown that grows: the same lines however it comes, within its budgets."""

from __future__ import annotations

import itertools
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.tui.render.markdown import LONGEST, MOST, GrowingMarkdown

TEXT = """# Title

Some **bold** text
and `code`.

- one
- two

  more of two

```python
x = 1

y = 2
```

> quoted

1. first
2. second
"""


def lines(markdown: GrowingMarkdown) -> list[str]:
    return ["".join(text for text, _ in markdown.line(index)) for index in range(len(markdown))]


@settings(max_examples=60)
@given(st.lists(st.integers(0, len(TEXT)), max_size=12), st.integers(10, 90))
def test_markdown_does_not_depend_on_the_pieces_of_the_text(cuts: list[int], width: int):
    whole, grown = GrowingMarkdown(TEXT), GrowingMarkdown()
    places = sorted({0, len(TEXT), *cuts})
    for start, end in itertools.pairwise(places):
        grown.append(TEXT[start:end])
    whole.layout(width, 0)
    grown.layout(width, 0)
    assert lines(grown) == lines(whole)


def test_blocks_are_laid_out_as_they_are_completed():
    shown = lines(GrowingMarkdown(TEXT))
    assert shown[:3] == ["Title", "", "Some bold text and code."]
    assert "x = 1" in shown
    assert "y = 2" in shown
    assert "  more of two" in shown
    assert "| quoted" in shown


def test_a_fence_that_never_ends_is_cut_and_stays_code():
    text = "```\n" + "code **not bold**\n" * 2000
    markdown = GrowingMarkdown(text)
    assert lines(markdown).count("code **not bold**") == 2000


@settings(max_examples=100)
@given(st.text(alphabet="#-*>`~1. \n\tab[](!", max_size=300))
def test_any_text_is_laid_out(text: str):
    markdown = GrowingMarkdown(text)
    assert markdown.layout(20, 5) <= max(0, len(markdown) - 1)
    assert isinstance(lines(markdown), list)


def test_case_08_nested_quotes_and_long_lines_stay_within_the_budget():
    began = time.process_time()
    for text in (">" * 100_000, "| a " * 50_000, "[" * 100_000, "x" * 10 * LONGEST):
        shown = lines(GrowingMarkdown(text))
        assert shown
    assert time.process_time() - began < 20


def test_text_beyond_the_limit_is_counted():
    markdown = GrowingMarkdown("word " * (MOST // 5))
    markdown.append("one more")
    assert lines(markdown)[-1] == "… 8 more characters are not shown as Markdown"


def test_a_long_table_stays_a_table():
    rows = LONGEST // 10
    markdown = GrowingMarkdown("| a | b |\n|---|---|\n" + "| one | 2 |\n" * rows)
    shown = lines(markdown)
    assert shown.count("one | 2") == rows
    assert not any(line.startswith("| one") for line in shown)
