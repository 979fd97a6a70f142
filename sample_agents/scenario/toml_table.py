"""TOML read so that every mistake is told with its file and its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path as File
from typing import Any, NoReturn, TypeVar

from .toml_positions import Path, lines_of

ValueT = TypeVar("ValueT")

_LARGEST = 4_000_000
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_NAMES: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class ScenarioError(ValueError):
    """Raised where a scenario makes no sense; the message begins with the file and the line, 0 where there is none."""

    def __init__(self, file: File, line: int, why: str) -> None:
        super().__init__(f"{file}:{line}: {why}" if line else f"{file}: {why}")


@dataclass(slots=True)
class Table:
    """A table of a file, from which the reader takes one member after the other."""

    file: File
    lines: Mapping[Path, int]
    path: Path
    members: dict[str, Any]
    _taken: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def refuse(self, why: str, name: str = "") -> NoReturn:
        """Say what is wrong with a member, or with the table."""
        line = self.lines.get((*self.path, name)) if name else None
        raise ScenarioError(self.file, line or self.lines[self.path], why)

    def take(self, name: str, kind: type[ValueT], usual: ValueT) -> ValueT:
        """Return a member of one type, or what it usually is."""
        self._taken.add(name)
        if name not in self.members:
            return usual
        value = self.members[name]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            self.refuse(f"{name} is to be {_NAMES[kind]}.", name)
        return value

    def value(self, name: str) -> Any:
        """Return a member of any type."""
        self._taken.add(name)
        return self.members[name]

    def seconds(self, name: str, usual: float = 0.0) -> float:
        """Return a time, which does not run backwards."""
        given = self.take(name, float, usual)
        if not 0 <= given <= 86_400:
            self.refuse(f"{name} is to be seconds, from 0 to those of a day.", name)
        return given

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; one alone may stand for a list of it."""
        if isinstance(self.members.get(name), str):
            return (self.take(name, str, ""),)
        given = self.take(name, list, [])
        if not all(isinstance(one, str) for one in given):
            self.refuse(f"{name} is to be a list of texts.", name)
        return tuple(given)

    def table(self, name: str) -> Table | None:
        """Return a table inside of this one, where there is one."""
        return Table(self.file, self.lines, (*self.path, name), self.take(name, dict, {})) if name in self else None

    def tables(self, name: str) -> Iterator[Table]:
        """Give the tables of a list."""
        for number, member in enumerate(self.take(name, list, [])):
            inner = Table(self.file, self.lines, (*self.path, name, number), member)
            if not isinstance(member, dict):
                inner.refuse(f"{name} is to be a list of tables.")
            yield inner

    def done(self) -> None:
        """Refuse members that nobody has taken: they are misspelled, or do not belong here."""
        for name in self.members:
            if name not in self._taken:
                near = get_close_matches(name, self._taken, 1)
                self.refuse(f"{name!r} does not belong here{f': {near[0]!r} does' if near else ''}.", name)


def read_table(file: File) -> Table:
    """Read a file; raises ScenarioError where it cannot be read or is no TOML."""
    try:
        raw = file.read_bytes()
        if len(raw) > _LARGEST:
            raise ScenarioError(file, 1, f"It has more than {_LARGEST:,} bytes.")
        text = raw.decode().replace("\r\n", "\n")
        members = tomllib.loads(text)
    except OSError as error:
        raise ScenarioError(file, 0, f"It cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(file, raw[: error.start].count(b"\n") + 1, "It is not UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise ScenarioError(file, line, f"It is no TOML: {_AT_LINE.sub('', str(error))}.") from error
    except RecursionError as error:
        raise ScenarioError(file, 1, "It is nested too deeply.") from error
    return Table(file, lines_of(text), (), members)
