"""Functions that convert JSON; the dialects combine them to convert to and from the canonical JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from inspector.protocol.dialects.base import Result
from inspector.protocol.dialects.detect import KINDS, looks_like
from inspector.protocol.jsonvalue import brief, read, type_name
from inspector.protocol.lenient_read import read_lenient
from inspector.protocol.model import Deleted, Event, Json, Request, Unreadable, Wire
from inspector.protocol.operations import REQUESTS, Operation

Change: TypeAlias = Callable[[Json], Json]
"""A conversion of a JSON value. A value of the wrong type is returned unchanged, and the model rejects it."""

_MOST_NAMES = 5
"""The largest number of members that are listed."""


def inverse(names: Mapping[str, str]) -> dict[str, str]:
    """Swap the keys and the values of a mapping."""
    return {str(canonical): spelled for spelled, canonical in names.items()}


def map_string(names: Mapping[str, str]) -> Change:
    """Return a conversion that replaces a string by its entry in `names`."""
    return lambda value: names.get(value, value) if isinstance(value, str) else value


def each(change: Change) -> Change:
    """Return a conversion that applies `change` to every object in a list."""
    return lambda value: (
        [change(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value
    )


def renamed(names: Mapping[str, str], /, **changes: Change) -> Change:
    """Return a conversion that renames members of an object, then converts the members in `changes` (new names)."""
    rewrite = members(**changes)
    return lambda value: (
        rewrite({names.get(name, name): member for name, member in value.items()}) if isinstance(value, dict) else value
    )


def members(**changes: Change) -> Change:
    """Return a conversion of an object that converts its members with the conversions in `changes`."""

    def rewrite(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        return {name: changes[name](member) if name in changes else member for name, member in value.items()}

    return rewrite


def drop_discriminator(mark: str, kind: str, /, **changes: Change) -> Change:
    """Return a conversion like `members` that also removes the discriminator `mark` if its value is `kind`."""
    rewrite = members(**changes)

    def convert(value: Json) -> Json:
        if isinstance(value, dict) and value.get(mark) == kind:
            value = without(value, mark)
        return rewrite(value)

    return convert


def add_discriminator(mark: str, kind: str, /, **changes: Change) -> Change:
    """Return a conversion like `members` that also adds the discriminator `mark` with the value `kind`."""
    rewrite = members(**changes)
    return lambda value: {mark: kind} | rewrite(value) if isinstance(value, dict) else value


def without(value: dict[str, Json], *names: str) -> dict[str, Json]:
    """Return an object without these members."""
    return {name: member for name, member in value.items() if name not in names}


def unknown_event(value: Json, why: str, version: str) -> Unreadable:
    """Return an unreadable event with the reason, and what was found: another version's format, else its members.

    `version` is the protocol version in which it was read.
    """
    if not isinstance(value, dict):
        return Unreadable(value, f"expected an event (an object), found {type_name(value)}")
    kind, shape = value.get("kind"), looks_like(value)
    if isinstance(kind, str) and kind in KINDS:
        return Unreadable(value, f"{why}; found kind {brief(kind)}, as in 0.2 and 0.3 over JSONRPC")
    if shape and shape != version:
        return Unreadable(value, f"{why}; found the format of {shape}")
    names = [brief(name) for name, member in value.items() if member is not None]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return Unreadable(value, f"{why}; found {', '.join(names[:_MOST_NAMES]) or 'none'}{more}")


def read_oneof(value: Json, known: Mapping[str, tuple[type[Event], Change | None]], version: str) -> Event | Unreadable:
    """Read an event in a wrapper: an object with exactly one of the `known` members, named after the kind of event.

    `version` is the protocol version in which it is read.
    """
    if not isinstance(value, dict):
        return unknown_event(value, "", version)
    present = [name for name, member in value.items() if member is not None and name in known]
    if len(present) == 1:
        model, change = known[present[0]]
        event = read_lenient(model, value[present[0]], change)
        return Unreadable(value, event.why) if isinstance(event, Unreadable) else event
    if present:
        return Unreadable(value, f"expected one of these members, found several: {', '.join(sorted(present))}")
    return unknown_event(value, f"expected one of the members {', '.join(sorted(known))}", version)


def request_reader(changes: Mapping[type[Wire], Change]) -> Callable[[Operation, Json], Request | Unreadable]:
    """Return a function that reads the parameters of an operation after the conversion in `changes` for their model."""

    def decode_request(operation: Operation, value: Json) -> Request | Unreadable:
        model = REQUESTS[operation]
        return read(model, {} if value is None else value, changes.get(model))

    return decode_request


def read_deleted(value: Json) -> Deleted | Unreadable:
    """Read the result of deleting a push configuration, which may be null."""
    return Deleted() if value is None else read(Deleted, value)


def result_reader(
    readers: Mapping[Operation, Callable[[Json], Result | Unreadable]],
    other: Callable[[Json], Result | Unreadable],
) -> Callable[[Operation, Json], Result | Unreadable]:
    """Return a function that reads the result of an operation; `other` reads the results that have no reader."""
    return lambda operation, value: readers.get(operation, other)(value)
