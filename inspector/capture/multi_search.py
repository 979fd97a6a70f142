"""Find which of many values a text contains, in time that does not depend on how many values there are."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import AnyStr, Generic, TypeAlias

_PREFIX = 4
"""How many characters of a value are searched with the regular expression. Longer prefixes cost more to compile."""

_LONGEST_SLICE = 4096
"""Longer values are compared in place: to copy each candidate from the text would need too much time."""

_Tree: TypeAlias = dict[AnyStr, "_Tree[AnyStr]"]


class MultiSearch(Generic[AnyStr]):
    """Searches values of at least four characters, which are all of `str` or all of `bytes`."""

    def __init__(self, values: Collection[AnyStr]) -> None:
        self._values: frozenset[AnyStr] = frozenset(values)
        self._long: dict[AnyStr, list[AnyStr]] = {}
        self._lengths: dict[AnyStr, set[int]] = {}
        tree: _Tree[AnyStr] = {}
        for value in self._values:
            prefix = value[:_PREFIX]
            if len(prefix) < _PREFIX:
                raise ValueError(f"a value is shorter than {_PREFIX}")
            if len(value) > _LONGEST_SLICE:
                self._long.setdefault(prefix, []).append(value)
            else:
                self._lengths.setdefault(prefix, set()).add(len(value))
            node = tree
            for at in range(_PREFIX):
                node = node.setdefault(prefix[at : at + 1], {})
        self._pattern: re.Pattern[AnyStr] | None = re.compile(_pattern(tree)) if tree else None

    def found_in(self, text: AnyStr) -> set[AnyStr]:
        """Return the values that a text contains."""
        return self._search(text, only_one=False)

    def any_in(self, text: AnyStr) -> bool:
        """Return whether a text contains one of the values."""
        return bool(self._search(text, only_one=True))

    def _search(self, text: AnyStr, *, only_one: bool) -> set[AnyStr]:
        found: set[AnyStr] = set()
        match = self._pattern and self._pattern.search(text)
        while match and self._pattern and not (only_one and found):
            start = match.start()
            for length in self._lengths.get(match[0], ()):
                if start + length <= len(text) and (value := text[start : start + length]) in self._values:
                    found.add(value)
            for value in self._long.get(match[0], ()):
                if value not in found and text.startswith(value, start):
                    found.add(value)
            match = self._pattern.search(text, start + 1)
        return found


def _pattern(tree: _Tree[AnyStr]) -> AnyStr:
    """Return a regular expression for the prefixes in a tree with one character at each level.

    Unlike an alternation of the prefixes, it compares a character of the text once with each different character.
    """
    branches = [re.escape(first) + (_pattern(rest) if rest else first[:0]) for first, rest in tree.items()]
    if isinstance(branches[0], bytes):
        return b"(?:" + b"|".join(branches) + b")"
    return "(?:" + "|".join(branches) + ")"
