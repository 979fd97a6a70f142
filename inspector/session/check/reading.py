"""Read check files: YAML 1.2 or JSON, with included files; every error has its file, line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import yaml
from pydantic import ValidationError

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import Json
from inspector.session.check.document.steps import STEP_TAGS
from inspector.session.check.document.suites import Document

MOST_BYTES = 4 * 1024 * 1024
"""The largest size of a check file; a parser of YAML needs seconds for each megabyte."""
_MOST_VALUES = 500_000
"""How many values a file may have once its aliases are expanded."""
_MOST_DEPTH = 100
_MOST_PROBLEMS = 20
"""How many problems of a file are reported."""
_MOST_FILES = 200
_LONGEST_MESSAGE = 400
"""How many characters of a message are kept, because messages quote names and values of the file."""

_NOT_YAML = re.compile("[^\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are allowed in JSON, but not in YAML, or that end a line in YAML only."""
_TOO_MANY_DIGITS = "the number has too many digits"

_Path: TypeAlias = tuple[str | int, ...]


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
        hint = "docs/checks.md describes the format."
        super().__init__(Fault(Whose.YOURS, FaultCode.USAGE, f"{problems[0]}{more}", hint))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class CheckFile:
    """A check file that was read; `variables` are its own, or else those of the files that include it.

    `places` has the line and the column of each test, by its id.
    """

    path: Path
    document: Document
    variables: Mapping[str, str]
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def read_check_files(paths: list[Path]) -> list[CheckFile]:
    """Read files and the files that they include, each once, in their order; raises `CheckFileError`."""
    files: dict[Path, CheckFile] = {}
    problems: list[Problem] = []
    for path in paths:
        _read_with_includes(path, {}, (), files, problems)
    if problems:
        raise CheckFileError(problems)
    found = [file for file in files.values() if file.document.suites]
    ids: dict[str, CheckFile] = {}
    for file in found:
        for suite in file.document.suites:
            for test in suite.tests:
                if test.id in ids:
                    message = f"the id {test.id!r} is used twice; the first is in {ids[test.id].path}"
                    problems.append(Problem(str(file.path), *file.places.get(test.id, (0, 0)), message))
                ids[test.id] = file
    if problems:
        raise CheckFileError(problems)
    return found


def _read_with_includes(
    path: Path,
    inherited: Mapping[str, str],
    including: tuple[Path, ...],
    files: dict[Path, CheckFile],
    problems: list[Problem],
) -> None:
    """Add a file and the files that it includes to `files`, or its mistakes to `problems`."""
    try:
        real = path.resolve()
    except (RuntimeError, ValueError) as error:  # a loop of links, a null byte
        why = "a loop of links" if isinstance(error, RuntimeError) else str(error)
        problems.append(Problem(str(path), 0, 0, f"cannot be read: {why}"))
        return
    if real in including:
        problems.append(Problem(str(path), 0, 0, "the file includes itself"))
        return
    if real in files:
        return
    if len(files) >= _MOST_FILES:
        problems.append(Problem(str(path), 0, 0, f"more than {_MOST_FILES} files are included"))
        return
    try:
        document, places = _parse(_text_of(path), str(path))
    except CheckFileError as error:
        problems += error.problems
        return
    variables = {**inherited, **document.variables}
    files[real] = CheckFile(path, document, variables, places)
    for name in document.include:
        _read_with_includes(path.parent / name, variables, (*including, real), files, problems)


def read_document(path: Path) -> Document:
    """Read one file without its includes; raises `CheckFileError`."""
    return parse_document(_text_of(path), str(path))


def parse_document(text: str, name: str) -> Document:
    """Parse the text of a check file; `name` is its name in errors. Raises `CheckFileError`."""
    return _parse(text, name)[0]


def _parse(text: str, name: str) -> tuple[Document, dict[str, tuple[int, int]]]:
    """Return the content of a text, and the positions of its tests; raises `CheckFileError`."""
    source = _Source(name, text)
    value = source.read()
    if not isinstance(value, dict):
        raise CheckFileError([source.problem((), "a check file is a mapping with acts_version, spec_version, suites")])
    try:
        document = Document.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]
        raise CheckFileError(
            [source.problem(_without_tags(each["loc"]), _words(each["msg"])) for each in found]
        ) from error
    places = {
        test.id: source.positions["suites", suite, "tests", index]
        for suite, each in enumerate(document.suites)
        for index, test in enumerate(each.tests)
        if ("suites", suite, "tests", index) in source.positions
    }
    return document, places


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CheckFileError([Problem(str(path), 0, 0, f"cannot be read: {error.strerror}")]) from error
    if len(raw) > MOST_BYTES:
        raise CheckFileError([Problem(str(path), 0, 0, f"larger than {MOST_BYTES // 1024 // 1024} MB")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        raise CheckFileError([Problem(str(path), line, column, "not UTF-8")]) from error


def _without_tags(location: _Path) -> _Path:
    return tuple(item for item in location if item not in STEP_TAGS)


def _words(message: str) -> str:
    """Return the message of pydantic as the end of a sentence."""
    text = message.removeprefix("Value error, ")
    known = {"Extra inputs are not permitted": "unknown key", "Field required": "this key is missing"}
    return known.get(text, text[:1].lower() + text[1:])


class Yaml12Loader(yaml.SafeLoader):
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
class _Source:
    """The text of a file; after `read`, `positions` has the line and the column of each value, by its path."""

    name: str
    text: str
    positions: dict[_Path, tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    def problem(self, location: _Path, message: str) -> Problem:
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
        try:
            node = Yaml12Loader(text).get_single_node()
        except yaml.MarkedYAMLError as error:
            if self.is_json:
                raise
            raise self._error(error.problem_mark, error.problem or error.context or "not YAML") from error
        except yaml.reader.ReaderError as error:
            before = text[: error.position]
            place = before.count("\n") + 1, error.position - before.rfind("\n")
            raise CheckFileError(
                [Problem(self.name, *place, f"the character U+{int(error.character):04X} is not allowed")]
            ) from error
        except RecursionError as error:
            raise self._error(None, "nested too deeply") from error
        except (ValueError, OverflowError) as error:  # a number that PyYAML does not check: \UFFFFFFFF, %YAML 1.9999
            raise self._error(None, f"not YAML: {error}") from error
        return self._value(node, (), ()) if node is not None else None

    def _read_json(self) -> Json:
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as error:
            problem = Problem(self.name, error.lineno, error.colno, error.msg[:1].lower() + error.msg[1:])
            raise CheckFileError([problem]) from error
        except RecursionError as error:
            raise self._error(None, "nested too deeply") from error
        except ValueError as error:
            raise self._error(None, _TOO_MANY_DIGITS) from error

    def _error(self, mark: yaml.Mark | None, message: str) -> CheckFileError:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        return CheckFileError([Problem(self.name, line, column, message)])

    def _value(self, node: yaml.Node, path: _Path, above: tuple[int, ...]) -> Json:
        """Return the value of a node, and note its position."""
        self.count += 1
        if self.count > _MOST_VALUES:
            raise self._error(node.start_mark, f"more than {_MOST_VALUES:,} values")
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

    def _mapping(self, node: yaml.MappingNode, path: _Path, inside: tuple[int, ...]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key.start_mark, "a key is a string")
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
                return float(re.sub(r"^([-+]?)\.(inf|nan)$", r"\1\2", text.lower()))

    def _integer(self, node: yaml.Node, text: str) -> int:
        try:
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        except ValueError as error:  # more digits than Python converts
            raise self._error(node.start_mark, _TOO_MANY_DIGITS) from error
