"""The tests of check files with their latest results; parts of them can be run, one run at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from inspector.protocol.model import Json
from inspector.session.check.checked_tests import CheckedTest, SuiteTests, counts_of
from inspector.session.check.document.enumerations import Level
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile, read_check_files
from inspector.session.check.result import RunResult, TestResult
from inspector.session.check.runner import Runner, choices
from inspector.session.check.status import BUSY, FAILED, Status
from inspector.session.session import Session


class LoadedChecks:
    """The tests of loaded files, in their order; `variables` are those that the user entered."""

    def __init__(self, paths: Sequence[Path], files: Sequence[CheckFile], variables: Mapping[str, Json]) -> None:
        self.paths = tuple(paths)
        self.variables = variables
        self.suites: list[SuiteTests] = []
        self.tests = [CheckedTest(planned) for planned in plan(files, Selection())]
        self.current: Sequence[CheckedTest] = ()
        """The tests of the current or the last run."""
        self.began: float | None = None
        """The monotonic time at which the current run began, None while none runs."""
        self._started = 0.0
        self._seconds = 0.0
        self._version = ""
        self._by_id = {test.id: test for test in self.tests}
        self._by_level = {level: [test for test in self.tests if test.planned.test.level is level] for level in Level}
        self._modified = _modification_times([*paths, *(file.path for file in files)])
        for test in self.tests:
            if not self.suites or self.suites[-1].suite is not test.planned.suite:
                self.suites.append(SuiteTests(test.planned.suite, test.planned.file))
            self.suites[-1].tests.append(test)

    @property
    def seconds(self) -> float | None:
        """How long the current run has been running, None while none runs."""
        return None if self.began is None else time.monotonic() - self.began

    def is_outdated(self) -> bool:
        """Return whether a file was changed since it was read."""
        return _modification_times(self._modified) != self._modified

    @property
    def failed(self) -> list[CheckedTest]:
        """The tests that did not pass."""
        return [test for test in self.tests if test.status in FAILED]

    @property
    def has_results(self) -> bool:
        """Whether any test has a result."""
        return any(test.result is not None and test.status not in BUSY for test in self.tests)

    @property
    def done(self) -> int:
        """How many tests of the current or the last run have a result."""
        return sum(test.status not in BUSY for test in self.current)

    def levels(self) -> Iterator[tuple[Level, Mapping[Status, int]]]:
        """Yield each level that tests have, with how many of its tests have each state."""
        for level, tests in self._by_level.items():
            if tests:
                yield level, counts_of(tests)

    def keep_results(self, earlier: LoadedChecks) -> None:
        """Keep the results of tests that have not changed since the files were read the last time."""
        for test in self.tests:
            before = earlier._by_id.get(test.id)
            if before is not None and before.planned.test == test.planned.test and before.status not in BUSY:
                test.status, test.result = before.status, before.result

    async def run(self, session: Session, tests: Sequence[CheckedTest]) -> None:
        """Run some of the tests over the interface in use.

        Raises `FaultError` without an agent. If this is cancelled, the tests that have not ended have no result.
        """
        interfaces = choices(session, ())
        self._version = next(iter(interfaces.values())).dialect.version
        self.current, self.began, self._started = tuple(tests), time.monotonic(), time.time()
        for test in tests:
            test.reset(Status.WAITING)
        planned, run = [test.planned for test in tests], self.report(session, ())
        runner = Runner(
            session, interfaces, planned, run, variables=self.variables, on_start=self._start, keep_tasks=True
        )
        try:
            async with aclosing(runner.results()) as results:
                async for result in results:
                    self._by_id[result.test.id].finish(result)
        finally:
            self._seconds, self.began = time.monotonic() - self.began, None
            for test in tests:
                if test.status in BUSY:
                    test.reset()

    def _start(self, result: TestResult) -> None:
        self._by_id[result.test.id].start(result)

    def report(self, session: Session, tests: Sequence[CheckedTest]) -> RunResult:
        """Return the latest results of tests, for a report; the times are those of the last run."""
        card = session.connection.card if session.connection is not None else None
        results = [test.result for test in tests if test.result is not None and test.status not in BUSY]
        name, version = (card.name, card.version) if card is not None else ("", "")
        return RunResult(self._version, name, version, self._started, results, self._seconds)


def read_checks(paths: Sequence[Path], variables: Mapping[str, Json]) -> LoadedChecks:
    """Read check files; raises `CheckFileError` with all problems."""
    return LoadedChecks(paths, read_check_files(list(paths)), variables)


def _modification_times(paths: Sequence[Path] | Mapping[Path, int]) -> dict[Path, int]:
    """Return when each file was modified, 0 for a file that does not exist."""
    return {path: path.stat().st_mtime_ns if path.is_file() else 0 for path in paths}
