"""Read check files with the files that they include; every error has its file, line and column."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from pydantic import ValidationError

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json
from inspector.session.check.document.steps import STEP_TAGS
from inspector.session.check.document.suites import Document
from inspector.session.check.mistakes import mistakes_in, tests_of
from inspector.session.check.source import CheckFileError, Location, Problem, Source

MOST_BYTES = 4 * 1024 * 1024
"""The largest size of a check file; the parser of PyYAML without libyaml needs seconds for each megabyte."""
_MOST_PROBLEMS = 20
"""How many problems of a file are reported."""
_MOST_FILES = 200
_VERSION = "acts_version"
"""The key that every check file has."""


@dataclass(frozen=True, slots=True)
class CheckFile:
    """A check file that was read; `variables` are its own, or else those of the files that include it.

    `lines` has the number of the line of each test, by its id and `""`, and of its steps, by the ids of both.
    """

    path: Path
    document: Document
    variables: Mapping[str, str]
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)


def read_check_files(paths: list[Path]) -> list[CheckFile]:
    """Read files and the files that they include, each once, in their order; raises `CheckFileError`."""
    reading = _Reading()
    for path in paths:
        reading.add(path)
    if reading.problems:
        raise CheckFileError(reading.problems)
    return [file for file in reading.files.values() if file.document.suites]


def parse_document(text: str, name: str) -> Document:
    """Parse the text of a check file; `name` is its name in errors. Raises `CheckFileError`."""
    source = Source(name, text)
    return _parse(source, _mapping_of(source))


@dataclass(slots=True)
class _Reading:
    """The files that were read, each once, and the mistakes in them."""

    files: dict[Path, CheckFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    read: set[Path] = field(default_factory=set)
    """The files that were read, also those with mistakes."""
    ids: dict[str, Path] = field(default_factory=dict)
    """The ids of the tests so far, each with its first file."""

    def add(
        self,
        path: Path,
        inherited: Mapping[str, str] | None = None,
        above: tuple[Path, ...] = (),
        include: Problem | None = None,
    ) -> None:
        """Read a file and those that it includes; `include` is the place of its name in the file that includes it."""
        try:
            real = path.resolve()
            if real in above:
                raise CheckFileError([Problem(str(path), 0, 0, "the file includes itself")])
            if real in self.read:
                return
            if len(self.read) >= _MOST_FILES:
                raise CheckFileError([Problem(str(path), 0, 0, f"more than {_MOST_FILES} files are included")])
            self.read.add(real)
            source = Source(str(path), _text_of(path))
            value = _mapping_of(source)
            document = _parse(source, value, self._repeated_ids(path, source, value))
        except (RuntimeError, ValueError) as error:  # a loop of links, a null byte
            why = os.strerror(errno.ELOOP) if isinstance(error, RuntimeError) else str(error)
            self._report([Problem(str(path), 0, 0, f"cannot be read: {why}")], include)
            return
        except CheckFileError as error:
            self._report(error.problems, include)
            return
        variables = {**(inherited or {}), **document.variables}
        self.files[real] = CheckFile(path, document, variables, _lines(source, document))
        for index, name in enumerate(document.include):
            place = source.problem(("include", index), "include")
            self.add(path.parent / name, variables, (*above, real), place)

    def _report(self, problems: list[Problem], include: Problem | None) -> None:
        """Add problems; one without a line is at the name of the file in the file that includes it."""
        for problem in problems:
            at_name = include is not None and not problem.line
            self.problems.append(include._replace(message=f"include: {problem}") if include and at_name else problem)

    def _repeated_ids(self, path: Path, source: Source, value: Json) -> list[Problem]:
        """Return a problem for each test whose id another test has, too."""
        problems: list[Problem] = []
        for place, test in tests_of(value):
            name = test.get("id")
            if not isinstance(name, str):
                continue
            if name in self.ids:
                message = f"the id {name!r} is used twice; the first is in {self.ids[name]}"
                problems.append(source.problem(place, message))
            self.ids.setdefault(name, path)
        return problems


def _mapping_of(source: Source) -> dict[str, Json]:
    """Return the value of a text; raises `CheckFileError` if it is not that of a check file."""
    value = source.read()
    if not isinstance(value, dict):
        raise CheckFileError([source.problem((), "a check file is a mapping with acts_version, spec_version, suites")])
    if _VERSION not in value:  # Another file may contain secrets, so that its keys are not quoted.
        raise CheckFileError([source.problem((), f"not a check file: the key {_VERSION} is missing")])
    return value


def _parse(source: Source, value: dict[str, Json], repeated: Iterable[Problem] = ()) -> Document:
    """Return the content of a file; raises `CheckFileError` with all mistakes, those in `repeated`, too."""
    problems = [*repeated, *(source.problem(*mistake) for mistake in mistakes_in(value))]
    try:
        document = Document.model_validate(value)
        if not problems:
            return document
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        problems += [source.problem(_without_tags(each["loc"]), _words(each["msg"])) for each in found]
    problems.sort(key=lambda problem: (problem.line, problem.column))
    raise CheckFileError(problems[:_MOST_PROBLEMS])


def _lines(source: Source, document: Document) -> dict[tuple[str, str], int]:
    """Return the lines of the tests and steps; see `CheckFile`."""
    found: dict[tuple[str, str], Location] = {}
    for suite, each in enumerate(document.suites):
        for index, test in enumerate(each.tests):
            location: Location = ("suites", suite, "tests", index)
            found[test.id, ""] = location
            found |= {(test.id, step.id): (*location, "steps", number) for number, step in enumerate(test.steps)}
    return {ids: source.positions[location][0] for ids, location in found.items() if location in source.positions}


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


def _without_tags(location: Location) -> Location:
    return tuple(item for item in location if item not in STEP_TAGS)


def _words(message: str) -> str:
    """Return the message of pydantic as the end of a sentence."""
    text = message.removeprefix("Value error, ")
    known = {"Extra inputs are not permitted": "unknown key", "Field required": "this key is missing"}
    return known.get(text, text[:1].lower() + text[1:])
