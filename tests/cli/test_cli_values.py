from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

import pytest

from inspector.cli import values


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("2s", 2.0), ("500ms", 0.5), ("1m", 60.0), ("1h", 3600.0), ("7", 7.0), ("1.5", 1.5), (" 3s ", 3.0)],
)
def test_duration_is_read_with_its_unit(typed: str, seconds: float):
    assert values.duration(typed) == seconds


@pytest.mark.parametrize("typed", ["", "s", "soon", "-1s", "0", "0.001", "nan", "inf", "1e999", "1d", "1m30s", "2 s x"])
def test_invalid_duration_is_rejected(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.duration(typed)


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("-5s", "is too short; the shortest duration is 0.01s"),
        ("inf", "is not a finite duration; write 2s, 500ms or 1m"),
    ],
)
def test_a_duration_that_is_too_short_is_not_called_infinite(typed: str, reason: str):
    with pytest.raises(ArgumentTypeError, match=f"^'{typed}' {reason}$"):
        values.duration(typed)


def test_a_header_is_split_at_its_first_colon():
    assert values.header("X-Time: 12:30") == ("X-Time", "12:30")


@pytest.mark.parametrize(
    "typed", ["secret-without-a-colon", ": x", "Two Words: x", "X-Nähe: x", "X: a\r\nY: b", "X: ä"]
)
def test_invalid_header_is_rejected_without_its_value(typed: str):
    with pytest.raises(ArgumentTypeError) as refused:
        values.header(typed)
    assert "secret" not in str(refused.value)


def test_secret_is_stripped_of_newlines():
    assert values.secret("abc\n") == "abc"


@pytest.mark.parametrize("read", [values.bearer, values.token, values.secret, values.user_and_password])
def test_empty_credentials_are_rejected(read: Callable[[str], object], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EMPTY", "")
    for typed, problem in (
        ("", "the value is empty"),
        (" ", "value is empty"),
        *([("env:EMPTY", "variable EMPTY is empty")] if read is not values.secret else []),
    ):
        with pytest.raises(ArgumentTypeError, match=problem):
            read(typed)


@pytest.mark.parametrize("typed", ["[1]", "{", '"x"', "[" * 5000, ""])
def test_metadata_is_a_json_object(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.json_text(typed)


def test_metadata_text_is_unchanged():
    assert values.json_text('{"b": 1.0, "a" : "\u00e9"}') == '{"b": 1.0, "a" : "\u00e9"}'


@pytest.mark.parametrize(("typed", "read"), [("a=1", ("a", "1")), ("_b2==x y=", ("_b2", "=x y=")), ("c=", ("c", ""))])
def test_variable_is_split_at_its_first_equals_sign(typed: str, read: tuple[str, str]):
    assert values.variable(typed) == read


@pytest.mark.parametrize("typed", ["a", "=1", "a b=1", "1a=1", ""])
def test_invalid_variable_is_rejected(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.variable(typed)


def test_path_of_an_unknown_user_is_rejected():
    with pytest.raises(ArgumentTypeError, match="unknown user"):
        values.file("~nobody-is-called-that/x")


@pytest.mark.parametrize("typed", ["-1", "65536", "http", "", "1.5", "٣", "9" * 5000])
def test_a_port_is_a_number_from_0_to_65535(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.port(typed)


@pytest.mark.parametrize("typed", ["input-required", "INPUT_REQUIRED", "TASK_STATE_INPUT_REQUIRED", " input_required "])
def test_state_is_read_in_every_spelling(typed: str):
    assert values.state(typed) == "TASK_STATE_INPUT_REQUIRED"


@pytest.mark.parametrize("typed", ["", "tired", "unspecified", "TASK_STATE_", "cancelled"])
def test_invalid_state_is_rejected_with_the_valid_states(typed: str):
    with pytest.raises(ArgumentTypeError, match="input-required"):
        values.state(typed)


@pytest.mark.parametrize(
    ("typed", "utc"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T13:00:00.1239+01:00", "2026-01-31T12:00:00.123Z"),
        ("20260131T120000Z", "2026-01-31T12:00:00.000Z"),
    ],
)
def test_a_time_is_written_in_utc_with_milliseconds(typed: str, utc: str):
    assert values.moment(typed) == utc


@pytest.mark.parametrize(
    "typed", ["", "now", "12:00", "2026-02-30T00:00:00Z", "2026-01-31", "0001-01-01T00:00:00+01:00"]
)
def test_time_without_zone_is_rejected(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.moment(typed)


@pytest.mark.parametrize(
    "typed",
    ["", "host/hook", "ftp://host/", "http://", "http:///hook", "http://[::1", "http://h:99999/", "http://h:0/"],
)
def test_invalid_web_url_is_rejected(typed: str):
    with pytest.raises(ArgumentTypeError):
        values.web_url(typed)
