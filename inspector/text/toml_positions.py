"""Find the lines of the values in a TOML document, which `tomllib` does not report."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping

Path = tuple[str | int, ...]

_QUOTES = ('"""', "'''", '"', "'")
_STRINGS = {
    '"""': re.compile(r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*"""', re.DOTALL),
    "'''": re.compile(r"'''.*?'''", re.DOTALL),
    '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"'),
    "'": re.compile(r"'[^']*+'"),
}
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\n]*")
_WHITESPACE = re.compile(r"[ \t\r\n]*+(?:#[^\n]*+[ \t\r\n]*+)*")


def lines_of(text: str) -> Mapping[Path, int]:
    """Return the line, from 1, of every key, table and array element of a valid TOML document."""
    return _Scan(text).lines


def line_of(lines: Mapping[Path, int], *path: str | int) -> int:
    """Return the line of a value, or of the nearest table around it that has a line; 0 without any."""
    return next((lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines), 0)


class _Scan:
    """One pass over a document that `tomllib` accepts, so the syntax is not checked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._counts: dict[Path, int] = {}
        self.lines: dict[Path, int] = {(): 1}
        table: Path = ()
        while self._skip():
            table = self._header() if self._peek("[") else self._member(table)

    def _peek(self, mark: str) -> bool:
        return self._text.startswith(mark, self._at)

    def _skip(self) -> bool:
        """Skip whitespace and comments; return whether anything is left."""
        found = _WHITESPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at < len(self._text)

    def _note(self, path: Path, at: int) -> None:
        self.lines.setdefault(path, bisect(self._ends, at - 1) + 1)

    def _header(self) -> Path:
        array = self._peek("[[")
        self._at += 1 + array
        start, keys = self._at, self._keys()
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            self._note(path, start)
            if array and number == len(keys) - 1:
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        self._note(path, start)
        self._at += 1 + array
        return path

    def _member(self, table: Path) -> Path:
        """Skip `key = value` and return the table that contains it."""
        start, keys = self._at, self._keys()
        for number in range(len(keys)):
            self._note((*table, *keys[: number + 1]), start)
        self._at += 1
        self._value((*table, *keys))
        return table

    def _keys(self) -> list[str]:
        """Skip a dotted key and return its names."""
        keys: list[str] = []
        while True:
            self._skip()
            if self._peek('"') or self._peek("'"):
                start = self._at
                self._string()
                keys.append(self._text[start + 1 : self._at - 1])
            elif found := _BARE.match(self._text, self._at):
                keys.append(found[0])
                self._at = found.end()
            self._skip()
            if not self._peek("."):
                return keys
            self._at += 1

    def _value(self, path: Path) -> None:
        self._skip()
        if self._peek("["):
            self._array(path)
        elif self._peek("{"):
            self._table(path)
        elif self._peek('"') or self._peek("'"):
            self._string()
        elif found := _PLAIN.match(self._text, self._at):
            self._at = found.end()

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        while self._skip() and not self._peek("]"):
            if self._peek(","):
                self._at += 1
                continue
            self._note((*path, number), self._at)
            self._value((*path, number))
            number += 1
        self._at += 1

    def _table(self, path: Path) -> None:
        self._at += 1
        while self._skip() and not self._peek("}"):
            if self._peek(","):
                self._at += 1
                continue
            self._member(path)
        self._at += 1

    def _string(self) -> None:
        quote = next(mark for mark in _QUOTES if self._peek(mark))
        found = _STRINGS[quote].match(self._text, self._at)
        self._at = found.end() if found else len(self._text)
        while len(quote) == 3 and self._peek(
            quote[0]
        ):  # a multi-line string may end with up to two quotes of its own before the closing three
            self._at += 1
