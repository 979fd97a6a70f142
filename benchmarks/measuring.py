"""Processes to measure, and figures: each taken several times, told by its median and its spread."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable


@dataclass(frozen=True)
class Figure:
    """What was measured, in its unit, once a round."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, other: Figure) -> Figure:
        """Divide round by round: both sides of a round met the same machine."""
        return Figure([ours / theirs for ours, theirs in zip(self.values, other.values, strict=True)])

    def text(self, form: str = "{:,.2f}", unit: str = "") -> str:
        low, middle, high = (form.format(value) for value in (min(self.values), self.median, max(self.values)))
        return f"{middle}{unit} ({low} to {high})"


@dataclass(frozen=True)
class Row:
    """One line of the table: what, how much, beside what, the ratio, the budget and whether it is kept."""

    what: str
    measured: str
    beside: str = ""
    ratio: str = ""
    budget: str = ""
    holds: bool | None = None


def alternate(rounds: int, **takes: Callable[[], float]) -> dict[str, Figure]:
    """Take figures in turns, A B A B, so that a disturbance meets all of them."""
    values: dict[str, list[float]] = {name: [] for name in takes}
    for number in range(rounds):
        order = list(takes) if number % 2 == 0 else list(reversed(takes))
        for name in order:
            values[name].append(takes[name]())
    return {name: Figure(found) for name, found in values.items()}


def environment(home: Path) -> Mapping[str, str]:
    """Return the environment of a process that is measured: its own folder, our own code as it is kept, no proxy."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is not compiled each time
    return {**kept, "A2A_INSPECT_HOME": str(home), "PYTHONPATH": str(ROOT)}


def run(argv: Sequence[str | Path], home: Path) -> list[dict[str, Any]]:
    """Run a process to its end and return the JSON objects that it printed."""
    done = subprocess.run(argv, env=environment(home), cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Server:
    """A process that says where it serves, and says the rest when it is told to end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.said = process.stdout.readline().strip()

    def end(self) -> str:
        """Let it end and return what it still had to say."""
        rest, _ = self._process.communicate(timeout=60)
        return rest.strip()


@contextmanager
def serving(argv: Sequence[str | Path], home: Path) -> Iterator[Server]:
    """Run a process that serves until its standard input ends; it is gone on leaving."""
    process = subprocess.Popen(
        argv, env=environment(home), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait()


def table(rows: Sequence[Row]) -> str:
    """Write the rows as a table in Markdown."""
    cells = [("what", "measured", "beside it", "ratio", "budget", "holds")]
    for row in rows:
        verdict = "" if row.holds is None else "yes" if row.holds else "NO"
        cells.append((row.what, row.measured, row.beside, row.ratio, row.budget, verdict))
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
