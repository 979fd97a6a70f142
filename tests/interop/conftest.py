"""Real agents, made with the official SDKs, each a process of its own for the length of a test run."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import environments
import httpx
import pytest
from calling import Caller

from inspector.protocol.dialects.registry import DIALECTS

START_SECONDS = 60
"""How long an agent may take to print its url, on a busy machine."""

CALL_SECONDS = 20

GENERATIONS = {"v1": "1.0", "v0_3": "0.3"}
"""The generation that each environment's agent speaks."""


@dataclass(frozen=True)
class Agent:
    """A running agent: its generation, its base url and where its output goes."""

    name: str
    generation: str
    url: str
    log: Path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect these tests where nobody asked for them by mark and their environments do not exist."""
    if "interop" in config.option.markexpr or all(map(environments.ready, environments.PACKAGES)):
        return
    left_out = [item for item in items if item.get_closest_marker("interop")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", params=environments.PACKAGES)
def agent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """Start one agent in its environment and end it, with all that it started, when the run is over."""
    name = request.param
    assert environments.ready(name), f"the environment {name!r} is missing: `make interop` makes it"
    log = tmp_path_factory.mktemp("agents") / f"{name}.log"
    script = Path(__file__).parent / "agents" / f"agent_{name}.py"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [environments.python(name), script], stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        ) as process,
    ):
        try:
            yield Agent(name, GENERATIONS[name], _first_line(process, log), log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def caller(agent: Agent) -> Iterator[Caller]:
    with httpx.Client(trust_env=False, timeout=CALL_SECONDS) as client:
        yield Caller(f"{agent.url}/", DIALECTS[agent.generation], client)


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
