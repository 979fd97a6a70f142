"""Paths that users type."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.text.typed_path import typed_path


def test_a_home_folder_is_expanded():
    assert typed_path("~/a") == Path.home() / "a"
    assert typed_path("./b c") == Path("b c")


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("~nosuch/x", "unknown user in path"),
        ("a\0b", "a character that is not allowed"),
        ("~a\0b", "a character that is not allowed"),
        ("\ud800", "a character that is not allowed"),
    ],
)
def test_a_path_that_no_file_can_have_is_an_os_error(typed: str, why: str):
    with pytest.raises(OSError, match=why) as raised:
        typed_path(typed)
    assert why in (raised.value.strerror or "")
