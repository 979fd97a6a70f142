"""JSON Schemas as forms: finding them, converting them to fields, reading values, and hostile schemas."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.model import Message, Part
from inspector.protocol.schema import (
    FieldError,
    SchemaField,
    fields_of,
    filled_in,
    find_schema,
    is_schema,
    schema_of_skill,
)

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


def named(fields: list[SchemaField]) -> dict[str, SchemaField]:
    return {".".join(field.path): field for field in fields}


def typed_in(schema: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return the object for the texts of the fields, by the paths of the fields with dots."""
    return filled_in(fields_of(schema), {tuple(name.split(".")): text for name, text in texts.items()})


def test_nested_objects_become_separate_fields():
    fields = named(fields_of(SCHEMA))
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
    assert (fields["count"].value, fields["fast"].value, [*fields["size"].options]) == ("1", "false", ["S", "M", "3"])
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
    assert typed_in(SCHEMA, typed) == {
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
    schema = {"required": ["name"], "properties": {"name": {"type": "string"}, "address": address}}
    assert typed_in(schema, {"name": "Ada"}) == {"name": "Ada"}
    for typed, missing in (({"address.geo.y": "1"}, "address.city"), ({"address.city": "Bern"}, "address.geo.x")):
        with pytest.raises(FieldError, match=f"{missing} is required"):
            typed_in(schema, {"name": "Ada", **typed})
    with pytest.raises(FieldError, match="name is required"):
        typed_in(schema, {})


# What pydantic writes for `color: Color | None`, `owner: Person | None`, `note: str | None` and `size: Color`.
OF_PYDANTIC: dict[str, Any] = {
    "type": "object",
    "required": ["note"],
    "$defs": {
        "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
        "Person": {
            "type": "object",
            "title": "Person",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "title": "Name"},
                "boss": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}], "default": None},
            },
        },
    },
    "properties": {
        "color": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}], "title": "The color", "default": None},
        "owner": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "size": {"allOf": [{"$ref": "#/$defs/Color"}], "default": "red"},
        "amount": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    },
}


def test_references_and_types_that_may_be_null_are_resolved():
    fields = named(fields_of(OF_PYDANTIC))
    assert [*fields] == [
        *("color", "owner.name", "owner.boss.name", "owner.boss.boss.name", "owner.boss.boss.boss"),
        *("note", "size", "amount"),
    ]
    assert (fields["color"].label, [*fields["color"].options], fields["color"].kind) == (
        "The color",
        ["red", "blue"],
        "string",
    )
    assert (fields["note"].kind, fields["note"].needs_text, fields["size"].value) == ("string", False, "red")
    assert (fields["amount"].kind, fields["owner.boss.name"].label) == ("json", "owner.boss.Name")
    assert typed_in(OF_PYDANTIC, {}) == {"note": None}
    assert typed_in(OF_PYDANTIC, {"note": "x", "color": "blue", "owner.name": "Ada"}) == {
        "note": "x",
        "color": "blue",
        "owner": {"name": "Ada"},
    }
    with pytest.raises(FieldError, match="must be one of red, blue"):
        typed_in(OF_PYDANTIC, {"color": "null"})


def test_the_values_of_an_enumeration_keep_their_types():
    schema = {"properties": {"a": {"type": ["string", "null"], "enum": ["x", None, 3, True]}}}
    assert [*fields_of(schema)[0].options] == ["x", "3", "true"]
    assert [typed_in(schema, {"a": text}) for text in ("x", "3", "true")] == [{"a": "x"}, {"a": 3}, {"a": True}]


def test_a_name_with_a_dot_is_not_a_path():
    schema = {"properties": {"a.b": {"type": "string"}, "a": {"type": "object", "properties": {"b": {}}}}}
    assert filled_in(fields_of(schema), {("a.b",): "x", ("a", "b"): "1"}) == {"a.b": "x", "a": {"b": 1}}


@pytest.mark.parametrize(
    "odd",
    [
        *({"$ref": "#/properties/a"}, {"$ref": "#/nowhere"}, {"$ref": "https://example.com/s"}, {"$ref": 7}, {"": 5}),
        *({"anyOf": [1]}, {"anyOf": [{"type": "null"}]}, {"allOf": [{"allOf": [{"anyOf": {}}]}]}, {"oneOf": []}),
    ],
)
def test_a_schema_that_cannot_be_resolved_is_a_field_for_json(odd: dict[str, Any]):
    [field] = fields_of({"properties": {"a": odd}})
    assert (field.path, field.kind) == (("a",), "json")


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
        ({"tags": "[NaN]"}, "tags must be JSON"),
        ({"tags": "[" * 100_000}, "tags must be JSON"),
    ],
)
def test_invalid_form_values_are_reported(typed: dict[str, str], said: str):
    whole = {"name": "Ada", "address.city": "Bern"} if typed else {}
    with pytest.raises(FieldError, match=said.replace(".", r"\.").split("\n")[0]):
        typed_in(SCHEMA, whole | typed)


@pytest.mark.parametrize("name", ["count", "price"])
def test_an_integer_that_no_float_can_have_is_a_number(name: str):
    values = {"name": "Ada", "address.city": "Bern", name: "1" + "0" * 400}
    assert typed_in(SCHEMA, values)[name] == 10**400


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
    assert [*named(fields_of(deep))] == ["a.a.a.a"]
    odd = {"properties": {"a": {"type": 7, "enum": "no", "title": [], "default": {"b": 1}}}}
    assert is_schema(odd)
    assert fields_of(odd)[0].value == '{"b": 1}'


def test_the_limits_of_a_schema_are_shown_and_checked():
    properties = {
        "nights": {"type": "integer", "description": "how long", "minimum": 1, "maximum": 30},
        "code": {"type": "string", "minLength": 3},
        "odd": {"type": "number", "minimum": "1", "maximum": True},
        "price": {"type": "number", "minimum": 0.1, "maximum": 1_000_000},
    }
    fields = fields_of({"type": "object", "properties": properties})
    assert [each.hint for each in fields] == [
        "how long, from 1 to 30",
        "at least 3 characters",
        "",
        "from 0.1 to 1,000,000",
    ]
    for typed, said in (
        ({"nights": "99"}, "nights must be from 1 to 30."),
        ({"code": "ab"}, "code must have at least"),
    ):
        with pytest.raises(FieldError, match=said):
            filled_in(fields, {(name,): text for name, text in typed.items()})
    values = {("nights",): "30", ("code",): "abc", ("odd",): "-5"}
    assert filled_in(fields, values) == {"nights": 30, "code": "abc", "odd": -5}
