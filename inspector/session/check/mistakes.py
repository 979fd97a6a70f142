"""Find the mistakes of a check file that its models do not check: in assertions, and between steps.

They are found in the value of the file, so that they are reported together with those that the models find.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from inspector.protocol.model import Json
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.matching import OPERATOR_NAMES, TYPE_NAMES, Budget, UndecidedError, is_match, is_operator
from inspector.session.check.source import Location

_ASSERTING = ("expect", "expect_error", "expect_stream", "expect_parsed", "assertion", "assertions", EXTENSION)
"""The members of tests and steps that contain assertions."""
_OTHER_NAMES = ("integer", "int", "float", "bool", "str", "dict")
"""Names of types in other languages, which are not similar to those of JSON."""
_SIMILARITY = 0.8
_SIMILARITY_OF_OPERATOR = 0.85
"""So that `content`, a common member, is not called similar to `contains`."""
_LONGEST_NAME = 20
_LONGEST_PATTERN = 1_000
"""A longer regular expression is only checked by its step: compiling many of this length could need minutes."""

Mistake = tuple[Location, str]


def mistakes_in(file: Json) -> Iterator[Mistake]:
    """Yield the mistakes in the tests of a file, whose members may have any type."""
    budget = Budget()
    for place, test in tests_of(file):
        yield from _in_assertions(test, place, budget)
        ids: set[str] = set()
        for index, step in _objects(test, "steps"):
            inside = (*place, "steps", index)
            yield from _in_assertions(step, inside, budget)
            name = step.get("id")
            if isinstance(name, str) and name in ids:
                yield (*inside, "id"), f"two steps have the id {name!r}"
            elif isinstance(name, str):
                ids.add(name)


def tests_of(file: Json) -> Iterator[tuple[Location, dict[str, Json]]]:
    """Yield the tests of a file, each with its location."""
    for suite, each in _objects(file, "suites"):
        for index, test in _objects(each, "tests"):
            yield ("suites", suite, "tests", index), test


def resembles_type(key: str, value: Json) -> bool:
    """Return whether a member is probably the operator `type` with a misspelt type, not a member of the object."""
    if key != "type" or not isinstance(value, str) or value in TYPE_NAMES or len(value) > _LONGEST_NAME:
        return False
    name = value.lower()
    return name in _OTHER_NAMES or bool(get_close_matches(name, TYPE_NAMES, 1, _SIMILARITY))


def _objects(owner: Json, name: str) -> Iterator[tuple[int, dict[str, Json]]]:
    items = owner.get(name) if isinstance(owner, dict) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield index, item


def _in_assertions(owner: dict[str, Json], place: Location, budget: Budget) -> Iterator[Mistake]:
    """Yield the mistakes in the assertions of a test or a step."""
    waiting: list[tuple[Location, Json]] = [((*place, name), owner[name]) for name in _ASSERTING if name in owner]
    while waiting:  # a loop, because JSON may be nested more deeply than functions can be called
        where, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*where, index), item) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            waiting += [((*where, name), item) for name, item in value.items()]
            yield from _in_mapping(value, where, budget)


def _in_mapping(value: dict[str, Json], where: Location, budget: Budget) -> Iterator[Mistake]:
    kind, pattern = value.get("type"), value.get("matches")
    others = (item for item in value.items() if item[0] != "type")
    if resembles_type("type", kind) and all(is_operator(*item) for item in others):
        known = ", ".join(TYPE_NAMES)
        yield (*where, "type"), f"{kind!r} is not one of {known}; for a member type, write {{one_of: [{kind}]}}"
    for steps, assertion, consequence in _unnoticed(value):
        name, operator = _misspelt_operator(assertion)
        if operator:
            member = f"{{{name}: {{not: ...}}}}" if steps == ("not",) else f"{{all_of: [{{{name}: ...}}]}}"
            yield (
                (*where, *steps, name),
                f"{name!r} is the name of a member here, so that {consequence}: did you mean {operator}? "
                f"For a member, write {member}",
            )
    if isinstance(pattern, str) and (problem := _problem_of(pattern, budget)):
        yield (*where, "matches"), problem


def _unnoticed(value: dict[str, Json]) -> Iterator[tuple[Location, Json, str]]:
    """Yield the assertions in a mapping in which a misspelt operator could remain unnoticed, and what it would mean."""
    yield ("not",), value.get("not"), "this is true without such a member"
    for name, fewest in (("any_of", 1), ("one_of", 2)):  # with one alternative, one_of makes its name a member
        alternatives = value.get(name)
        if isinstance(alternatives, list) and len(alternatives) >= fewest:
            for index, item in enumerate(alternatives):
                yield (name, index), item, "only an object with such a member matches"


def _misspelt_operator(assertion: Json) -> tuple[str, str]:
    """Return the only key of an assertion and the operator that it probably misspells, `""` if there is none."""
    if not isinstance(assertion, dict) or len(assertion) != 1:
        return "", ""
    [name] = assertion
    if name in OPERATOR_NAMES or len(name) > _LONGEST_NAME:
        return name, ""
    return name, next(iter(get_close_matches(name, OPERATOR_NAMES, 1, _SIMILARITY_OF_OPERATOR)), "")


def _problem_of(pattern: str, budget: Budget) -> str:
    """Return why a regular expression is not valid; `""` if it is, or if that is known only when its step runs."""
    if "{{" in pattern or len(pattern) > _LONGEST_PATTERN:
        return ""
    try:
        is_match({"matches": pattern}, "", budget)
    except UndecidedError as error:
        return "" if isinstance(error.__cause__, TimeoutError) else str(error)
    return ""
