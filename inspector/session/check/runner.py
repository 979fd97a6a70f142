"""Run the tests of check files over the interfaces of an agent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import field

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import usage_error
from inspector.protocol.model import Json
from inspector.protocol.selection import Choice, alternatives
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.execution import TestExecution
from inspector.session.check.matching import time_mismatches
from inspector.session.check.plan import PlannedTest
from inspector.session.check.preconditions import skip_reason
from inspector.session.check.result import INTERRUPTED, RunResult, TestResult, failures_of
from inspector.session.check.status import Status
from inspector.session.check.trials import Trials
from inspector.session.check.variables import Variables
from inspector.session.session import Session

TEST_SECONDS = 60.0
"""The default limit of time for a test."""


def choices(session: Session, wanted: Sequence[Transport]) -> dict[Transport, Choice]:
    """Return the interface for each transport, by default the interface in use; raises `FaultError` without one."""
    in_use = session.choice
    if not wanted:
        return {_transport_of(in_use): in_use}
    connection = session.connection
    declared = alternatives(connection.card) if connection else []
    found: dict[Transport, Choice] = {}
    for transport in wanted:
        fitting = [choice for choice in declared if choice.binding.name == transport.binding]
        same_version = [choice for choice in fitting if choice.dialect.version == in_use.dialect.version]
        if not fitting:
            names = ", ".join(dict.fromkeys(choice.binding.name for choice in declared))
            seen = f"The card declares no interface over {transport.binding}."
            raise usage_error(seen, f"It declares: {names or 'none'}.")
        found[transport] = (same_version or fitting)[0]
    return found


def _transport_of(choice: Choice) -> Transport:
    return next(transport for transport in Transport if transport.binding == choice.binding.name)


@dataclass(slots=True)
class Runner:
    """Runs planned tests with a session that is connected; the results are in `run`, in the order of the plan.

    `jobs` is how many tests run at the same time, `trials` how often each test runs. With `fail_fast`, no test starts
    after a failure. `variables` are those of the command line. `on_start` is called with the result of each test that
    begins, which gets its steps while the test runs. Without `keep_tasks`, the session forgets the tasks of a test once
    it has ended, so that they need no memory.
    """

    session: Session
    interfaces: Mapping[Transport, Choice]
    planned: Sequence[PlannedTest]
    run: RunResult
    variables: Mapping[str, Json] = field(default_factory=dict)
    jobs: int = 1
    trials: int = 1
    seconds: float = TEST_SECONDS
    fail_fast: bool = False
    on_start: Callable[[TestResult], None] | None = None
    keep_tasks: bool = False
    _stopped: bool = field(default=False, init=False)
    _ended: dict[tuple[str, Transport], list[TestResult]] = field(default_factory=dict, init=False)

    @property
    def total(self) -> int:
        """Return how many results a complete run has."""
        return len(self.planned) * len(self.interfaces) * self.trials

    async def results(self) -> AsyncGenerator[TestResult, None]:
        """Run the tests and yield each result when it is there; `run` is complete even if this is cancelled."""
        began = time.monotonic()
        pending = iter(self._executions())
        running: set[asyncio.Task[TestResult]] = set()
        order: dict[int, TestResult] = {}
        try:
            while True:
                while len(running) < self.jobs and not self._stopped and (execution := next(pending, None)) is not None:
                    order[len(order)] = execution.result
                    if self.on_start is not None:
                        self.on_start(execution.result)
                    running.add(asyncio.create_task(self._execute(execution)))
                if not running:
                    break
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    result = task.result()
                    self._stopped |= self.fail_fast and result.has_failed
                    yield result
        except BaseException:
            self.run.interrupted = True
            raise
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            self.run.results = [result for result in order.values() if result.seconds or result.reason]
            self.run.seconds = time.monotonic() - began

    def _executions(self) -> Iterable[TestExecution]:
        for item in self.planned:
            for transport, choice in self.interfaces.items():
                for _ in range(self.trials):
                    result = TestResult(item, transport)
                    given = {**self._own_variables(choice), **item.file.variables, **self.variables}
                    variables = Variables(
                        given,
                        learn=self.session.journal.redactor.add,
                        no_environment=self.session.settings.no_environment,
                    )
                    version = item.file.document.spec_version
                    yield TestExecution(self.session, choice, result, variables, version)

    def _own_variables(self, choice: Choice) -> dict[str, Json]:
        """Return the variables that files may use without a definition: the URL of the interface."""
        url = self.session.address(choice)
        return {"baseUrl": url, "SUT_BASE_URL": url}

    async def _execute(self, execution: TestExecution) -> TestResult:
        """Run one test if it applies to the agent."""
        result = execution.result
        reason = skip_reason(result.test, result.transport, execution.choice, self._card, execution.variables.given)
        if reason:
            result.reason = reason
            return result
        self.session.note(f"check {result.test.id} over {result.transport}", "check")
        try:
            await execution.run(self.seconds)
            if not self.keep_tasks:
                self.session.tasks.forget(execution.task_ids)
        except asyncio.CancelledError:
            result.reason = INTERRUPTED
            raise
        self._check_percentiles(result)
        if result.has_failed:
            first = result.failures[0].message if result.failures else ""
            self.session.note(f"check {result.test.id}: {result.status}: {first}", "check")
        return result

    def _check_percentiles(self, result: TestResult) -> None:
        """Fail the last trial of a test if the percentiles of its times are above their limits."""
        extension = result.test.extension
        trials = self._ended.setdefault((result.test.id, result.transport), [])
        trials.append(result)
        if len(trials) < self.trials:
            return
        about = f" of {len(trials)} trials" if len(trials) > 1 else ""
        limits = (("p50", extension.p50_ms, 0.5), ("p95", extension.p95_ms, 0.95))
        percentile = Trials(tuple(trials)).percentile
        exceeded = time_mismatches(*((f"{name}{about}", limit, percentile(share)) for name, limit, share in limits))
        if exceeded:
            result.failures += failures_of(exceeded, exchange=result.exchange)
            result.status = Status.FAIL if result.status is Status.PASS else result.status

    @property
    def _card(self) -> AgentCard:
        connection = self.session.connection
        if connection is None:
            raise ValueError("the session is not connected")
        return connection.card
