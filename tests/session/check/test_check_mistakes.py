"""Mistakes in the members of check files: all are reported, each with its position."""

from __future__ import annotations

import json
from pathlib import Path
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
    problems_of_files,
    test_of,
    yaml_of,
)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (("acts_version", "2.0"), ["2:3: acts_version: '2.0' is not supported; supported: 0.x and 1.x"]),
        (("acts_version", 1.0), ["2:3: acts_version: input should be a valid string"]),
        (("spec_version", ...), ["1:1: spec_version: this key is missing"]),
        (("suites", []), ["4:3: suites: a check file needs suites or include"]),
        (("suites", {}), ["4:3: suites: input should be a valid list"]),
        (("other", 1), ["5:3: other: unknown key"]),
        (("variables", {"port": 1}), ["6:5: port: input should be a valid string"]),
    ],
)
def test_a_mistake_in_the_members_of_a_file_has_a_position(change: tuple[str, Any], problems: list[str]):
    members = {"acts_version": "1.0", "spec_version": "1.0", "suites": [{"id": "s", "name": "s", "tests": []}]}
    members[change[0]] = change[1]
    text = json.dumps({name: value for name, value in members.items() if value is not ...}, indent=2)
    text = text.replace(': [\n    {\n      "id": "s",\n      "name": "s",\n      "tests": []\n    }\n  ]', ": [{}]")
    text = text.replace("[{}]", '[{"id": "s", "name": "s", "tests": []}]')
    assert problems_of(text, "a.json") == [f"a.json:{problem}" for problem in problems]


STEP = {"id": "get", "operation": "get_task", "params": {"id": "x"}}


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        (test_of(level="shall"), "level: 'shall' is not one of must, should, may"),
        (test_of(steps=[]), "steps: list should have at least 1 item"),
        (test_of(transport=["http"]), "'http' is not one of jsonrpc, grpc, rest"),
        (test_of(runner_requirements=["luck"]), "'luck' is not one of webhook_endpoint"),
        (test_of({"id": "a"}), "a step needs one of the keys operation, raw, client_response and assertion"),
        (test_of({**STEP, "operation": "get"}), "unknown operation 'get'; known: get_agent_card, send_message"),
        (test_of({**STEP, "paramz": {}}), "paramz: unknown key"),
        (test_of({**STEP, "delay_ms": "5"}), "delay_ms: input should be a valid integer"),
        (test_of({**STEP, "delay_ms": -5}), "delay_ms: input should be greater than or equal to 0"),
        (test_of({**STEP, "expect": {}, "expect_error": {}}), "a step has either expect or expect_error"),
        (test_of({**STEP, "expect_stream": {}}), "get_task has no stream"),
        (test_of({**STEP, "expect": {"body": 1, "a": 2}}), "body is not a mapping, but there are members beside it: a"),
        (test_of({**STEP, "repeat": {"until": "a == b", "backoff": "x"}}), "backoff: input should be 'none', 'linear'"),
        (test_of({**STEP, "repeat": {}}), "until: this key is missing"),
        (test_of({**STEP, "repeat": {"until": "a is b"}}), "until: the condition 'a is b' is not"),
        (test_of({**STEP, "repeat": {"until": "a in b"}}), "until: the condition 'a in b' needs a list"),
        (test_of({**STEP, "repeat": {"until": "a[ == b"}}), "until: 'a[' is not a path: see position 2"),
        (test_of({**STEP, "capture": {"id": "task..id"}}), "id: 'task..id' is not a path: see position 5"),
        (test_of({"id": "a", "assertion": {"source": "x", "path": "[x]"}}), "path: '[x]' is not a path"),
        (
            test_of({"id": "a", "assertion": {"source": "x", "any": {"path": "a[", "match": 1}}}),
            "path: 'a[' is not a path",
        ),
        (test_of({**STEP}, {**STEP}), "two steps have the id 'get'"),
        (
            test_of({"id": "s", "operation": "subscribe_to_task", "expect_stream": {"events": [{"match": "some"}]}}),
            "match: 'some' is not one of exact_position, any_position",
        ),
        (
            test_of({"id": "s", "operation": "subscribe_to_task", "expect_stream": {"events": [{"index": -1}]}}),
            "index: -1 is not a position",
        ),
        (test_of({"id": "r", "raw": {"method": "PATCH", "path": "/"}}), "method: input should be 'GET', 'POST'"),
        (test_of(**{"x-a2a-inspect": {"findings": {"max": "info"}}}), "max: input should be 'none', 'hint'"),
        (test_of(**{"x-a2a-inspect": {"finding": {}}}), "finding: unknown key"),
        (test_of({**STEP, "x-a2a-inspect": {"artifacts": [{"nam": ""}]}}), "nam: unknown key"),
        (
            test_of({**STEP, "x-a2a-inspect": {"artifacts": [{"text": {"matches": "*"}}]}}),
            'matches: "*" is not a valid',
        ),
        (test_of({**STEP, "expect_error": {"message": {"matches": "("}}}), 'matches: "(" is not a valid regular'),
        (
            test_of(assertions=[{"source": "x", "any": {"path": "a[*]", "match": {"type": "nmber"}}}]),
            "type: 'nmber' is not one of string, number,",
        ),
    ],
)
def test_a_mistake_in_a_test_is_reported(test: dict[str, Any], problem: str):
    [found] = problems_of(file_of(test), "a.json")
    assert problem in found


def test_the_position_of_a_mistake_is_that_of_its_key():
    text = HEAD + TEST.replace("operation: get_task", "operation: get_task\n            capture:\n              x: 1")
    assert problems_of(text) == ["a.yaml:14:15: x: input should be a valid string"]
    assert problems_of(HEAD + TEST.replace("        level: must\n", "")) == ["a.yaml:7:9: level: this key is missing"]


MISTAKES = """\
suites:
  - id: s
    name: Suite
    tests:
      - id: T
        name: Test
        level: shall
        steps:
          - id: get
            operation: get_tsk
            expects:
              body: {}
          - id: get
            operation: get_task
            expect:
              task: {id: {type: strng}, name: {matches: "("}}
            expect_error: {}
            expect_stream: {}
      - id: T
        name: Test
        level: must
        steps:
          - id: other
            operation: get_task
            capture: {a: "b["}
"""


def test_all_mistakes_of_all_tests_are_reported_in_their_order():
    problems = problems_of(HEAD + MISTAKES)
    assert [problem.removeprefix("a.yaml:").partition(": ")[0] for problem in problems] == [
        "9:9",
        "12:13",
        "13:13",
        "15:13",
        "16:13",
        "18:27",
        "18:48",
        "19:13",
        "27:23",
    ]
    words = (
        "level",
        "unknown operation",
        "expects",
        "two steps",
        "no stream",
        "'strng'",
        '"("',
        "either",
        "not a path",
    )
    for problem, word in zip(problems, words, strict=True):
        assert word in problem


def test_an_id_that_is_used_twice_is_reported_with_the_other_mistakes(tmp_path: Path):
    problems = problems_of_files(tmp_path, a=HEAD + MISTAKES)
    assert len(problems) == 10
    assert problems[-2] == "a.yaml:21:9: the id 'T' is used twice; the first is in a.yaml"


def test_a_file_with_a_mistake_that_is_included_twice_is_reported_once(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(HEAD + MISTAKES)
    assert len(problems_of_files(tmp_path, a=yaml_of("A", include=["b.yaml", "b.yaml"]))) == 10


@pytest.mark.parametrize(
    ("assertion", "operator"),
    [
        ("{not: {contain: password}}", "contains"),
        ("{not: {count_gt: 0}}", "count_gte"),
        ("{not: {one_off: [a]}}", "one_of"),
        ("{all_of: [{not: {mtches: x}}]}", "matches"),
        ("{any_of: [{mtches: x}]}", "matches"),
        ("{any_of: [a, {start_with: b}]}", "starts_with"),
        ("{not: {one_of: [{types: string}, b]}}", "type"),
    ],
)
def test_a_misspelt_operator_that_could_remain_unnoticed_is_a_mistake(assertion: str, operator: str):
    [problem] = problems_of(HEAD + TEST + " " * 16 + f"id: {assertion}\n")
    assert problem.startswith("a.yaml:16:")
    assert f"did you mean {operator}? For a member, write" in problem


@pytest.mark.parametrize(
    "assertion",
    [
        *("{not: {content: x}}", "{not: {contain: x, name: y}}", "{contain: {not: x}}", "{not: {contains: x}}"),
        *("{not: 5}", "{any_of: [{all_of: [{contain: x}]}, {content: y}]}", "{one_of: [{contain: x}]}"),
    ],
)
def test_a_member_of_such_an_assertion_is_no_mistake(assertion: str):
    assert body_of(f"id: {assertion}") == {"id": yaml.safe_load(assertion)}


@pytest.mark.parametrize("word", ["strng", "String", "integer", "objects", "bool"])
def test_a_misspelt_type_is_a_mistake(word: str):
    text = HEAD + TEST + " " * 16 + f"id: {{type: {word}}}\n"
    [problem] = problems_of(text)
    assert problem.startswith(
        f"a.yaml:16:22: type: {word!r} is not one of string, number, boolean, array, object, null;"
    )
    assert f"for a member type, write {{one_of: [{word}]}}" in problem


@pytest.mark.parametrize(
    "text",
    ["{type: circle}", "{type: strng, radius: 5}", "{type: {one_of: [strng]}}", "{type: '{{kind}}'}", "{type: 5}"],
)
def test_a_member_may_have_the_name_of_the_operator_type(text: str):
    assert body_of(f"id: {text}") == {"id": yaml.safe_load(text)}


def test_a_pattern_with_a_variable_is_only_checked_by_its_step():
    assert body_of("id: {matches: '({{x}}'}") == {"id": {"matches": "({{x}}"}}


def test_all_mistakes_are_reported_up_to_a_limit():
    tests = [test_of(id=f"T-{number}", level="x") for number in range(30)]
    assert len(problems_of(file_of(*tests), "a.json")) == 20


def test_the_extensions_of_other_runners_are_ignored():
    step = {**CARD_STEP, "x-other": {"a": 1}}
    document = parsed(file_of(test_of(step, **{"x-other": 1}), **{"x-anything": [1]}), "a.json")
    assert document.suites[0].tests[0].steps[0].id == "card"


def test_a_member_of_an_assertion_may_have_the_name_of_an_extension():
    assert body_of("x-request: 1") == {"x-request": 1}
