from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_sanitise import texts

from inspector.text.safe_json import dump

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def reject(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@given(values, st.sampled_from([None, 2]))
def test_any_value_is_written_as_printable_json(value: object, indent: int | None):
    text = dump(value, indent)
    assert json.loads(text, parse_constant=reject) == value
    assert text.replace("\n", "").isprintable()
    assert indent is not None or "\n" not in text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ([math.inf, -math.inf], "[1e999,-1e999]"),
        ({"Infinity": ["-Infinity", 'a "Infinity', math.inf]}, '{"Infinity":["-Infinity","a \\"Infinity",1e999]}'),
        (math.nan, "null"),
    ],
)
def test_numbers_that_json_does_not_have_are_not_written(value: object, written: str):
    assert dump(value) == written
