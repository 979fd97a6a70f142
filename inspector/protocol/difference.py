"""What changed between two JSON values, member by member; items of known lists are matched by what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from inspector.protocol.pointer import pointer as step

if TYPE_CHECKING:
    from inspector.protocol.model import Json


class How(StrEnum):
    """What happened to a member."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """The items of a list are the same ones, in another order."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    `pointer` is a JSON pointer into the later value, into the earlier one where something was removed; `path` names the
    same place for people, items by what they are instead of by number; `before` and `after` are None where there is
    none.
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
"""By the name of a list: what makes two of its items the same one."""


def difference(before: Json, after: Json) -> list[Change]:
    """List what changed, in the order of the later value, what was removed behind it."""
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
    """Return where each item stands, by its name and how many of that name came before it."""
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
