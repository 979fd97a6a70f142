"""Assertions (ACTS section 5): a value, a mapping of operators, or nested members.

A mapping is read key by key: a key that names an operator, with a value of the type that this operator needs, is an
operator; every other key is a member of the object. So `{type: string}` is an assertion about the type, while
`{type: {type: string}}` is one about a member `type`.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple, NoReturn

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import is_number
from inspector.protocol.model import Json
from inspector.session.check.paths import MISSING, Missing, values_at
from inspector.text.safe_json import dump
from inspector.text.units import counted

_MOST_COMPARISONS = 3_000_000
"""How many values the assertions of one budget may compare: `one_of` inside of `items` multiplies their elements."""
_CHARACTERS = 100
"""How many characters of a text cost as much as one comparison."""
_MOST_MISMATCHES = 100
"""How many mismatches of one assertion are reported."""
_PATTERN_SECONDS = 1.0
"""How long regular expressions may search in all: the time of some grows exponentially with the length of the text."""
_LONGEST_QUOTATION = 20_000
"""How many characters of a value a mismatch has. Secrets are masked before it is shortened for people."""
_LONGEST_TEXT = 400
_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
TYPE_NAMES = tuple(_TYPES)
"""The types of the operator `type`."""


class UndecidedError(Exception):
    """Raised if an assertion cannot be decided: an invalid or slow regular expression, or too many comparisons."""


class Mismatch(NamedTuple):
    """An assertion that a value does not meet: where, what was expected, and the actual value, as texts."""

    path: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.path or 'the response'}: expected {self.expected}, got {self.actual}"

    def shown(self, mask: Callable[[str], str]) -> Mismatch:
        """Return the texts for people: short, with masked secrets."""
        return Mismatch(*(shorten(mask(text)) for text in self))


@dataclass(slots=True)
class Budget:
    """What assertions may still cost: comparisons of values, and seconds of regular expressions."""

    comparisons: int = _MOST_COMPARISONS
    pattern_seconds: float = _PATTERN_SECONDS

    def spend(self, comparisons: int = 1) -> None:
        """Count comparisons; raises `UndecidedError` if there were too many."""
        self.comparisons -= comparisons
        if self.comparisons < 0:
            raise UndecidedError(
                f"the assertions need more than {_MOST_COMPARISONS:,} comparisons; "
                "one_of, any_of and items inside of each other multiply their elements"
            )

    def spend_on_text(self, length: int) -> None:
        """Count characters or elements that are read or copied, many of which cost as much as a comparison."""
        self.spend(length // _CHARACTERS)


class _Place(NamedTuple):
    """Where a value is: below `start`, at these members and indices. Its text is made only for a mismatch."""

    budget: Budget
    start: str = ""
    steps: tuple[str | int, ...] = ()

    def below(self, step: str | int) -> _Place:
        return _Place(self.budget, self.start, (*self.steps, step))

    def quote(self, value: Json | Missing) -> str:
        text = "nothing" if isinstance(value, Missing) else dump(value)
        self.budget.spend_on_text(len(text))
        return shorten(text, _LONGEST_QUOTATION)

    def mismatch(self, expected: str, actual: str) -> Mismatch:
        text = self.start
        for step in self.steps:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        self.budget.spend_on_text(len(text))
        return Mismatch(text, expected, actual)


def mismatches(expected: Json, actual: Json | Missing, path: str = "", budget: Budget | None = None) -> list[Mismatch]:
    """Return how a value differs from an assertion, nothing if it matches; raises `UndecidedError`.

    `budget` is what several assertions may cost together.
    """
    return list(islice(_compare(expected, actual, _Place(budget or Budget(), path)), _MOST_MISMATCHES))


def time_mismatches(*measured: tuple[str, int | None, float]) -> list[Mismatch]:
    """Return which limits are exceeded: each has a name, milliseconds (None for no limit) and the actual seconds."""
    return [
        Mismatch(name, f"at most {limit} ms", f"{seconds * 1000:.0f} ms")
        for name, limit, seconds in measured
        if limit is not None and seconds * 1000 > limit
    ]


def is_match(expected: Json, actual: Json | Missing, budget: Budget) -> bool:
    """Return whether a value matches an assertion; raises `UndecidedError`."""
    return _matches_at(expected, actual, _Place(budget))


def is_operator(key: str, value: Json) -> bool:
    """Return whether a key of a mapping with this value is an operator, not a member of the object."""
    return key in _OPERATORS and _OPERATORS[key].reads(value)


def quote(value: Json | Missing) -> str:
    """Return a value as text."""
    return "nothing" if isinstance(value, Missing) else shorten(dump(value), _LONGEST_QUOTATION)


def shorten(text: str, most: int = _LONGEST_TEXT) -> str:
    """Return a text with at most so many characters and, if it was longer, its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def _elements(count: int) -> str:
    return counted(count, "element")


def _matches_at(expected: Json, actual: Json | Missing, place: _Place) -> bool:
    return not any(_compare(expected, actual, place))


def _compare(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    place.budget.spend()
    if isinstance(expected, dict):
        yield from _compare_mapping(expected, actual, place)
    elif isinstance(expected, list):
        yield from _compare_list(expected, actual, place)
    elif not _equal(expected, actual):
        yield place.mismatch(place.quote(expected), place.quote(actual))


def _compare_list(expected: list[Json], actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    """Compare the first elements; the list may be longer."""
    if not isinstance(actual, list):
        yield place.mismatch(f"an array with at least {_elements(len(expected))}", place.quote(actual))
        return
    for index, item in enumerate(expected):
        yield from _compare(item, actual[index] if index < len(actual) else MISSING, place.below(index))


def _compare_mapping(expected: Mapping[str, Json], actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    members: dict[str, Json] = {}
    for key, value in expected.items():
        if is_operator(key, value):
            yield from _OPERATORS[key].check(value, actual, place)
        else:
            members[key] = value
    if not members:
        if not expected and not isinstance(actual, dict):
            yield place.mismatch("an object", place.quote(actual))
        return
    if not isinstance(actual, dict):
        # Members that must be absent are absent from anything.
        wanted = [name for name, value in members.items() if not _matches_at(value, MISSING, place)]
        if wanted:
            yield place.mismatch(f"an object with {', '.join(wanted)}", place.quote(actual))
        return
    for name, value in members.items():
        yield from _compare(value, actual.get(name, MISSING), place.below(name))


def _equal(expected: Json, actual: Json | Missing) -> bool:
    """Return whether two values are equal in JSON: `true` is not 1, but 1.0 is 1."""
    if isinstance(actual, Missing) or isinstance(expected, bool) is not isinstance(actual, bool):
        return False
    return bool(expected == actual)


class _Operator(NamedTuple):
    reads: Callable[[Json], bool]
    check: Callable[[Json, Json | Missing, _Place], Iterator[Mismatch]]


def _test(words: str, passes: Callable[[Json, Json], bool], reads: Callable[[Json], bool]) -> _Operator:
    """Return an operator that needs a value; `words` precede the expected value in its error."""

    def check(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
        if isinstance(actual, str | list):  # `contains` reads all of it
            place.budget.spend_on_text(len(actual))
        if isinstance(actual, Missing) or not passes(expected, actual):
            yield place.mismatch(f"{words} {place.quote(expected)}", place.quote(actual))

    return _Operator(reads, check)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text_test(words: str, passes: Callable[[str, str], bool]) -> _Operator:
    return _test(words, lambda expected, actual: isinstance(actual, str) and passes(expected, actual), _is_text)


def _number_test(words: str, passes: Callable[[float, float], bool]) -> _Operator:
    return _test(words, lambda expected, actual: is_number(actual) and passes(expected, actual), is_number)


def _count_test(words: str, passes: Callable[[int, int], bool]) -> _Operator:
    def check(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
        if not isinstance(actual, list):
            yield place.mismatch(f"an array of {words} {_elements(expected)}".replace("  ", " "), place.quote(actual))
        elif not passes(expected, len(actual)):
            yield place.mismatch(f"{words} {_elements(expected)}".strip(), _elements(len(actual)))

    return _Operator(_is_count, check)


def _contains(expected: str, actual: Json) -> bool:
    return expected in actual if isinstance(actual, str | list) else False


def _matches(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    if not (isinstance(actual, str) and _finds(str(expected), actual, place.budget)):
        yield place.mismatch(f"a text that matches {place.quote(expected)}", place.quote(actual))


def _finds(pattern: str, text: str, budget: Budget) -> bool:
    """Return whether a regular expression matches a part of a text, within the time that is left for all of them."""
    began = time.monotonic()
    try:
        with _time_limit(budget.pattern_seconds):
            return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError) as error:
        raise UndecidedError(f"{shorten(quote(pattern))} is not a valid regular expression: {error}") from error
    except TimeoutError as error:
        size = f"a text of {len(text):,} characters"
        raise UndecidedError(
            f"matches {shorten(quote(pattern))} needs more than {_PATTERN_SECONDS:g} s for {size}"
        ) from error
    finally:
        budget.pattern_seconds -= time.monotonic() - began


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the body after this time; only in the main thread, and where there is SIGALRM."""
    if seconds <= 0:
        raise TimeoutError
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _exists(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    if isinstance(actual, Missing) is bool(expected):
        yield place.mismatch("a value" if expected else "nothing", place.quote(actual))


def _absent(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    return _exists(not expected, actual, place)


def _one_of(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    if not any(_matches_at(item, actual, place) for item in expected):
        yield place.mismatch(f"one of {place.quote(expected)}", place.quote(actual))


def _all_of(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    for item in expected:
        yield from _compare(item, actual, place)


def _any_of(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    failures: list[Mismatch] = []
    for item in expected:
        failure = next(_compare(item, actual, place), None)
        if failure is None:
            return
        failures.append(failure)
    wanted = " or ".join(f"{failure.path}: {failure.expected}" for failure in failures)
    yield place.mismatch(wanted, place.quote(actual))


def _not(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    if _matches_at(expected, actual, place):
        yield place.mismatch(f"not {place.quote(expected)}", place.quote(actual))


def _items(expected: Json, actual: Json | Missing, place: _Place) -> Iterator[Mismatch]:
    """Check every element, or with a list the elements at the same positions; the official suite uses both."""
    if isinstance(expected, list) or not isinstance(actual, list):
        yield from _compare_list(expected if isinstance(expected, list) else [expected], actual, place)
        return
    for index, item in enumerate(actual):
        yield from _compare(expected, item, place.below(index))


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_list(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


_OPERATORS: Mapping[str, _Operator] = {
    "type": _test("the type", lambda kind, actual: _TYPES[kind](actual), lambda value: str(value) in _TYPES),
    "exists": _Operator(_is_flag, _exists),
    "absent": _Operator(_is_flag, _absent),
    "contains": _test("a value that contains", _contains, _is_text),
    "matches": _Operator(_is_text, _matches),
    "starts_with": _text_test("a text that starts with", lambda expected, actual: actual.startswith(expected)),
    "ends_with": _text_test("a text that ends with", lambda expected, actual: actual.endswith(expected)),
    "gte": _number_test("at least", lambda expected, actual: actual >= expected),
    "lte": _number_test("at most", lambda expected, actual: actual <= expected),
    "gt": _number_test("more than", lambda expected, actual: actual > expected),
    "lt": _number_test("less than", lambda expected, actual: actual < expected),
    "count": _count_test("", lambda expected, actual: actual == expected),
    "count_gte": _count_test("at least", lambda expected, actual: actual >= expected),
    "count_lte": _count_test("at most", lambda expected, actual: actual <= expected),
    "one_of": _Operator(_is_list, _one_of),
    "all_of": _Operator(_is_list, _all_of),
    "any_of": _Operator(_is_list, _any_of),
    "not": _Operator(lambda _: True, _not),
    "items": _Operator(lambda value: isinstance(value, dict | list), _items),
}


OPERATOR_NAMES = tuple(_OPERATORS)
"""The names of the operators of assertions."""


def collection_mismatch(quantifier: str, path: str, match: Json, source: Json) -> Mismatch | None:
    """Return how the elements at a path with wildcards violate `any`, `all` or `none`, None if they do not."""
    place = _Place(Budget(), path)
    elements = list(values_at(source, path))
    count = sum(_matches_at(match, element, place) for element in elements)
    passed = {"any": count > 0, "all": count == len(elements), "none": count == 0}[quantifier]
    if passed:
        return None
    words = {"any": "at least one element that matches", "all": "only elements that match", "none": "no element like"}
    wanted = f"{words[quantifier]} {place.quote(match)}"
    return place.mismatch(wanted, f"{count} of {len(elements)} elements match")
