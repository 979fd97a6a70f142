"""Replace many values in a text; the time does not depend on how many values there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_WORD = re.compile(r"[A-Za-z0-9]+")
_TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]", re.DOTALL)


class _Node:
    """The values that begin with the same tokens: `ends` has the replacement by what precedes the first word."""

    __slots__ = ("ends", "following")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.ends: dict[str, str] = {}


class _Found(NamedTuple):
    start: int
    end: int
    replacement: str


class Literals:
    """Replaces values where no letter or digit precedes or follows them, the longest first.

    `folded` are the values that are the same in upper and lower case. Values are found by their words (sequences of
    letters and digits); a value without a word is not replaced.
    """

    def __init__(self, replacements: Mapping[str, str], folded: Iterable[str] = ()) -> None:
        self._exact, self._folded = _Node(), _Node()
        lower = frozenset(folded)
        for value, replacement in replacements.items():
            if value in lower:
                _add(self._folded, value.lower(), replacement)
            else:
                _add(self._exact, value, replacement)

    def replace(self, text: str) -> str:
        """Return the text with the replacements."""
        pieces: list[str] = []
        done = 0
        exact, folded = self._exact.following, self._folded.following
        for word in _WORD.finditer(text):
            if word.start() < done or not (word[0] in exact or word[0].lower() in folded):
                continue
            found = max(self._at(text, word, done), key=lambda item: item.end - item.start, default=None)
            if found is not None:
                pieces += (text[done : found.start], found.replacement)
                done = found.end
        return "".join((*pieces, text[done:])) if pieces else text

    def _at(self, text: str, word: re.Match[str], done: int) -> Iterable[_Found]:
        """Yield the values whose first word is this one, and which begin after `done`."""
        for root, fold in ((self._exact, False), (self._folded, True)):
            node = root
            for token in _TOKEN.finditer(text, word.start()):
                following = node.following.get(token[0].lower() if fold else token[0])
                if following is None:
                    break
                node = following
                if not node.ends or _WORD.match(text, token.end()):
                    continue
                for before, replacement in node.ends.items():
                    start = word.start() - len(before)
                    if (
                        start >= done
                        and text.startswith(before, start)
                        and not (start and _WORD.match(text[start - 1]))
                    ):
                        yield _Found(start, token.end(), replacement)


def _add(root: _Node, value: str, replacement: str) -> None:
    first = _WORD.search(value)
    if first is None:
        return
    node = root
    for token in _TOKEN.findall(value, first.start()):
        node = node.following.setdefault(token, _Node())
    node.ends[value[: first.start()]] = replacement
