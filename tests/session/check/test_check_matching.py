"""Assertions: each operator, nested members, and what a failure reports."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.errors import ProtocolError
from inspector.session.check import matching
from inspector.session.check.calls import Response, event_root
from inspector.session.check.document.expected import ExpectStream
from inspector.session.check.expectations import stream_mismatches
from inspector.session.check.matching import UndecidedError, collection_mismatch, mismatches
from inspector.session.check.paths import MISSING

MATCHING: list[tuple[Any, Any]] = [
    ("a", "a"),
    (1, 1),
    (1, 1.0),
    (None, None),
    ({"type": "string"}, ""),
    ({"type": "number"}, 1.5),
    ({"type": "number"}, 0),
    ({"type": "boolean"}, False),
    ({"type": "array"}, []),
    ({"type": "object"}, {}),
    ({"type": "null"}, None),
    ({"exists": True}, None),
    ({"exists": False}, MISSING),
    ({"absent": True}, MISSING),
    ({"absent": False}, 0),
    ({"contains": "b"}, "abc"),
    ({"contains": "b"}, ["a", "b"]),
    ({"matches": "^a.c$"}, "abc"),
    ({"matches": "b"}, "abc"),
    ({"starts_with": "ab"}, "abc"),
    ({"ends_with": "bc"}, "abc"),
    ({"gte": 2}, 2),
    ({"lte": 2}, 2.0),
    ({"gt": 1.5}, 2),
    ({"lt": 3}, 2),
    ({"gte": 1, "lt": 3}, 2),
    ({"count": 2}, [1, 2]),
    ({"count": 0}, []),
    ({"count_gte": 2}, [1, 2, 3]),
    ({"count_lte": 2}, [1]),
    ({"one_of": ["a", "b"]}, "b"),
    ({"one_of": [1, None]}, None),
    ({"one_of": [{"a": 1}, {"b": {"type": "string"}}]}, {"b": "x", "c": 1}),
    ({"one_of": [[1], [2]]}, [2, 3]),
    ({"all_of": [{"type": "string"}, {"contains": "a"}]}, "abc"),
    ({"any_of": [{"type": "number"}, {"contains": "a"}]}, "abc"),
    ({"any_of": [{"task": {"id": "x"}}, {"message": {"role": "ROLE_AGENT"}}]}, {"message": {"role": "ROLE_AGENT"}}),
    ({"not": "a"}, "b"),
    ({"not": {"contains": "x"}}, "abc"),
    ({"not": {"exists": True}}, MISSING),
    ({"items": {"type": "string"}}, ["a", "b"]),
    ({"items": {"type": "string"}}, []),
    ({"items": ["a", {"gt": 1}]}, ["a", 2, 3]),
    ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}),
    ([{"a": 1}], [{"a": 1, "b": 2}, 5]),
    ([], [1]),
    ({}, {"a": 1}),
    ({"a": {"b": {"absent": True}}}, {}),
    ({"a": {"b": {"absent": True}}}, {"a": "text"}),
    ({"type": "array", "count": 1}, ["x"]),
    ({"type": {"type": "string"}}, {"type": "mine"}),
    ({"type": "mine"}, {"type": "mine"}),
    ({"contains": 5}, {"contains": 5}),
    ({"count": "2"}, {"count": "2"}),
    ({"exists": "yes"}, {"exists": "yes"}),
    ({"one_of": "x"}, {"one_of": "x"}),
    ({"gte": "x"}, {"gte": "x"}),
    ({"items": 1}, {"items": 1}),
    ({"a.b": 1}, {"a.b": 1}),
]

FAILING: list[tuple[Any, Any, str]] = [
    ("a", "b", 'the response: expected "a", got "b"'),
    ("1", 1, 'the response: expected "1", got 1'),
    (1, True, "the response: expected 1, got true"),
    (True, 1, "the response: expected true, got 1"),
    (False, 0, "the response: expected false, got 0"),
    (None, MISSING, "the response: expected null, got nothing"),
    ("a", MISSING, 'the response: expected "a", got nothing'),
    ({"type": "number"}, True, 'the response: expected the type "number", got true'),
    ({"type": "boolean"}, 1, 'the response: expected the type "boolean", got 1'),
    ({"type": "null"}, MISSING, 'the response: expected the type "null", got nothing'),
    ({"type": "object"}, [], 'the response: expected the type "object", got []'),
    ({"exists": True}, MISSING, "the response: expected a value, got nothing"),
    ({"exists": False}, 1, "the response: expected nothing, got 1"),
    ({"absent": True}, None, "the response: expected nothing, got null"),
    ({"absent": False}, MISSING, "the response: expected a value, got nothing"),
    ({"contains": "x"}, "abc", 'the response: expected a value that contains "x", got "abc"'),
    ({"contains": "x"}, {"x": 1}, 'the response: expected a value that contains "x", got {"x":1}'),
    ({"matches": "^b"}, "abc", 'the response: expected a text that matches "^b", got "abc"'),
    ({"matches": "1"}, 1, 'the response: expected a text that matches "1", got 1'),
    ({"starts_with": "b"}, "abc", 'the response: expected a text that starts with "b", got "abc"'),
    ({"ends_with": "b"}, "abc", 'the response: expected a text that ends with "b", got "abc"'),
    ({"gte": 2}, 1, "the response: expected at least 2, got 1"),
    ({"lte": 2}, 3, "the response: expected at most 2, got 3"),
    ({"gt": 2}, 2, "the response: expected more than 2, got 2"),
    ({"lt": 2}, 2, "the response: expected less than 2, got 2"),
    ({"gt": 0}, True, "the response: expected more than 0, got true"),
    ({"gt": 0}, "1", 'the response: expected more than 0, got "1"'),
    ({"count": 2}, [1], "the response: expected 2 elements, got 1 element"),
    ({"count": 2}, "ab", 'the response: expected an array of 2 elements, got "ab"'),
    ({"count_gte": 2}, [1], "the response: expected at least 2 elements, got 1 element"),
    ({"count_lte": 0}, [1], "the response: expected at most 0 elements, got 1 element"),
    ({"one_of": ["a", "b"]}, "c", 'the response: expected one of ["a","b"], got "c"'),
    ({"one_of": [1]}, True, "the response: expected one of [1], got true"),
    ({"one_of": [{"a": 1}]}, {"a": 2}, 'the response: expected one of [{"a":1}], got {"a":2}'),
    ({"all_of": [{"type": "string"}, {"contains": "x"}]}, "abc", 'expected a value that contains "x", got "abc"'),
    ({"any_of": [{"a": 1}, {"b": 2}]}, {"a": 2}, "expected a: 1 or b: 2, got"),
    ({"not": "a"}, "a", 'the response: expected not "a", got "a"'),
    ({"items": {"type": "string"}}, ["a", 1], '[1]: expected the type "string", got 1'),
    ({"items": ["a", "b"]}, ["a"], '[1]: expected "b", got nothing'),
    ({"items": {"type": "string"}}, "a", "expected an array"),
    ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b: expected 1, got 2"),
    ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b: expected 1, got 2"),
    ({"a": {"b": 1}}, {"a": "text"}, 'a: expected an object with b, got "text"'),
    ({"a": 1}, MISSING, "the response: expected an object with a, got nothing"),
    ([1, 2], [1], "[1]: expected 2, got nothing"),
    ([1], {"a": 1}, 'the response: expected an array with at least 1 element, got {"a":1}'),
    ({}, "text", 'the response: expected an object, got "text"'),
    ({"type": {"type": "string"}}, {"type": 1}, 'type: expected the type "string", got 1'),
]


@pytest.mark.parametrize(("expected", "actual"), MATCHING, ids=str)
def test_a_value_matches(expected: Any, actual: Any):
    assert mismatches(expected, actual) == []


@pytest.mark.parametrize(("expected", "actual", "sentence"), FAILING, ids=str)
def test_a_value_does_not_match(expected: Any, actual: Any, sentence: str):
    [found] = mismatches(expected, actual)
    assert sentence in str(found)


def test_every_operator_has_an_example_that_matches_and_another_that_does_not():
    for examples in (MATCHING, FAILING):
        used = {key for expected, *_ in examples if isinstance(expected, dict) for key in expected}
        assert set(matching._OPERATORS) <= used


def test_all_mismatches_are_reported_with_their_paths():
    found = mismatches({"a": 1, "b": {"c": 2}, "d": [3, 4]}, {"a": 0, "b": {"c": 0}, "d": [3, 0]})
    assert [item.path for item in found] == ["a", "b.c", "d[1]"]


def test_long_values_are_shortened_after_secrets_are_masked():
    [found] = mismatches("x", "y" * 390 + "secret" * 5 + "y" * 10_000)
    shown = found.shown(lambda text: text.replace("secret" * 5, "****"))
    assert shown.actual.endswith("y****yyyyy… (10,396 characters)")
    assert len(str(shown)) < 500
    assert len(mismatches("x", "y" * 1_000_000)[0].actual) < 21_000


@pytest.mark.parametrize(
    "expected", [{"matches": "["}, {"not": {"matches": "["}}, {"items": {"matches": "(?<a)"}}], ids=str
)
def test_an_invalid_regular_expression_is_an_error_also_where_nothing_may_match(expected: Any):
    with pytest.raises(UndecidedError, match="is not a valid regular expression"):
        mismatches(expected, ["["] if "items" in expected else "[")


@pytest.mark.parametrize("expected", [{"matches": "^(a|a)*$"}, {"not": {"matches": "(a*)*b"}}], ids=str)
def test_a_regular_expression_that_needs_too_long_is_an_error(expected: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matching, "_PATTERN_SECONDS", 0.05)
    began = time.monotonic()
    with pytest.raises(UndecidedError, match=r"needs more than 0\.05 s for a text of 61 characters"):
        mismatches(expected, "a" * 60 + "!")
    assert time.monotonic() - began < 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_long_text_is_searched_to_its_end():
    assert mismatches({"matches": "x$"}, "a" * 1_000_000 + "x") == []


OPERATORS = "type exists absent contains matches starts_with ends_with gte lte gt lt count count_gte count_lte one_of"
KEYS = st.text().filter(lambda key: key not in f"{OPERATORS} all_of any_of not items".split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_a_value_matches_itself(value: Any):
    assert mismatches(value, value) == []
    assert mismatches({"not": value}, value) != []
    assert mismatches({"one_of": [value]}, value) == mismatches({"any_of": [value]}, value) == []
    assert mismatches({"items": value if isinstance(value, dict) else {"exists": True}}, [value]) == []


@given(JSON, JSON)
def test_not_inverts_an_assertion(expected: Any, actual: Any):
    assert bool(mismatches(expected, actual)) is not bool(mismatches({"not": expected}, actual))


@given(JSON, JSON, st.text(max_size=5))
def test_additional_members_and_elements_are_allowed(value: Any, other: Any, key: str):
    assert mismatches([value], [value, other]) == []
    if isinstance(value, dict):
        assert mismatches(value, {**value, f"{key}+": other} if f"{key}+" not in value else value) == []


@pytest.mark.parametrize(
    ("quantifier", "match", "sentence"),
    [
        ("any", {"text": "a"}, ""),
        ("any", {"text": "x"}, 'expected at least one element that matches {"text":"x"}, got 0 of 2 elements match'),
        ("all", {"text": {"type": "string"}}, ""),
        ("all", {"text": "a"}, 'expected only elements that match {"text":"a"}, got 1 of 2 elements match'),
        ("none", {"text": "x"}, ""),
        ("none", {"text": "b"}, 'expected no element like {"text":"b"}, got 1 of 2 elements match'),
    ],
)
def test_an_assertion_about_the_elements_of_a_collection(quantifier: str, match: Any, sentence: str):
    found = collection_mismatch(quantifier, "parts[*]", match, {"parts": [{"text": "a"}, {"text": "b"}]})
    assert (str(found) if found else "") == (f"parts[*]: {sentence}" if sentence else "")


def test_an_empty_collection_meets_all_and_none():
    assert collection_mismatch("all", "a[*]", 1, {}) is collection_mismatch("none", "a[*]", 1, {}) is None
    assert collection_mismatch("any", "a[*]", 1, {}) is not None


MANY = [f"x{number}" for number in range(5000)]


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"items": {"one_of": MANY}}, ["nope"] * 5000),
        ({"items": {"any_of": [{"a": name} for name in MANY]}}, [{"a": "nope"}] * 5000),
        ({"items": {"not": {"one_of": MANY}}}, ["nope"] * 5000),
        ({"one_of": MANY}, dict.fromkeys(MANY, "v" * 500)),
        ({"k" * 1_000_000: {"items": {"one_of": [1, 2]}}}, {"k" * 1_000_000: ["x"] * 5000}),
    ],
    ids=["one_of", "any_of", "not", "a long quotation", "a long path"],
)
def test_assertions_that_multiply_are_an_error_of_the_file(expected: Any, actual: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matching.Budget.__init__, "__defaults__", (50_000, 1.0))
    began = time.process_time()
    with pytest.raises(UndecidedError, match=r"more than 3,000,000 comparisons; one_of, any_of and items"):
        mismatches(expected, actual)
    assert time.process_time() - began < 5


def test_nested_alternatives_are_an_error_of_the_file():
    expected: dict[str, Any] = {"type": "string"}
    for _ in range(30):
        expected = {"one_of": [expected, expected]}
    with pytest.raises(UndecidedError, match="comparisons"):
        mismatches(expected, 1, "", matching.Budget(comparisons=100_000))


def test_a_large_response_is_compared():
    assert not mismatches({"items": {"type": "string"}}, ["text"] * 200_000)


def test_only_the_first_hundred_mismatches_are_reported():
    assert len(mismatches({"items": {"type": "number"}}, ["text"] * 1000)) == 100


def test_slow_patterns_share_their_time():
    budget = matching.Budget(pattern_seconds=0.2)
    began = time.monotonic()
    with pytest.raises(UndecidedError, match="needs more than 1 s"):
        mismatches({"items": {"matches": "^(a+)+$"}}, ["a" * 18 + "b"] * 10_000, "", budget)
    assert time.monotonic() - began < 5


def test_elements_at_a_path_with_wildcards_are_compared_within_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matching.Budget.__init__, "__defaults__", (50_000, 1.0))
    with pytest.raises(UndecidedError, match="comparisons"):
        collection_mismatch("all", "[*]", {"not": {"one_of": MANY}}, ["nope"] * 5000)


def test_an_error_without_data_has_no_member_data():
    assert mismatches({"error": {"data": {"absent": True}}}, event_root(ProtocolError(-32603, "Internal"))) == []


def test_the_assertions_about_a_stream_share_their_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matching.Budget.__init__, "__defaults__", (10_000, 1.0))
    costs = {"a": {"items": {"type": "string"}}}
    response = Response(events=[{"a": ["text"] * 3000}])
    assert not stream_mismatches(ExpectStream(events=[costs]), response)
    with pytest.raises(UndecidedError, match="comparisons"):
        stream_mismatches(ExpectStream(events=[{**costs, "index": 0}] * 3, final_event=costs), response)
