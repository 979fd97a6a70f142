"""The shapes of JSON values (a small JSON Schema), and the search for places where a value differs from its shape."""

from __future__ import annotations

import binascii
import difflib
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, auto
from typing import TypeAlias

from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer


class Plain(Enum):
    """A JSON type that needs no further description.

    `BYTES` is base64 in a string (`PLAIN_BYTES` of the first alphabet alone), `TIME` a timestamp in one. `INT64` is a
    number, or a string with its digits, as protobuf's JSON writes it.
    """

    TEXT = "a string"
    FLAG = "a boolean"
    WHOLE = "an integer"
    INT64 = "an integer of 64 bits"
    STRUCT = "an object"
    BYTES = "a string of base64"
    PLAIN_BYTES = "a string of base64 in its first alphabet"
    TIME = "a string with a timestamp"
    ANY = "anything"


TEXT, FLAG, WHOLE, INT64, STRUCT, BYTES, PLAIN_BYTES, TIME, ANY = Plain


@dataclass(frozen=True, slots=True)
class Words:
    """A string that is one of these words; `of` is what they are called in findings."""

    of: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Many:
    """An array of items of one kind."""

    item: Kind


@dataclass(frozen=True, slots=True)
class Named:
    """An object with any member names and values of one kind."""

    value: Kind


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with these members; `of` is what it is called in findings.

    The members in `required` are required, and exactly one of those in `one_of`.
    """

    of: str
    members: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """An object whose member `by` names which of these shapes it has."""

    of: str
    by: str
    shapes: Mapping[str, Shape] = field(hash=False)


Kind: TypeAlias = Plain | Words | Many | Named | Shape | Union


def texts(*names: str, **others: Kind) -> dict[str, Kind]:
    """Return the members of a shape: those with these names are strings."""
    return dict.fromkeys(names, TEXT) | others


class SchemaErrorKind(Enum):
    """How a value differs from its shape."""

    MISSING = auto()
    WRONG_TYPE = auto()
    NULL = auto()
    UNKNOWN = auto()
    WORD = auto()
    """A string that is not one of the allowed words."""
    NONE_OF = auto()
    """None of the members in `one_of`."""
    SEVERAL = auto()
    """More than one of the members in `one_of`."""
    BYTES = auto()
    """A string that is not base64."""
    TIME = auto()
    """A string that is not a timestamp."""
    BLANK = auto()
    """A required text that is blank."""


@dataclass(frozen=True, slots=True)
class SchemaError:
    """A difference between a value and its shape: the member `name` of an object of this shape, at `pointer`.

    `value` is the value there, None if there is none.
    """

    kind: SchemaErrorKind
    shape: Shape
    name: str
    pointer: str
    seen: str
    value: Json = None


_LONGEST_NAME = 60
"""Longer names are not compared: no member is that long."""
_NOTHING = Shape("payload", {})
_JSON_TYPES: Mapping[Plain, type] = {
    TEXT: str,
    FLAG: bool,
    WHOLE: int,
    INT64: int,
    STRUCT: dict,
    BYTES: str,
    PLAIN_BYTES: str,
    TIME: str,
}
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d{1,12})?)?"
    r"([Zz]|[+-]\d{2}(:?\d{2})?)?"
)


def schema_errors(
    value: Json, kind: Kind, steps: tuple[str | int, ...] = (), of: Shape = _NOTHING, name: str = ""
) -> Iterator[SchemaError]:
    """Compare a value with its shape and report every difference; `steps` lead to the value.

    The value is the member `name` of an object of shape `of`, or inside that member.
    """
    match kind:
        case Plain() | Words():
            yield from _of_plain(value, kind, steps, of, name)
        case Many():
            if not isinstance(value, list):
                yield _mistyped(value, "an array", steps, of, name)
                return
            for number, item in enumerate(value):
                yield from schema_errors(item, kind.item, (*steps, number), of, name)
        case _ if not isinstance(value, dict):
            yield _mistyped(value, "an object", steps, of, name)
        case Named():
            for member, item in value.items():
                yield from schema_errors(item, kind.value, (*steps, member), of, name)
        case Shape():
            yield from _of_object(value, kind, steps)
        case Union():
            yield from _of_union(value, kind, steps)


def _mistyped(value: Json, due: str, steps: tuple[str | int, ...], of: Shape, name: str) -> SchemaError:
    return SchemaError(
        SchemaErrorKind.WRONG_TYPE, of, name, pointer(*steps), f"{due} is due, this is {brief(value)}", value
    )


def _of_plain(
    value: Json, kind: Plain | Words, steps: tuple[str | int, ...], of: Shape, name: str
) -> Iterator[SchemaError]:
    if isinstance(kind, Words):
        if not isinstance(value, str):
            yield _mistyped(value, "a string", steps, of, name)
        elif value not in kind.words:
            yield SchemaError(SchemaErrorKind.WORD, of, name, pointer(*steps), f"{value[:80]!r} is no {kind.of}", value)
        return
    if kind is INT64 and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        return
    due = _JSON_TYPES.get(kind)
    if due is not None and (not isinstance(value, due) or (due is int and isinstance(value, bool))):
        yield _mistyped(value, kind.value, steps, of, name)
    elif kind in (BYTES, PLAIN_BYTES) and not is_base64(value):
        yield SchemaError(SchemaErrorKind.BYTES, of, name, pointer(*steps), f"{name} is no base64", value)
    elif kind is PLAIN_BYTES and ("-" in value or "_" in value):
        yield SchemaError(SchemaErrorKind.BYTES, of, name, pointer(*steps), f"{name} is base64url", value)
    elif kind is TIME and not is_timestamp(value):
        yield SchemaError(SchemaErrorKind.TIME, of, name, pointer(*steps), f"{value[:80]!r} is no timestamp", value)


def _of_object(value: Mapping[str, Json], shape: Shape, steps: tuple[str | int, ...]) -> Iterator[SchemaError]:
    for name in shape.required:
        if value.get(name) is None:
            yield SchemaError(SchemaErrorKind.MISSING, shape, name, pointer(*steps, name), f"{name} is missing")
        elif isinstance(text := value[name], str) and not text.strip():
            yield SchemaError(SchemaErrorKind.BLANK, shape, name, pointer(*steps, name), f"{name} is blank", text)
    if shape.one_of:
        # null is a value if the member can be anything
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
        there = (*steps, name)
        if kind is None:
            yield SchemaError(
                SchemaErrorKind.UNKNOWN, shape, name, pointer(*there), f"{name} is no member of {shape.of}", member
            )
        elif member is not None:
            yield from schema_errors(member, kind, there, shape, name)
        elif name not in shape.required and kind is not ANY:
            yield SchemaError(SchemaErrorKind.NULL, shape, name, pointer(*there), f"{name} is null")


def _of_union(value: Mapping[str, Json], union: Union, steps: tuple[str | int, ...]) -> Iterator[SchemaError]:
    said = value.get(union.by)
    shape = union.shapes.get(said) if isinstance(said, str) else None
    if shape is not None:
        yield from _of_object(value, shape, steps)
        return
    any_shape = Shape(union.of, {})
    where = pointer(*steps, union.by)
    if said is None:
        yield SchemaError(SchemaErrorKind.MISSING, any_shape, union.by, where, f"{union.by} is missing", None)
    elif not isinstance(said, str):
        yield _mistyped(said, "a string", (*steps, union.by), any_shape, union.by)
    else:
        seen = f"{said[:80]!r} is none of {', '.join(union.shapes)}"
        yield SchemaError(SchemaErrorKind.WORD, any_shape, union.by, where, seen, said)


def is_timestamp(text: str) -> bool:
    """Whether a text is an existing date and a time, as in ISO 8601."""
    found = _TIMESTAMP.fullmatch(text)
    try:
        return found is not None and date.fromisoformat(found[1]) is not None
    except ValueError:
        return False


def is_base64(text: str) -> bool:
    """Whether a text is base64 of either alphabet, with or without padding, as ProtoJSON readers accept it."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


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
