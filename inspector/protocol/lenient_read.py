"""Read objects from agents without the optional members that have a wrong type.

These members are in the raw JSON, from which findings report them. Requests are read strictly, because a server has to
refuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin

from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, Unreadable, Wire

_MOST_LEFT_OUT = 100
"""How many items a list may lose before the list itself has a wrong type."""


class _Nothing:
    """The result for a value that cannot be read, which differs from null."""


_NOTHING: Final = _Nothing()
_Read = Callable[[Json], Json]
"""Returns the readable part of a value, `_NOTHING` if there is none."""

WireT = TypeVar("WireT", bound=Wire)


class _Member(NamedTuple):
    """How a member is read: the object is unreadable without a `needed` member, and null means absence if `absent`."""

    read: _Read
    needed: bool
    absent: bool


def read_lenient(model: type[WireT], value: Json, change: Callable[[Json], Json] | None = None) -> WireT | Unreadable:
    """Read a JSON value like `read`, and if that fails, without the optional members of a wrong type.

    An optional list loses only its bad items, unless there are many. A wrong member that is required or `essential`
    makes the object unreadable, or the optional member that contains it.
    """
    strictly = read(model, value, change)
    if not isinstance(strictly, Unreadable):
        return strictly
    kept = _object(model, value if change is None else change(value))
    forgiven = strictly if kept is _NOTHING else read(model, kept)
    return strictly if isinstance(forgiven, Unreadable) else forgiven


def _object(model: type[Wire], value: Json) -> Json:
    if not isinstance(value, dict):
        return _NOTHING
    known = _members(model)
    kept: dict[str, Json] = {}
    for name, said in value.items():
        member = known.get(name)
        if member is None or (said is None and not member.absent):
            kept[name] = said
        elif said is not None:
            there = member.read(said)
            if there is not _NOTHING:
                kept[name] = there
            elif member.needed:
                return _NOTHING
    return kept


@cache
def _members(model: type[Wire]) -> Mapping[str, _Member]:
    """Map the members of a model, under their wire names, to how they are read."""
    found: dict[str, _Member] = {}
    for name, field in model.model_fields.items():
        annotation = field.annotation
        optional = NoneType in get_args(annotation)
        needed = not optional or name in model.essential
        found[str(field.alias)] = _Member(_reader(annotation, needed), needed, annotation is not Any)
    return found


def _reader(annotation: Any, needed: bool) -> _Read:
    if get_origin(annotation) is Annotated:
        return _reader(get_args(annotation)[0], needed)
    choices = [one for one in get_args(annotation) if one is not NoneType]
    if NoneType in get_args(annotation):
        return _reader(choices[0], needed)
    if get_origin(annotation) is list:
        item = _reader(choices[0], needed=True)
        return lambda value: _items(item, value, 0 if needed else _MOST_LEFT_OUT)
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return lambda value: _object(annotation, value)
    if annotation is Any:
        return lambda value: value
    plain = get_origin(annotation) or annotation
    return lambda value: value if type(value) is plain else _NOTHING


def _items(item: _Read, value: Json, most_left_out: int) -> Json:
    """Read a list without its bad items, up to `most_left_out` of them."""
    if not isinstance(value, list):
        return _NOTHING
    kept: list[Json] = []
    for place, one in enumerate(value):
        if (there := item(one)) is not _NOTHING:
            kept.append(there)
        elif place + 1 - len(kept) > most_left_out:
            return _NOTHING
    return kept
