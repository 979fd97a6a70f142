"""List the differences between two JSON values; items of known lists are matched by their identity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass
from inspector.protocol.pointer import pointer as step

if TYPE_CHECKING:
    from inspector.protocol.model import Json


class How(StrEnum):
    """The kind of a difference."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """The items of a list are the same in another order."""


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two values.

    - `pointer`: the JSON pointer into the later value; for a removed member, into the earlier value.
    - `path`: the same position as users see it, with the identity of items instead of their index.
    - `before`, `after`: the values, None if there is none.
    """

    how: How
    pointer: str
    path: tuple[str, ...]
    before: Json = None
    after: Json = None


def _interface(item: Mapping[str, Json]) -> str:
    names = ("url", "protocolBinding", "transport", "protocolVersion")
    return " ".join(str(item[name]) for name in names if name in item)


IDENTITIES: Mapping[str, Callable[[Mapping[str, Json]], str]] = {
    "skills": lambda item: str(item.get("id", "")),
    "supportedInterfaces": _interface,
    "additionalInterfaces": _interface,
    "extensions": lambda item: str(item.get("uri", "")),
    "signatures": lambda item: f"{item.get('protected', '')}.{item.get('signature', '')}",
}
"""The function that returns the identity of an item, by the name of its list."""


def difference(before: Json, after: Json) -> list[Change]:
    """Return the differences in the order of the later value; in each object, the removed members are last."""
    return list(_compare(before, after, "", ()))


def _compare(before: Json, after: Json, pointer: str, path: tuple[str, ...]) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(before, after, pointer, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(before, after, pointer, path)
    elif type(before) is not type(after) or before != after:
        yield Change(How.CHANGED, pointer, path, before, after)


def _members(
    before: Mapping[str, Json], after: Mapping[str, Json], pointer: str, path: tuple[str, ...]
) -> Iterator[Change]:
    for name, value in after.items():
        where = f"{pointer}{step(name)}"
        if name in before:
            yield from _compare(before[name], value, where, (*path, name))
        else:
            yield Change(How.ADDED, where, (*path, name), after=value)
    for name, value in before.items():
        if name not in after:
            yield Change(How.REMOVED, f"{pointer}{step(name)}", (*path, name), before=value)


def _items(before: list[Json], after: list[Json], pointer: str, path: tuple[str, ...]) -> Iterator[Change]:
    old, new = _named(before, path), _named(after, path)
    for name, at in new.items():
        where, shown = pointer + step(at), (*path, name[0])
        if name in old:
            yield from _compare(before[old[name]], after[at], where, shown)
        else:
            yield Change(How.ADDED, where, shown, after=after[at])
    for name, at in old.items():
        if name not in new:
            yield Change(How.REMOVED, pointer + step(at), (*path, name[0]), before=before[at])
    if [name for name in new if name in old] != [name for name in old if name in new]:
        yield Change(How.MOVED, pointer, path, before, after)


def _named(items: list[Json], path: tuple[str, ...]) -> dict[tuple[str, int], int]:
    """Return the index of each item, by its identity and the number of equal identities before it."""
    identity = IDENTITIES.get(path[-1] if path else "")
    plain = not any(isinstance(item, dict | list) for item in items)
    seen: dict[str, int] = {}
    places: dict[tuple[str, int], int] = {}
    for at, item in enumerate(items):
        if identity is not None and isinstance(item, dict):
            name = identity(item) or str(at)
        else:
            name = str(item) if plain else str(at)
        places[name, seen.get(name, 0)] = at
        seen[name] = seen.get(name, 0) + 1
    return places
