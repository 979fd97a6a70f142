from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.text.sanitise import clean
from inspector.tui.render.json_lines import LONGEST, JsonLines
from inspector.tui.render.json_nodes import NotJsonError, read

strings = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | strings,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(strings, children, max_size=4),
    max_leaves=20,
)


def text_of(lines: JsonLines) -> str:
    return "\n".join(
        "".join(text for text, style in lines.line(index) if style != "json--fold") for index in range(len(lines))
    )


def drawn(lines: JsonLines) -> list[str]:
    return ["".join(text for text, _ in lines.line(index)) for index in range(len(lines))]


@given(values)
def test_an_unfolded_value_reads_back_as_the_same_value(value: Any) -> None:
    assert json.loads(text_of(JsonLines(value))) == value
    assert json.loads(text_of(JsonLines(read(json.dumps(value).encode())))) == value


@given(values)
def test_what_is_copied_reads_back_as_the_same_value(value: Any) -> None:
    lines = JsonLines(value)
    assert (lines.value(0) if isinstance(value, str) else json.loads(lines.value(0))) == value


@given(values)
def test_every_pointer_leads_to_the_value_of_its_line(value: Any) -> None:
    lines = JsonLines(value)
    for index in range(len(lines)):
        found = value
        for step in lines.pointer(index).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found[int(step)] if isinstance(found, list) else found[name]
        copied = lines.value(index)
        assert (copied if isinstance(found, str) else json.loads(copied)) == found


@given(values, st.lists(st.integers(0, 30), max_size=5))
def test_unfolding_what_was_folded_brings_every_line_back(value: Any, folds: list[int]) -> None:
    lines = JsonLines(value)
    before = drawn(lines)
    done = []
    for index in folds:
        if index < len(lines) and lines.can_fold(index):
            lines.toggle(index)
            done.append(index)
    for index in reversed(done):
        assert lines.can_unfold(index)
        lines.toggle(index)
    assert drawn(lines) == before


@given(st.binary())
def test_bytes_are_parsed_or_rejected_with_a_reason(raw: bytes) -> None:
    try:
        value = read(raw)
    except NotJsonError as error:
        assert str(error)
    else:
        assert len(JsonLines(value)) > 0


def test_brackets_are_closed_at_their_indentation() -> None:
    assert drawn(JsonLines({"a": 1, "b": [True, None, {}, []], "c": "x"})) == [
        "▾ {",
        '    "a": 1,',
        '  ▾ "b": [',
        "      true,",
        "      null,",
        "      {},",
        "      []",
        "    ],",
        '    "c": "x"',
        "  }",
    ]


def test_a_folded_container_shows_its_length() -> None:
    lines = JsonLines({"b": [1, 2], "c": {"d": 1}})
    lines.toggle(5)
    lines.toggle(1)
    assert drawn(lines) == ["▾ {", '  ▸ "b": [ 2 items ],', '  ▸ "c": { 1 member }', "  }"]
    assert [lines.pointer(index) for index in range(4)] == ["", "/b", "/c", ""]
    assert lines.parent(2) == 0


def test_numbers_and_members_stay_as_they_were_written() -> None:
    raw = b'{"a": 1.0, "a": 1E5, "n": ' + b"9" * 5_000 + b"}"
    lines = JsonLines(read(raw))
    assert drawn(lines)[1:3] == ['    "a": 1.0,', '    "a": 1E5,']
    assert drawn(lines)[3] == '    "n": ' + "9" * 48 + "… (5.0 kB)"
    assert lines.value(3) == "9" * 5_000


def test_an_integer_beyond_the_limit_of_python_is_shown() -> None:
    assert drawn(JsonLines([10**5_000]))[1].startswith("    0x")


def test_a_long_string_is_cut_and_its_size_is_shown() -> None:
    lines = JsonLines({"raw": "iVBORw0K" * 4_000, "text": "some words " * 100, "fine": "x" * LONGEST})
    assert drawn(lines)[1] == '  ▸ "raw": "' + "iVBORw0K" * 6 + '…" (32 kB),'
    assert drawn(lines)[2].endswith('words so…" (1.1 kB),')
    assert drawn(lines)[3] == f'    "fine": "{"x" * LONGEST}"'
    assert lines.value(1) == "iVBORw0K" * 4_000


def test_a_long_string_is_unfolded_and_folded() -> None:
    lines = JsonLines({"text": "some words " * 100, "fine": 1})
    assert lines.can_unfold(1)
    lines.toggle(1)
    assert drawn(lines)[1] == '  ▾ "text": "' + "some words " * 100 + '",'
    assert lines.can_fold(1)
    lines.toggle(1)
    assert drawn(lines)[1].endswith('words so…" (1.1 kB),')
    assert not lines.can_unfold(2)


def test_strings_are_wrapped_between_words_and_ids_are_not_cut() -> None:
    lines = JsonLines({"taskId": "59f8f6bc-f766-49ae-abcb-0123456789ab", "text": "The report is written in one go."})
    lines.layout(45, 0)
    assert drawn(lines) == [
        "▾ {",
        '    "taskId":',
        '      "59f8f6bc-f766-49ae-abcb-0123456789ab",',
        '    "text": "The report is written in one',
        '      go."',
        "  }",
    ]
    assert [lines.pointer(index) for index in range(6)] == ["", "/taskId", "/taskId", "/text", "/text", ""]
    assert [lines.ends(index) for index in range(6)] == [True, False, True, False, True, True]
    assert (lines.parent(4), lines.line_at("/text")) == (0, 3)
    lines.toggle(0)
    assert drawn(lines) == ["▸ { 2 members }"]


@given(values, st.integers(1, 40), st.integers(0, 30))
def test_wrapped_lines_show_the_same_text_within_the_width(value: Any, width: int, keep: int) -> None:
    plain, lines = JsonLines(value), JsonLines(value)
    node = lines.node(keep)
    kept = lines.layout(width, keep)
    assert node < 0 or lines.node(kept) == node
    rows: dict[int, str] = {}
    for index, row in enumerate(drawn(lines)):
        node = lines.node(index)
        rows[node] = rows.get(node, "") + row
    assert {node: clean(text).replace(" ", "") for node, text in rows.items()} == {
        node: clean(text).replace(" ", "") for node, text in enumerate(drawn(plain))
    }


def test_a_blob_uses_the_width() -> None:
    lines = JsonLines({"raw": "iVBORw0K" * 4_000})
    lines.layout(120, 0)
    assert 110 < len(drawn(lines)[1]) <= 120


def test_invisible_characters_are_shown_as_escapes() -> None:
    line = drawn(JsonLines(["\x1b[2J\u202e\u200b\ud800\U000e0041é"]))[1]
    assert line == r'    "\u001b[2J\u202e\u200b\ud800\udb40\udc41é"'
    assert clean(line) == line


def test_a_value_200_000_levels_deep_is_laid_out_within_bounds() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    lines = JsonLines(value, most=1_000)
    assert len(lines) == 1_001
    assert all(len(line) < 100 for line in drawn(lines))
    assert drawn(lines)[-1] == "… only the first 1,000 lines are shown"
    assert lines.pointer(999) == "/0" * 999
    lines.toggle(5)
    assert len(lines) == 7
    while value:
        value = value.pop()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"[" * 200_000, "nested too deeply to be shown"),
        (b"<html>", "a web page or XML, not JSON"),
        (b"", "empty"),
        (b"[NaN]", "not JSON: NaN is not a JSON number"),
        (b'{"a": 1} x', "not JSON: trailing characters at line 1 column 10"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b"\xef\xbb\xbf{}", "starts with a byte order mark, which JSON does not allow"),
    ],
)
def test_bytes_that_are_not_json_are_rejected_with_a_reason(raw: bytes, why: str) -> None:
    with pytest.raises(NotJsonError, match=why):
        read(raw)


def test_a_value_that_is_not_json_is_shown_as_its_repr() -> None:
    assert drawn(JsonLines({"a": b"x"}))[1] == '    "a": "b\'x\'"'


def test_indices_outside_the_lines_are_harmless() -> None:
    lines = JsonLines([1])
    assert (lines.pointer(-1), lines.value(7), lines.parent(7)) == ("", "", 7)
    lines.toggle(-1)
    assert not lines.can_fold(9)
