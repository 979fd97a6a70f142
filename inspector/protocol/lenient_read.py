"""Read objects of agents, leaving out members of the wrong type that are optional (`Wire` defines which are).

Findings report these members from the raw JSON. Requests are read strictly, because a server has to reject them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_args, get_origin

from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, Unreadable, Wire

_MOST_LEFT_OUT = 100
"""The most invalid items that are left out of a list; with more, the whole list is invalid."""


class _Nothing:
    """The type of `_NOTHING`, the result for a value that cannot be read (null is a valid value)."""


_NOTHING: Final = _Nothing()
_Read = Callable[[Json], Json]
"""A function that returns the readable part of a value, `_NOTHING` if there is none."""

WireT = TypeVar("WireT", bound=Wire)


class _Member(NamedTuple):
    """How to read a member.

    `needed`: the object is unreadable without it. `absent`: null means that the member is missing.
    """

    read: _Read
    needed: bool
    absent: bool


def read_lenient(model: type[WireT], value: Json, change: Callable[[Json], Json] | None = None) -> WireT | Unreadable:
    """Read a JSON value like `read`; if that fails, read it without the optional members of the wrong type.

    Of an optional list, only the invalid items are left out, unless there are many. A member that is required or
    `essential` cannot be left out: without it, the object that contains it is unreadable.
    """
    strict = read(model, value, change)
    if isinstance(strict, model):
        return strict
    readable = _object(model, value if change is None else change(value))
    lenient = strict if readable is _NOTHING else read(model, readable)
    return strict if isinstance(lenient, Unreadable) else lenient


def _object(model: type[Wire], value: Json) -> Json:
    if not isinstance(value, dict):
        return _NOTHING
    known = _members(model)
    result: dict[str, Json] = {}
    for name, original in value.items():
        member = known.get(name)
        if member is None or (original is None and not member.absent):
            result[name] = original
        elif original is not None:
            readable = member.read(original)
            if readable is not _NOTHING:
                result[name] = readable
            elif member.needed:
                return _NOTHING
    return result


@cache
def _members(model: type[Wire]) -> Mapping[str, _Member]:
    """Return how to read the members of a model, by their names in JSON."""
    found: dict[str, _Member] = {}
    for name, field in model.model_fields.items():
        annotation = field.annotation
        optional = NoneType in get_args(annotation)
        needed = name in model.essential or not (optional or model.all_optional)
        found[str(field.alias)] = _Member(_reader(annotation, needed), needed, annotation is not Any)
    return found


def _reader(annotation: Any, needed: bool) -> _Read:
    if get_origin(annotation) is Annotated:
        return _reader(get_args(annotation)[0], needed)
    choices = [choice for choice in get_args(annotation) if choice is not NoneType]
    if NoneType in get_args(annotation):
        return _reader(choices[0], needed)
    if get_origin(annotation) is list:
        item, kind = _reader(choices[0], needed=True), choices[0]
        # An empty object in the place of an invalid one keeps the indices that findings about the other objects have.
        instead: Json = {} if isinstance(kind, type) and issubclass(kind, Wire) and kind.all_optional else _NOTHING
        return lambda value: _items(item, value, instead, 0 if needed else _MOST_LEFT_OUT)
    if get_origin(annotation) is dict and get_origin(choices[-1]) is dict:
        return _objects_by_name
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return lambda value: _object(annotation, value)
    if annotation is Any:
        return lambda value: value
    plain = get_origin(annotation) or annotation
    return lambda value: value if type(value) is plain else _NOTHING


def _objects_by_name(value: Json) -> Json:
    """Read an object of objects, with an empty object in the place of each other member."""
    if not isinstance(value, dict):
        return _NOTHING
    return {name: member if isinstance(member, dict) else {} for name, member in value.items()}


def _items(item: _Read, value: Json, instead: Json, most_left_out: int) -> Json:
    """Read a list with `instead` in the place of its invalid items.

    If `instead` is `_NOTHING`, they are left out; with more than `most_left_out` of them, the list is unreadable.
    """
    if not isinstance(value, list):
        return _NOTHING
    result: list[Json] = []
    for index, original in enumerate(value):
        readable = item(original)
        if readable is _NOTHING:
            readable = instead
        if readable is not _NOTHING:
            result.append(readable)
        elif index + 1 - len(result) > most_left_out:
            return _NOTHING
    return result
