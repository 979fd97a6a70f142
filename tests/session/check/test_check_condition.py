"""The condition of `repeat`."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.session.check.condition import Condition


@pytest.mark.parametrize(
    ("text", "root", "met"),
    [
        ("a.b == x", {"a": {"b": "x"}}, True),
        ("a.b==x", {"a": {"b": "x"}}, True),
        ("a.b==input-required", {"a": {"b": "input-required"}}, True),
        ("a.b!=input-required", {"a": {"b": "input-required"}}, False),
        ("a.b == c in [d]", {"a": {"b": "c in [d]"}}, True),
        ("a.b in[x]", {"a": {"b": "x"}}, True),
        ("a.b == 'x'", {"a": {"b": "x"}}, True),
        ('a.b == "x y"', {"a": {"b": "x y"}}, True),
        ("a.b == x", {"a": {"b": "y"}}, False),
        ("a.b == x", {}, False),
        ("a.b != x", {}, True),
        ("a.b != x", {"a": {"b": "x"}}, False),
        ("a.b in [x, 'y']", {"a": {"b": "y"}}, True),
        ("a.b in [x, y]", {"a": {"b": "z"}}, False),
        ("a.origin in [in]", {"a": {"origin": "in"}}, True),
        ("a == 1", {"a": 1}, True),
        ("a == 1", {"a": "1"}, False),
        ("a == '1'", {"a": "1"}, True),
        ("a == 1.5", {"a": 1.5}, True),
        ("a == true", {"a": True}, True),
        ("a == true", {"a": 1}, False),
        ("a in [1]", {"a": True}, False),
        ("a == null", {"a": None}, True),
        ("a == null", {}, False),
        ("a[0].b == x", {"a": [{"b": "x"}]}, True),
        ("a == x", None, False),
    ],
)
def test_a_condition_is_met(text: str, root: Any, met: bool):
    assert Condition.of(text).is_met(root) is met


@pytest.mark.parametrize("text", ["", "a", "a ==", "== a", "a is b", "a in b", "a in [b", "a[ == b", "a index"])
def test_an_invalid_condition_is_refused(text: str):
    with pytest.raises(ValueError, match=r"condition|path"):
        Condition.of(text)
