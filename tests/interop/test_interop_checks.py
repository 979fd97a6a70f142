"""`check` against agents made with the official SDKs: one file for every protocol version, over all transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import environments
import pytest
from sdk_agent import Agent

pytestmark = pytest.mark.interop

FILE = Path(__file__).with_name("behaviours.acts.yaml")
SECONDS = 120
NAMES = {"JSONRPC": "jsonrpc", "HTTP+JSON": "rest", "GRPC": "grpc"}


@pytest.fixture(params=list(environments.ALL))
def any_agent(request: pytest.FixtureRequest, running: Callable[[str], Agent]) -> Agent:
    """Return the agent of one SDK, of Python or JavaScript."""
    return running(request.param)


def run_inspector(folder: Path, *words: str | Path, code: int = 0) -> str:
    """Run a command, which must end with an exit code, and return its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    ran = subprocess.run(
        [sys.executable, "-m", "inspector.cli", *words],
        cwd=folder,
        env=environment | {"A2A_INSPECT_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout


def check(agent: Agent, folder: Path, *options: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """Run the file over all transports; return for each transport the tests by their ids."""
    wanted = [word for binding in agent.sdk.transports for word in ("--transport", binding)]
    output = run_inspector(folder, "check", FILE, "-a", agent.url, *wanted, *options, "-o", "json", code=code)
    return {
        report["transport"]: {test["id"]: test for suite in report["suites"] for test in suite["tests"]}
        for report in json.loads(output)
    }


def test_a_check_passes_over_all_transports(any_agent: Agent, tmp_path: Path):
    reports = check(any_agent, tmp_path)
    assert list(reports) == [NAMES[binding] for binding in any_agent.sdk.transports]
    wrong = {
        (transport, name): test
        for transport, tests in reports.items()
        for name, test in tests.items()
        if test["result"] != ("pass" if transport == "jsonrpc" or name != "INTEROP-RAW-001" else "skip")
    }
    assert not wrong, json.dumps(list(wrong.values()), indent=1)


def test_a_check_fails_over_all_transports_if_the_agent_says_something_else(any_agent: Agent, tmp_path: Path):
    reports = check(any_agent, tmp_path, "-k", "ECHO", "--var", "said=goodbye", code=1)
    for tests in reports.values():
        failure = tests["INTEROP-ECHO-001"]["failure"]
        assert (failure["expected"], failure["actual"]) == ('"goodbye"', '"hello there"')


def test_a_recorded_check_passes_over_every_transport(any_agent: Agent, tmp_path: Path):
    for binding in any_agent.sdk.transports:
        capture, made = tmp_path / f"{NAMES[binding]}.a2a", tmp_path / f"{NAMES[binding]}.acts.yaml"
        connection = ("-a", any_agent.url, "--transport", binding)
        run_inspector(tmp_path, "check", FILE, *connection, "--capture", capture)
        made.write_text(run_inspector(tmp_path, "check", "make", capture))
        report = json.loads(run_inspector(tmp_path, "check", made, *connection, "--trials", "5", "-o", "json"))
        assert report["summary"]["passed"] == report["summary"]["total"] > 0
