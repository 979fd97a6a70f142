"""Run the official ACTS suite against the mock agent and agents made with the SDKs: `acts_suite.py DIR`.

DIR is `tests/acts` in a checkout of a2aproject/A2A (branch `conformance-spec`). The exit code is 1 if a test fails
without an explanation in `acts_failures.py`, or passes in spite of one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import acts_failures
import environments
import httpx
from acts_failures import JAVASCRIPT, MOCK, NO_CAPABILITIES, PYTHON, Failure

_START_SECONDS = 60.0
_BIN = Path(sys.executable).parent
_BINDINGS = {acts_failures.JSONRPC: "JSONRPC", acts_failures.REST: "HTTP+JSON", acts_failures.GRPC: "GRPC"}
_FAILED = ("fail", "error")
_CLIENT = ("mock", "open-sesame")
"""The client of the mock's authorization server."""


@dataclass(frozen=True)
class Run:
    """One run of the suite: its name, and the command that starts the agent and prints its URL in the first line.

    With `protected`, the mock requires tokens of its authorization server.
    """

    name: str
    command: Sequence[str | Path]
    protected: bool = False


def _mock(*options: str) -> list[str | Path]:
    return [_BIN / "a2a-inspect", "mock", *options]


_SDK = {name: environments.command(name, f"agents/agent_{name}") for name in ("v1", "js_v1")}
_PYTHON = f"{PYTHON} {environments.ALL['v1'].release}"
_JAVASCRIPT = f"{JAVASCRIPT} {environments.ALL['js_v1'].release}"

RUNS = (
    Run(MOCK, _mock()),
    Run(f"{MOCK}, {NO_CAPABILITIES}", _mock("--capabilities", "none")),
    Run(f"{MOCK}, OAuth 2.0", _mock("--capabilities", "all", "--auth", "oauth2"), protected=True),
    Run(_PYTHON, _SDK["v1"]),
    Run(f"{_PYTHON}, {NO_CAPABILITIES}", [*_SDK["v1"], "no-capabilities"]),
    Run(_JAVASCRIPT, _SDK["js_v1"]),
    Run(f"{_JAVASCRIPT}, {NO_CAPABILITIES}", [*_SDK["js_v1"], "no-capabilities"]),
)


@contextmanager
def agent(command: Sequence[str | Path], folder: Path) -> Iterator[list[str]]:
    """Start an agent, wait for its URL, and stop it at the end; yield the lines that it printed until then."""
    log = folder / "agent.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            ends = time.monotonic() + _START_SECONDS
            while not (lines := _addresses(log)) and process.poll() is None and time.monotonic() < ends:
                time.sleep(0.1)
            if not lines:
                raise RuntimeError(f"the agent did not start:\n{log.read_text()}")
            yield lines
        finally:
            process.terminate()


def _addresses(log: Path) -> list[str]:
    """Return the URL of the agent, and its gRPC address if it prints one."""
    lines = log.read_text().splitlines()
    found = [line for line in lines if line.startswith("http")][:1]
    return found + [line.removeprefix("gRPC: ") for line in lines if line.startswith("gRPC: ")] if found else []


def credentials(addresses: list[str]) -> list[str]:
    """Return the options with a token that is accepted, and with one that lacks a scope."""
    url, target = addresses
    tokens = [_token(url, scope) for scope in ("messages", "transfers")]
    return ["--bearer", tokens[0], "--var", f"insufficientAuthToken={tokens[1]}", "--trust", target]


def _token(url: str, scope: str) -> str:
    asked = {"grant_type": "client_credentials", "scope": scope}
    with httpx.Client(trust_env=False) as client:
        answered = client.post(f"{url}/oauth/token", data=asked, auth=_CLIENT)
    return str(answered.raise_for_status().json()["access_token"])


def results(run: Run, suite: Path) -> dict[Failure, str]:
    """Run the suite over all transports; return the result of each test, and print those that are not expected."""
    with tempfile.TemporaryDirectory() as name, agent(run.command, Path(name)) as addresses:
        folder = Path(name)
        options = ["--jobs", "8", "--capture", folder / "acts.a2a", f"--report=json={folder / 'report.json'}"]
        options += [word for binding in _BINDINGS.values() for word in ("--transport", binding)]
        options += credentials(addresses) if run.protected else []
        command = [_BIN / "a2a-inspect", "check", suite, "--agent-card", addresses[0], *options]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        reports = [json.loads(report.read_text()) for report in folder.glob("report-*.json")]
        if ran.returncode not in (0, 1) or {report["transport"] for report in reports} != set(_BINDINGS):
            raise RuntimeError(f"check ended with {ran.returncode} and {len(reports)} reports: {ran.stderr}")
    found: dict[Failure, str] = {}
    for report in sorted(reports, key=lambda report: list(_BINDINGS).index(report["transport"])):
        for test in (test for suite in report["suites"] for test in suite["tests"]):
            place = Failure(test["id"], run.name, report["transport"])
            found[place] = test["result"]
            if is_wrong(place, test["result"]):
                why = test.get("failure", {}).get("message", "it is explained, but passed")
                print(f"{place.test} on {place.run} over {place.transport}: {why}", flush=True)
    return found


def is_wrong(place: Failure, result: str) -> bool:
    """Return whether a test failed without an explanation, or passed in spite of one."""
    return result != "skip" and (result in _FAILED) is (acts_failures.explained(place) is None)


def summary(found: dict[Failure, str]) -> str:
    """Return how many tests have each result, as a Markdown table."""
    rows = ["| agent | transport | passed | failed | skipped |", "|---|---|---|---|---|"]
    for run, transport in dict.fromkeys((place.run, place.transport) for place in found):
        counts = Counter(result for place, result in found.items() if place[1:] == (run, transport))
        failed = sum(counts[result] for result in _FAILED)
        rows.append(f"| {run} | {transport} | {counts['pass']} | {failed} | {counts['skip']} |")
    return "\n".join(rows)


def main() -> int:
    """Run the suite against the agents and print the tables for docs/checks.md."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of suite.acts.yaml")
    parser.add_argument("--run", action="append", metavar="NAME", help="only the runs that begin with this; repeatable")
    given = parser.parse_args()
    found: dict[Failure, str] = {}
    for run in RUNS:
        if given.run is None or run.name.startswith(tuple(given.run)):
            found |= results(run, given.folder / "suite.acts.yaml")
    print(summary(found), acts_failures.table(), sep="\n\n")
    ran = {place.test for place, result in found.items() if result != "skip"}
    print(f"\nskipped in every run: {', '.join(sorted({place.test for place in found} - ran)) or 'none'}")
    failed = [place for place, result in found.items() if result in _FAILED]
    unused = [each for each in acts_failures.EXPLANATIONS if given.run is None and not any(map(each.covers, failed))]
    for explanation in unused:
        print(f"no failure of {', '.join(explanation.tests)} needs its explanation")
    return 1 if unused or not found or any(is_wrong(place, result) for place, result in found.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
