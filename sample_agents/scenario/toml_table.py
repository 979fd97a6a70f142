"""Read TOML tables; errors have the file and the line."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path as File
from typing import Any, NoReturn, TypeVar

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json
from inspector.text import safe_toml
from inspector.text.limited_file import read_limited
from inspector.text.safe_toml import TomlError
from inspector.text.toml_positions import Path, lines_of

ValueT = TypeVar("ValueT")

_LARGEST = 4_000_000
_LARGEST_FLOAT = 10**15
_SIMILAR = 0.75
"""How similar a misspelt name of a member is, from 0 to 1."""
_NAMES: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class ScenarioError(ValueError):
    """Raised for an invalid scenario; the message starts with the file and the line, if `line` is not 0."""

    def __init__(self, file: File, line: int, why: str) -> None:
        super().__init__(f"{file}:{line}: {why}" if line else f"{file}: {why}")


@dataclass(slots=True)
class Table:
    """A table of a file; it records which members were read, to find unknown members."""

    file: File
    lines: Mapping[Path, int]
    path: Path
    members: dict[str, Any]
    _used: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def fail(self, why: str, name: str = "") -> NoReturn:
        """Raise `ScenarioError` with the line of a member or of the table."""
        line = self.lines.get((*self.path, name)) if name else None
        raise ScenarioError(self.file, line or self.lines[self.path], why)

    def get(self, name: str, kind: type[ValueT], default: ValueT) -> ValueT:
        """Return a member of one type, or the default; raises `ScenarioError` for another type."""
        self._used.add(name)
        if name not in self.members:
            return default
        value = self.members[name]
        if kind is float and type(value) is int:
            value = float(value) if abs(value) <= _LARGEST_FLOAT else math.inf
        if type(value) is not kind:
            self.fail(f"{name} must be {_NAMES[kind]}.", name)
        return value

    def value(self, name: str) -> Any:
        """Return a member of any type."""
        self._used.add(name)
        return self.members[name]

    def json(self, name: str) -> Json:
        """Return a member that JSON can represent; raises `ScenarioError` for a date, infinity or NaN."""
        value = self.value(name)
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            self.fail(f"{name} has a value that JSON cannot represent: {error}.", name)
        return value

    def seconds(self, name: str, default: float = 0.0) -> float:
        """Return a number of seconds; raises `ScenarioError` outside of 0 to 86,400."""
        value = self.get(name, float, default)
        if not 0 <= value <= 86_400:
            self.fail(f"{name} must be from 0 to 86400 seconds.", name)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        if isinstance(self.members.get(name), str):
            return (self.get(name, str, ""),)
        value = self.get(name, list, [])
        if not all(isinstance(text, str) for text in value):
            self.fail(f"{name} must be a list of texts.", name)
        return tuple(value)

    def table(self, name: str) -> Table | None:
        """Return an inner table, None if there is none."""
        return Table(self.file, self.lines, (*self.path, name), self.get(name, dict, {})) if name in self else None

    def tables(self, name: str) -> Iterator[Table]:
        """Yield the tables of a list."""
        for number, member in enumerate(self.get(name, list, [])):
            inner = Table(self.file, self.lines, (*self.path, name, number), member)
            if not isinstance(member, dict):
                inner.fail(f"{name} must be a list of tables.")
            yield inner

    def check_spelling(self, names: Collection[str]) -> None:
        """Raise `ScenarioError` if a member is similar to one of the names, but not one of them."""
        for member in self.members:
            if member not in names and (near := get_close_matches(member, names, 1, _SIMILAR)):
                self.fail(f"unknown member {member!r}. Did you mean {near[0]!r}?", member)

    def check_unused(self) -> None:
        """Raise `ScenarioError` if a member was not read: it is misspelled or not allowed here."""
        for name in self.members:
            if name not in self._used:
                near = get_close_matches(name, self._used, 1)
                self.fail(f"unknown member {name!r}.{f' Did you mean {near[0]!r}?' if near else ''}", name)


def read_table(file: File) -> Table:
    """Read a file; raises `ScenarioError` if it cannot be read or is not valid TOML."""
    try:
        raw = read_limited(file, _LARGEST)
        text = raw.decode().replace("\r\n", "\n")
        members = safe_toml.read(text)
    except OSError as error:
        raise ScenarioError(file, 0, f"The file cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(file, raw[: error.start].count(b"\n") + 1, "The file is not UTF-8.") from error
    except TomlError as error:
        raise ScenarioError(file, error.line, f"The file is not valid TOML: {error.why}.") from error
    return Table(file, lines_of(text), (), members)
