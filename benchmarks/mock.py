"""Measure the mock agent under load: GetTask over persistent connections, and many streams at once."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measuring import PYTHON, Row, alternate, run, serving

GETS = 8_000
STREAMS = 500


def load(rounds: int, home: Path) -> list[Row]:
    """Measure GetTask calls per second, and 500 streams of 22 events at once, whose pauses add up to a second."""
    errors = {"get": 0, "streams": 0}

    def measure(what: str, count: int) -> float:
        found = run([PYTHON, "-m", "benchmarks.mock_client", url, what, str(count)], home)[-1]
        errors[what] += int(found["errors"])
        return float(found["answered"] / found["seconds"])

    with serving([PYTHON, "-m", "inspector.cli", "mock"], home) as agent:
        url = agent.url
        measure("get", GETS // 10)
        found = alternate(
            rounds, gets=lambda: measure("get", GETS), streams=lambda: STREAMS / measure("streams", STREAMS)
        )
    return [
        Row(
            "GetTask answered by the mock agent",
            f"{found['gets'].text('{:,.0f}', '/s')}, {errors['get']:,} errors",
            budget="at least 2,000/s, no error",
            kept=found["gets"].median >= 2000 and not errors["get"],
        ),
        Row(
            f"{STREAMS} streams of the mock agent at once",
            f"{found['streams'].text(unit=' s')}, {errors['streams']:,} errors",
            budget="no error",
            kept=not errors["streams"],
        ),
    ]
