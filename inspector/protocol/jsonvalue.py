"""Bytes to JSON values, totally: what is not JSON becomes an `Unreadable` that says where and why."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from inspector.protocol.model import Json, Unreadable

_QUOTED = 120
"""How many characters of a bad value a sentence quotes."""

_PLAINLY = {
    "recursion limit exceeded": "nested deeper than 200 levels",
    "number out of range": "a number of more than 4,300 digits",
    "lone leading surrogate in hex escape": "half of a surrogate pair",
    "unexpected end of hex escape": "half of a surrogate pair",
    "EOF while parsing": "breaks off in",
}
"""What the parser says, in words that help."""

_DUE = {
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "an array",
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "a boolean",
}
"""What the model wanted, by the type of its complaint."""

_LINES = 1000
"""How far down a sentence quotes the place: splitting a hostile body into all its lines would cost too much."""

ModelT = TypeVar("ModelT", bound=BaseModel)

MOST_CONTAINERS = 200_000
"""How many braces and brackets a value may open; each becomes an object of up to a kilobyte when it is read."""
_QUOTED_OF_TOO_MANY = 1000


def parse(raw: bytes) -> Json | Unreadable:
    """Read one JSON value from UTF-8 bytes; what comes back can be walked and dumped without care.

    Refused beyond bad syntax: NaN and Infinity, half of a surrogate pair, more than 200 levels, integers of more than
    4,300 digits, and values so rich in objects and arrays that they would take hundreds of times their size. A number
    beyond a double is read as infinity, as by every reader whose numbers are doubles.
    """
    if len(raw) > MOST_CONTAINERS and raw.count(b"{") + raw.count(b"[") > MOST_CONTAINERS:
        return Unreadable(
            raw[:_QUOTED_OF_TOO_MANY].decode("utf-8", "replace"), f"more than {MOST_CONTAINERS:,} objects and arrays"
        )
    try:
        return from_json(raw, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        return Unreadable(raw.decode("utf-8", "replace"), _explain(raw, str(error)))


def read(model: type[ModelT], value: Json, change: Callable[[Json], Json] | None = None) -> ModelT | Unreadable:
    """Read a JSON value as a canonical object, rewritten by `change` first; members are known by wire names only.

    A null where the model wants something else counts as absence, which is how many libraries write it.
    """
    changed = value if change is None else change(value)
    try:
        return model.model_validate(changed, by_alias=True, by_name=False)
    except ValidationError:
        pass
    try:
        return model.model_validate(_without_nulls(model, changed), by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = "".join(f"/{step}" for step in first["loc"])
        due = _DUE.get(first["type"])
        wrong = f"{due} is due, this is {brief(first['input'])}" if due else first["msg"][:_QUOTED]
        return Unreadable(value, f"{model.__name__}{where}: {wrong}")


def dump(value: Json) -> bytes:
    """Write a JSON value compactly, as it goes on the wire.

    Half of a surrogate pair is written as its escape, an infinity, which JSON does not have, as null.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def type_name(value: Json) -> str:
    """Name a JSON value's type as JSON does: `an object`, `an array`, `a string`, `a number`, `a boolean`, `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def brief(value: Json) -> str:
    """Quote the start of a string, or name the type of anything else."""
    return repr(value[:_QUOTED]) if isinstance(value, str) else type_name(value)


def _without_nulls(model: type[BaseModel], value: Json) -> Json:
    if isinstance(value, list):
        return [_without_nulls(model, item) for item in value]
    if not isinstance(value, dict):
        return value
    known = _known(model)
    kept = {name: member for name, member in value.items() if member is not None or name not in known}
    for name in kept.keys() & known.keys():
        if nested := known[name]:
            kept[name] = _without_nulls(nested, kept[name])
    return kept


@cache
def _known(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """Map the members that a null says nothing about to the model of what they hold, if it is a model."""
    fields = model.model_fields.values()
    return {str(field.alias): _model_in(field.annotation) for field in fields if field.annotation is not Any}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _finite(value: Json) -> Json:
    match value:
        case float() if not math.isfinite(value):
            return None
        case list():
            return [_finite(item) for item in value]
        case dict():
            return {name: _finite(member) for name, member in value.items()}
        case _:
            return value


def _explain(raw: bytes, said: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:2]:
        return "UTF-16 or UTF-32, where JSON is sent as UTF-8"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "starts with a byte order mark"
    try:
        start = raw.decode("utf-8").lstrip()[:1]
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    if not start:
        return "empty"
    if start == "<":
        return "HTML or XML, not JSON"
    for words, plain in _PLAINLY.items():
        if words in said:
            return said.replace(words, plain)
    return f"not JSON: {said}{_quote(raw, said)}"


def _quote(raw: bytes, said: str) -> str:
    place = re.search(r"line (\d+) column (\d+)$", said)
    lines = raw.split(b"\n", _LINES)
    if place is None or int(place[1]) > len(lines):
        return ""
    there = lines[int(place[1]) - 1][max(int(place[2]) - 1, 0) :][:20].decode("utf-8", "replace")
    return f" ({there!r})" if there else ""
