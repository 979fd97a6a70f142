"""Run the measured processes, and format their figures: each is measured several times."""

from __future__ import annotations

import json
import os
import runpy
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
    """A measured quantity: one value per round."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, other: Figure) -> Figure:
        """Divide by another figure round by round, because the speed of the machine varies between rounds."""
        return Figure([ours / theirs for ours, theirs in zip(self.values, other.values, strict=True)])

    def text(self, form: str = "{:,.2f}", unit: str = "") -> str:
        low, middle, high = (form.format(value) for value in (min(self.values), self.median, max(self.values)))
        return f"{middle}{unit} ({low} to {high})"


@dataclass(frozen=True)
class Row:
    """One line of the table: quantity, value, reference, ratio, budget, and whether the budget is kept."""

    what: str
    measured: str
    reference: str = ""
    ratio: str = ""
    budget: str = ""
    kept: bool | None = None


def alternate(rounds: int, **measurements: Callable[[], float]) -> dict[str, Figure]:
    """Repeat measurements alternately (A B B A), so that a disturbance affects all of them."""
    values: dict[str, list[float]] = {name: [] for name in measurements}
    for number in range(rounds):
        order = list(measurements) if number % 2 == 0 else list(reversed(measurements))
        for name in order:
            values[name].append(measurements[name]())
    return {name: Figure(found) for name, found in values.items()}


def environment(home: Path) -> Mapping[str, str]:
    """Return the environment of a measured process: its own folder, the code of this tree, no proxy."""
    variables = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is not compiled each time
    return {**variables, "A2A_INSPECT_HOME": str(home), "PYTHONPATH": str(ROOT)}


def run(argv: Sequence[str | Path], home: Path) -> list[dict[str, Any]]:
    """Run a process to its end and return the JSON objects that it printed."""
    done = subprocess.run(argv, env=environment(home), cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def official_python() -> Path:
    """Return the interpreter with the official SDK; a missing environment is created like those of `make interop`."""
    environments = runpy.run_path(str(ROOT / "tests" / "interop" / "environments.py"))
    if not environments["is_ready"]("v1"):
        print("creating the environment of the official client ...", file=sys.stderr, flush=True)
        environments["create"]("v1")
    return Path(environments["python"]("v1"))


class Server:
    """A process that prints a line when it is ready, and the rest when its standard input ends."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        self.first_line = process.stdout.readline().strip()
        if not self.first_line:
            raise RuntimeError(f"the server ended with exit code {process.wait()}")

    @property
    def url(self) -> str:
        """Return the first line, which is a url for most servers."""
        return self.first_line

    def end(self) -> str:
        """End the process and return the rest of its output."""
        rest, _ = self._process.communicate(timeout=60)
        return rest.strip()


@contextmanager
def serving(argv: Sequence[str | Path], home: Path) -> Iterator[Server]:
    """Run a server process, which is killed at the end of the context."""
    process = subprocess.Popen(
        argv, env=environment(home), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.wait()


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    cells = [("what", "measured", "reference", "ratio", "budget", "kept")]
    for row in rows:
        verdict = "" if row.kept is None else "yes" if row.kept else "NO"
        cells.append((row.what, row.measured, row.reference, row.ratio, row.budget, verdict))
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
