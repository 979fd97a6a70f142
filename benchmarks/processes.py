"""Measure short commands as whole processes, from their start to their end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measuring import PYTHON, ROOT, Figure, Row, alternate, environment, serving

_HELP_BUDGET = 0.1
_COMPLETION_BUDGET = 0.15
_CARD_BUDGET = 2


def commands(rounds: int, home: Path) -> list[Row]:
    """Measure `card get`, compared with the import of its largest libraries, `--version`, `--help` and completions."""
    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as agent:
        card = [PYTHON, "-m", "inspector", "card", "get", "-a", agent.url, "-o", "json"]
        measurements = {
            "card": _seconds(card, home),
            "imports": _seconds([PYTHON, "-c", "import httpx, pydantic"], home),
            "--version": _seconds([PYTHON, "-m", "inspector", "--version"], home),
            "--help": _seconds([PYTHON, "-m", "inspector", "--help"], home),
            "complete": _seconds([PYTHON, "-m", "inspector", "complete", "--", "send", "-a", ""], home),
            "python": _seconds([PYTHON, "-c", "pass"], home),
        }
        for measure in measurements.values():
            measure()  # the first run compiles
        found = alternate(rounds, **measurements)
    return [
        _card(found),
        _whole(found, "--version", "`--version`", _HELP_BUDGET),
        _whole(found, "--help", "`--help`", _HELP_BUDGET),
        _whole(found, "complete", "a completion of an agent", _COMPLETION_BUDGET),
    ]


def _card(found: Mapping[str, Figure]) -> Row:
    ratio = found["card"].over(found["imports"])
    return Row(
        "`card get -o json` of a local agent, whole process",
        found["card"].text(unit=" s"),
        f"`import httpx, pydantic` {found['imports'].text(unit=' s')}",
        ratio.text(),
        f"at most {_CARD_BUDGET}",
        ratio.median <= _CARD_BUDGET,
    )


def _whole(found: Mapping[str, Figure], name: str, what: str, budget: float) -> Row:
    """Compare a process with the start of Python."""
    return Row(
        f"{what}, whole process",
        found[name].text("{:.3f}", " s"),
        f"python alone {found['python'].text('{:.3f}', ' s')}",
        found[name].over(found["python"]).text(),
        f"at most {budget} s",
        found[name].median <= budget,
    )


def _seconds(argv: Sequence[str], home: Path) -> Callable[[], float]:
    """Return a function that runs a process, and returns how long it took; raises `CalledProcessError`."""

    def measure() -> float:
        started = time.perf_counter()
        subprocess.run(argv, env=environment(home), cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=60)
        return time.perf_counter() - started

    return measure
