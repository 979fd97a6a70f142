"""Where in a text a pointer leads."""

from __future__ import annotations

import json

import pytest

from inspector.tui.widgets.card_editor import location_of

TEXT = """{
 "a": [1, {"b": "x,}y"}, "}"],
 "c/d": {"e": null, "~": 1},
 "a2": [[], {}, [2]]
}"""


@pytest.mark.parametrize(
    ("pointer", "there"),
    [
        ("", "{"),
        ("/a", '"a": ['),
        ("/a/0", "1, {"),
        ("/a/1", '{"b"'),
        ("/a/1/b", '"b": "x'),
        ("/a/2", '"}"]'),
        ("/c~1d/e", '"e": null'),
        ("/c~1d/~0", '"~": 1'),
        ("/a2/1", "{}, ["),
        ("/a2/2/0", "2]]"),
        ("/c~1d/missing", '"c/d"'),
        ("/a/9", '"a": ['),
        ("/missing/too", "{"),
    ],
)
def test_a_pointer_leads_to_its_member_or_to_the_nearest_around_it(pointer: str, there: str):
    row, column = location_of(TEXT, pointer)
    assert TEXT.split("\n")[row][column:].startswith(there)


def test_invalid_json_leads_to_the_first_error():
    assert location_of('{"a": 1,, "b": 2}', "") == (0, 8)
    assert location_of('{\n"a": tru', "") == (1, 5)


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a":', '{"a": [', "]}", '{"a": "unterminated', "\x00", "[" * 5000])
def test_truncated_json_has_a_location(text: str):
    for pointer in ("", "/a", "/a/0", "/0/0"):
        row, column = location_of(text, pointer)
        assert (row, 0 <= column <= len(text)) == (0, True)


def test_every_value_of_a_document_is_found():
    value = {"x": [{"y": i, "z": {"w": [i]}} for i in range(20)]}
    text = json.dumps(value, indent=1)
    for i in range(20):
        row, column = location_of(text, f"/x/{i}/z/w/0")
        assert text.split("\n")[row][column:].rstrip() == str(i)
