"""Reading check files: the types of YAML 1.2 and JSON, includes, and the position of every problem."""

from __future__ import annotations

import json
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_files import CARD_STEP, HEAD, file_of, parsed, problems_of, test_of
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.session.check import source
from inspector.session.check.document.enumerations import Level
from inspector.session.check.reading import MOST_BYTES, read_check_files
from inspector.session.check.source import CheckFileError, Source

TEST = """\
suites:
  - id: s
    name: Suite
    tests:
      - id: T
        name: Test
        level: must
        steps:
          - id: get
            operation: get_task
            params: {id: x}
            expect:
              body:
"""


def body_of(text: str) -> Any:
    """Return the value of an assertion that is written in YAML."""
    document = parsed(HEAD + TEST + textwrap.indent(text, " " * 16))
    return document.suites[0].tests[0].steps[0].expect.body


def read(tmp_path: Path, **texts: str | bytes) -> list[str]:
    """Write files, read the first, and return its problems."""
    paths = []
    for name, text in texts.items():
        path = tmp_path / f"{name}.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(path)
    with pytest.raises(CheckFileError) as caught:
        read_check_files(paths[:1])
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def yaml_of(name: str, **members: Any) -> str:
    """Return a file with one test, whose id is the name."""
    test = test_of(id=name)
    suites = [{"id": name, "name": name, "tests": [test]}]
    return yaml.safe_dump({"acts_version": "1.0", "spec_version": "1.0", "suites": suites, **members})


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
    problems = read(tmp_path, a=HEAD + MISTAKES)
    assert len(problems) == 10
    assert problems[-2] == "a.yaml:21:9: the id 'T' is used twice; the first is in a.yaml"


def test_a_file_with_a_mistake_that_is_included_twice_is_reported_once(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(HEAD + MISTAKES)
    assert len(read(tmp_path, a=yaml_of("A", include=["b.yaml", "b.yaml"]))) == 10


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


def test_files_that_are_not_utf8_have_a_position(tmp_path: Path):
    assert read(tmp_path, a=b"acts_version: '1.0'\nx: \xff") == ["a.yaml:2:4: not UTF-8"]


def test_a_byte_order_mark_is_ignored(tmp_path: Path):
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbf" + yaml_of("A").encode())
    assert len(read_check_files([tmp_path / "a.yaml"])) == 1


def test_a_large_file_is_not_read(tmp_path: Path):
    with (tmp_path / "a.yaml").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(CheckFileError, match=r"a\.yaml: larger than 4 MB"):
        read_check_files([tmp_path / "a.yaml"])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (lambda path: path.mkdir(), "cannot be read: Is a directory"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_what_is_not_a_file_is_reported(make: Any, problem: str, tmp_path: Path):
    make(tmp_path / "b.yaml")
    assert read(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [f"a.yaml:3:3: include: b.yaml: {problem}"]


def test_the_name_of_an_included_file_may_not_have_a_null(tmp_path: Path):
    [problem] = read(tmp_path, a=yaml_of("A", include=["b\0.yaml"]))
    assert problem.startswith("a.yaml:3:3: include: b\0.yaml: cannot be read: ")
    assert "embedded null" in problem


def test_included_files_are_read_once_in_their_order(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    for name, include in {"a": ["sub/b.yaml", "c.yaml"], "sub/b": ["../c.yaml"], "c": []}.items():
        (tmp_path / f"{name}.yaml").write_text(yaml_of(name, include=include) if include else yaml_of(name))
    files = read_check_files([tmp_path / "a.yaml", tmp_path / "c.yaml"])
    assert [file.document.suites[0].id for file in files] == ["a", "sub/b", "c"]


def test_a_file_may_only_include_others(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(HEAD + "include: [b.yaml]\n")
    (tmp_path / "b.yaml").write_text(yaml_of("B"))
    assert [file.path.name for file in read_check_files([tmp_path / "a.yaml"])] == ["b.yaml"]


def test_a_file_that_includes_itself_is_reported(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("B", include=["a.yaml"]))
    assert read(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [
        "b.yaml:3:3: include: a.yaml: the file includes itself"
    ]


def test_the_problems_of_all_files_are_reported(tmp_path: Path):
    (tmp_path / "b.yaml").write_text("[]")
    problems = read(tmp_path, a=yaml_of("A", include=["b.yaml", "c.yaml"]))
    assert problems == [
        "b.yaml:1:1: a check file is a mapping with acts_version, spec_version, suites",
        "a.yaml:4:3: include: c.yaml: cannot be read: No such file or directory",
    ]


def test_an_id_that_is_used_twice_is_reported_with_both_places(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("A"))
    [problem] = read(tmp_path, a=yaml_of("A", include=["b.yaml"]))
    assert problem == "b.yaml:7:5: the id 'A' is used twice; the first is in a.yaml"


def test_variables_are_inherited_from_including_files(tmp_path: Path):
    (tmp_path / "b.yaml").write_text(yaml_of("B", variables={"y": "own"}))
    (tmp_path / "a.yaml").write_text(yaml_of("A", include=["b.yaml"], variables={"x": "1", "y": "2"}))
    first, second = read_check_files([tmp_path / "a.yaml"])
    assert first.variables == {"x": "1", "y": "2"}
    assert second.variables == {"x": "1", "y": "own"}


def test_the_number_of_included_files_is_limited(tmp_path: Path):
    for number in range(250):
        (tmp_path / f"{number}.yaml").write_text(HEAD + f"include: [{number + 1}.yaml]\n")
    with pytest.raises(CheckFileError, match="more than 200 files are included"):
        read_check_files([tmp_path / "0.yaml"])


@pytest.mark.parametrize("name", ["/etc/passwd", "../.env", "secrets.yaml.txt", ""])
def test_only_files_with_the_name_of_a_check_file_are_included(name: str, tmp_path: Path):
    [problem] = read(tmp_path, a=yaml_of("A", include=[name]))
    assert problem.startswith(f"a.yaml:3:3: {name!r} is not the name of a check file")


def test_the_content_of_another_file_is_not_quoted(tmp_path: Path):
    (tmp_path / "b.yaml").write_text("token: secret-word\nsecret-key: 1\n")
    assert read(tmp_path, a=yaml_of("A", include=["b.yaml"])) == [
        "b.yaml:1:1: not a check file: the key acts_version is missing"
    ]


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
