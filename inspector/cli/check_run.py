"""Connect to the agent, run the tests of check files, print the failures and write the reports."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from inspector import PROGRAM
from inspector.capture.private_files import CaptureError, remove
from inspector.cli.agent_options import options_of_selected
from inspector.cli.arguments import Invocation
from inspector.cli.errors import usage
from inspector.cli.kept_capture import kept_capture
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.styles import Role, Styled
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import for_version
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.check.comparison import Difference, differences, mark_differences
from inspector.session.check.document.enumerations import Level, Transport
from inspector.session.check.plan import PlannedTest
from inspector.session.check.reports import render
from inspector.session.check.result import INTERRUPTED, Counts, Failure, RunResult, TestResult
from inspector.session.check.runner import Runner, choices
from inspector.session.check.status import Status
from inspector.session.check.trials import Trials, representatives, trials_of
from inspector.session.session import Session
from inspector.session.settings import settings_from
from inspector.text.reference import local_path
from inspector.text.units import duration
from inspector.wire.discovery import read_raw

_MARKS = {
    Status.PASS: Styled("+", Role.GOOD),
    Status.FAIL: Styled("-", Role.BAD),
    Status.ERROR: Styled("!", Role.BAD),
    Status.SKIP: Styled("?", Role.SOFT),
}
_MOST_FAILURES = 5
"""How many failures of a test are printed."""


def run_checks(
    invocation: Invocation, out: Output, planned: list[PlannedTest], reports: list[tuple[str, Path | None]]
) -> int:
    """Run tests and write reports; raises `FaultError` if a test failed."""
    options, other = invocation.options, local_path(invocation.given.against or "")
    if other is not None and other.is_file():
        read_raw(other)  # raises `FaultError` for a capture, before the tests run
    with kept_capture(options, "check", Path.exists) as path:
        recorded = replace(invocation, options=replace(options, capture=path))
        return run(recorded, out, lambda current: _Check(current, planned, reports).run(), check=True, outdated=True)


class _Check:
    """One run of the tests: prints each failure when it is there, and at the end the summary and the reports."""

    def __init__(
        self, current: RunningCommand, planned: list[PlannedTest], reports: list[tuple[str, Path | None]]
    ) -> None:
        self._current = current
        self._planned = planned
        self._reports = reports
        self._out = current.out
        self._shown = not any(path is None for _, path in reports)
        """Whether text is printed: not if a report is written to stdout."""

    async def run(self) -> None:
        """Connect, run the tests, and report; raises `FaultError` if a test failed, or differs with `--against`.

        If the run is stopped, the CancelledError has a summary of what ran.
        """
        against = self._current.invocation.given.against
        async with AsyncExitStack() as opened:
            # Before the first run, so that a mistake in the definition or a capture that exists is reported at once.
            second = await opened.enter_async_context(self._second(against)) if against else None
            result = await self._connect()
            try:
                if second and self._shown:
                    self._out.field("Agent", self._current.invocation.options.reference or "")
                await self._run_tests(result)
                passed = result.passed
                found = await self._compare(result, second) if second else []
            finally:
                self._write_reports(result)
        if not passed:
            self._raise_failure(result)
        if any(difference.aspect == "result" for difference in found):
            seen = f"The results of {against} differ."
            raise FaultError(
                Fault(Whose.AGENT, FaultCode.CHECK_FAILED, seen, "The lines that begin with Differs show how.")
            )

    async def _connect(self) -> RunResult:
        """Connect, and return a result without tests; if that fails, write reports in which each test is an error."""
        current, options = self._current, self._current.invocation.options
        try:
            await current.connect()
            choices(current.session, _transports(options.transports))  # raises an error before a warning is printed
            current.check_interface()
            self._warn_about_versions(current.session.choice.dialect)
            return self._new_result(current.session)
        except (FaultError, asyncio.CancelledError) as error:
            if isinstance(error, FaultError) and error.fault.code == FaultCode.USAGE:
                raise
            result = RunResult(self._planned[0].file.document.spec_version, options.reference or "", "", time.time())
            # Without a card and --transport, the binding is unknown, but reports need one.
            transports = _transports(options.transports) or [Transport.JSONRPC]
            result.results = [TestResult(item, transport) for item in self._planned for transport in transports]
            _fail_all(result, error)
            self._write_reports(result)
            raise

    def _warn_about_versions(self, dialect: Dialect) -> None:
        """Warn about tests that were written for a version whose requirements are not those of the version in use."""
        for version in sorted({item.file.document.spec_version for item in self._planned}):
            written = for_version(version)
            if written is not None and written.traits.outdated is not dialect.traits.outdated:
                self._current.out.warn(f"the tests are about A2A {version}; the agent is tested over {dialect.version}")

    async def _run_tests(self, result: RunResult) -> None:
        """Run the tests, and print the failures and the summary."""
        runner = self._runner(self._current.session, result)
        try:
            await self._follow(runner)
        except asyncio.CancelledError:
            ended = sum(test.reason != INTERRUPTED for test in result.results)
            raise asyncio.CancelledError(f"{ended} of {runner.total} tests have a result") from None
        finally:
            self._print_summary(result, self._current.session)

    def _new_result(self, session: Session) -> RunResult:
        connection = session.connection
        if connection is None:
            raise ValueError("the session is not connected")
        return RunResult(session.choice.dialect.version, connection.card.name, connection.card.version, time.time())

    def _runner(self, session: Session, result: RunResult) -> Runner:
        given = self._current.invocation.given
        return Runner(
            session,
            choices(session, _transports(self._current.invocation.options.transports)),
            self._planned,
            result,
            variables=dict(given.variables or ()),
            jobs=given.jobs,
            trials=given.trials,
            seconds=given.test_timeout,
            fail_fast=given.fail_fast,
        )

    @asynccontextmanager
    async def _second(self, against: str) -> AsyncIterator[RunningCommand]:
        """Open a session for the agent of `--against`; raises `FaultError`.

        An agent of `agents.toml` gets the options of its definition, any other agent those of the first.
        """
        invocation, own = self._current.invocation, self._current.session
        options, settings = options_of_selected(invocation.options, invocation.given.prior, against), own.settings
        if options.agent_name:
            settings = replace(settings_from(options), check=settings.check, outdated=settings.outdated)
        else:
            options = replace(invocation.options, reference=against, agent_name="")
        path = own.journal.capture.path
        path = path.with_stem(f"{path.stem}_against")
        try:
            session = Session(path, settings)
        except CaptureError as error:
            raise usage(str(error), "Choose another file with --capture.") from error
        try:
            yield replace(self._current, invocation=replace(invocation, options=options), session=session)
        finally:
            await session.close()
            if not session.journal.last_seq:  # the first agent was not reached
                remove(path)

    async def _compare(self, first: RunResult, second: RunningCommand) -> list[Difference]:
        """Run the tests against another agent, print what differs, and add it to the first result.

        If the other agent cannot be tested, each test of the first result becomes an error.
        """
        session, url = second.session, second.invocation.options.reference or ""
        try:
            await second.connect()
            second.check_interface()
            if self._shown:
                self._out.field("Agent", url)
            other = self._new_result(session)
            await self._follow(self._runner(session, other))
            self._print_summary(other, session)
        except (FaultError, asyncio.CancelledError) as error:
            _fail_all(first, error)
            raise
        found = differences(first, other)
        if self._shown:
            self._print_differences(found, len(representatives(first.results)))
        mark_differences(first, found, url)
        return found

    def _print_differences(self, found: list[Difference], total: int) -> None:
        for difference in found:
            out = self._out
            out.field("Differs", f"{difference.test} ({difference.transport}): {difference.aspect}")
            out.field("  First", difference.first)
            out.field("  Second", difference.second)
        same = total - len({(difference.test, difference.transport) for difference in found})
        self._out.field("Compared", f"{total} {'test' if total == 1 else 'tests'}, {same} without a difference")

    async def _follow(self, runner: Runner) -> None:
        done: list[TestResult] = []

        def progress() -> str:
            counts = Counts.of(done)
            errors = f", {counts.errors} with an error" if counts.errors else ""
            return f"{len(done)} of {runner.total} tests, {counts.failed} failed{errors}"

        with self._out.progress.waiting(progress):
            async with aclosing(runner.results()) as results:
                async for result in results:
                    done.append(result)
                    self._print(result)

    def _print(self, result: TestResult) -> None:
        """Print a failure, and with `--verbose` every result."""
        failed = result.has_failed
        if not self._shown or not (failed or self._current.invocation.verbose):
            return
        out, test = self._out, result.test
        took = "" if result.status is Status.SKIP else f", {duration(result.seconds)}"
        name = f" {test.id} ({test.level}, {result.transport}{took}): {test.name}"
        out.field("Test", _MARKS[result.status], name)
        if result.reason:
            out.field("  Skipped", result.reason)
        for failure in result.failures[:_MOST_FAILURES]:
            self._print_failure(failure, result.planned)
        if len(result.failures) > _MOST_FAILURES:
            out.field("  More", f"{len(result.failures) - _MOST_FAILURES} failures")

    def _print_failure(self, failure: Failure, planned: PlannedTest) -> None:
        out = self._out
        where = ": ".join(filter(None, (failure.step, failure.path)))
        record = f" (request #{failure.exchange})" if failure.exchange else ""
        if failure.expected:
            out.field("  Failed", f"{where or 'the test'}{record}")
            out.field("    Expected", failure.expected)
            out.field("    Actual", failure.actual)
        else:
            out.field("  Error", f"{f'{failure.step}: ' if failure.step else ''}{failure.message}{record}")
        out.field("    File", planned.place(failure.step))

    def _write_reports(self, result: RunResult) -> None:
        for name, path in self._reports:
            self._write(name, path, result)

    def _print_summary(self, result: RunResult, session: Session) -> None:
        """Print the trials, the counts of each level, and the capture."""
        if not self._shown:
            return
        out = self._out
        for trials in trials_of(result.results):
            if len(trials.results) > 1 and trials.count:
                out.field("Trials", f"{trials.first.test.id} ({trials.first.transport}): {_trials_words(trials)}")
        for level in Level:
            counts = result.counts_of(level)
            if counts.total:
                out.field(level.value.upper(), counts.words)
        out.field("Capture", str(session.journal.capture.path))

    def _write(self, name: str, path: Path | None, result: RunResult) -> None:
        documents = render(name, result)
        if path is None:
            text = documents[0] if len(documents) == 1 else f"[{','.join(documents)}]\n"
            self._out.verbatim(self._out.redact(text))
            return
        for transport, document in zip(result.transports, documents, strict=False):
            target = path if len(documents) == 1 else path.with_stem(f"{path.stem}-{transport}")
            try:
                target.write_text(self._out.redact(document), encoding="utf-8")
            except OSError as error:
                raise usage(f"Cannot write {target}: {error.strerror}.", "Choose another file.") from error

    def _raise_failure(self, result: RunResult) -> None:
        failed = result.failed
        first = failed[0]
        message = first.failures[0].message.rstrip(".") if first.failures else ""
        seen = f"{result.counts.failure_words}. The first: {first.test.id}: {message}."
        path = shlex.quote(str(self._current.session.journal.capture.path))
        hint = f"{PROGRAM} open {path} shows the requests and responses."
        fault = Fault(Whose.AGENT, FaultCode.CHECK_FAILED, seen, hint)
        if all(item.denied for item in failed):
            fault = self._current.explain(replace(fault, whose=Whose.YOURS, code=FaultCode.CREDENTIALS_MISSING))
        raise FaultError(fault)


def _transports(bindings: Iterable[str]) -> list[Transport]:
    return [transport for name in bindings for transport in Transport if transport.binding == name]


def _fail_all(result: RunResult, error: FaultError | asyncio.CancelledError) -> None:
    """Make each test an error with the reason for which an agent was not tested."""
    reason = str(error) if isinstance(error, FaultError) else "the run was stopped before its end"
    for test in result.results:
        test.status, test.reason = Status.ERROR, ""
        test.failures.append(Failure(reason))


def _trials_words(trials: Trials) -> str:
    share = f"{trials.passed} of {trials.count} passed, at least {trials.lower_bound:.1%} with 95 % confidence"
    return f"{share}; p50 {duration(trials.percentile(0.5))}, p95 {duration(trials.percentile(0.95))}"
