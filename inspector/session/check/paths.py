"""Paths into JSON: `task.artifacts[0].parts[*].text`, with `[*]` for every element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from inspector.protocol.model import Json

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9}|\*)\]")

Step: TypeAlias = str | int | None
"""A member, an index, or None for every element."""


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()
"""What a path leads to where there is no value."""


def parse(path: str) -> tuple[Step, ...]:
    """Return the steps of a path; raises ValueError for an invalid path."""
    steps: list[Step] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise ValueError(f"{path!r} is not a path: see position {position + 1}")
        if found[1] is not None:
            steps.append(found[1])
        else:
            steps.append(None if found[2] == "*" else int(found[2]))
        position = found.end()
    return tuple(steps)


def value_at(value: Json, path: str) -> Json | Missing:
    """Return the first value at a path, `MISSING` if there is none; raises ValueError for an invalid path."""
    return next(iter(values_at(value, path)), MISSING)


def values_at(value: Json, path: str) -> Iterator[Json]:
    """Yield the values at a path, in order; raises ValueError for an invalid path."""
    return _follow(value, parse(path))


def _follow(value: Json, steps: tuple[Step, ...]) -> Iterator[Json]:
    if not steps:
        yield value
        return
    step, *rest = steps
    if isinstance(step, str):
        if isinstance(value, dict) and step in value:
            yield from _follow(value[step], tuple(rest))
    elif isinstance(value, list):
        for item in value if step is None else value[step : step + 1]:
            yield from _follow(item, tuple(rest))
