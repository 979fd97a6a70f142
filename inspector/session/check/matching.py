"""Assertions (ACTS section 5): a value, a mapping of operators, or nested members.

A mapping is read key by key: a key that names an operator, with a value of the type that this operator needs, is an
operator; every other key is a member of the object. So `{type: string}` is an assertion about the type, while
`{type: {type: string}}` is one about a member `type`.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from inspector.protocol.model import Json
from inspector.session.check.paths import MISSING, Missing, values_at
from inspector.text.safe_json import dump

_PATTERN_SECONDS = 1.0
"""How long a regular expression may search a text: the time of some grows exponentially with the length."""
_LONGEST_QUOTATION = 20_000
"""How many characters of a value a mismatch has. Secrets are masked before it is shortened for people."""
_LONGEST_TEXT = 400
_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


class PatternError(Exception):
    """Raised for a regular expression that is not valid, or that needs too long, so that nothing is known."""


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


def mismatches(expected: Json, actual: Json | Missing, path: str = "") -> list[Mismatch]:
    """Return how a value differs from an assertion, nothing if it matches."""
    return list(_compare(expected, actual, path))


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
    return f"{count} element{'' if count == 1 else 's'}"


def _compare(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    if isinstance(expected, dict):
        yield from _compare_mapping(expected, actual, path)
    elif isinstance(expected, list):
        yield from _compare_list(expected, actual, path)
    elif not _equal(expected, actual):
        yield Mismatch(path, quote(expected), quote(actual))


def _compare_list(expected: list[Json], actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    """Compare the first elements; the list may be longer."""
    if not isinstance(actual, list):
        yield Mismatch(path, f"an array with at least {_elements(len(expected))}", quote(actual))
        return
    for index, item in enumerate(expected):
        yield from _compare(item, actual[index] if index < len(actual) else MISSING, f"{path}[{index}]")


def _compare_mapping(expected: Mapping[str, Json], actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    members: dict[str, Json] = {}
    for key, value in expected.items():
        if is_operator(key, value):
            yield from _OPERATORS[key].check(value, actual, path)
        else:
            members[key] = value
    if not members:
        if not expected and not isinstance(actual, dict):
            yield Mismatch(path, "an object", quote(actual))
        return
    if not isinstance(actual, dict):
        # Members that must be absent are absent from anything.
        wanted = [name for name, value in members.items() if list(_compare(value, MISSING, path))]
        if wanted:
            yield Mismatch(path, f"an object with {', '.join(wanted)}", quote(actual))
        return
    for name, value in members.items():
        yield from _compare(value, actual.get(name, MISSING), f"{path}.{name}" if path else name)


def _equal(expected: Json, actual: Json | Missing) -> bool:
    """Return whether two values are equal in JSON: `true` is not 1, but 1.0 is 1."""
    if isinstance(actual, Missing) or isinstance(expected, bool) is not isinstance(actual, bool):
        return False
    return bool(expected == actual)


class _Operator(NamedTuple):
    reads: Callable[[Json], bool]
    check: Callable[[Json, Json | Missing, str], Iterator[Mismatch]]


def _test(words: str, passes: Callable[[Json, Json], bool], reads: Callable[[Json], bool]) -> _Operator:
    """Return an operator that needs a value; `words` precede the expected value in its error."""

    def check(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
        if isinstance(actual, Missing) or not passes(expected, actual):
            yield Mismatch(path, f"{words} {quote(expected)}", quote(actual))

    return _Operator(reads, check)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_number(value: Json) -> bool:
    return _TYPES["number"](value)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text_test(words: str, passes: Callable[[str, str], bool]) -> _Operator:
    return _test(words, lambda expected, actual: isinstance(actual, str) and passes(expected, actual), _is_text)


def _number_test(words: str, passes: Callable[[float, float], bool]) -> _Operator:
    return _test(words, lambda expected, actual: _is_number(actual) and passes(expected, actual), _is_number)


def _count_test(words: str, passes: Callable[[int, int], bool]) -> _Operator:
    def check(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
        if not isinstance(actual, list):
            yield Mismatch(path, f"an array of {words} {_elements(expected)}".replace("  ", " "), quote(actual))
        elif not passes(expected, len(actual)):
            yield Mismatch(path, f"{words} {_elements(expected)}".strip(), _elements(len(actual)))

    return _Operator(_is_count, check)


def _contains(expected: str, actual: Json) -> bool:
    return expected in actual if isinstance(actual, str | list) else False


def _matches(expected: str, actual: str) -> bool:
    try:
        with _time_limit(_PATTERN_SECONDS):
            return re.search(expected, actual) is not None
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"{shorten(quote(expected))} is not a valid regular expression: {error}") from error
    except TimeoutError as error:
        size = f"a text of {len(actual):,} characters"
        raise PatternError(
            f"matches {shorten(quote(expected))} needs more than {_PATTERN_SECONDS:g} s for {size}"
        ) from error


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the body after this time; only in the main thread, and where there is SIGALRM."""
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


def _exists(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    if isinstance(actual, Missing) is bool(expected):
        yield Mismatch(path, "a value" if expected else "nothing", quote(actual))


def _absent(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    return _exists(not expected, actual, path)


def _one_of(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    if all(any(_compare(item, actual, path)) for item in expected):
        yield Mismatch(path, f"one of {quote(expected)}", quote(actual))


def _all_of(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    for item in expected:
        yield from _compare(item, actual, path)


def _any_of(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    failures = [next(_compare(item, actual, path), None) for item in expected]
    if None not in failures:
        wanted = " or ".join(f"{failure.path}: {failure.expected}" for failure in failures if failure is not None)
        yield Mismatch(path, wanted, quote(actual))


def _not(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    if not any(_compare(expected, actual, path)):
        yield Mismatch(path, f"not {quote(expected)}", quote(actual))


def _items(expected: Json, actual: Json | Missing, path: str) -> Iterator[Mismatch]:
    """Check every element, or with a list the elements at the same positions; the official suite uses both."""
    if isinstance(expected, list) or not isinstance(actual, list):
        yield from _compare_list(expected if isinstance(expected, list) else [expected], actual, path)
        return
    for index, item in enumerate(actual):
        yield from _compare(expected, item, f"{path}[{index}]")


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_list(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


_OPERATORS: Mapping[str, _Operator] = {
    "type": _test("the type", lambda kind, actual: _TYPES[kind](actual), lambda value: str(value) in _TYPES),
    "exists": _Operator(_is_flag, _exists),
    "absent": _Operator(_is_flag, _absent),
    "contains": _test("a value that contains", _contains, _is_text),
    "matches": _text_test("a text that matches", _matches),
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


def collection_mismatch(quantifier: str, path: str, match: Json, source: Json) -> Mismatch | None:
    """Return how the elements at a path with wildcards violate `any`, `all` or `none`, None if they do not."""
    elements = list(values_at(source, path))
    matching = [element for element in elements if not any(_compare(match, element, path))]
    passed = {
        "any": bool(matching),
        "all": len(matching) == len(elements),
        "none": not matching,
    }[quantifier]
    if passed:
        return None
    words = {"any": "at least one element that matches", "all": "only elements that match", "none": "no element like"}
    return Mismatch(path, f"{words[quantifier]} {quote(match)}", f"{len(matching)} of {len(elements)} elements match")
