"""Measure everything, compared with references, and print a table: `python -m benchmarks [--rounds N] [PART ...]`."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import filter as searching
from benchmarks import mock, output, processes, tui
from benchmarks.measuring import PYTHON, ROOT, Figure, Row, alternate, official_python, run, serving, table

EVENTS = 20_000
MANY = 100_000
FEW = 1_000
DELIVERIES = 4_000
MEGABYTE = 2**20
_WARM = "firehose 200"


def paint(rounds: int, home: Path) -> list[Row]:
    """Measure the first paint and the card on the screen, compared with the first paint of a one-widget app."""
    tui.first_paint_of_one_widget(), tui.first_paint_of_demo()  # the first run compiles
    with serving([PYTHON, "-m", "inspector", "mock"], home) as agent:
        found = alternate(
            rounds,
            hello=tui.first_paint_of_one_widget,
            demo=tui.first_paint_of_demo,
            demo_card=tui.card_of_demo,
            card=lambda: tui.card_of_agent(agent.url),
        )
    return [
        _paint_row("first paint of `a2a-inspect demo`", found["demo"], found["hello"], 1.8),
        _paint_row("the demo's card on the screen", found["demo_card"], found["hello"], 3),
        _paint_row("the card of `a2a-inspect URL` on the screen", found["card"], found["hello"], 3),
    ]


def _paint_row(what: str, measured: Figure, hello: Figure, budget: float) -> Row:
    ratio = measured.over(hello)
    reference = f"one-widget Textual app {hello.text(unit=' s')}"
    return Row(what, measured.text(unit=" s"), reference, ratio.text(), f"at most {budget:g}", ratio.median <= budget)


def ingest(rounds: int, home: Path) -> list[Row]:
    """Measure headless ingest, compared with the official client, which only iterates over the events."""
    official = official_python()
    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as firehose:
        url = firehose.url
        readers: Mapping[str, Sequence[str | Path]] = {
            "ours": [PYTHON, "-m", "benchmarks.ingest", url],
            "official": [official, ROOT / "benchmarks" / "official.py", url],
            "bytes": [PYTHON, "-m", "benchmarks.readers", url, "bytes"],
            "json": [PYTHON, "-m", "benchmarks.readers", url, "json"],
        }
        text = f"firehose {EVENTS}"
        varied = alternate(rounds, **{name: _rate(argv, f"{text} varied", home) for name, argv in readers.items()})
        each = alternate(rounds, **{name: _rate(argv, f"{text} each", home) for name, argv in readers.items()})
        blocks = alternate(rounds, **{name: _rate(argv, text, home) for name, argv in readers.items()})
    rows = []
    for what, found, budget in (
        (f"headless ingest of {EVENTS:,} varied events, each an HTTP chunk", varied, 2),
        ("the same of similar chunks, each an HTTP chunk", each, 3),
        ("the same of similar chunks, in blocks of 64 KB", blocks, 4),
    ):
        ratio = found["ours"].over(found["official"])
        reference = f"official client {found['official'].text('{:,.0f}', '/s')}"
        ours = found["ours"].text("{:,.0f}", " events/s")
        rows.append(Row(what, ours, reference, ratio.text(), f"at least {budget}", ratio.median >= budget))
    rows.append(Row("httpx reading bytes alone", blocks["bytes"].text("{:,.0f}", " events/s")))
    rows.append(Row("httpx-sse and json.loads", blocks["json"].text("{:,.0f}", " events/s")))
    return rows


def _rate(argv: Sequence[str | Path], text: str, home: Path) -> Callable[[], float]:
    """Return a function that measures a reader in events per second, after a small stream as a warm-up."""

    def measure() -> float:
        read = run([*argv, _WARM, text], home)[-1]
        if read["events"] < EVENTS:
            raise RuntimeError(f"{argv}: {read['events']} events received, {EVENTS} sent")
        return float(read["events"] / read["seconds"])

    return measure


def stream(rounds: int, home: Path) -> list[Row]:
    """Measure a stream on the screen, compared with headless ingest of the same stream."""
    growth: dict[str, list[int]] = {"shown": [], "headless": []}

    def shown(events: int) -> float:
        found = tui.stream(url, events)
        if events == MANY:
            growth["shown"].append(found.growth)
        return found.seconds

    def headless(events: int) -> float:
        found = run([PYTHON, "-m", "benchmarks.ingest", url, _WARM, f"firehose {events}"], home)[-1]
        if events == MANY:
            growth["headless"].append(int(found["growth"]))
        return float(found["seconds"])

    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as firehose:
        url = firehose.url
        many = alternate(rounds, shown=lambda: shown(MANY), headless=lambda: headless(MANY))
        some = alternate(rounds, shown=lambda: shown(EVENTS), headless=lambda: headless(EVENTS))
        each = alternate(rounds, many=lambda: headless(MANY) / MANY * 1e6, few=lambda: headless(FEW) / FEW * 1e6)
    growing = each["many"].over(each["few"])
    ratio = many["shown"].over(many["headless"])
    grown = {name: Figure([size / MEGABYTE for size in values]) for name, values in growth.items()}
    return [
        Row(
            f"{MANY:,} events on the screen to the last row",
            many["shown"].text(unit=" s"),
            f"headless {many['headless'].text(unit=' s')}",
            ratio.text(),
            "at most 1.5",
            ratio.median <= 1.5,
        ),
        Row(
            f"{EVENTS:,} events on the screen to the last row",
            some["shown"].text(unit=" s"),
            f"headless {some['headless'].text(unit=' s')}",
            some["shown"].over(some["headless"]).text(),
        ),
        Row(
            f"memory that {MANY:,} events add at most",
            grown["shown"].text("{:,.0f}", " MB"),
            f"headless {grown['headless'].text('{:,.0f}', ' MB')}",
            "",
            "at most 60 MB",
            grown["shown"].median <= 60,
        ),
        Row(
            f"time per event in a stream of {MANY:,}, headless",
            each["many"].text("{:,.0f}", " µs"),
            f"in a stream of {FEW:,} {each['few'].text('{:,.0f}', ' µs')}",
            growing.text(),
            "at most 1.5",
            growing.median <= 1.5,
        ),
    ]


def keys(rounds: int, home: Path) -> list[Row]:
    """Measure the response to keys while a stream runs."""
    idle: list[float] = []
    busy: list[float] = []
    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as firehose:
        for _ in range(rounds):
            while_busy, while_idle = tui.keys(firehose.url, MANY)
            busy += while_busy
            idle += while_idle
    late = _quantile(busy, 0.99)
    return [
        Row(
            f"key press to letter while {MANY:,} events stream",
            f"p50 {_milliseconds(busy, 0.5)}, p99 {_milliseconds(busy, 0.99)} ({len(busy)} keys)",
            f"idle: p50 {_milliseconds(idle, 0.5)}, p99 {_milliseconds(idle, 0.99)}",
            "",
            "p99 at most 60 ms",
            late <= 0.06,
        )
    ]


def _quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[math.ceil(part * len(values)) - 1]


def _milliseconds(values: Sequence[float], part: float) -> str:
    return f"{_quantile(values, part) * 1000:.0f} ms"


def webhooks(rounds: int, home: Path) -> list[Row]:
    """Measure webhook deliveries, judged and recorded, compared with an aiohttp handler that only reads the body."""
    lost = 0

    def deliveries(how: str) -> float:
        nonlocal lost
        with serving([PYTHON, "-m", "benchmarks.receivers", how], home) as receiver:
            webhook = json.loads(receiver.first_line)
            sender = [PYTHON, "-m", "benchmarks.sender", webhook["url"], webhook["token"], str(DELIVERIES)]
            posted = run(sender, home)[-1]
            lost += DELIVERIES - int(receiver.end())
            return float(posted["accepted"] / posted["seconds"])

    found = alternate(rounds, ours=lambda: deliveries("inspector"), bare=lambda: deliveries("bare"))
    ratio = found["ours"].over(found["bare"])
    return [
        Row(
            "webhook deliveries accepted and recorded",
            f"{found['ours'].text('{:,.0f}', '/s')}, {lost:,} lost",
            f"bare aiohttp handler {found['bare'].text('{:,.0f}', '/s')}",
            ratio.text(),
            "at least 0.4, none lost",
            ratio.median >= 0.4 and not lost,
        ),
        *_shown(rounds, home, found["bare"]),
    ]


def _shown(rounds: int, home: Path, bare: Figure) -> list[Row]:
    """Measure webhook deliveries on the screen until the row of the last one, and keys pressed meanwhile."""
    rates: list[float] = []
    busy: list[float] = []
    idle: list[float] = []
    with serving([PYTHON, "-m", "benchmarks.firehose"], home) as firehose:
        for _ in range(rounds):
            rates.append(DELIVERIES / tui.deliveries(firehose.url, DELIVERIES, helping=False).seconds)
            pressed = tui.deliveries(firehose.url, DELIVERIES, helping=True)
            busy += pressed.busy
            idle += pressed.idle
    rate = Figure(rates)
    ratio = rate.over(bare)
    return [
        Row(
            f"the same, {DELIVERIES:,} of them on the screen to the last row",
            rate.text("{:,.0f}", "/s"),
            f"bare aiohttp handler {bare.text('{:,.0f}', '/s')}",
            ratio.text(),
            "at least 0.3",
            ratio.median >= 0.3,
        ),
        Row(
            "key press to help meanwhile",
            f"p50 {_milliseconds(busy, 0.5)}, p99 {_milliseconds(busy, 0.99)} ({len(busy)} keys)",
            f"idle: p50 {_milliseconds(idle, 0.5)}, p99 {_milliseconds(idle, 0.99)}",
            "",
            "p99 at most 100 ms",
            _quantile(busy, 0.99) <= 0.1,
        ),
    ]


PARTS = {
    "paint": (paint, 9),
    "ingest": (ingest, 5),
    "output": (output.stream, 5),
    "processes": (processes.commands, 9),
    "stream": (stream, 5),
    "keys": (keys, 4),
    "captures": (searching.captures, 5),
    "webhooks": (webhooks, 5),
    "mock": (mock.load, 3),
}
"""The measurements, each with its default number of rounds."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, which shows whether each budget is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"one of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, help="how many times to repeat each measurement")
    given = parser.parse_args(argv)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    started, load = time.perf_counter(), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        for name in given.parts or PARTS:
            measure, rounds = PARTS[name]
            print(f"{name} ...", file=sys.stderr, flush=True)
            rows += measure(given.rounds or rounds, Path(folder))
    print(f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {platform.python_version()}; ")
    print(f"load {load:.1f} before; medians of several rounds, with minimum and maximum in brackets.\n")
    print(table(rows))
    print(f"\n{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
