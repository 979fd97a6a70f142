"""Small rewrites of JSON, of which dialects put together the way between their spelling and the canonical one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.jsonvalue import brief, type_name
from inspector.protocol.lenient_read import read_forgiving
from inspector.protocol.model import Event, Json, Unreadable

Change: TypeAlias = Callable[[Json], Json]
"""Rewrites a value; one of the wrong type comes back as it is, for the model to refuse."""


def inverse(names: Mapping[str, str]) -> dict[str, str]:
    """Turn a mapping of spelled names to canonical ones around."""
    return {str(canonical): spelled for spelled, canonical in names.items()}


def word(names: Mapping[str, str]) -> Change:
    """Replace a word that is among the names."""
    return lambda value: names.get(value, value) if isinstance(value, str) else value


def each(change: Change) -> Change:
    """Rewrite every object in a list; what else an agent put there stays as it is."""
    return lambda value: (
        [change(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
    )


def renamed(names: Mapping[str, str], /, **changes: Change) -> Change:
    """Rename members of an object, then rewrite those of these new names."""
    rewrite = members(**changes)
    return lambda value: (
        rewrite({names.get(name, name): member for name, member in value.items()}) if isinstance(value, dict) else value
    )


def members(**changes: Change) -> Change:
    """Rewrite the named members of an object that are there."""

    def rewrite(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        return {name: changes[name](member) if name in changes else member for name, member in value.items()}

    return rewrite


def unmarked(mark: str, kind: str, /, **changes: Change) -> Change:
    """Rewrite an object, and drop its discriminator `mark` where it says the expected `kind`."""
    rewrite = members(**changes)

    def lift(value: Json) -> Json:
        if isinstance(value, dict) and value.get(mark) == kind:
            value = without(value, mark)
        return rewrite(value)

    return lift


def marked(mark: str, kind: str, /, **changes: Change) -> Change:
    """Rewrite an object, and say its kind under `mark` unless it says one itself."""
    rewrite = members(**changes)
    return lambda value: {mark: kind} | rewrite(value) if isinstance(value, dict) else value


def without(value: dict[str, Json], *names: str) -> dict[str, Json]:
    """Leave members out of an object."""
    return {name: member for name, member in value.items() if name not in names}


def unknown_event(value: Json, why: str) -> Unreadable:
    """Refuse an event for a reason, and say which generation's shape it has instead, if it has one."""
    if not isinstance(value, dict):
        return Unreadable(value, f"an event is an object, this is {type_name(value)}")
    shape = looks_like(value)
    return Unreadable(value, f"{why}; it has the shape of {shape}" if shape else why)


def read_one_of(value: Json, known: Mapping[str, tuple[type[Event], Change | None]]) -> Event | Unreadable:
    """Read an object whose one known member says by its name what it holds."""
    if not isinstance(value, dict):
        return unknown_event(value, "")
    present = [name for name in known if value.get(name) is not None]
    match present:
        case [name]:
            model, change = known[name]
            event = read_forgiving(model, value[name], change)
            return Unreadable(value, event.why) if isinstance(event, Unreadable) else event
        case []:
            said = f", but the member kind: {brief(value['kind'])}" if "kind" in value else ""
            return unknown_event(value, f"none of {', '.join(sorted(known))}{said}")
        case _:
            return Unreadable(value, f"more than one member of a one-of: {', '.join(sorted(present))}")
