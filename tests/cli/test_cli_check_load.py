"""A thousand tests: the time of the processor that they need, the memory, and the reports after Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from puppets import SECONDS

MOST_CPU_SECONDS = 60
"""For the runner and the agent together: two processors have twice as much in 60 s."""
PROGRAM = [sys.executable, "-m", "inspector"]


def send(operation: str, text: str, **members: Any) -> dict[str, Any]:
    return {"id": "send", "operation": operation, "params": {"message": {"parts": [{"text": text}]}}, **members}


def steps(number: int) -> list[dict[str, Any]]:
    """Return the steps of a test: a message, a task that is fetched again, a stream with an artifact, or an error."""
    match number % 4:
        case 0:
            body = {"message": {"parts": [{"text": f"hello {number}"}]}}
            return [send("send_message", f"echo hello {number}", expect={"status": 200, "body": body})]
        case 1:
            body = {"task": {"status": {"state": "TASK_STATE_COMPLETED"}}}
            sent = send("send_message", "report 3", expect={"body": body}, capture={"id": "task.id"})
            get = {"id": "get", "operation": "get_task", "params": {"id": "{{send.id}}"}}
            return [sent, {**get, "expect": {"body": {"artifacts": {"count": 1}}}}]
        case 2:
            stream = {"ordering": "monotonic_state", "final_event": {"status": {"state": "TASK_STATE_COMPLETED"}}}
            extension = {"artifacts": [{"name": "report.md", "text": {"contains": "the stream follows the protocol"}}]}
            return [send("send_streaming_message", "report 20", expect_stream=stream, **{"x-a2a-inspect": extension})]
        case _:
            error = {"error_type": "TaskNotFoundError"}
            return [{"id": "get", "operation": "get_task", "params": {"id": "none"}, "expect_error": error}]


@pytest.fixture
def thousand(tmp_path: Path) -> str:
    tests = [
        {
            "id": f"T-{number:04}",
            "name": f"Test {number}",
            "level": ("must", "should", "may")[number % 3],
            "steps": steps(number),
            "x-a2a-inspect": {"findings": {"max": "hint"}},
        }
        for number in range(1000)
    ]
    path = tmp_path / "thousand.acts.json"
    suites = [{"id": "load", "name": "Load", "tests": tests}]
    path.write_text(json.dumps({"acts_version": "1.0", "spec_version": "1.0", "suites": suites}))
    return str(path)


@pytest.fixture
def agent() -> Iterator[tuple[str, int]]:
    """Run a mock agent in a process; yield its URL and the id of the process."""
    with subprocess.Popen([*PROGRAM, "mock", "--pace", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
        process.terminate()


def cpu_seconds(pid: int) -> float:
    """Return how long a process has used a processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(*words: str) -> tuple[float, int]:
    """Run a command, which must succeed; return its processor time in seconds, and its largest memory in KB."""
    process = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the time of a process is read from /proc")
def test_a_thousand_tests_need_less_than_a_minute_and_more_tests_no_more_memory(
    thousand: str, agent: tuple[str, int], tmp_path: Path
):
    url, pid = agent
    report = tmp_path / "report.json"
    words = ["check", thousand, "-a", url, "--jobs", "8", "--report", f"json={report}"]
    seconds, memory = measured(*words, "--capture", str(tmp_path / "first.a2a"))
    seconds += cpu_seconds(pid)
    assert json.loads(report.read_text())["summary"]["passed"] == 1000
    assert seconds < MOST_CPU_SECONDS
    _, more = measured(*words, "--trials", "4", "--capture", str(tmp_path / "second.a2a"))
    assert json.loads(report.read_text())["summary"]["passed"] == 1000
    assert more - memory < 30_000, f"{memory} KB for 1,000 runs, {more} KB for 4,000"


@pytest.mark.slow
def test_ctrl_c_leaves_reports_of_the_tests_that_have_ended(thousand: str, agent: tuple[str, int], tmp_path: Path):
    reports = {kind: tmp_path / f"report.{kind}" for kind in ("json", "junit", "tap", "html")}
    words = ["check", thousand, "-a", agent[0], "--jobs", "8", "--verbose", "--capture", str(tmp_path / "run.a2a")]
    words += [word for kind, path in reports.items() for word in ("--report", f"{kind}={path}")]
    with subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        for _ in range(50):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=SECONDS)
        assert time.monotonic() - began < SECONDS
    assert process.returncode == 130
    summary = json.loads(reports["json"].read_text())["summary"]
    total, passed, skipped = summary["total"], summary["passed"], summary["skipped"]
    assert 20 <= passed < 1000
    assert skipped <= 8
    assert total == passed + skipped
    root = ET.parse(reports["junit"]).getroot().attrib
    assert (root["tests"], root["skipped"], root["failures"]) == (str(total), str(skipped), "0")
    lines = reports["tap"].read_text().splitlines()
    assert lines[:2] == ["TAP version 14", f"1..{total}"]
    assert lines[-1] == "Bail out! interrupted"
    assert sum(line.startswith("ok ") for line in lines) == total
    assert reports["html"].read_text().endswith("</html>\n")
