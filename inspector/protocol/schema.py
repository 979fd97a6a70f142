"""JSON schemas of the input that an agent wants, as the fields of a form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from inspector.protocol.model import Json, Message

_DEEPEST = 4
"""How far down nested objects become fields of their own."""
_MOST_FIELDS = 60
_NAMES = ("schema", "inputschema", "jsonschema", "input_schema", "json_schema", "responseschema", "response_schema")
_SIMPLE = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One value to fill in: `path` is where it belongs, `kind` a JSON type, `json` where no simple one is asked for.

    `value` is the default as it is typed; `options` are the only values, where the schema names them.
    """

    path: tuple[str, ...]
    kind: str
    label: str
    hint: str = ""
    value: str = ""
    required: bool = False
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the path as one word."""
        return ".".join(self.path)


def find_schema(message: Message | None) -> dict[str, Json] | None:
    """Return the schema of an object that a message carries, in its data or its metadata, None where it has none."""
    if message is None:
        return None
    for part in message.parts:
        for place in (part.data, part.metadata):
            if (found := _schema_in(place)) is not None:
                return found
    return _schema_in(message.metadata)


def schema_of_skill(members: Mapping[str, Json] | None) -> dict[str, Json] | None:
    """Return the schema among the members of a skill that no specification names, None where there is none."""
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
    """Say whether a value is the JSON schema of an object that has properties."""
    if not isinstance(value, Mapping) or not isinstance(value.get("properties"), Mapping):
        return False
    return value.get("type", "object") == "object" and all(
        isinstance(one, Mapping) for one in value["properties"].values()
    )


def fields_of(schema: Mapping[str, Json]) -> list[SchemaField]:
    """Return the fields of a form, nested objects taken apart."""
    return list(islice(_fields(schema, ()), _MOST_FIELDS))


def _fields(schema: Mapping[str, Json], above: tuple[str, ...]) -> Iterator[SchemaField]:
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    for name, wanted in schema["properties"].items():
        path = (*above, str(name))
        if is_schema(wanted) and len(path) < _DEEPEST:
            yield from _fields(wanted, path)
        else:
            yield _field(path, wanted, required=name in required)


def _field(path: tuple[str, ...], wanted: Mapping[str, Json], *, required: bool) -> SchemaField:
    kind = wanted.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    named = wanted.get("enum")
    options = tuple(_typed(one) for one in named) if isinstance(named, list) else ()
    default = wanted.get("default", wanted.get("const"))
    description = wanted.get("description")
    examples = wanted.get("examples")
    if not isinstance(description, str) and isinstance(examples, list) and examples:
        description = f"for example {_typed(examples[0])}"
    title = wanted.get("title")
    return SchemaField(
        path,
        kind if isinstance(kind, str) and kind in _SIMPLE else "json",
        title if isinstance(title, str) else ".".join(path),
        description if isinstance(description, str) else "",
        "" if default is None else _typed(default),
        required,
        options,
    )


def _typed(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FieldError(ValueError):
    """What was typed is not what the schema asks for; `str` of it says so in a sentence."""


def filled_in(fields: Sequence[SchemaField], values: Mapping[str, str]) -> dict[str, Json]:
    """Return the object that a form stands for; raises `FieldError` where a value is missing or of another type.

    `values` are texts by `SchemaField.name`; one that is empty and not required is left out.
    """
    made: dict[str, Json] = {}
    for field in fields:
        text = values.get(field.name, "").strip()
        if not text:
            if field.required:
                raise FieldError(f"{field.label} is required.")
            continue
        inside = made
        for step in field.path[:-1]:
            inside = inside.setdefault(step, {})
        inside[field.path[-1]] = _value(field, text)
    return made


def _value(field: SchemaField, text: str) -> Json:
    if field.options and text not in field.options:
        raise FieldError(f"{field.label} is one of {', '.join(field.options)}.")
    if field.kind == "string":
        return text
    if field.kind == "boolean":
        known = {"true": True, "yes": True, "false": False, "no": False}
        if text.lower() not in known:
            raise FieldError(f"{field.label} is true or false.")
        return known[text.lower()]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if field.kind == "json" and field.options:
            return text
        raise FieldError(f"{field.label} is {_WORDS[field.kind]}: {error}.") from None
    if field.kind == "json":
        return value
    whole = field.kind == "integer"
    if type(value) not in (int, float) or not math.isfinite(value) or (whole and value != int(value)):
        raise FieldError(f"{field.label} is {_WORDS[field.kind]}.")
    return int(value) if whole else value


_WORDS = {"integer": "a whole number", "number": "a number", "json": "JSON"}
