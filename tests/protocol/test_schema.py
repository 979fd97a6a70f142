"""JSON Schemas as forms: finding them, converting them to fields, reading values, and hostile schemas."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.model import Message, Part
from inspector.protocol.schema import FieldError, fields_of, filled_in, find_schema, is_schema, schema_of_skill

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "address"],
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "as on the card"},
        "count": {"type": "integer", "default": 1},
        "price": {"type": ["number", "null"]},
        "fast": {"type": "boolean", "default": False},
        "size": {"enum": ["S", "M", 3]},
        "tags": {"type": "array"},
        "address": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "zip": {}}},
    },
}


@pytest.mark.parametrize(
    "message",
    [
        Message(parts=[Part(text="?"), Part(data=SCHEMA)]),
        Message(parts=[Part(data={"schema": SCHEMA})]),
        Message(parts=[Part(data={"input": {"jsonSchema": SCHEMA}})]),
        Message(parts=[Part(text="?", metadata={"https://ext.example/v1/schema": SCHEMA})]),
        Message(parts=[Part(text="?")], metadata={"inputSchema": SCHEMA}),
    ],
)
def test_a_schema_is_found_where_agents_put_it(message: Message):
    assert find_schema(message) == SCHEMA


@pytest.mark.parametrize(
    "message",
    [
        None,
        Message(),
        Message(parts=[Part(text="?"), Part(data={"properties": "many"}), Part(data=[SCHEMA])]),
        Message(parts=[Part(data={"type": "array", "properties": {}})]),
        Message(parts=[Part(data={"properties": {"a": 1}})]),
        Message(parts=[Part(data={"other": SCHEMA})]),
    ],
)
def test_other_values_are_not_a_schema(message: Message | None):
    assert find_schema(message) is None


def test_a_skill_may_contain_a_schema():
    assert schema_of_skill({"inputSchema": SCHEMA}) == SCHEMA
    assert schema_of_skill({"metadata": {"schema": SCHEMA}}) == SCHEMA
    assert schema_of_skill({}) is None
    assert schema_of_skill(None) is None


def test_nested_objects_become_separate_fields():
    fields = {field.name: field for field in fields_of(SCHEMA)}
    assert [*fields] == ["name", "count", "price", "fast", "size", "tags", "address.city", "address.zip"]
    assert [field.kind for field in fields.values()] == [
        "string",
        "integer",
        "number",
        "boolean",
        "json",
        "json",
        "string",
        "json",
    ]
    assert (fields["name"].label, fields["name"].hint, fields["name"].required) == ("Your name", "as on the card", True)
    assert (fields["count"].value, fields["fast"].value, fields["size"].options) == ("1", "false", ("S", "M", "3"))
    assert fields["address.city"].required


def test_form_values_have_the_types_of_the_schema():
    typed = {
        "name": " Ada ",
        "count": "3",
        "price": "2.5",
        "fast": "yes",
        "size": "M",
        "tags": '["a"]',
        "address.city": "Bern",
        "address.zip": "3000",
    }
    assert filled_in(fields_of(SCHEMA), typed) == {
        "name": "Ada",
        "count": 3,
        "price": 2.5,
        "fast": True,
        "size": "M",
        "tags": ["a"],
        "address": {"city": "Bern", "zip": 3000},
    }


def test_an_optional_object_with_required_members_can_be_left_out():
    address = {"type": "object", "required": ["city", "geo"], "properties": {"city": {"type": "string"}, "geo": {}}}
    address["properties"]["geo"] = {"type": "object", "required": ["x"], "properties": {"x": {}, "y": {}}}
    fields = fields_of({"required": ["name"], "properties": {"name": {"type": "string"}, "address": address}})
    assert filled_in(fields, {"name": "Ada"}) == {"name": "Ada"}
    for typed, missing in (({"address.geo.y": "1"}, "address.city"), ({"address.city": "Bern"}, "address.geo.x")):
        with pytest.raises(FieldError, match=f"{missing} is required"):
            filled_in(fields, {"name": "Ada", **typed})
    with pytest.raises(FieldError, match="name is required"):
        filled_in(fields, {})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "Your name is required."),
        ({"count": "x"}, "count must be a whole number"),
        ({"count": "1.5"}, "count must be a whole number."),
        ({"count": "true"}, "count must be a whole number."),
        ({"count": "1e999"}, "count must be a whole number."),
        ({"price": '"1"'}, "price must be a number."),
        ({"fast": "perhaps"}, "fast must be true or false."),
        ({"size": "XL"}, "size must be one of S, M, 3."),
        ({"tags": "[1"}, "tags must be JSON"),
        ({"tags": "[" * 100_000}, "tags must be JSON"),
    ],
)
def test_invalid_form_values_are_reported(typed: dict[str, str], said: str):
    whole = {"name": "Ada", "address.city": "Bern"} if typed else {}
    with pytest.raises(FieldError, match=said.replace(".", r"\.").split("\n")[0]):
        filled_in(fields_of(SCHEMA), whole | typed)


@pytest.mark.parametrize("name", ["count", "price"])
def test_an_integer_that_no_float_can_have_is_a_number(name: str):
    values = {"name": "Ada", "address.city": "Bern", name: "1" + "0" * 400}
    assert filled_in(fields_of(SCHEMA), values)[name] == 10**400


def test_an_object_without_properties_has_no_form_but_is_a_field():
    empty: dict[str, Any] = {"type": "object", "properties": {}}
    assert not is_schema(empty)
    assert [field.kind for field in fields_of({"type": "object", "properties": {"any": empty}})] == ["json"]


def test_the_number_of_fields_is_limited():
    wide = {"type": "object", "properties": {str(number): {} for number in range(100_000)}}
    assert len(fields_of(wide)) == 60
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"a": deep}}
    assert [field.name for field in fields_of(deep)] == ["a.a.a.a"]
    odd = {"properties": {"a": {"type": 7, "enum": "no", "title": [], "default": {"b": 1}}}}
    assert is_schema(odd)
    assert fields_of(odd)[0].value == '{"b": 1}'
