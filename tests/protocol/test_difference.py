"""The differences between two cards: member by member, items matched by their identity."""

from __future__ import annotations

import pytest

from inspector.protocol.difference import Change, How, difference


def said(before: object, after: object) -> list[str]:
    return [f"{change.how} {change.pointer}" for change in difference(before, after)]


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "x", [], {}, [1, [2, {"a": None}]], {"skills": [{"id": "a"}]}])
def test_a_value_does_not_differ_from_itself(value):
    assert difference(value, value) == []


def test_members_are_added_removed_and_changed():
    changes = difference({"a": 1, "b/c": 2, "d": 3}, {"e": 4, "a": 5, "d": 3})
    assert changes == [
        Change(How.ADDED, "/e", ("e",), after=4),
        Change(How.CHANGED, "/a", ("a",), 1, 5),
        Change(How.REMOVED, "/b~1c", ("b/c",), before=2),
    ]


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (1, "1"), ([], {}), (None, ""), (1, 1.0)])
def test_another_type_is_a_change(before, after):
    assert said(before, after) == ["changed "]


def test_skills_are_matched_by_their_id():
    before = {"skills": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}, {"id": "c"}]}
    after = {"skills": [{"id": "b", "name": "B"}, {"id": "new"}, {"id": "a", "name": "Z"}]}
    changes = difference(before, after)
    assert [(change.how, change.pointer, change.path) for change in changes] == [
        (How.ADDED, "/skills/1", ("skills", "new")),
        (How.CHANGED, "/skills/2/name", ("skills", "a", "name")),
        (How.REMOVED, "/skills/2", ("skills", "c")),
        (How.MOVED, "/skills", ("skills",)),
    ]


def test_an_item_added_at_the_front_is_no_move_of_the_others():
    before = [{"id": "a"}, {"id": "b"}]
    assert said({"skills": before}, {"skills": [{"id": "new"}, *before]}) == ["added /skills/0"]


def test_interfaces_are_matched_by_url_binding_and_version():
    one = {"url": "http://a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    other = one | {"protocolVersion": "0.3"}
    assert said({"supportedInterfaces": [one, other]}, {"supportedInterfaces": [other, one]}) == [
        "moved /supportedInterfaces"
    ]
    assert said({"supportedInterfaces": [one]}, {"supportedInterfaces": [one | {"tenant": "t"}]}) == [
        "added /supportedInterfaces/0/tenant"
    ]
    assert said({"supportedInterfaces": [one]}, {"supportedInterfaces": [other]}) == [
        "added /supportedInterfaces/0",
        "removed /supportedInterfaces/0",
    ]


def test_items_without_an_id_and_those_with_the_same_id_are_matched_in_order():
    assert said({"skills": [{"name": "a"}, {"name": "b"}]}, {"skills": [{"name": "a"}, {"name": "c"}]}) == [
        "changed /skills/1/name"
    ]
    assert said({"skills": [{"id": "x", "n": 1}, {"id": "x", "n": 2}]}, {"skills": [{"id": "x", "n": 1}]}) == [
        "removed /skills/1"
    ]
    assert said({"skills": [1, {"id": "x"}]}, {"skills": [2, {"id": "x"}]}) == ["changed /skills/0"]


def test_lists_of_words_are_compared_as_words():
    assert said({"tags": ["a", "b", "b"]}, {"tags": ["b", "a", "c"]}) == [
        "added /tags/2",
        "removed /tags/2",
        "moved /tags",
    ]


def test_deeply_nested_values_can_be_compared():
    deep: object = 1
    other: object = 2
    for _ in range(200):
        deep, other = [{"a": deep}], [{"a": other}]
    assert len(difference(deep, other)) == 1
