"""Parse JSON without raising: invalid JSON becomes an `Unreadable` with the reason and the position."""

from __future__ import annotations

import json
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeGuard, TypeVar, cast, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from inspector.protocol.model import Json, Unreadable

_QUOTED = 120
"""The longest quotation of an invalid value, in characters."""

WEB_PAGE = "a web page or XML, not JSON"
"""Why a text that begins with `<` is not JSON."""
_PLAIN_TEXTS = {
    "recursion limit exceeded": "nested deeper than 200 levels",
    "number out of range": "a number of more than 4,300 digits",
    "lone leading surrogate in hex escape": "half of a surrogate pair",
    "unexpected end of hex escape": "half of a surrogate pair",
    "EOF while parsing": "ends within",
}
"""Plain texts for messages of the JSON parser."""

_POSITION = re.compile(r"line (\d+) column (\d+)$")
_UNKNOWN_WORD = "expected ident"
"""How the message about a word begins that is not true, false or null."""
_WORD = (string.ascii_letters + string.digits + "+-.").encode()

_EXPECTED = {
    "model_type": "an object",
    "dict_type": "an object",
    "list_type": "an array",
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "a boolean",
}
"""The expected type, by the type of the validation error."""

_LINES = 1000
"""Errors quote lines up to this number; splitting a hostile body into all its lines would need too much time."""

ModelT = TypeVar("ModelT", bound=BaseModel)

MOST_CONTAINERS = 200_000
"""The limit of objects and arrays in a value; each of them needs up to a kilobyte of memory."""
_QUOTED_OF_TOO_MANY = 1000


_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in a string; the group is half of a surrogate pair."""


def parse(raw: bytes) -> Json | Unreadable:
    """Parse one JSON value in UTF-8; half of a surrogate pair becomes U+FFFD, and the rest is read.

    Otherwise as `parse_strictly`.
    """
    value = parse_strictly(raw)
    if isinstance(value, Unreadable) and has_lone_surrogates(raw):
        return parse_strictly(_ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], raw))
    return value


def has_lone_surrogates(raw: bytes) -> bool:
    """Return whether a string in JSON has the escape of half of a surrogate pair."""
    if b"\\" not in raw or (b"\\ud" not in raw and b"\\uD" not in raw):
        return False
    return any(found[1] for found in _ESCAPE.finditer(raw))


def parse_strictly(raw: bytes) -> Json | Unreadable:
    """Parse one JSON value in UTF-8; the result can be traversed and written without further checks.

    These are rejected, too: NaN and Infinity, half of a surrogate pair, more than 200 levels, integers of more than
    4,300 digits, and more than `MOST_CONTAINERS` objects and arrays. A number beyond the range of a double becomes
    infinity.
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
    """Convert a JSON value with `change` and read it as a canonical object, with the JSON names of members (`taskId`).

    A null is read as a missing member if the model does not allow null: many libraries write missing members as null.
    """
    changed = value if change is None else change(value)
    validate = model.__pydantic_validator__.validate_python  # `model_validate` without a call for each event
    try:
        return cast(ModelT, validate(changed, by_alias=True, by_name=False))
    except ValidationError:
        pass
    try:
        return cast(ModelT, validate(_without_nulls(model, changed), by_alias=True, by_name=False))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = "".join(f"/{step}" for step in first["loc"])
        expected = _EXPECTED.get(first["type"])
        problem = f"expected {expected}, found {brief(first['input'])}" if expected else first["msg"][:_QUOTED]
        return Unreadable(value, f"{model.__name__}{where}: {problem}")


def dump(value: Json) -> bytes:
    """Write a JSON value without whitespace, as it is sent.

    Half of a surrogate pair is written as an escape, and infinity, which JSON does not have, as null.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def type_name(value: Json) -> str:
    """Return the JSON type of a value: `an object`, `an array`, `a string`, `a number`, `a boolean`, `null`."""
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


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a JSON number, which may be infinite; in Python, a boolean is an integer, too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def repeated_names(pairs: Sequence[tuple[str, Json]]) -> tuple[str, ...]:
    """Return the names that an object repeats; `pairs` are its members, as `object_pairs_hook` of `json` gets them."""
    counts = Counter(name for name, _ in pairs) if len(dict(pairs)) < len(pairs) else {}
    return tuple(name for name, count in counts.items() if count > 1)


def brief(value: Json) -> str:
    """Return the quoted beginning of a string, or the type of another value."""
    return repr(value[:_QUOTED]) if isinstance(value, str) else type_name(value)


def text_in(value: Json, *names: str) -> str:
    """Return the first of these members of an object that is a text and not empty, `""` if there is none."""
    texts = (value.get(name) for name in names) if isinstance(value, Mapping) else ()
    return next((text for text in texts if isinstance(text, str) and text), "")


def brief_or_missing(value: Json) -> str:
    """Return `missing` for the value of a member that does not exist, else `brief`."""
    return "missing" if value is None else brief(value)


def _without_nulls(model: type[BaseModel], value: Json) -> Json:
    if isinstance(value, list):
        return [_without_nulls(model, item) for item in value]
    if not isinstance(value, dict):
        return value
    known = _known(model)
    members = {name: member for name, member in value.items() if member is not None or name not in known}
    for name in members.keys() & known.keys():
        if nested := known[name]:
            members[name] = _without_nulls(nested, members[name])
    return members


@cache
def _known(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """Return the members that may not be null, each with the model of its value (None: not a model)."""
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


def _explain(raw: bytes, message: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:2]:
        return "UTF-16 or UTF-32, expected UTF-8"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "starts with a byte order mark, which JSON does not allow"
    try:
        start = raw.decode("utf-8").lstrip()[:1]
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    if not start:
        return "empty"
    if start == "<":
        return WEB_PAGE
    for words, plain in _PLAIN_TEXTS.items():
        if words in message:
            return message.replace(words, plain)
    message = _at_beginning(raw, message)
    return f"not JSON: {message}{_quote(raw, message)}"


def _at_beginning(raw: bytes, message: str) -> str:
    """Return a message about a word or a number with the position of its beginning: the parser names a later one."""
    position = _POSITION.search(message)
    if position is None or not message.startswith((_UNKNOWN_WORD, "invalid number")):
        return message
    line, column = int(position[1]), int(position[2])
    lines = raw.split(b"\n", _LINES)
    if not column:  # at the newline before
        line, column = line - 1, len(lines[line - 2]) + 1 if line - 1 <= len(lines) else 1
    if line <= len(lines):
        column = len(lines[line - 1][: column - 1].rstrip(_WORD)) + 1
    what = message[: position.start()].replace(_UNKNOWN_WORD, "expected value")
    return f"{what}line {line} column {column}"


def _quote(raw: bytes, message: str) -> str:
    position = _POSITION.search(message)
    lines = raw.split(b"\n", _LINES)
    if position is None or int(position[1]) > len(lines):
        return ""
    text = lines[int(position[1]) - 1][max(int(position[2]) - 1, 0) :][:20].decode("utf-8", "replace")
    return f" ({text!r})" if text else ""
