from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from inspector.cli import values


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("2s", 2.0), ("500ms", 0.5), ("1m", 60.0), ("1h", 3600.0), ("7", 7.0), ("1.5", 1.5), (" 3s ", 3.0)],
)
def test_a_duration_is_read_in_its_unit(typed: str, seconds: float):
    assert values.duration(typed) == seconds


@pytest.mark.parametrize("typed", ["", "s", "soon", "-1s", "0", "0.001", "nan", "inf", "1e999", "1d", "1m30s", "2 s x"])
def test_what_is_no_duration_is_refused(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.duration(typed)


def test_a_header_is_split_at_its_first_colon():
    assert values.header("X-Time: 12:30") == ("X-Time", "12:30")


@pytest.mark.parametrize(
    "typed", ["secret-without-a-colon", ": x", "Two Words: x", "X-Nähe: x", "X: a\r\nY: b", "X: ä"]
)
def test_a_header_that_http_cannot_carry_is_refused_without_its_value(typed: str):
    with pytest.raises(ArgumentTypeError) as refused:
        values.header(typed)
    assert "secret" not in str(refused.value)


def test_a_secret_loses_the_newline_of_the_file_it_was_in():
    assert values.secret("abc\n") == "abc"


@pytest.mark.parametrize("typed", ["[1]", "{", '"x"', "[" * 5000, ""])
def test_metadata_is_a_json_object(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.json_object(typed)


@pytest.mark.parametrize("typed", ["-1", "65536", "http", "", "1.5", "٣", "9" * 5000])
def test_a_port_is_a_number_from_0_to_65535(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.port(typed)
