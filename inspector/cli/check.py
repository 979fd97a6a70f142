"""`check` and `conformance`: read check files, list their tests, or run them."""

from __future__ import annotations

from pathlib import Path

from inspector import PROGRAM
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, refuse_url, usage
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.session.check import reading
from inspector.session.check.document.enumerations import Level
from inspector.session.check.plan import PlannedTest, Selection, plan
from inspector.session.check.reading import read_check_files
from inspector.session.check.source import CheckFileError

_SMOKE = Path(reading.__file__).with_name("smoke.acts.yaml")
"""The suite of `conformance`."""


def check(invocation: Invocation, out: Output) -> int:
    """Run check files; raises `FaultError` if a test failed."""
    for path in invocation.given.files:
        refuse_url(
            path, "a check file", f"Name the agent after -a. The built-in tests are those of {PROGRAM} conformance."
        )
    return _check(invocation, out, list(invocation.given.files))


def conformance(invocation: Invocation, out: Output) -> int:
    """Run the built-in suite; raises `FaultError` if a test failed."""
    return _check(invocation, out, [_SMOKE])


def _check(invocation: Invocation, out: Output, paths: list[Path]) -> int:
    given = invocation.given
    try:
        files = read_check_files(paths)
    except CheckFileError as error:
        if out.json:
            raise usage("; ".join(map(str, error.problems)), error.fault.hint) from error
        for problem in error.problems[1:]:
            out.line_to_stderr("Problem", str(problem))
        raise
    levels = frozenset(Level(level) for level in given.levels or ())
    planned = plan(files, Selection(tuple(given.keywords or ()), frozenset(given.tags or ()), levels))
    if not planned:
        raise usage("No test was selected.", "Run with --list to see the tests of the files.")
    if given.list:
        _print_plan(planned, out)
        return OK
    reports = _reports(invocation, out, [file.path for file in files])
    from inspector.cli.check_run import run_checks  # noqa: PLC0415 - the session, which a list does not need

    return run_checks(invocation, out, planned, reports)


def _reports(invocation: Invocation, out: Output, check_files: list[Path]) -> list[tuple[str, Path | None]]:
    """Return the formats and the files of the reports.

    Missing folders are created. Raises `FaultError` if two of the reports are for the same place, or if a file cannot
    be written or is a check file.
    """
    reports: list[tuple[str, Path | None]] = list(invocation.given.reports or ())
    if out.json:
        reports.append(("json", None))
    if sum(path is None for _, path in reports) > 1:
        raise usage("Two reports are for stdout.", "Write --report FORMAT=FILE.")
    used = {path.resolve(): "it is a check file" for path in check_files}
    for path in (path for _, path in reports if path is not None):
        why = used.get(path.resolve(), "")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            why = "it is a folder" if path.is_dir() else why
        except OSError as error:
            why = error.strerror or type(error).__name__
        if why:
            raise usage(f"Cannot write {path}: {why}.", "Choose another file.")
        used[path.resolve()] = "it is the file of another report"
    return reports


def _print_plan(planned: list[PlannedTest], out: Output) -> None:
    if out.json:
        members = [
            {
                "id": item.test.id,
                "name": item.test.name,
                "level": item.test.level.value,
                "suite": item.suite.id,
                "tags": [*item.suite.tags, *item.test.tags],
                "transport": [transport.value for transport in item.test.transport],
                "file": str(item.file.path),
                "line": item.line(),
            }
            for item in planned
        ]
        out.document(members)
        return
    width = max(len(item.test.id) for item in planned)
    for item in planned:
        only = f" (only over {', '.join(item.test.transport)})" if item.test.transport else ""
        out.line(f"{item.test.id:<{width}}  {item.test.level:<6}  ", item.test.name, Styled(only, Role.SOFT))
