"""Read JSON leniently, and report what strict readers reject or read differently."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

_SHOWN = 80
_LONGEST_NUMBER = 4000
_LONGEST_DOUBLE = 300
"""The most digits that Python converts to an integer, and to a float that is finite."""
_HALVES = tuple(f"\\ud{digit}" for digit in "89abcdef")
"""The escapes of lone surrogates begin like this."""


class Oddity(Enum):
    """Something that JSON readers treat differently."""

    REPEATED = auto()
    """A repeated member."""
    NOT_FINITE = auto()
    """NaN or an infinity."""
    HALF = auto()
    """A lone surrogate."""


class Odd(NamedTuple):
    """An oddity, its pointer, and a description."""

    oddity: Oddity
    pointer: str
    seen: str


class _Repeated(dict[str, Json]):
    """An object with repeated members."""

    twice: tuple[str, ...] = ()


class Lenient:
    """Reads a text; `odd` is true if it has oddities, `forgiving` if it is not strict JSON."""

    def __init__(self) -> None:
        self.odd = False
        self.forgiving = False

    def read(self, text: str) -> Json:
        """Return the value; raise ValueError if it is not JSON, RecursionError if it is nested too deeply."""
        self.odd = "\\u" in text and any(half in text.lower() for half in _HALVES)
        try:
            return self._decode(text)
        except ValueError:
            self.forgiving = True
            return self._decode(text)

    def _decode(self, text: str) -> Json:
        return json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_int=_number,
            strict=not self.forgiving,
        ).decode(text)

    def _object(self, pairs: list[tuple[str, Json]]) -> Json:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        self.odd = True
        repeated = _Repeated(pairs)
        names = [name for name, _ in pairs]
        repeated.twice = tuple(name for name in value if names.count(name) > 1)
        return repeated

    def _constant(self, name: str) -> Json:
        self.odd = True
        return float(name.replace("Infinity", "inf"))


def oddities(value: Json, *steps: str | int) -> Iterator[Odd]:
    """Find the oddities in a value that `Lenient` has read; `steps` lead to the value."""
    if isinstance(value, dict):
        for name in value.twice if isinstance(value, _Repeated) else ():
            yield Odd(Oddity.REPEATED, pointer(*steps, name), f"{name[:_SHOWN]} is there more than once")
        for name, member in value.items():
            yield from oddities(member, *steps, name)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from oddities(item, *steps, number)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Odd(Oddity.NOT_FINITE, pointer(*steps), str(value))
    elif isinstance(value, str) and whole(value) != value:
        yield Odd(Oddity.HALF, pointer(*steps), ascii(value[:_SHOWN]))


def without_oddities(value: Json) -> Json:
    """Replace the oddities in a value: numbers that are not finite by null, lone surrogates by U+FFFD."""
    match value:
        case dict():
            return {whole(name): without_oddities(member) for name, member in value.items()}
        case list():
            return [without_oddities(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case str():
            return whole(value)
        case _:
            return value


def whole(text: str) -> str:
    """Replace the lone surrogates in a text."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(text: str) -> Json:
    return int(text) if len(text) < _LONGEST_NUMBER else float(text[:_LONGEST_DOUBLE])
