"""Replacing many values in a text."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.session.sharing.literals import Literals


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("task-1-ab", "T1"),
        ("xtask-1-ab task-1-abx task-1-ab.", "xtask-1-ab task-1-abx T1."),
        ("task-1-ab-2 task-1-ab-3", "T2 T1-3"),
        ("Task-1-ab", "Task-1-ab"),
        ("HOST.example Host.Examples", "H Host.Examples"),
        ("a::5 ::5 ::55 5", "a::5 V ::55 5"),
        ("(task-1-ab)task-1-ab-2", "(T1)T2"),
        ("", ""),
        ("é task-1-ab\ud800", "é T1\ud800"),
    ],
)
def test_values_are_replaced_where_no_letter_or_digit_is_beside_them(text: str, replaced: str):
    values = {"task-1-ab": "T1", "task-1-ab-2": "T2", "host.example": "H", "::5": "V", "--": "none"}
    assert Literals(values, {"host.example"}).replace(text) == replaced


PIECES = st.lists(st.sampled_from(["a", "b", "1", "-", ".", ":", "ab", " "]), min_size=1, max_size=6).map("".join)


@given(
    st.sets(PIECES.filter(lambda text: re.search("[a-z0-9]", text)), min_size=1, max_size=4),
    PIECES.map(lambda text: text * 3),
)
def test_one_value_is_replaced_as_by_a_regular_expression(values: set[str], text: str):
    for value in values:
        expected = re.sub(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", "_", text)
        assert Literals({value: "_"}).replace(text) == expected
    assert all(value not in Literals(dict.fromkeys(values, "")).replace(value) for value in values)


def test_the_time_does_not_depend_on_the_number_of_values():
    def seconds(count: int) -> float:
        literals = Literals({f"ctx-{number}-x{number}": "_" for number in range(count)})
        began = time.process_time()
        assert "ctx" not in literals.replace(text)
        return time.process_time() - began

    text = "see ctx-7-x7 and " * 5000
    assert seconds(20_000) < 5 * seconds(20) + 0.05
