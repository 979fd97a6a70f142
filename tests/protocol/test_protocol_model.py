"""The canonical objects accept missing members, reject wrong types, are immutable, and keep unknown members."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import pytest
from pydantic import ValidationError

from inspector.protocol.card import AgentCard
from inspector.protocol.jsonvalue import read
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    Task,
    TaskRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
    Wire,
)

CARD_OBJECT = AgentCard.__base__
"""The base of the objects of cards, which has no members."""
MODELS = [model for model in (*Wire.__subclasses__(), *CARD_OBJECT.__subclasses__()) if model is not CARD_OBJECT]
VALUES: dict[str, Any] = {"string": "1", "number": 1.5, "integer": 1, "boolean": True, "array": [7], "object": {"a": 7}}
FITTING = {str: {"string"}, int: {"integer"}, bool: {"boolean"}, dict: {"object"}, list: set[str]()}


def types_in(annotation: Any) -> set[Any]:
    """List what a member can hold, `X | None` and annotations opened."""
    if annotation is Any:
        return {Any}
    if isinstance(annotation, type) and not get_args(annotation):
        return {annotation} - {type(None)}
    if get_origin(annotation) in (dict, list):
        return {get_origin(annotation)}
    return set().union(*(types_in(argument) for argument in get_args(annotation) if not hasattr(argument, "fail_fast")))


MEMBERS = [
    pytest.param(model, str(field.alias), types_in(field.annotation), id=f"{model.__name__}.{field.alias}")
    for model in MODELS
    for field in model.model_fields.values()
]
members = pytest.mark.parametrize(("model", "name", "held"), MEMBERS)
typed_members = pytest.mark.parametrize(
    ("model", "name", "held"), [member for member in MEMBERS if member.values[2] != {Any}]
)
list_members = pytest.mark.parametrize(
    ("model", "name", "held"), [member for member in MEMBERS if member.values[2] == {list}]
)


def test_all_canonical_objects_are_tested() -> None:
    assert len(MODELS) == 24
    assert {Task, AgentCard, Part} < set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_an_object_without_members_is_readable_and_writes_nothing(model: type[Wire]) -> None:
    empty = read(model, {})
    assert isinstance(empty, model)
    assert empty.to_json() == {}


@members
def test_a_null_counts_as_missing(model: type[Wire], name: str, held: set[Any]) -> None:
    nothing = read(model, {name: None})
    assert isinstance(nothing, model)
    assert nothing == model()


@typed_members
def test_a_member_of_the_wrong_type_is_refused(model: type[Wire], name: str, held: set[Any]) -> None:
    fitting = set().union(*(FITTING.get(name, {"object"}) for name in held))
    for kind, value in VALUES.items():
        refused = isinstance(read(model, {name: value}), Unreadable)
        if kind not in fitting:
            assert refused, kind
        elif kind != "object":
            assert not refused, kind


@list_members
def test_a_long_list_of_wrong_items_ends_at_the_first(model: type[Wire], name: str, held: set[Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({name: [0] * 1000}, by_alias=True)
    assert caught.value.error_count() == 1


def test_a_long_map_of_wrong_security_schemes_ends_at_the_first() -> None:
    schemes = {str(number): number for number in range(1000)}
    with pytest.raises(ValidationError) as caught:
        AgentCard.model_validate({"securitySchemes": schemes}, by_alias=True)
    assert caught.value.error_count() == 1
    refused = read(AgentCard, {"securitySchemes": schemes})
    assert isinstance(refused, Unreadable)
    assert "0 is not an object" in refused.why


def test_nested_nulls_count_as_missing_except_in_free_json() -> None:
    task = read(
        Task,
        {
            "id": "t",
            "contextId": None,
            "status": {"state": "s", "message": {"messageId": None, "parts": None, "metadata": {"a": None}}},
            "history": [{"role": None, "parts": [{"data": None, "metadata": None}]}],
            "vendor": None,
        },
    )
    assert isinstance(task, Task)
    assert task.status.message == Message(metadata={"a": None})
    assert task.history == [Message(parts=[Part(data=None)])]
    assert task.model_extra == {"vendor": None}
    assert task.history[0].parts[0].content == "data"


def test_a_null_in_a_list_is_refused() -> None:
    assert isinstance(read(Message, {"parts": [None]}), Unreadable)
    assert isinstance(read(Message, {"extensions": [None]}), Unreadable)


@pytest.mark.parametrize("model", MODELS)
def test_objects_are_frozen(model: type[Wire]) -> None:
    thing = model(**{"x-unknown": 1})
    for name in [*model.model_fields, "x-unknown", "new"]:
        with pytest.raises(ValidationError):
            setattr(thing, name, None)


def test_defaults_are_not_shared_between_objects() -> None:
    Message().parts.append(Part(text="a"))
    Task().status.model_copy(update={"state": "x"})
    assert Message().parts == []
    assert Task().status == TaskStatus()


@pytest.mark.parametrize("name", ["x-vendor", "task_id", "__class__", "to_json", "model_fields", "copy", "self", ""])
def test_an_unknown_member_is_kept(name: str) -> None:
    message = read(Message, {"messageId": "m", name: {"a": [1, None]}})
    assert isinstance(message, Message)
    assert message.task_id is None
    assert message.to_json()[name] == {"a": [1, None]}


def test_members_in_snake_case_are_not_the_members() -> None:
    message = read(Message, {"message_id": "m", "task_id": "t"})
    assert isinstance(message, Message)
    assert (message.message_id, message.task_id) == ("", None)
    assert message.model_extra == {"message_id": "m", "task_id": "t"}


def test_objects_can_be_created_with_both_kinds_of_names() -> None:
    assert Message(message_id="m", task_id="t") == Message(messageId="m", taskId="t")
    assert Message(message_id="m").to_json() == {"messageId": "m"}


@pytest.mark.parametrize("value", ["5", True, 5.0, 5.5, 10**30 * 1.0])
def test_a_number_that_is_not_an_integer_is_rejected(value: Any) -> None:
    assert isinstance(read(TaskRequest, {"historyLength": value}), Unreadable)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ({}, ""),
        ({"text": ""}, "text"),
        ({"raw": ""}, "raw"),
        ({"url": ""}, "url"),
        ({"data": {}}, "data"),
        ({"data": None}, "data"),
        ({"filename": "a", "mediaType": "b", "metadata": {}}, ""),
        ({"text": None, "raw": "QQ=="}, "raw"),
        ({"text": None, "raw": None, "url": None, "data": [1]}, "data"),
        ({"text": "a", "raw": None, "url": None, "data": None}, "text"),
        ({"text": None}, ""),
    ],
)
def test_the_content_of_a_part_is_the_member_that_is_set(value: Any, content: str) -> None:
    part = read(Part, value)
    assert isinstance(part, Part)
    assert part.content == content


def test_members_that_are_not_set_are_not_written() -> None:
    artifact = Artifact(artifact_id="a", parts=[Part(text="x")])
    assert artifact.to_json() == {"artifactId": "a", "parts": [{"text": "x"}]}


def test_a_copy_with_other_values_is_equal_to_one_that_was_validated():
    status = {"state": "s", "timestamp": "2026-01-01T00:00:00Z", "mood": "unknown members stay"}
    update = TaskStatusUpdateEvent.model_validate({"taskId": "t", "status": status})
    other = update.with_values({"status": update.status.with_values({"timestamp": "later"})})
    assert other == TaskStatusUpdateEvent.model_validate({"taskId": "t", "status": {**status, "timestamp": "later"}})
    assert other.to_json()["status"] == {**status, "timestamp": "later"}
    assert update.status.timestamp == "2026-01-01T00:00:00Z"
