"""Read JSON leniently, and report what strict readers reject or read differently."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from inspector.protocol.jsonvalue import repeated_names
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

_SHOWN = 80
_LONGEST_NUMBER = 4000
_LONGEST_DOUBLE = 300
"""An integer with at least `_LONGEST_NUMBER` digits is read as a float, from its first `_LONGEST_DOUBLE` digits. Python
may reject such an integer, and its value as a float would be infinite."""
_SURROGATE_ESCAPES = tuple(f"\\ud{digit}" for digit in "89abcdef")
"""The prefixes of escaped surrogates."""


class JsonProblemKind(Enum):
    """A construct that JSON readers treat differently."""

    REPEATED = auto()
    """A repeated member."""
    NOT_FINITE = auto()
    """NaN or an infinity."""
    LONE_SURROGATE = auto()
    """A lone surrogate."""


class JsonProblem(NamedTuple):
    """A construct that JSON readers treat differently, its pointer, and a description."""

    kind: JsonProblemKind
    pointer: str
    seen: str


class _Repeated(dict[str, Json]):
    """An object with repeated members."""

    repeated: tuple[str, ...] = ()


class LenientReader:
    """Reads JSON leniently.

    After `read`, `has_problems` is true if the value may have a `JsonProblem`, and `not_strict` is
    true if strict parsing failed.
    """

    def __init__(self) -> None:
        self.has_problems = False
        self.not_strict = False

    def read(self, text: str) -> Json:
        """Return the value; raise ValueError if it is not JSON, RecursionError if it is nested too deeply."""
        self.has_problems = "\\u" in text and any(half in text.lower() for half in _SURROGATE_ESCAPES)
        try:
            return self._decode(text)
        except ValueError:
            self.not_strict = True
            return self._decode(text)

    def _decode(self, text: str) -> Json:
        return json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_int=_number,
            strict=not self.not_strict,
        ).decode(text)

    def _object(self, pairs: list[tuple[str, Json]]) -> Json:
        repeated = repeated_names(pairs)
        if not repeated:
            return dict(pairs)
        self.has_problems = True
        with_repeated = _Repeated(pairs)
        with_repeated.repeated = repeated
        return with_repeated

    def _constant(self, name: str) -> Json:
        self.has_problems = True
        return float(name.replace("Infinity", "inf"))


def json_problems(value: Json, *steps: str | int) -> Iterator[JsonProblem]:
    """Find the JSON problems in a value that `LenientReader` has read; `steps` are the names and indices to it."""
    if isinstance(value, dict):
        for name in value.repeated if isinstance(value, _Repeated) else ():
            yield JsonProblem(JsonProblemKind.REPEATED, pointer(*steps, name), f"{name[:_SHOWN]} is repeated")
        for name, member in value.items():
            plain = replace_surrogates(name)
            if plain != name:
                seen = f"the name is {name[:_SHOWN]!a}"
                yield JsonProblem(JsonProblemKind.LONE_SURROGATE, pointer(*steps, plain), seen)
            yield from json_problems(member, *steps, plain)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from json_problems(item, *steps, number)
    elif isinstance(value, float) and not math.isfinite(value):
        yield JsonProblem(JsonProblemKind.NOT_FINITE, pointer(*steps), f"the number is {value}")
    elif isinstance(value, str) and replace_surrogates(value) != value:
        yield JsonProblem(JsonProblemKind.LONE_SURROGATE, pointer(*steps), f"the string is {value[:_SHOWN]!a}")


def without_problems(value: Json) -> Json:
    """Replace the JSON problems in a value: numbers that are not finite by null, lone surrogates by U+FFFD."""
    match value:
        case dict():
            return {replace_surrogates(name): without_problems(member) for name, member in value.items()}
        case list():
            return [without_problems(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case str():
            return replace_surrogates(value)
        case _:
            return value


def replace_surrogates(text: str) -> str:
    """Replace the lone surrogates in a text by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(text: str) -> Json:
    return int(text) if len(text) < _LONGEST_NUMBER else float(text[:_LONGEST_DOUBLE])
