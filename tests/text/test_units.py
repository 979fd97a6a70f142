"""Durations and rates as text."""

from __future__ import annotations

import pytest

from inspector.text.units import duration, rate


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 ms"),
        (0.0124, "12 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (8.211, "8.21 s"),
        (9.996, "10.0 s"),
        (14.4, "14.4 s"),
        (99.96, "1m40s"),
        (185, "3m05s"),
        (3599.6, "1h00m"),
        (9000, "2h30m"),
    ],
)
def test_a_duration_has_three_digits_and_its_unit(seconds: float, shown: str):
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("a_second", "shown"), [(0.31, "0.3/s"), (9.94, "9.9/s"), (9.96, "10/s"), (52.4, "52/s"), (1234.0, "1,234/s")]
)
def test_a_rate_of_ten_or_more_has_no_decimals(a_second: float, shown: str):
    assert rate(a_second) == shown
