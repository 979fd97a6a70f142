"""Run the tests of a check file with a session, and read their results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from check_files import file_of, parsed, test_of
from inspector.sample_agents.server import MockAgent

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile
from inspector.session.check.result import RunResult
from inspector.session.check.result import TestResult as Outcome
from inspector.session.check.runner import Runner, choices
from inspector.session.session import Session

RunChecks = Callable[..., Awaitable[RunResult]]
MakeMock = Callable[..., Awaitable[MockAgent]]


async def run_file(
    session: Session, text: str, transports: tuple[Transport, ...] = (), variables: Any = None, **options: Any
) -> RunResult:
    """Run all tests of a file with a connected session."""
    document = parsed(text, "a.json")
    planned = plan([CheckFile(Path("a.json"), document, document.variables)], Selection())
    run = RunResult("1.0", "agent", "1", 0)
    runner = Runner(session, choices(session, transports), planned, run, variables=variables or {}, **options)
    async for _ in runner.results():
        pass
    return run


UNKNOWN = "00000000-0000-0000-0000-000000000000"
"""The id of a task that does not exist."""


def only(run: RunResult) -> Outcome:
    """Return the result of the only test."""
    [result] = run.results
    return result


def messages(run: RunResult) -> list[str]:
    """Return the messages of the failures of the only test."""
    return [failure.message for failure in only(run).failures]


async def outcome(run_checks: RunChecks, *steps: Any, test: Any = None, **options: Any) -> tuple[str, list[str]]:
    """Run one test and return its result and the messages of its failures."""
    run = await run_checks(file_of(test_of(*steps, **(test or {}))), **options)
    return only(run).status.value, messages(run)
