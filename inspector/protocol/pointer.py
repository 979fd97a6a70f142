"""JSON pointers (RFC 6901): how a place in a value is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.protocol.model import Json


def pointer(*steps: str | int) -> str:
    """Return the pointer that leads over these members and indexes; without any it points to the whole value."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def steps_of(text: str) -> tuple[str, ...]:
    """Return the members and indexes of a pointer, as they are spelled in the value."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def at(value: Json, text: str) -> Json:
    """Return what stands at a pointer, or None where the value has no such place."""
    for step in steps_of(text):
        if isinstance(value, dict):
            value = value.get(step)
        elif (
            isinstance(value, list) and step.isascii() and step.isdigit() and len(step) < 10 and int(step) < len(value)
        ):
            value = value[int(step)]
        else:
            return None
    return value
