"""Where in a JSON text a pointer leads, even if the text breaks off or is no JSON behind that."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from inspector.protocol.pointer import steps_of

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@dataclass(slots=True)
class _Level:
    """An object or array around a word: the member or item that is being read, and where it begins."""

    is_object: bool
    step: str = ""
    at: int = 0
    item: int = 0
    named: bool = False


def place_of(text: str, pointer: str) -> tuple[int, int]:
    """Return the row and column, from 0, where the value of a pointer begins, or its name, or the nearest around it."""
    at = _offset(text, steps_of(pointer)) if pointer else _first_fault(text)
    before = text.count("\n", 0, at)
    return before, at - (text.rfind("\n", 0, at) + 1)


def _first_fault(text: str) -> int:
    """Return where a text ceases to be JSON, 0 where it is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos
    except (ValueError, RecursionError):  # numbers too long, levels too deep: no one place is to blame
        return 0
    return 0


def _offset(text: str, steps: tuple[str, ...]) -> int:
    levels: list[_Level] = []
    best, depth = 0, 0
    for found in _WORD.finditer(text):
        word, at = found[0], found.start()
        level = levels[-1] if levels else None
        if word in "}]":
            del levels[-1:]
            continue
        if word in ",:" or (level is not None and level.is_object and not level.named):
            _step_on(level, word, at)
            continue
        if level is not None and not level.is_object:
            level.step, level.at = str(level.item), at
        path = tuple(one.step for one in levels)
        if path == steps[: len(path)] and len(path) > depth:
            best, depth = levels[-1].at, len(path)
            if path == steps:
                return best
        if word in "{[":
            levels.append(_Level(word == "{"))
    return best


def _step_on(level: _Level | None, word: str, at: int) -> None:
    """Go on within an object or array: to the next member or item, or over a name."""
    if level is None:
        return
    if word == ",":
        level.named = False
        level.item += 1
    elif word != ":":
        level.step, level.at, level.named = _name(word), at, True


def _name(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word.strip('"')
