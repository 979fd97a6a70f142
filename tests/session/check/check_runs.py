"""Run the tests of a check file with a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from check_files import parsed
from inspector.sample_agents.server import MockAgent

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile
from inspector.session.check.result import RunResult
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
