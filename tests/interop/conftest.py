"""Real agents, made with the official SDKs, each a process of its own for the length of a test run."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import environments
import httpx
import pytest
import table
from calling import Caller

from inspector.protocol.dialects.registry import DIALECTS

START_SECONDS = 60
"""How long an agent may take to print its url, on a busy machine."""

CALL_SECONDS = 20


@dataclass(frozen=True)
class Agent:
    """A running agent: the SDK that it is made with, its base url and where its output goes."""

    name: str
    url: str
    log: Path

    @property
    def sdk(self) -> environments.Sdk:
        """Return what is known of its SDK."""
        return environments.SDKS[self.name]

    @property
    def version(self) -> str:
        """Return the version that it speaks."""
        return self.sdk.version


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect these tests where nobody asked for them by mark and their environments do not exist."""
    if "interop" in config.option.markexpr or all(map(environments.ready, environments.SDKS)):
        return
    left_out = [item for item in items if item.get_closest_marker("interop")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Agent]]:
    """Start an agent in its environment when it is first asked for, and end each when the run is over."""
    with ExitStack() as ends:
        yield cache(lambda name: ends.enter_context(_process(name, tmp_path_factory.mktemp("agents"))))


@pytest.fixture(params=list(environments.SDKS))
def agent(request: pytest.FixtureRequest, running: Callable[[str], Agent]) -> Agent:
    """Return the agent that is made with one of the SDKs."""
    return running(request.param)


@contextmanager
def _process(name: str, home: Path) -> Iterator[Agent]:
    """Run an agent, and end it with all that it started."""
    assert environments.ready(name), f"the environment {name!r} is missing: `make interop` makes it"
    log = home / f"{name}.log"
    script = Path(__file__).parent / "agents" / f"agent_{name}.py"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [environments.python(name), script], stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        ) as process,
    ):
        try:
            yield Agent(name, _first_line(process, log), log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def caller(agent: Agent) -> Iterator[Caller]:
    with httpx.Client(trust_env=False, timeout=CALL_SECONDS) as client:
        yield Caller(f"{agent.url}/", DIALECTS[agent.version], client)


def _first_line(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout
    readable, _, _ = select.select([process.stdout], [], [], START_SECONDS)
    line = process.stdout.readline().decode().strip() if readable else ""
    assert line, f"the agent did not start; it said:\n{log.read_text()}"
    return line


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show what an agent said beside a test that failed with it."""
    report = yield
    agent = getattr(item, "funcargs", {}).get("agent")
    if report.failed and isinstance(agent, Agent):
        report.sections.append((f"output of the agent {agent.name} in this run", agent.log.read_text()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what every operation came to over every interface, and keep it where the run came to its end."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    cells = {
        (agent, transport, column): seen
        for report in reports
        for name, (agent, transport, column, seen) in getattr(report, "user_properties", ())
        if name == "cell"
    }
    if not cells:
        return
    terminalreporter.section("what ran")
    terminalreporter.write_line(table.drawn(cells))
    if len(cells) == len(table.keys()) and table.keep(cells):
        terminalreporter.write_line(f"written to {table.FILE}; it is to be read and committed", yellow=True)
