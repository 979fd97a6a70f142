"""The JSON report of ACTS (section 13); our additions are below `x-a2a-inspect`."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from inspector import __version__
from inspector.protocol.model import Json
from inspector.session.check.document.enumerations import Level, Transport
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.plan import PlannedTest
from inspector.session.check.result import Counts, Failure, RunResult, StepResult
from inspector.session.check.trials import Trials, trials_of
from inspector.text.safe_json import dump

ACTS_VERSION = "1.0"


def write(run: RunResult) -> list[str]:
    """Return a document for each transport."""
    return [f"{dump(document(run, transport), 2)}\n" for transport in run.transports]


def document(run: RunResult, transport: Transport) -> dict[str, Json]:
    """Return the report about one transport."""
    results = [result for result in run.results if result.transport is transport]
    groups = trials_of(results)
    suites: dict[str, list[Trials]] = {}
    for group in groups:
        suites.setdefault(group.first.suite.id, []).append(group)
    return {
        "acts_version": ACTS_VERSION,
        "spec_version": run.spec_version,
        "generated_at": datetime.fromtimestamp(run.started, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "sdk": {"name": run.agent, "version": run.agent_version, "language": "unknown"},
        "transport": transport.value,
        "environment": {"runner": f"a2a-inspect {__version__}", "runtime": f"python {platform.python_version()}"},
        "summary": _summary(run, groups),
        "suites": [
            {"id": name, "name": members[0].first.suite.name, "tests": [_test(group) for group in members]}
            for name, members in suites.items()
        ],
        EXTENSION: {"interrupted": run.interrupted},
    }


def _summary(run: RunResult, groups: list[Trials]) -> dict[str, Json]:
    firsts = [group.first for group in groups]
    return {
        **_counts(Counts.of(firsts)),
        "duration_ms": _milliseconds(run.seconds),
        "by_level": {
            level.value: _counts(Counts.of(result for result in firsts if result.test.level is level))
            for level in Level
        },
    }


def _counts(counts: Counts) -> dict[str, int]:
    return {
        "total": counts.total,
        "passed": counts.passed,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "errors": counts.errors,
    }


def _test(group: Trials) -> dict[str, Json]:
    result = group.first
    found: dict[str, Json] = {
        "id": result.test.id,
        "name": result.test.name,
        "level": result.test.level.value,
        "result": result.status.value,
        "duration_ms": _milliseconds(result.seconds),
    }
    if result.reason:
        found["skip_reason"] = result.reason
    if result.failures:
        found["failure"] = _failure(result.planned, result.failures[0])
    if result.steps:
        found["steps"] = [_step(result.planned, step) for step in result.steps]
    if len(group.results) > 1:
        found[EXTENSION] = {
            "trials": group.count,
            "passed": group.passed,
            "lower_bound": round(group.lower_bound, 4),
            "p50_ms": _milliseconds(group.percentile(0.5)),
            "p95_ms": _milliseconds(group.percentile(0.95)),
        }
    return found


def _step(planned: PlannedTest, step: StepResult) -> dict[str, Json]:
    found: dict[str, Json] = {
        "id": step.id,
        "result": step.status.value,
        "duration_ms": _milliseconds(step.seconds),
    }
    if step.failures:
        found["failure"] = _failure(planned, step.failures[0])
    more = [_failure(planned, failure) for failure in step.failures[1:]]  # ACTS has one failure for each step
    members: Mapping[str, Json] = {"exchanges": list(step.exchanges), "more_failures": more}
    if additions := {name: value for name, value in members.items() if value}:
        found[EXTENSION] = additions
    return found


def _failure(planned: PlannedTest, failure: Failure) -> dict[str, Json]:
    members: Iterable[tuple[str, Json]] = (
        ("message", failure.message),
        ("step_id", failure.step),
        ("expected", failure.expected),
        ("actual", failure.actual),
        ("assertion_path", failure.path),
    )
    place: dict[str, Json] = {"file": str(planned.file.path), "line": planned.line(failure.step)}
    if failure.exchange:
        place["exchange"] = failure.exchange
    return {**{name: value for name, value in members if value}, EXTENSION: place}


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
