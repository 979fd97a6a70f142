"""Make the fields of a form from the JSON Schema of an input that an agent requests."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json, Message
from inspector.protocol.pointer import at

_DEEPEST = 4
"""The level down to which the members of nested objects become separate fields."""
_MOST_FIELDS = 60
_MOST_REFERENCES = 8
"""The most references and alternatives that lead to the schema of a member."""
_NAMES = ("schema", "inputschema", "jsonschema", "input_schema", "json_schema", "responseschema", "response_schema")
_SIMPLE = ("string", "integer", "number", "boolean")
_LIMITS = {
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
}
"""The members with the limits of a value, by its type."""
_LARGEST = 1e15
"""Larger limits are ignored: a float may not have such a number."""


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A field of a form.

    - `path`: the position of its value in the object.
    - `kind`: the simple JSON type of its value, `json` for other types.
    - `value`: the default, as text; `options`: the allowed values by their texts, empty for any.
    - `within`: the position of the innermost optional object that contains it, `()` for none. A `required` field needs
      a value only if another field of that object has one.
    - `nullable`: the value may be null. A required field without a text is null then.
    - `least` and `most`: the limits of a number, or of the length of a string; None for no limit.
    """

    path: tuple[str, ...]
    kind: str
    label: str
    hint: str = ""
    value: str = ""
    required: bool = False
    options: Mapping[str, Json] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    nullable: bool = False
    least: float | None = None
    most: float | None = None

    @property
    def limits(self) -> str:
        """Return the limits in words, `""` for none: `from 1 to 30`."""
        match self.least, self.most:
            case None, None:
                return ""
            case least, None:
                words = f"at least {least:,.15g}"
            case None, most:
                words = f"at most {most:,.15g}"
            case least, most:
                words = f"from {least:,.15g} to {most:,.15g}"
        return f"{words} characters" if self.kind == "string" else words

    @property
    def needs_text(self) -> bool:
        """Return whether an empty field is an error."""
        return self.required and not self.nullable


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
    return list(islice(_fields(schema, schema, ()), _MOST_FIELDS))


def _fields(
    root: Mapping[str, Json], schema: Mapping[str, Json], above: tuple[str, ...], within: tuple[str, ...] = ()
) -> Iterator[SchemaField]:
    listed = schema.get("required")
    required = listed if isinstance(listed, list) else []
    for name, member in schema["properties"].items():
        path, is_required = (*above, str(name)), name in required
        wanted, nullable = _resolved(root, member)
        if is_schema(wanted) and len(path) < _DEEPEST:
            # An object that may be null is left out if all of its fields are empty.
            yield from _fields(root, wanted, path, within if is_required and not nullable else path)
        else:
            yield replace(_field(path, wanted), required=is_required, within=within, nullable=nullable)


def _resolved(root: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[Mapping[str, Json], bool]:
    """Return the schema that a member refers to, and whether the member may be null.

    Libraries such as pydantic write the type of a class as a reference, and `X | None` as `anyOf`.
    """
    nullable = False
    for _ in range(_MOST_REFERENCES):
        types, enum = wanted.get("type"), wanted.get("enum")
        nullable |= (isinstance(types, list) and "null" in types) or (isinstance(enum, list) and None in enum)
        reference = wanted.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            name, target = "$ref", at(root, reference[1:])
        else:
            name = next((name for name in ("anyOf", "oneOf", "allOf") if isinstance(wanted.get(name), list)), "")
            listed = wanted[name] if name else []
            choices = [choice for choice in listed if choice != {"type": "null"}]
            nullable |= len(choices) < len(listed)
            target = choices[0] if len(choices) == 1 else None
        if not isinstance(target, Mapping):
            break
        # Members beside a reference, such as a title and a default, are those of this use of it.
        wanted = {**target, **{key: value for key, value in wanted.items() if key != name}}
    return wanted, nullable


def _field(path: tuple[str, ...], wanted: Mapping[str, Json]) -> SchemaField:
    kind = wanted.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), None)
    named = wanted.get("enum")
    options = [option for option in named if option is not None] if isinstance(named, list) else []
    default = wanted.get("default", wanted.get("const"))
    description = wanted.get("description")
    examples = wanted.get("examples")
    if not isinstance(description, str) and isinstance(examples, list) and examples:
        description = f"for example {_as_text(examples[0])}"
    title = wanted.get("title")
    found = SchemaField(
        path,
        kind if isinstance(kind, str) and kind in _SIMPLE else "json",
        ".".join((*path[:-1], title if isinstance(title, str) else path[-1])),
        description if isinstance(description, str) else "",
        "" if default is None else _as_text(default),
        options={_as_text(option): option for option in options},
    )
    if options or found.kind not in _LIMITS:
        return found
    least, most = (_limit(wanted.get(name)) for name in _LIMITS[found.kind])
    found = replace(found, least=least, most=most)
    return replace(found, hint=", ".join(filter(None, (found.hint, found.limits))))


def _limit(value: Json) -> float | None:
    """Return a limit in a schema, None if it is not a number."""
    return value if _is_number(value) and abs(value) < _LARGEST else None


def _is_number(value: Json) -> bool:
    # `isfinite` raises an error for an integer that no float can have.
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FieldError(ValueError):
    """A text in a form does not match the schema; the message is a sentence for the user."""


def filled_in(fields: Sequence[SchemaField], texts: Mapping[tuple[str, ...], str]) -> dict[str, Json]:
    """Return the object for the texts in a form; raises `FieldError` if a value is missing or has the wrong type.

    `texts` are by `SchemaField.path`. Optional fields without a text are left out.
    """
    result: dict[str, Json] = {}
    filled = [each.path for each in fields if texts.get(each.path, "").strip()]
    for each in fields:
        text, within = texts.get(each.path, "").strip(), each.within
        if not text:
            is_needed = each.required and (not within or any(path[: len(within)] == within for path in filled))
            if not is_needed:
                continue
            if not each.nullable:
                raise FieldError(f"{each.label} is required.")
        parent = result
        for step in each.path[:-1]:
            parent = parent.setdefault(step, {})
        parent[each.path[-1]] = _value(each, text) if text else None
    return result


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _value(wanted: SchemaField, text: str) -> Json:
    if wanted.options:
        if text not in wanted.options:
            raise FieldError(f"{wanted.label} must be one of {', '.join(wanted.options)}.")
        return wanted.options[text]
    if wanted.kind == "string":
        _check_limits(wanted, len(text))
        return text
    if wanted.kind == "boolean":
        known = {"true": True, "yes": True, "false": False, "no": False}
        if text.lower() not in known:
            raise FieldError(f"{wanted.label} must be true or false.")
        return known[text.lower()]
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FieldError(f"{wanted.label} must be {_WORDS[wanted.kind]}: {error}.") from None
    if wanted.kind == "json":
        return value
    whole = wanted.kind == "integer"
    if not _is_number(value) or (whole and value != int(value)):
        raise FieldError(f"{wanted.label} must be {_WORDS[wanted.kind]}.")
    _check_limits(wanted, value)
    return int(value) if whole else value


def _check_limits(wanted: SchemaField, measured: float) -> None:
    """Raise `FieldError` if a number, or the length of a text, is not within the limits."""
    below = wanted.least is not None and measured < wanted.least
    if below or (wanted.most is not None and measured > wanted.most):
        has = "have" if wanted.kind == "string" else "be"
        raise FieldError(f"{wanted.label} must {has} {wanted.limits}.")


_WORDS = {"integer": "a whole number", "number": "a number", "json": "JSON"}
