"""Measure `send --stream -o json` as a whole process whose output is a pipe, compared with the official client."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path

from benchmarks.measuring import PYTHON, ROOT, Row, alternate, environment, official_python, run, serving

EVENTS = 20_000
_BUDGET = 2
_WARM = "firehose 200"


def stream(rounds: int, home: Path) -> list[Row]:
    """Measure a stream that is printed, from the first output to the end of the process.

    The official client is measured twice: when it only iterates over the events, and when it prints them, too.
    """
    official = [official_python(), ROOT / "benchmarks" / "official.py"]
    rows = []
    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as firehose:
        url = firehose.url
        for what, how in (("varied", "varied"), ("similar", "each")):
            text = f"firehose {EVENTS} {how}"
            send = [PYTHON, "-m", "inspector", "send", "-a", url, "--text", text, "--stream", "-o", "json"]
            found = alternate(
                rounds,
                ours=_printed(send, home),
                printing=_printed([*official, "--print", url, text], home),
                bare=_iterated([*official, url, _WARM, text], home),
            )
            ratio = found["ours"].over(found["bare"])
            ours = found["ours"].text("{:,.0f}", " events/s")
            rows += [
                Row(
                    f"`send --stream -o json` to a pipe, {EVENTS:,} {what} events, each an HTTP chunk",
                    ours,
                    f"official client, iterating only {found['bare'].text('{:,.0f}', '/s')}",
                    ratio.text(),
                    f"at least {_BUDGET}",
                    ratio.median >= _BUDGET,
                ),
                Row(
                    "the same",
                    ours,
                    f"official client, printing {found['printing'].text('{:,.0f}', '/s')}",
                    found["ours"].over(found["printing"]).text(),
                ),
            ]
    return rows


def _printed(argv: Sequence[str | Path], home: Path) -> Callable[[], float]:
    """Return a function that runs a process, and returns the events per second from its first output to its end."""

    def measure() -> float:
        with subprocess.Popen(argv, env=environment(home), cwd=ROOT, stdout=subprocess.PIPE) as process:
            assert isinstance(process.stdout, BufferedReader)
            lines = process.stdout.readline().count(b"\n")
            started = time.perf_counter()
            while piece := process.stdout.read1():
                lines += piece.count(b"\n")
            process.wait()
            seconds = time.perf_counter() - started
        if process.returncode or lines < EVENTS:
            raise RuntimeError(f"{argv}: exit code {process.returncode}, {lines} events printed, {EVENTS} sent")
        return lines / seconds

    return measure


def _iterated(argv: Sequence[str | Path], home: Path) -> Callable[[], float]:
    """Return a function that runs the official client without output, and returns the events per second."""

    def measure() -> float:
        read = run(argv, home)[-1]
        return float(read["events"] / read["seconds"])

    return measure
