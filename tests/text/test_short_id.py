"""The short form of ids."""

from __future__ import annotations

import pytest

from inspector.text.short_id import is_part_of_id, short_id


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", ""),
        ("task-1", "task-1"),
        ("59f8f6bc-f766-49ae-abcb-0123456789ab", "59f8f6bc"),
        ("ce959d22e5ae4d0b9bf4414f1ffc6404", "ce959d22"),
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810"),  # version 1: the end names the machine
        ("task-00012", "…k-00012"),
        ("0198c3f2-7a31-7abc-9def-0123456789ab", "…56789ab"),  # version 7: the beginning is the time
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "…69G5FAV"),
    ],
)
def test_the_short_form_differs_from_those_of_other_ids(text: str, short: str):
    assert short_id(text) == short


def test_the_width_can_be_less():
    assert (short_id("task-00012", 4), short_id("59f8f6bc-f766-49ae-abcb-0123456789ab", 4)) == ("…012", "59f8")


@pytest.mark.parametrize("text", ["task-00012", "1a9f4f64-a8f9-483d-ac60-cab4a1a53177", "x", "…", ""])
def test_an_id_is_found_by_its_short_form(text: str):
    assert is_part_of_id(short_id(text), text)
    assert is_part_of_id(text, text)
    assert not is_part_of_id("…other", text)
