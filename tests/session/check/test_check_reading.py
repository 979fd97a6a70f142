"""Reading check files: the types of YAML 1.2 and JSON, and the position of every problem."""

from __future__ import annotations

import json
import textwrap
from itertools import pairwise
from typing import Any

import pytest
import yaml
from check_files import (
    CARD_STEP,
    HEAD,
    TEST,
    body_of,
    file_of,
    parsed,
    problems_of,
    test_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.session.check import source
from inspector.session.check.document.enumerations import Level
from inspector.session.check.source import CheckFileError, Source


def test_a_file_has_the_same_content_as_yaml_and_as_json():
    text = file_of(test_of(level="should"), variables={"a": "b"})
    read_json, read_yaml = parsed(text, "a.json"), parsed(yaml.safe_dump(json.loads(text)))
    assert read_json == read_yaml
    assert read_json.suites[0].tests[0].level is Level.SHOULD
    assert read_json.variables == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", "no"),
        ("a: yes", "yes"),
        ("a: On", "On"),
        ("a: 12:30", "12:30"),
        ("a: 2026-01-02", "2026-01-02"),
        ("a: 0o17", 15),
        ("a: 0x1f", 31),
        ("a: 017", 17),
        ("a: 1_000", "1_000"),
        ("a: 0b11", "0b11"),
        ("a: +12", 12),
        ("a: -0.5", -0.5),
        ("a: 1e3", 1000.0),
        ("a: .5", 0.5),
        ("a: null", None),
        ("a: ~", None),
        ("a:", None),
        ("a: Null", None),
        ("a: nULL", "nULL"),
        ("a: true", True),
        ("a: FALSE", False),
        ("a: <<", "<<"),
        ("a: '1'", "1"),
        ("a: !!str 1", "1"),
    ],
)
def test_scalars_have_the_types_of_the_core_schema_of_yaml_1_2(text: str, value: Any):
    found = body_of(text)["a"]
    assert (found, type(found)) == (value, type(value))


def test_keys_are_texts():
    assert body_of("1: a\nnull: b\ntrue: c\n<<: d") == {"1": "a", "null": "b", "true": "c", "<<": "d"}


def test_an_alias_repeats_its_anchor():
    assert body_of("a: &x {b: 1}\nc: *x") == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\na: 2", "a.yaml:17:17: the key 'a' is used twice"),
        ("a: &x [*x]", "a.yaml:16:20: an alias inside of its own anchor"),
        ("a: *x", "a.yaml:16:20: found undefined alias"),
        ("? [a]\n: b", "a.yaml:16:19: a key is a string"),
        ("a: {{send.id}}", 'a.yaml:16:21: a key is a string; write a reference in quotes: "{{name}}"'),
        ("a: !!binary aGk=", "a.yaml:16:20: the tag 'tag:yaml.org,2002:binary' is not supported"),
        ("a: !!python/name:os.system x", "is not supported"),
        ("a: !!int x", "a.yaml:16:20: 'x' is not of the type int"),
        ("a: !!float x", "a.yaml:16:20: 'x' is not of the type float"),
        ("a: !!bool x", "a.yaml:16:20: 'x' is not of the type bool"),
        ("a: " + "9" * 5000, "a.yaml:16:20: the number has too many digits"),
        ("a: {", "a.yaml:17:1: did not find expected node content"),
        ("\ta: 1", "a.yaml:16:1: found character that cannot start any token"),
        ("a: " + "[" * 120 + "]" * 120, "a.yaml:16:111: nested more than 100 levels deep"),
        ("a: " + "[" * 5000 + "]" * 5000, "a.yaml:16:1011: exceeded maximum nesting depth"),
        ("a: " + "- " * 5000, "a.yaml:16:20: block sequence entries are not allowed in this context"),
        ("\n" + "\n".join(f"{' ' * (20 + deep)}a:" for deep in range(2000)), "exceeded maximum nesting depth"),
        ("a: 'b\x01'", "a.yaml:16:22: the character U+0001 is not allowed"),
    ],
)
def test_yaml_that_cannot_be_read_has_a_position(text: str, problem: str):
    [found] = problems_of(HEAD + TEST + textwrap.indent(text, " " * 16 if text[0] != "\t" else ""))
    assert problem in found


def test_a_version_of_yaml_with_too_many_digits_is_reported():
    [problem] = problems_of(f"%YAML 1.{'9' * 5000}\n---\na: b\n")
    assert problem == "a.yaml:1:18: found extremely long version number"


def test_a_message_is_short():
    [problem] = problems_of("a: !<x:" + "a" * 100_000 + "> b")
    assert problem.startswith("a.yaml:1:4: the tag ")
    assert len(problem) < 500


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_a_file_with_too_many_values_is_not_read_to_its_end(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source, "_MOST_VALUES", 1000)
    [problem] = problems_of('{"suites": [' + "1," * 2000 + "1]}", name)
    assert problem.startswith(f"{name}:1:2")
    assert "more than 500,000 values" in problem


def test_aliases_cannot_expand_without_limit():
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    names = "abcdefghi"
    lines += [f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]" for before, name in pairwise(names)]
    [problem] = problems_of("\n".join(lines))
    assert "more than 500,000 values" in problem


@pytest.mark.parametrize("text", ["", "null", "[]", "a", "# nothing\n"])
def test_a_file_is_a_mapping(text: str):
    [problem] = problems_of(text)
    assert "a check file is a mapping with acts_version, spec_version, suites" in problem


@pytest.mark.parametrize("text", ['{"a": "\\ud83d\\ude00"}', '{"a": "😀"}'])
def test_json_may_escape_surrogate_pairs(text: str):
    document = parsed(file_of(test_of({**CARD_STEP, "expect": {"body": json.loads(text)}})), "a.json")
    assert document.suites[0].tests[0].steps[0].expect.body == {"a": "😀"}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"suites"', "suites", "1:48: expecting property name enclosed in double quotes"),
        ('"level": "must"', '"level": "must", "level": "may"', "the key 'level' is used twice"),
        ('"level": "must"', '"level": ' + "9" * 5000, "the number has too many digits"),
        ('"level": "must"', '"level": ' + "[" * 200_000 + "]" * 200_000, "nested too deeply"),
    ],
)
def test_json_that_cannot_be_read_is_reported(old: str, new: str, problem: str):
    [found] = problems_of(file_of(test_of()).replace(old, new), "a.json")
    assert problem in found


def test_json_may_have_tabs_and_characters_that_yaml_does_not_allow():
    text = json.dumps(json.loads(file_of(test_of(name="a\x7fb\u0080c"))), indent="\t", ensure_ascii=False)
    assert parsed(text, "a.json").suites[0].tests[0].name == "a\x7fb\u0080c"
    assert problems_of(text.replace('"must"', '\t"shall"'), "a.json")[0].startswith("a.json")


def test_a_tab_counts_as_one_column():
    text = json.dumps(json.loads(file_of(test_of(level="shall"))), indent="\t")
    line = text.splitlines().index('\t\t\t\t\t"level": "shall",') + 1
    assert problems_of(text, "a.json") == [f"a.json:{line}:6: level: 'shall' is not one of must, should, may"]


def test_a_duplicate_key_is_found_in_json_that_is_not_yaml():
    text = file_of(test_of(name="a\x7fb")).replace('"level"', '"level": "may", "level"').replace("\\u007f", "\x7f")
    [problem] = problems_of(text, "a.json")
    assert "the key 'level' is used twice" in problem


def test_yaml_may_begin_with_a_flow_mapping():
    assert parsed("{acts_version: '1.0', spec_version: '1.0', include: [x.yaml]}").include == ["x.yaml"]


@settings(max_examples=examples(50))
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_every_json_value_is_read_as_it_is(value: Any):
    step = {"id": "r", "raw": {"method": "POST", "path": "/", "body": value}}
    for text in (file_of(test_of(step)), json.dumps(json.loads(file_of(test_of(step))), ensure_ascii=False, indent=1)):
        assert parsed(text, "a.json").suites[0].tests[0].steps[0].raw.body == value


def test_a_position_counts_characters_and_not_bytes():
    [problem] = problems_of("'\u00e9\U0001f600': 'x\x01'")
    assert problem == "a.yaml:1:9: the character U+0001 is not allowed"
    [problem] = problems_of("'\u00e9\U0001f600': [@]")
    assert problem == "a.yaml:1:8: found character that cannot start any token"


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.yaml", "a:\n  b: .inf\n", "2:6"),
        ("a.yaml", "a: [1, -.INF]\n", "1:8"),
        ("a.yaml", "a: .NaN\n", "1:4"),
        ("a.yaml", "a: 1e999\n", "1:4"),
        ("a.json", '{"NaN": "Infinity",\n "b": NaN}', "2:7"),
        ("a.json", '{"b": "\\"NaN",\n\n "c": [-Infinity]}', "3:8"),
        ("a.json", '{"b": Infinity}', "1:7"),
        ("a.json", '{"b": 1e999}', "1:7"),
    ],
)
def test_a_number_that_json_does_not_have_is_an_error_with_its_place(name: str, text: str, place: str):
    with pytest.raises(CheckFileError) as raised:
        Source(name, text).read()
    assert str(raised.value.problems[0]).startswith(f"{name}:{place}: JSON has no number ")
    assert "body_raw" in str(raised.value.problems[0])
