"""A decorator like `dataclasses.dataclass` that compiles nothing until a class is used.

The standard decorator compiles up to six methods of each class, which costs half a millisecond for a class, a seventh
of the time until the card is shown; most of the classes that are loaded are not used. This one compiles `__init__` when
the first object is made, and objects of frozen classes with slots are made in half of the time.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers know the standard decorator, and only that
    from dataclasses import dataclass as dataclass  # noqa: PLC0414, TID251 - exported
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """Make a class a dataclass, as `dataclasses.dataclass` does with the same options."""
        if cls is None:
            return lambda decorated: _make(decorated, frozen=frozen, slots=slots, eq=eq)
        return _make(cls, frozen=frozen, slots=slots, eq=eq)


def _make(cls: type, *, frozen: bool, slots: bool, eq: bool) -> Any:
    own = cls.__dict__
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)  # noqa: TID251 - no methods
    if slots:
        _let_super_know(made, cls)
    if "__init__" not in own:
        made.__init__ = _first_init(made, frozen=frozen)
    if "__repr__" not in own:
        made.__repr__ = _repr
    if eq and "__eq__" not in own:
        made.__eq__ = _equality(_getter(made, lambda field: field.compare))
        hashed = _getter(made, lambda field: field.compare if field.hash is None else field.hash)
        made.__hash__ = (lambda self: hash(hashed(self))) if frozen else None
    if frozen:
        made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
        made.__getstate__, made.__setstate__ = _state, _restore
    return made


def _let_super_know(made: type, cls: type) -> None:
    """Let `super()` in the methods of a class with slots work, as since Python 3.14: slots need another class."""
    for member in cls.__dict__.values():
        function: Any = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        names = function.__code__.co_freevars if inspect.isfunction(function) else ()
        if "__class__" in names:
            function.__closure__[names.index("__class__")].cell_contents = made  # the methods share it
            return


def _getter(cls: Any, wanted: Callable[[dataclasses.Field[Any]], bool]) -> Callable[[object], Any]:
    """Return a function that returns the values of some fields of an object."""
    names = [field.name for field in dataclasses.fields(cls) if wanted(field)]
    return attrgetter(*names) if names else lambda _: ()


def _equality(compared: Callable[[object], Any]) -> Callable[[object, object], bool]:
    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _first_init(cls: Any, *, frozen: bool) -> Any:
    """Return an `__init__` that compiles the real one and replaces itself by it."""

    def init(self: object, *arguments: Any, **named: Any) -> None:
        cls.__init__ = _compiled_init(cls, frozen=frozen)
        cls.__init__(self, *arguments, **named)

    return init


def _compiled_init(cls: Any, *, frozen: bool) -> Any:
    """Return the `__init__` of the fields of a dataclass."""
    names: dict[str, Any] = {"_MADE": MISSING, "_set": object.__setattr__}
    positional, keyword = ["self"], list[str]()
    body = list[str]()
    for field in dataclasses.fields(cls):
        has_factory = field.default_factory is not MISSING
        names[f"_default_{field.name}"] = field.default_factory if has_factory else field.default
        if field.init:
            (keyword if field.kw_only else positional).append(_parameter(field))
        slot = getattr(cls, field.name, None)
        if not (value := _value(field)):
            continue
        if not frozen:
            body.append(f"self.{field.name} = {value}")
        elif isinstance(slot, MemberDescriptorType):
            names[f"_set_{field.name}"] = slot.__set__
            body.append(f"_set_{field.name}(self, {value})")
        else:
            body.append(f"_set(self, {field.name!r}, {value})")
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    parameters = ", ".join([*positional, *(["*", *keyword] if keyword else [])])
    lines = "".join(f"\n {line}" for line in body or ["pass"])
    exec(f"def __init__({parameters}):{lines}", names)  # noqa: S102 - names of fields only, as in the standard library
    return names["__init__"]


def _parameter(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=_MADE"
    return field.name if field.default is MISSING else f"{field.name}=_default_{field.name}"


def _value(field: dataclasses.Field[Any]) -> str:
    """Return the expression for the first value of a field, `""` if it has none."""
    if field.default_factory is not MISSING:
        made = f"_default_{field.name}()"
        return f"{made} if {field.name} is _MADE else {field.name}" if field.init else made
    if field.init:
        return field.name
    return "" if field.default is MISSING else f"_default_{field.name}"


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_: object, name: str, value: object) -> None:  # noqa: ARG001 - the signature of Python
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
