"""The completion of a path that is being typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.tui.compose.path_completion import Candidate, candidates, completed


def test_the_file_that_is_typed_is_the_first_candidate(tmp_path: Path):
    (tmp_path / "data").write_text("x")
    (tmp_path / "data.d").mkdir()
    typed = str(tmp_path / "data")
    assert [candidate.path for candidate in candidates(typed)[0]] == [typed, f"{typed}.d/"]
    assert candidates(typed[:-1])[0][0].folder


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
