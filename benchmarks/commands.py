"""Measure whole processes of commands against a local agent, compared with the imports of two libraries."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measuring import PYTHON, ROOT, Row, alternate, environment, serving

_IMPORTS = [PYTHON, "-c", "import httpx, pydantic"]


def load(rounds: int, home: Path) -> list[Row]:
    """Measure `card get`, `send --stream` and `--help` from the start of the process to its exit."""
    with serving([PYTHON, "-m", "inspector.cli", "mock", "--pace", "0"], home) as agent:
        commands = {
            "card": ["card", "get", "-a", agent.url, "-o", "json"],
            "send": ["send", "-a", agent.url, "--text", "hi", "--stream"],
            "help": ["--help"],
        }
        processes = {name: [PYTHON, "-m", "inspector.cli", *words] for name, words in commands.items()}
        measurements = {name: _seconds(argv, home) for name, argv in {**processes, "imports": _IMPORTS}.items()}
        for measure in measurements.values():
            measure()  # the first run compiles
        found = alternate(rounds, **measurements)
    imports = f"import httpx, pydantic {found['imports'].text(unit=' s')}"
    card, send = found["card"].over(found["imports"]), found["send"].over(found["imports"])
    return [
        Row(
            "`card get`, whole process",
            found["card"].text(unit=" s"),
            imports,
            card.text(),
            "at most 2",
            card.median <= 2,
        ),
        Row("`send --stream`, whole process", found["send"].text(unit=" s"), imports, send.text()),
        Row(
            "`--help`, whole process",
            found["help"].text(unit=" s"),
            "",
            "",
            "at most 0.1 s",
            found["help"].median <= 0.1,
        ),
    ]


def _seconds(argv: Sequence[str], home: Path) -> Callable[[], float]:
    def measure() -> float:
        started = time.perf_counter()
        subprocess.run(argv, env=environment(home), cwd=ROOT, stdout=subprocess.DEVNULL, check=True, timeout=60)
        return time.perf_counter() - started

    return measure
