"""Classes of `lazy_dataclass` behave like those of `dataclasses`: nearly all tests run with both decorators."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from inspector import lazy_dataclass

Decorate = Callable[..., Any]
both = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, lazy_dataclass.dataclass])
with_options = pytest.mark.parametrize(
    "options", [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}], ids=str
)


def point(dataclass: Decorate, **options: bool) -> Any:
    @dataclass(**options)
    class Point:
        """A class with every kind of field."""

        ZERO: ClassVar[int] = 0
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, hash=False)
        name: str = field(default="p", kw_only=True)
        secret: str = field(default="s", repr=False, compare=False)
        made: int = field(default=7, init=False)
        own: list[int] = field(default_factory=lambda: [1], init=False, hash=False)

        @property
        def total(self) -> int:
            return self.x + self.y

    return Point


@both
@with_options
def test_objects_have_the_values_and_the_defaults_of_their_fields(dataclass: Decorate, options: dict[str, bool]):
    cls = point(dataclass, **options)
    given, plain = cls(1, 3, ["t"], "other", name="q"), cls(x=1)
    assert dataclasses.astuple(given) == (1, 3, ["t"], "q", "other", 7, [1])
    assert dataclasses.astuple(plain) == (1, 2, [], "p", "s", 7, [1])
    assert plain.tags is not cls(1).tags and plain.own is not cls(1).own
    assert (given.total, cls.ZERO, cls.__match_args__) == (4, 0, ("x", "y", "tags", "secret"))
    assert repr(plain).endswith("Point(x=1, y=2, tags=[], name='p', made=7, own=[1])")
    assert dataclasses.replace(plain, y=5).total == 6
    assert hasattr(plain, "__dict__") is not options.get("slots", False)


@pytest.mark.parametrize("options", [{}, {"slots": True}, {"frozen": True, "slots": True}], ids=str)
def test_methods_call_those_of_their_base_class(options: dict[str, bool]):
    class Base:
        __slots__ = ()
        size = 1

        def double(self) -> int:
            return 2

        @property
        def half(self) -> int:
            return 3

        @classmethod
        def zero(cls) -> int:
            return 4

    @lazy_dataclass.dataclass(**options)
    class Derived(Base):
        x: int = 0

        def double(self) -> int:
            return super().double() * 10

        @property
        def half(self) -> int:
            return super().half * 10

        @classmethod
        def zero(cls) -> int:
            return super().zero() * 10

        def own(self) -> type:
            return __class__

    made = Derived()
    assert (made.double(), made.half, Derived.zero(), made.own()) == (20, 30, 40, Derived)


@both
@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 1}, {"x": 1, "made": 1}])
def test_wrong_arguments_are_an_error(dataclass: Decorate, wrong: dict[str, int]):
    cls = point(dataclass)
    for _ in range(2):  # the first call is special
        with pytest.raises(TypeError):
            cls(**wrong)
    with pytest.raises(TypeError):
        cls(1, 2, [], "s", "name is a keyword")


@both
@with_options
def test_objects_are_equal_if_their_compared_fields_are(dataclass: Decorate, options: dict[str, bool]):
    cls, other = point(dataclass, **options), point(dataclass, **options)
    assert cls(1, secret="a") == cls(1, secret="b")
    assert cls(1) != cls(2)
    assert cls(1) != other(1) and cls(1) != 1
    assert cls(1).__eq__(1) is NotImplemented


@both
def test_only_frozen_classes_and_those_without_equality_can_be_hashed(dataclass: Decorate):
    def made(**options: bool) -> Any:
        @dataclass(**options)
        class Pair:
            left: int = 1
            right: str = "r"
            uncompared: float = field(default=0.0, compare=False)
            unhashed: list[int] = field(default_factory=list, hash=False)

        return Pair

    frozen = made(frozen=True, slots=True)
    assert {frozen(): "found"}[frozen(uncompared=2.0)] == "found"
    assert hash(frozen()) == hash(frozen(unhashed=[1])) and frozen() != frozen(unhashed=[1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(made(slots=True)())
    unequal = made(eq=False)
    one = unequal()
    assert one != unequal() and hash(one) == hash(one)


@both
@pytest.mark.parametrize("slots", [True, False])
def test_frozen_objects_do_not_change(dataclass: Decorate, slots: bool):
    one = point(dataclass, frozen=True, slots=slots)(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    assert one.x == 1
    changeable = point(dataclass, slots=slots)(1)
    changeable.x = 2
    assert changeable.total == 4


@both
@with_options
def test_objects_can_be_copied(dataclass: Decorate, options: dict[str, bool]):
    one = point(dataclass, **options)(1, tags=["a"])
    assert copy.copy(one) == one and copy.copy(one).tags is one.tags
    assert copy.deepcopy(one) == one and copy.deepcopy(one).tags is not one.tags


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Stored:
    """A class of a module, as pickle needs it."""

    text: str
    made: int = field(default=3, init=False)


def test_objects_can_be_pickled():
    assert pickle.loads(pickle.dumps(Stored("a"))) == Stored("a")


@both
@with_options
def test_a_class_inherits_fields_and_can_define_methods_of_its_own(dataclass: Decorate, options: dict[str, bool]):
    @dataclass(**options)
    class Base:
        first: int
        second: list[int] = field(default_factory=list)

    @dataclass(**options)
    class Derived(Base):
        third: str = "3"

        def __post_init__(self) -> None:
            self.second.append(self.first)

        def __repr__(self) -> str:
            return "derived"

    for _ in range(2):
        derived = Derived(1)
        assert (derived.first, derived.second, derived.third, repr(derived)) == (1, [1], "3", "derived")
        assert Base(1) == Base(1) != derived
        assert isinstance(derived, Base)


@both
def test_a_plain_subclass_can_call_the_first_init(dataclass: Decorate):
    @dataclass(slots=True)
    class Base:
        value: int = 1

    class Derived(Base):
        def __init__(self) -> None:
            super().__init__(5)

    assert (Derived().value, Derived().value, Base().value) == (5, 5, 1)


@both
def test_a_class_without_fields_is_equal_to_its_like(dataclass: Decorate):
    @dataclass(frozen=True)
    class Empty:
        pass

    assert Empty() == Empty() and hash(Empty()) == hash(Empty())
    assert repr(Empty()).endswith("Empty()")
