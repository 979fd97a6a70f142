"""Differences as lines: short values beside their path, long values folded below it."""

from __future__ import annotations

import json

from inspector.protocol.difference import difference
from inspector.tui.render.changes import MOST, ChangeLines, as_text
from inspector.tui.render.glyphs import ASCII, UNICODE

LONG = "word " * 60


def laid_out(before: object, after: object, width: int = 60) -> ChangeLines:
    lines = ChangeLines([[("about", "line--text")]], difference(before, after), UNICODE)
    lines.layout(width, 0)
    return lines


def text(lines: ChangeLines) -> list[str]:
    return ["".join(piece for piece, _ in lines.line(index)).rstrip() for index in range(len(lines))]


def test_short_values_are_shown_beside_their_path():
    assert text(laid_out({"a": 1, "b": "x", "s": [1, 2]}, {"a": None, "c": {"d": []}, "s": [2, 1]})) == [
        "about",
        f"{'~ a':<32}1  →  null",
        f"{'+ c':<32}" + '{"d": []}',
        f"{'^ s':<32}the same items in another order",
        f"{'- b':<32}" + '"x"',
    ]


def test_long_values_are_shown_below_their_path_and_unfold():
    lines = laid_out({"text": LONG}, {"text": "short"})
    shown = text(lines)
    assert shown[1:3] == ["~ text", "    - word word word word word word word word word word word"]
    assert "more lines, press enter to show them" in shown[5]
    assert shown[6] == "    + short"
    assert lines.toggle(3) == 1
    assert len(text(lines)) > len(shown)
    assert lines.toggle(1) == 1
    assert text(lines) == shown


def test_objects_unfold_into_their_members():
    lines = laid_out({}, {"skills": {"id": "a"}})
    lines.toggle(1)
    assert text(lines)[1:] == ["+ skills", "    + {", '        "id": "a"', "      }"]


def test_a_line_returns_its_change_and_its_text():
    lines = laid_out({"a": LONG}, {"a": "x"})
    assert lines.change(0) is None
    assert lines.change(99) is None
    assert lines.toggle(0) == 0
    change = lines.change(3)
    assert change is not None
    assert as_text(change) == f'changed /a\n- {json.dumps(LONG)}\n+ "x"'


def test_the_whole_value_can_change():
    assert text(laid_out([], {}))[1] == f"{'~ the whole card':<32}[]  →  {{}}"


def test_hostile_text_is_shown_as_tokens():
    shown = text(laid_out({"\x1b[2J": "a\u202eb"}, {"\x1b[2J": "\x9b"}))[1]
    assert shown.startswith("~ ␛[2J")
    assert not set("\x1b\x9b\u202e") & set(shown)


def test_thousands_of_changes_are_counted():
    lines = laid_out({}, {str(number): number for number in range(MOST + 5)})
    assert text(lines)[-1] == "… and 5 more changes"


def test_ascii_glyphs_are_used_in_changes():
    lines = ChangeLines([], difference({"a": {"b": 1}}, {"a": {"b": 2}}), ASCII)
    lines.layout(60, 0)
    assert text(lines)[0].isascii()
