"""Variables: where their values come from, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.session.check.variables import VariableError, Variables, references


def variables(**given: Any) -> Variables:
    return Variables(given)


def test_values_come_from_files_captures_responses_and_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHECK_TEST", "from outside")
    found = Variables({"a": "1"}, {"send.id": "t"}, {"send": {"task": {"id": "t", "n": 3}}})
    assert found.resolve("{{a}} {{send.id}} {{send.response.task.n}} {{env.CHECK_TEST}}") == "1 t 3 from outside"
    assert found.resolve("{{send.response}}") == {"task": {"id": "t", "n": 3}}


def test_a_captured_value_has_priority(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("X", "environment")
    given = {"send.id": "file", "env.X": "file", "send.response": "file"}
    assert Variables(given, {"send.id": "captured"}, {"send": "result"}).resolve("{{send.id}} {{send.response}}") == (
        "captured result"
    )
    assert Variables(given).resolve("{{send.id}} {{env.X}}") == "file file"


def test_references_are_replaced_in_keys_lists_and_mappings():
    found = variables(a="x").resolve({"{{a}}": ["{{a}}", {"b": "-{{ a }}-"}], "c": 1, "d": None})
    assert found == {"x": ["x", {"b": "-x-"}], "c": 1, "d": None}


@pytest.mark.parametrize("value", [1, 1.5, True, None, [1], {"a": 1}, ""])
def test_a_text_of_one_reference_becomes_a_value_of_any_type(value: Any):
    found = Variables({}, {"a.b": value}).resolve("{{a.b}}")
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "<1>"), (True, "<true>"), (None, "<>"), ("{{a}}", "<{{a}}>"), ({"k": [1, True]}, '<{"k":[1,true]}>')],
)
def test_a_value_in_a_longer_text_becomes_text(value: Any, text: str):
    assert Variables({}, {"a.b": value}).resolve("<{{a.b}}>") == text


def test_values_of_the_agent_are_not_resolved_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "secret")
    found = Variables({}, {"a.b": "{{env.SECRET}}"}, {"a": {"c": "{{env.SECRET}}"}})
    assert found.resolve("{{a.b}} {{a.response.c}}") == "{{env.SECRET}} {{env.SECRET}}"


def test_variables_may_refer_to_variables():
    assert variables(a="{{b}}!", b="{{c}}", c="x").resolve("{{a}}") == "x!"


def test_each_uuid_is_new():
    first, second = variables().resolve("{{$uuid}} {{$uuid}}").split()
    assert first != second
    assert [len(part) for part in first.split("-")] == [8, 4, 4, 4, 12]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{nothing}}", "the variable {{nothing}} has no value; set it with --var nothing=VALUE"),
        ("{{env.NOT_SET_HERE}}", "the environment variable NOT_SET_HERE is not set"),
        ("{{send.response.task.x}}", "the response of step 'send' has no task.x"),
        ("{{send.taskid}}", "the variable {{send.taskid}} has no value; the step 'send' captures taskId, x"),
        ("{{other.taskId}}", "the variable {{other.taskId}} has no value; the step 'other' captures nothing"),
        ("{{snd.taskId}}", "the variable {{snd.taskId}} has no value; no step before has the id 'snd'"),
        ("{{send.response[}}", "'[' is not a path: see position 1"),
        ("{{a}}", "refer to each other"),
        ("{{bomb9}}", "becomes longer than 10,000,000 characters"),
        ("{{many9}}", "refer to each other too often"),
    ],
)
def test_a_variable_without_a_value_is_an_error(text: str, message: str):
    given: dict[str, Any] = {"a": "{{b}}", "b": "x{{a}}", "bomb0": "x" * 200_000, "many0": ""}
    for number in range(9):
        given[f"bomb{number + 1}"] = f"{{{{bomb{number}}}}}" * 100
        given[f"many{number + 1}"] = f"{{{{many{number}}}}}" * 100
    captured = {"send.taskId": "t", "send.x": 1, "sender.y": 2}
    found = Variables(given, captured, {"send": {"task": {}}, "other": {}})
    with pytest.raises(VariableError) as caught:
        found.resolve(text)
    assert message in str(caught.value)


def test_braces_that_are_not_references_are_kept():
    assert variables().resolve("{{}} {x} {{ {a} }} {{{}}}") == "{{}} {x} {{ {a} }} {{{}}}"


def test_references_are_found_everywhere():
    assert references({"{{a}}": ["{{ b.c }}", {"x": "{{d}}{{e}}"}], "n": 1}) == {"a", "b.c", "d", "e"}
    assert references({}) == references("") == references(None) == set()
