"""Paths into JSON."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.session.check.paths import MISSING, parse, value_at, values_at

TASK = {"task": {"id": "t", "artifacts": [{"parts": [{"text": "a"}, {"text": "b"}]}, {"parts": [{"data": 1}]}]}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", TASK),
        ("task.id", "t"),
        ("task.artifacts[0].parts[1].text", "b"),
        ("task.artifacts[1].parts[0].data", 1),
        ("task.artifacts[*].parts[*].text", "a"),
        (".task.id", "t"),
        ("task.artifacts[2]", MISSING),
        ("task.nothing", MISSING),
        ("task.id.more", MISSING),
        ("task.id[0]", MISSING),
        ("task[0]", MISSING),
        ("task.artifacts.parts", MISSING),
        ("task.0", MISSING),
    ],
)
def test_a_path_leads_to_a_value(path: str, value: Any):
    assert value_at(TASK, path) == value


def test_null_is_a_value():
    assert value_at({"a": None}, "a") is None


def test_a_path_with_wildcards_leads_to_all_elements():
    assert list(values_at(TASK, "task.artifacts[*].parts[*].text")) == ["a", "b"]
    assert list(values_at([[1, 2], [3]], "[*][*]")) == [1, 2, 3]
    assert list(values_at({"a": "text"}, "a[*]")) == []


@pytest.mark.parametrize(
    ("path", "position"), [("a..b", 2), ("a.", 2), ("a[", 2), ("a[x]", 2), ("a[-1]", 2), ("a]", 2), ("[0]a[", 5)]
)
def test_an_invalid_path_has_a_position(path: str, position: int):
    with pytest.raises(ValueError, match=f"is not a path: see position {position}$"):
        parse(path)
