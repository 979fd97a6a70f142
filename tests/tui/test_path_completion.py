"""The completion of a path that is being typed."""

from __future__ import annotations

import pytest

from inspector.tui.compose.path_completion import Candidate, completed


@pytest.mark.parametrize(
    ("typed", "names", "becomes"),
    [
        ("a/re", ["a/report.pdf", "a/results/"], "a/re"),
        ("a/r", ["a/report.pdf", "a/results/"], "a/re"),
        ("a/re", ["a/report.pdf"], "a/report.pdf"),
        ("a/RE", ["a/report.pdf"], "a/report.pdf"),
        ("b", ["a/report.pdf"], "b"),  # found for what was typed before
        ("b", [], "b"),
    ],
)
def test_a_path_is_completed_as_far_as_all_that_begins_so_goes_on_alike(typed: str, names: list[str], becomes: str):
    assert completed(typed, [Candidate(name, "", folder=False) for name in names]) == becomes
