"""JSON pointers (RFC 6901), which identify a position in a JSON value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.protocol.model import Json


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer for a path of member names and indexes; `""`, the whole value, for an empty path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def steps_of(text: str) -> tuple[str, ...]:
    """Return the path of a JSON pointer: unescaped member names and indexes."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def at(value: Json, text: str, missing: Any = None) -> Any:
    """Return the value at a JSON pointer, `missing` if there is none."""
    for step in steps_of(text):
        if isinstance(value, dict):
            value = value.get(step, missing)
        elif (
            isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 10 and int(step) < len(value)
        ):
            value = value[int(step)]
        else:
            return missing
    return value
