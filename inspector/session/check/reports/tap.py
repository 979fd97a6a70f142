"""TAP 14 (Test Anything Protocol): a line for each test, with the failure as YAML."""

from __future__ import annotations

from inspector.session.check.result import RunResult, TestResult
from inspector.session.check.status import Status
from inspector.session.check.trials import representatives
from inspector.text.safe_json import dump
from inspector.text.sanitise import clean


def write(run: RunResult) -> list[str]:
    """Return the document."""
    results = representatives(run.results)
    lines = ["TAP version 14", f"1..{len(results)}"]
    for number, result in enumerate(results, 1):
        lines += _lines(number, result)
    if run.interrupted:
        lines.append("Bail out! interrupted")
    return ["\n".join(lines) + "\n"]


def _lines(number: int, result: TestResult) -> list[str]:
    status = "ok" if result.status in (Status.PASS, Status.SKIP) else "not ok"
    name = _text(f"{result.test.id} ({result.transport}) {result.test.name}")
    skip = f" # SKIP {_text(result.reason)}" if result.status is Status.SKIP else ""
    lines = [f"{status} {number} - {name}{skip}"]
    if result.failures:
        failure = result.failures[0]
        members = {
            "message": failure.message,
            "severity": "fail" if result.status is Status.FAIL else "error",
            "step": failure.step,
            "at": result.planned.place(failure.step),
            "request": failure.exchange or "",
            "expected": failure.expected,
            "actual": failure.actual,
            "duration_ms": round(result.seconds * 1000),
            "more_failures": [failure.message for failure in result.failures[1:]],
        }
        # JSON strings are YAML strings.
        lines += [
            "  ---",
            *(f"  {key}: {dump(value)}" for key, value in members.items() if value not in ("", [])),
            "  ...",
        ]
    return lines


def _text(text: str) -> str:
    """Return text for a line; `#` would begin a directive."""
    return clean(text).replace("\\", "\\\\").replace("#", "\\#")
