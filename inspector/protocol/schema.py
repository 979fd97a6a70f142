"""Make the fields of a form from the JSON Schema of an input that an agent requests."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from inspector.protocol.model import Json, Message

_DEEPEST = 4
"""The level down to which the members of nested objects become separate fields."""
_MOST_FIELDS = 60
_NAMES = ("schema", "inputschema", "jsonschema", "input_schema", "json_schema", "responseschema", "response_schema")
_SIMPLE = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A field of a form.

    - `path`: the position of its value in the object.
    - `kind`: the simple JSON type of its value, `json` for other types.
    - `value`: the default, as text; `options`: the allowed values, empty for any.
    - `within`: the position of the innermost optional object that contains it, `()` for none. A `required` field needs
      a value only if another field of that object has one.
    """

    path: tuple[str, ...]
    kind: str
    label: str
    hint: str = ""
    value: str = ""
    required: bool = False
    options: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the path with dots, as a unique name."""
        return ".".join(self.path)


def find_schema(message: Message | None) -> dict[str, Json] | None:
    """Return the JSON Schema that the data or the metadata of a message contains, None if there is none."""
    if message is None:
        return None
    for part in message.parts:
        for place in (part.data, part.metadata):
            if (found := _schema_in(place)) is not None:
                return found
    return _schema_in(message.metadata)


def schema_of_skill(members: Mapping[str, Json] | None) -> dict[str, Json] | None:
    """Return the JSON Schema in the unknown members of a skill, None if there is none."""
    return _schema_in(members)


def _schema_in(value: Json, depth: int = 0) -> dict[str, Json] | None:
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    if is_schema(value):
        return dict(value)
    for name, member in value.items():
        named = name.rpartition("/")[2].lower() in _NAMES
        if (named or name.lower() in ("metadata", "params", "input")) and (found := _schema_in(member, depth + 1)):
            return found
    return None


def is_schema(value: Json) -> bool:
    """Return whether a value is the JSON Schema of an object with at least one property."""
    if not isinstance(value, Mapping) or not isinstance(value.get("properties"), Mapping):
        return False
    return (
        bool(value["properties"])
        and value.get("type", "object") == "object"
        and all(isinstance(member, Mapping) for member in value["properties"].values())
    )


def fields_of(schema: Mapping[str, Json]) -> list[SchemaField]:
    """Return the fields for a JSON Schema; the members of nested objects are separate fields."""
    return list(islice(_fields(schema, ()), _MOST_FIELDS))


def _fields(schema: Mapping[str, Json], above: tuple[str, ...], within: tuple[str, ...] = ()) -> Iterator[SchemaField]:
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    for name, wanted in schema["properties"].items():
        path, is_required = (*above, str(name)), name in required
        if is_schema(wanted) and len(path) < _DEEPEST:
            yield from _fields(wanted, path, within if is_required else path)
        else:
            yield replace(_field(path, wanted, required=is_required), within=within)


def _field(path: tuple[str, ...], wanted: Mapping[str, Json], *, required: bool) -> SchemaField:
    kind = wanted.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), None)
    named = wanted.get("enum")
    options = tuple(_as_text(option) for option in named) if isinstance(named, list) else ()
    default = wanted.get("default", wanted.get("const"))
    description = wanted.get("description")
    examples = wanted.get("examples")
    if not isinstance(description, str) and isinstance(examples, list) and examples:
        description = f"for example {_as_text(examples[0])}"
    title = wanted.get("title")
    return SchemaField(
        path,
        kind if isinstance(kind, str) and kind in _SIMPLE else "json",
        title if isinstance(title, str) else ".".join(path),
        description if isinstance(description, str) else "",
        "" if default is None else _as_text(default),
        required,
        options,
    )


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FieldError(ValueError):
    """A text in a form does not match the schema; the message is a sentence for the user."""


def filled_in(fields: Sequence[SchemaField], values: Mapping[str, str]) -> dict[str, Json]:
    """Return the object for the texts in a form; raises `FieldError` if a value is missing or has the wrong type.

    `values` are the texts by `SchemaField.name`. Optional fields without a text are left out.
    """
    result: dict[str, Json] = {}
    filled = [field.path for field in fields if values.get(field.name, "").strip()]
    for field in fields:
        text = values.get(field.name, "").strip()
        if not text:
            within = field.within
            if field.required and (not within or any(path[: len(within)] == within for path in filled)):
                raise FieldError(f"{field.label} is required.")
            continue
        parent = result
        for step in field.path[:-1]:
            parent = parent.setdefault(step, {})
        parent[field.path[-1]] = _value(field, text)
    return result


def _value(field: SchemaField, text: str) -> Json:
    if field.options and text not in field.options:
        raise FieldError(f"{field.label} must be one of {', '.join(field.options)}.")
    if field.kind == "string":
        return text
    if field.kind == "boolean":
        known = {"true": True, "yes": True, "false": False, "no": False}
        if text.lower() not in known:
            raise FieldError(f"{field.label} must be true or false.")
        return known[text.lower()]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if field.kind == "json" and field.options:
            return text
        raise FieldError(f"{field.label} must be {_WORDS[field.kind]}: {error}.") from None
    if field.kind == "json":
        return value
    whole = field.kind == "integer"
    # `isfinite` raises an error for an integer that no float can have.
    is_number = type(value) is int or (type(value) is float and math.isfinite(value))
    if not is_number or (whole and value != int(value)):
        raise FieldError(f"{field.label} must be {_WORDS[field.kind]}.")
    return int(value) if whole else value


_WORDS = {"integer": "a whole number", "number": "a number", "json": "JSON"}
