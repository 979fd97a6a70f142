"""Shapes of JSON values (a small subset of JSON Schema), and the comparison of values with their shapes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date
from enum import Enum, auto
from typing import TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer
from inspector.text.any_base64 import decode_any_base64


class JsonType(Enum):
    """A JSON type; the members or items of its values are not checked.

    `BYTES` is a string in base64 or base64url, `STANDARD_BYTES` a string in base64 only, `TIMESTAMP` a string with a
    timestamp. `INT64` is an integer, or a string with the digits of an integer, as in ProtoJSON.
    """

    STRING = "a string"
    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    INT64 = "a 64-bit integer"
    OBJECT = "an object"
    BYTES = "a base64 string"
    STANDARD_BYTES = "a base64 string (not base64url)"
    TIMESTAMP = "a timestamp string"
    ANY = "anything"


STRING, BOOLEAN, INTEGER, INT64, OBJECT, BYTES, STANDARD_BYTES, TIMESTAMP, ANY = JsonType


@dataclass(frozen=True, slots=True)
class EnumOf:
    """A string that is one of `values`; `of` is the name of the enum in findings."""

    of: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array whose items all have the same shape."""

    item: Kind


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with arbitrary member names, whose values all have the same shape."""

    value: Kind


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these members; `of` is the name of the object in findings.

    All members in `required` must be present, and exactly one of the members in `one_of`.
    """

    of: str
    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """An object with one of several shapes; the member that `by` names contains the key of its shape in `shapes`."""

    of: str
    by: str
    shapes: Mapping[str, Shape] = field(hash=False)


Kind: TypeAlias = JsonType | EnumOf | ArrayOf | MapOf | Shape | Union


def strings(*names: str, **others: Kind) -> dict[str, Kind]:
    """Return the members of a shape: strings with these names, and `others`."""
    return dict.fromkeys(names, STRING) | others


class SchemaErrorKind(Enum):
    """The difference between a value and its shape."""

    MISSING = auto()
    WRONG_TYPE = auto()
    NULL = auto()
    UNKNOWN = auto()
    ENUM_VALUE = auto()
    """A string that is not one of the allowed values."""
    NONE_OF = auto()
    """None of the members in `one_of`."""
    SEVERAL = auto()
    """More than one of the members in `one_of`."""
    BYTES = auto()
    """A string that is not base64."""
    TIMESTAMP = auto()
    """A string that is not a timestamp."""
    BLANK = auto()
    """A required string that is blank."""


@dataclass(frozen=True, slots=True)
class SchemaError:
    """A difference between a value and its shape.

    `pointer` is the JSON pointer to the value; `value` is None if the value is missing. The value is the member `name`
    of an object of shape `shape`, or a descendant of that member.
    """

    kind: SchemaErrorKind
    shape: Shape
    name: str
    pointer: str
    seen: str
    value: Json = None


_LONGEST_NAME = 60
"""The maximum length of a name that is compared with known members."""
_NOTHING = Shape("payload", {})
_JSON_TYPES: Mapping[JsonType, type] = {
    STRING: str,
    BOOLEAN: bool,
    INTEGER: int,
    OBJECT: dict,
    BYTES: str,
    STANDARD_BYTES: str,
    TIMESTAMP: str,
}
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d{1,12})?)?"
    r"([Zz]|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?",
    re.ASCII,
)


def schema_errors(
    value: Json, kind: Kind, steps: tuple[str | int, ...] = (), of: Shape = _NOTHING, name: str = ""
) -> Iterator[SchemaError]:
    """Compare a value with its shape and return every difference.

    `steps` are the member names and indices that lead to the value. The value is the member `name` of an object of
    shape `of`, or a descendant of that member.
    """
    match kind:
        case JsonType() | EnumOf():
            yield from _of_plain(value, kind, steps, of, name)
        case ArrayOf():
            if not isinstance(value, list):
                yield _mistyped(value, "an array", steps, of, name)
                return
            for number, item in enumerate(value):
                yield from schema_errors(item, kind.item, (*steps, number), of, name)
        case _ if not isinstance(value, dict):
            yield _mistyped(value, "an object", steps, of, name)
        case MapOf():
            for member, item in value.items():
                yield from schema_errors(item, kind.value, (*steps, member), of, name)
        case Shape():
            yield from _of_object(value, kind, steps)
        case Union():
            yield from _of_union(value, kind, steps)


def _mistyped(value: Json, expected: str, steps: tuple[str | int, ...], of: Shape, name: str) -> SchemaError:
    return SchemaError(
        SchemaErrorKind.WRONG_TYPE, of, name, pointer(*steps), f"expected {expected}, found {brief(value)}", value
    )


def _of_plain(
    value: Json, kind: JsonType | EnumOf, steps: tuple[str | int, ...], of: Shape, name: str
) -> Iterator[SchemaError]:
    if isinstance(kind, EnumOf):
        if not isinstance(value, str):
            yield _mistyped(value, "a string", steps, of, name)
        elif value not in kind.values:
            yield SchemaError(
                SchemaErrorKind.ENUM_VALUE, of, name, pointer(*steps), f"{value[:80]!r} is not a {kind.of}", value
            )
        return
    if kind is INT64:
        if not _is_int64(value):
            yield _mistyped(value, kind.value, steps, of, name)
        return
    expected = _JSON_TYPES.get(kind)
    if expected is not None and (not isinstance(value, expected) or (expected is int and isinstance(value, bool))):
        yield _mistyped(value, kind.value, steps, of, name)
    elif kind in (BYTES, STANDARD_BYTES) and not is_base64(value):
        yield SchemaError(SchemaErrorKind.BYTES, of, name, pointer(*steps), f"{name} is not base64", value)
    elif kind is STANDARD_BYTES and ("-" in value or "_" in value):
        yield SchemaError(SchemaErrorKind.BYTES, of, name, pointer(*steps), f"{name} is base64url, not base64", value)
    elif kind is TIMESTAMP and not is_timestamp(value):
        yield SchemaError(
            SchemaErrorKind.TIMESTAMP, of, name, pointer(*steps), f"{value[:80]!r} is not a timestamp", value
        )


def _is_int64(value: Json) -> bool:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        value = int(value)
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _of_object(value: Mapping[str, Json], shape: Shape, steps: tuple[str | int, ...]) -> Iterator[SchemaError]:
    for name in shape.required:
        if value.get(name) is None:
            yield SchemaError(SchemaErrorKind.MISSING, shape, name, pointer(*steps, name), f"{name} is missing")
        elif isinstance(text := value[name], str) and not text.strip():
            yield SchemaError(SchemaErrorKind.BLANK, shape, name, pointer(*steps, name), f"{name} is blank", text)
    if shape.one_of:
        # null is a valid value of ANY
        chosen = [
            name
            for name in shape.one_of
            if value.get(name) is not None or (name in value and shape.members[name] is ANY)
        ]
        if not chosen:
            seen = f"none of {', '.join(shape.one_of)}"
            yield SchemaError(SchemaErrorKind.NONE_OF, shape, "", pointer(*steps), seen, dict(value))
        elif len(chosen) > 1:
            yield SchemaError(
                SchemaErrorKind.SEVERAL, shape, chosen[1], pointer(*steps, chosen[1]), " and ".join(chosen)
            )
    for name, member in value.items():
        kind = shape.members.get(name)
        member_steps = (*steps, name)
        if kind is None:
            yield SchemaError(
                SchemaErrorKind.UNKNOWN,
                shape,
                name,
                pointer(*member_steps),
                f"{name} is not a member of the {shape.of}",
                member,
            )
        elif member is not None:
            yield from schema_errors(member, kind, member_steps, shape, name)
        elif name not in shape.required and kind is not ANY:
            yield SchemaError(SchemaErrorKind.NULL, shape, name, pointer(*member_steps), f"{name} is null")


def _of_union(value: Mapping[str, Json], union: Union, steps: tuple[str | int, ...]) -> Iterator[SchemaError]:
    name = value.get(union.by)
    shape = union.shapes.get(name) if isinstance(name, str) else None
    if shape is not None:
        yield from _of_object(value, shape, steps)
        return
    any_shape = Shape(union.of, {})
    where = pointer(*steps, union.by)
    if name is None:
        yield SchemaError(SchemaErrorKind.MISSING, any_shape, union.by, where, f"{union.by} is missing", None)
    elif not isinstance(name, str):
        yield _mistyped(name, "a string", (*steps, union.by), any_shape, union.by)
    else:
        seen = f"{name[:80]!r} is not one of {', '.join(union.shapes)}"
        yield SchemaError(SchemaErrorKind.ENUM_VALUE, any_shape, union.by, where, seen, name)


def is_timestamp(text: str) -> bool:
    """Whether a text is a valid date and time in ISO 8601."""
    found = _TIMESTAMP.fullmatch(text)
    try:
        return found is not None and date.fromisoformat(found[1]) is not None
    except ValueError:
        return False


def is_base64(text: str) -> bool:
    """Whether a text is base64 or base64url, with or without padding; ProtoJSON readers accept all of these."""
    return decode_any_base64(text) is not None


def camel_case(name: str) -> str:
    """Convert a name from snake_case or kebab-case to camelCase; return `""` for any other name."""
    first, *others = name.replace("-", "_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others) if others else ""


def closest_member(name: str, shape: Shape) -> str:
    """Return the member of a shape that a misspelled name resembles, `""` if there is none."""
    if camel_case(name) in shape.members or len(name) > _LONGEST_NAME:
        return ""
    by_case = {known.lower(): known for known in shape.members}
    close = difflib.get_close_matches(name.lower(), by_case, n=1, cutoff=0.85)
    return by_case[close[0]] if close else ""
