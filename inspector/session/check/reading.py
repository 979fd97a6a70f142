"""Read check files with the files that they include; every error has its file, line and column."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from inspector.session.check.document.steps import STEP_TAGS
from inspector.session.check.document.suites import Document
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

    `places` has the line and the column of each test, by its id.
    """

    path: Path
    document: Document
    variables: Mapping[str, str]
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def read_check_files(paths: list[Path]) -> list[CheckFile]:
    """Read files and the files that they include, each once, in their order; raises `CheckFileError`."""
    reading = _Reading()
    for path in paths:
        reading.add(path)
    found = [file for file in reading.files.values() if file.document.suites]
    problems = reading.problems or _repeated_ids(found)
    if problems:
        raise CheckFileError(problems)
    return found


def parse_document(text: str, name: str) -> Document:
    """Parse the text of a check file; `name` is its name in errors. Raises `CheckFileError`."""
    return _parse(Source(name, text))


@dataclass(slots=True)
class _Reading:
    """The files that were read, each once, and the mistakes in them."""

    files: dict[Path, CheckFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

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
            if real in self.files:
                return
            if len(self.files) >= _MOST_FILES:
                raise CheckFileError([Problem(str(path), 0, 0, f"more than {_MOST_FILES} files are included")])
            source = Source(str(path), _text_of(path))
            document = _parse(source)
        except (RuntimeError, ValueError) as error:  # a loop of links, a null byte
            why = os.strerror(errno.ELOOP) if isinstance(error, RuntimeError) else str(error)
            self._report([Problem(str(path), 0, 0, f"cannot be read: {why}")], include)
            return
        except CheckFileError as error:
            self._report(error.problems, include)
            return
        variables = {**(inherited or {}), **document.variables}
        self.files[real] = CheckFile(path, document, variables, _places(source, document))
        for index, name in enumerate(document.include):
            place = source.problem(("include", index), "include")
            self.add(path.parent / name, variables, (*above, real), place)

    def _report(self, problems: list[Problem], include: Problem | None) -> None:
        """Add problems; one without a line is at the name of the file in the file that includes it."""
        for problem in problems:
            at_name = include is not None and not problem.line
            self.problems.append(include._replace(message=f"include: {problem}") if include and at_name else problem)


def _repeated_ids(files: list[CheckFile]) -> list[Problem]:
    """Return a problem for each test whose id another test has, too."""
    problems: list[Problem] = []
    ids: dict[str, CheckFile] = {}
    for file in files:
        for suite in file.document.suites:
            for test in suite.tests:
                if test.id in ids:
                    message = f"the id {test.id!r} is used twice; the first is in {ids[test.id].path}"
                    problems.append(Problem(str(file.path), *file.places.get(test.id, (0, 0)), message))
                ids[test.id] = file
    return problems


def _parse(source: Source) -> Document:
    """Return the content of a text; raises `CheckFileError`."""
    value = source.read()
    if not isinstance(value, dict):
        raise CheckFileError([source.problem((), "a check file is a mapping with acts_version, spec_version, suites")])
    if _VERSION not in value:  # Another file may contain secrets, so that its keys are not quoted.
        raise CheckFileError([source.problem((), f"not a check file: the key {_VERSION} is missing")])
    try:
        return Document.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_MOST_PROBLEMS]
        raise CheckFileError(
            [source.problem(_without_tags(each["loc"]), _words(each["msg"])) for each in found]
        ) from error


def _places(source: Source, document: Document) -> dict[str, tuple[int, int]]:
    """Return the line and the column of each test."""
    return {
        test.id: source.positions["suites", suite, "tests", index]
        for suite, each in enumerate(document.suites)
        for index, test in enumerate(each.tests)
        if ("suites", suite, "tests", index) in source.positions
    }


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
