"""The text of a check file as a value: YAML 1.2 or JSON, with the line and the column of each part."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import field
from typing import Any, NamedTuple, NoReturn, TypeAlias

import yaml

from inspector.lazy_dataclass import dataclass

try:  # the parser of libyaml is about ten times as fast, but PyYAML can be built without it
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import Json

_MOST_VALUES = 500_000
"""How many values a file may have, also once its aliases are expanded."""
_MOST_DEPTH = 100
_LONGEST_MESSAGE = 400
"""How many characters of a message are kept, because messages quote names and values of the file."""

_NOT_YAML = re.compile("[^\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are allowed in JSON, but not in YAML, or that end a line in YAML only."""
_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|(NaN|-?Infinity)', re.DOTALL)
_TOO_MANY_DIGITS = "the number has too many digits"
_NOT_IN_JSON = "JSON has no number {}; a raw step can send it in body_raw"
_TOO_MANY_VALUES = f"more than {_MOST_VALUES:,} values"

Location: TypeAlias = tuple[str | int, ...]
"""Where a part of a file is: the names of members and the indices of elements."""


class Problem(NamedTuple):
    """A mistake in a file: where it is (line and column count from 1, 0 if unknown) and what it is."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        cut = f"{self.message[:_LONGEST_MESSAGE]}…" if len(self.message) > _LONGEST_MESSAGE else self.message
        return f"{self.file}{place}: {cut}"


class CheckFileError(FaultError):
    """Raised for check files that cannot be used, with every problem that was found."""

    def __init__(self, problems: list[Problem]) -> None:
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        hint = "docs/checks.md describes the format." if problems[0].line else "Check the path."
        super().__init__(Fault(Whose.YOURS, FaultCode.USAGE, f"{problems[0]}{more}", hint))
        self.problems = problems


class Yaml12Loader(_Loader):
    """Parses YAML with the types of the core schema of YAML 1.2: `no` and `12:30` are strings."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as in the base class


_TYPES = {
    "null": (r"~|null|Null|NULL|", "~nN\0"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
}
_TAG = "tag:yaml.org,2002:"
_COLLECTIONS = frozenset({f"{_TAG}map", f"{_TAG}seq"})
for _name, (_pattern, _first) in _TYPES.items():
    _letters = [letter.replace("\0", "") for letter in _first]
    Yaml12Loader.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})\\Z"), _letters)


@dataclass(slots=True)
class Source:
    """The text of a file; after `read`, `positions` has the line and the column of each value, by its path."""

    name: str
    text: str
    positions: dict[Location, tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    def problem(self, location: Location, message: str) -> Problem:
        """Return a problem at a location, or at the nearest location above it that the file has."""
        known = location
        while known and known not in self.positions:
            known = known[:-1]
        line, column = self.positions.get(known, (0, 0))
        key = f"{location[-1]}: " if location and isinstance(location[-1], str) else ""
        return Problem(self.name, line, column, f"{key}{message}")

    def read(self) -> Json:
        """Return the value of the text; raises `CheckFileError`."""
        if not self.is_json:
            return self._read_yaml(self.text)
        value = self._read_json()
        # JSON is YAML, which has the positions, except for a few characters and keys longer than 1,024 characters.
        with suppress(yaml.YAMLError):
            self._read_yaml(_NOT_YAML.sub("\ufffd", self.text.replace("\t", " ")))
        return value

    @property
    def is_json(self) -> bool:
        """Return whether the text is JSON: it begins as JSON, and the name is not that of a YAML file."""
        return self.text.lstrip()[:1] in ("{", "[") and not self.name.lower().endswith((".yaml", ".yml"))

    def _read_yaml(self, text: str) -> Json:
        if found := yaml.reader.Reader.NON_PRINTABLE.search(text):
            before = text[: found.start()]
            place = before.count("\n") + 1, len(before) - before.rfind("\n")
            message = f"the character U+{ord(found[0]):04X} is not allowed"
            raise CheckFileError([Problem(self.name, *place, message)])
        try:
            self._check_count(text)
            node = Yaml12Loader(text).get_single_node()
        except yaml.MarkedYAMLError as error:
            if self.is_json:
                raise
            raise self._error(error.problem_mark, error.problem or error.context or "not YAML") from error
        except RecursionError as error:
            raise self._error(None, "nested too deeply") from error
        except (ValueError, OverflowError) as error:  # a number that PyYAML does not check: \UFFFFFFFF, %YAML 1.9999
            raise self._error(None, f"not YAML: {error}") from error
        return self._value(node, (), ()) if node is not None else None

    def _check_count(self, text: str) -> None:
        """Count the values before they are read: 50,000 of them need 50 MB."""
        if len(text) <= _MOST_VALUES:  # each value has at least one character
            return
        count = 0
        for event in yaml.parse(text, Loader=_Loader):
            count += isinstance(event, yaml.NodeEvent)
            if count > _MOST_VALUES:
                raise self._error(event.start_mark, _TOO_MANY_VALUES)

    def _read_json(self) -> Json:
        try:
            return json.loads(self.text, parse_constant=self._refuse)
        except json.JSONDecodeError as error:
            problem = Problem(self.name, error.lineno, error.colno, error.msg[:1].lower() + error.msg[1:])
            raise CheckFileError([problem]) from error
        except RecursionError as error:
            raise self._error(None, "nested too deeply") from error
        except ValueError as error:
            raise self._error(None, _TOO_MANY_DIGITS) from error

    def _refuse(self, constant: str) -> NoReturn:
        """Raise `CheckFileError` for `NaN` and `Infinity`, which Python reads although they are not JSON."""
        found = next(found for found in _STRING_OR_CONSTANT.finditer(self.text) if found[1])
        before = self.text[: found.start()]
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise CheckFileError([Problem(self.name, *place, _NOT_IN_JSON.format(constant))])

    def _error(self, mark: Any, message: str) -> CheckFileError:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        return CheckFileError([Problem(self.name, line, column, message)])

    def _value(self, node: yaml.Node, path: Location, above: tuple[int, ...]) -> Json:
        """Return the value of a node, and note its position."""
        self.count += 1
        if self.count > _MOST_VALUES:
            raise self._error(node.start_mark, _TOO_MANY_VALUES)
        if id(node) in above:
            raise self._error(node.start_mark, "an alias inside of its own anchor")
        if len(above) >= _MOST_DEPTH:
            raise self._error(node.start_mark, f"nested more than {_MOST_DEPTH} levels deep")
        self.positions.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
        inside = (*above, id(node))
        if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
            raise self._error(node.start_mark, f"the tag {node.tag!r} is not supported")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, (*path, index), inside) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Location, inside: tuple[int, ...]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                is_reference = isinstance(key, yaml.MappingNode) and key.flow_style
                hint = '; write a reference in quotes: "{{name}}"' if is_reference else ""
                raise self._error(key.start_mark, f"a key is a string{hint}")
            name = str(key.value)
            if name in found:
                raise self._error(key.start_mark, f"the key {name!r} is used twice")
            self.positions[*path, name] = (key.start_mark.line + 1, key.start_mark.column + 1)
            found[name] = self._value(item, (*path, name), inside)
        return found

    def _scalar(self, node: yaml.Node) -> Json:
        kind, text = node.tag.removeprefix(_TAG), str(node.value)
        if kind == "str":
            return text
        if kind not in _TYPES:
            raise self._error(node.start_mark, f"the tag {node.tag!r} is not supported")
        if not re.fullmatch(_TYPES[kind][0], text):
            raise self._error(node.start_mark, f"{text[:40]!r} is not of the type {kind}")
        match kind:
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return self._integer(node, text)
            case _:
                return self._float(node, text)

    def _float(self, node: yaml.Node, text: str) -> float:
        """Return a number that JSON has: a payload with another would not be valid JSON."""
        if text.lower().lstrip("+-") in (".inf", ".nan"):
            raise self._error(node.start_mark, _NOT_IN_JSON.format(text))
        number = float(text)
        if not math.isfinite(number):
            raise self._error(node.start_mark, _NOT_IN_JSON.format(text))
        return number

    def _integer(self, node: yaml.Node, text: str) -> int:
        try:
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        except ValueError as error:  # more digits than Python converts
            raise self._error(node.start_mark, _TOO_MANY_DIGITS) from error
