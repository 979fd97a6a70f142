"""Check files for the tests of `check`, and the members that the JSON report must have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

CARD = {"id": "card", "operation": "get_agent_card"}
SEND = {"id": "send", "operation": "send_message", "params": {"message": {"parts": [{"text": "echo hi"}]}}}
FAILS = {**SEND, "id": "wrong", "expect": {"body": {"message": {"role": "ROLE_USER"}}}}
GONE = {"id": "gone", "operation": "get_task", "params": {"id": "no-such-task"}}


def case(identity: str, /, *steps: Any, **members: Any) -> dict[str, Any]:
    return {"id": identity, "name": f"The test {identity}", "level": "must", "steps": list(steps) or [CARD], **members}


def writer(folder: Path) -> Callable[..., str]:
    """Return a function that writes a check file with these tests and returns its path."""

    def write(*tests: dict[str, Any], **members: Any) -> str:
        suites = [{"id": "first", "name": "First", "tags": ["all"], "tests": list(tests)}]
        path = folder / "checks.json"
        text = json.dumps({"acts_version": "1.0", "spec_version": "1.0", "suites": suites, **members}, indent=1)
        path.write_text(text)
        return str(path)

    return write


def line_of(path: str, name: str) -> int:
    """Return the line where the test or the step with an id begins in a file of `writer`."""
    lines = Path(path).read_text().splitlines()
    return next(number for number, line in enumerate(lines) if line.strip() == f'"id": "{name}",')


MEMBERS = {"total", "passed", "failed", "skipped", "errors"}


def check_report(report: dict[str, Any], transport: str) -> None:
    """Check the members that section 13 of ACTS requires."""
    assert report.keys() >= {"acts_version", "spec_version", "generated_at", "sdk", "transport", "summary", "suites"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["generated_at"])
    assert report["sdk"].keys() >= {"name", "version", "language"}
    assert report["transport"] == transport
    assert report["summary"].keys() == MEMBERS | {"duration_ms", "by_level"}
    assert report["summary"]["by_level"].keys() == {"must", "should", "may"}
    for counts in (report["summary"], *report["summary"]["by_level"].values()):
        assert counts.keys() >= MEMBERS
        assert counts["total"] == sum(counts[name] for name in MEMBERS - {"total"})
    tests = [test for suite in report["suites"] for test in suite["tests"]]
    assert len(tests) == report["summary"]["total"]
    for test in tests:
        assert test.keys() >= {"id", "name", "level", "result", "duration_ms"}
        assert test["result"] in {"pass", "fail", "skip", "error"}
        assert isinstance(test["duration_ms"], int)
        for step in test.get("steps", []):
            assert step.keys() >= {"id", "result", "duration_ms"}
