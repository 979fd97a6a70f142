"""The meaning of the data of an extension: a title in one line, and an outline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

LONGEST = 160
"""The most characters of a text in an outline; the JSON has the whole text."""
MOST_LINES = 200
"""The most lines of an outline."""


class Line(NamedTuple):
    """A line of an outline: its depth, a label (`""` for none) and a text; `is_problem` marks what is wrong."""

    depth: int
    label: str
    text: str = ""
    is_problem: bool = False


class Outline(NamedTuple):
    """What the data of an extension means; the title is `""` if it is not worth a line of its own."""

    title: str
    lines: tuple[Line, ...]


def outline(title: str, lines: Iterable[Line]) -> Outline:
    """Return an outline with at most `MOST_LINES` lines."""
    found: list[Line] = []
    for line in lines:
        if len(found) == MOST_LINES:
            found.append(Line(0, "", "more lines: see the JSON"))
            break
        found.append(line)
    return Outline(title, tuple(found))


def members(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one instead of another value."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list, or an empty one instead of another value."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a value as a short text on one line, `""` for null."""
    if value is None:
        return ""
    words = " ".join(value[: 2 * LONGEST].split()) if isinstance(value, str) else _written(value)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"


def _written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False) if _is_short(value) else f"{type(value).__name__}, see the JSON"
    except ValueError:  # a number with more digits than Python writes
        return "a number, see the JSON"


def _is_short(value: Any) -> bool:
    """Return whether a value can be written on a line; a nested value is not written first to find out."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return len(value) <= 12 and not any(isinstance(each, dict | list) for each in inner)
    return True


def fields(depth: int, *pairs: tuple[str, Any]) -> list[Line]:
    """Return a line for each label whose value is not empty."""
    return [Line(depth, label, shown) for label, value in pairs if (shown := text(value))]
