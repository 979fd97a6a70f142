"""Fixtures: agents made with the official SDKs, each in its own process for a whole test run."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import doctor_table
import environments
import httpx
import pytest
import table
from calling import Caller
from sdk_agent import Agent

from inspector.protocol.dialects.registry import DIALECTS

START_SECONDS = 60
"""The time in seconds that a program may take to print its URL."""

CALL_SECONDS = 20


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect these tests unless the mark `interop` is requested or the environments exist."""
    if "interop" in config.option.markexpr or environments.are_complete():
        return
    left_out = [item for item in items if item.get_closest_marker("interop")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Agent]]:
    """Start each agent in its environment at its first use and stop it at the end of the run."""
    with ExitStack() as ends:
        yield cache(lambda name: ends.enter_context(_agent(name, tmp_path_factory.mktemp("agents"))))


@pytest.fixture(params=list(environments.SDKS))
def agent(request: pytest.FixtureRequest, running: Callable[[str], Agent]) -> Agent:
    """Return the agent of one SDK."""
    return running(request.param)


@pytest.fixture(scope="session")
def run_issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Start each authorization server at its first use; return its issuer."""
    with ExitStack() as ends:

        def start(name: str) -> str:
            log = tmp_path_factory.mktemp("issuers") / f"{name}.log"
            return ends.enter_context(_process(name, log, f"authorization/server_{name}"))

        yield cache(start)


@pytest.fixture(scope="session")
def run_protected(
    tmp_path_factory: pytest.TempPathFactory, run_issuer: Callable[[str], str]
) -> Iterator[Callable[[str, str], Agent]]:
    """Start the agent of an SDK that accepts the tokens of an authorization server."""
    with ExitStack() as ends:

        def start(name: str, server: str) -> Agent:
            log = tmp_path_factory.mktemp("protected") / f"{name}.log"
            url = ends.enter_context(_process(name, log, f"agents/protected_{name}", run_issuer(server)))
            return Agent(name, url, log)

        yield cache(start)


@contextmanager
def _agent(name: str, home: Path) -> Iterator[Agent]:
    log = home / f"{name}.log"
    with _process(name, log, f"agents/agent_{name}") as url:
        yield Agent(name, url, log)


@contextmanager
def _process(name: str, log: Path, script: str, *arguments: str) -> Iterator[str]:
    """Run a script in an environment and stop it with all its child processes; return the first line of its output."""
    assert environments.is_ready(name), f"the environment {name!r} is missing; create it with `make interop`"
    command = [*environments.command(name, script), *arguments]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True) as process,
    ):
        try:
            yield _first_line(process, log)
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
    assert line, f"the program did not start; its output:\n{log.read_text()}"
    return line


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add the output of the agent to the report of a failed test."""
    report = yield
    agent = getattr(item, "funcargs", {}).get("agent")
    if report.failed and isinstance(agent, Agent):
        report.sections.append((f"output of the agent {agent.name} in this run", agent.log.read_text()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the result of every operation over every interface; a complete run updates the table in docs."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    properties = [item for report in reports for item in getattr(report, "user_properties", ())]
    cells = {
        (agent, transport, column): result for name, (agent, transport, column, result) in _named(properties, "cell")
    }
    doctor = {name: result for _, (name, result) in _named(properties, "doctor")}
    if not cells and not doctor:
        return
    terminalreporter.section("compatibility")
    if cells:
        terminalreporter.write_line(table.render(cells))
    if doctor:
        terminalreporter.write_line(doctor_table.render(doctor))
    if table.write(cells, doctor):
        terminalreporter.write_line(f"{table.FILE} was updated; check and commit it", yellow=True)


def _named(properties: list[tuple[str, Any]], name: str) -> list[tuple[str, Any]]:
    return [item for item in properties if item[0] == name]
