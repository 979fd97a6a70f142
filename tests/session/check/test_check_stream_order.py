"""The order of task states in a stream."""

from __future__ import annotations

import pytest

from inspector.session.check.stream_order import order_mismatch

NAMES = {
    "S": "TASK_STATE_SUBMITTED",
    "W": "TASK_STATE_WORKING",
    "I": "TASK_STATE_INPUT_REQUIRED",
    "A": "TASK_STATE_AUTH_REQUIRED",
    "C": "TASK_STATE_COMPLETED",
    "F": "TASK_STATE_FAILED",
    "X": "TASK_STATE_CANCELED",
    "R": "TASK_STATE_REJECTED",
}


@pytest.mark.parametrize("states", ["", "S", "C", "SWC", "SSWWCC", "SWIWF", "WAWX", "SR", "SC", "IC"])
def test_an_order_is_allowed(states: str):
    assert order_mismatch([NAMES[state] for state in states]) is None


@pytest.mark.parametrize(
    ("states", "before", "after"),
    [("WS", "W", "S"), ("IS", "I", "S")]
    + [(f"S{end}W", end, "W") for end in "CFXR"]
    + [("WCF", "C", "F"), ("SCS", "C", "S")],
)
def test_an_order_is_not_allowed(states: str, before: str, after: str):
    found = order_mismatch([NAMES[state] for state in states])
    assert found is not None
    assert NAMES[before] in found.expected
    assert found.actual == NAMES[after]
