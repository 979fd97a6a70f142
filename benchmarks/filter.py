"""Measure a capture of many records: the time until it is shown, and until its last record is found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks import tui
from benchmarks.measuring import Figure, Row
from inspector.capture.private_files import remove
from inspector.capture.query import Mistake, Query, parse
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.finding import Finding, Severity

RECORDS = 1_000_000
OPENED = 0.5
FOUND = 0.3
FILTERS = (
    "kind:status",
    "task:ffff",
    "state:failed",
    "finding:error",
    "op:GetTask",
    "size>10k",
    "-kind:artifact -kind:keepalive",
    "gap>2s",
    '"needle"',
)
"""Filters that only the last record matches, so that every record has to be searched."""

STREAM = 1_000
"""The number of records of an exchange."""

_REQUEST = b'{"jsonrpc":"2.0","id":"1","method":"SendStreamingMessage","params":{"message":{"parts":[{"text":"go"}]}}}'
_EVENT = (
    b'data: {"jsonrpc":"2.0","id":"1","result":{"artifactUpdate":{"taskId":"%b",'
    b'"contextId":"1a9f4f64-f766-49ae-abcb-abb4fea4815c","artifact":{"artifactId":"a1","name":"report.md",'
    b'"parts":[{"text":"words %d of a report, "}]},"append":%b}}}\n\n'
)


def record(path: Path, count: int) -> None:
    """Create a capture of `count` records: streams of 1,000 chunks, and a last record that every filter matches."""
    fault = Finding("STREAM-003", Severity.ERROR, "", "seen")
    common: dict[str, Any] = {"operation": "SendStreamingMessage", "context": "1a9f4f64-f766-49ae-abcb-abb4fea4815c"}
    head = {"method": "POST", "url": "http://127.0.0.1/", "headers": [], "dialect": "1.0", "binding": "JSONRPC"}
    with Capture.create(path) as capture:
        while len(capture) < count - 1:
            number, at = len(capture), len(capture) * 0.001
            task = f"{number // STREAM:08x}-f766-49ae-abcb-abb4fea4815c"
            if number % STREAM == 0:
                opened = capture.append(Kind.REQUEST, at, payloads=[(len(_REQUEST), _REQUEST)], meta=head, **common)[0]
            elif number % STREAM == STREAM - 1:
                meta = {"how": "complete", "events": STREAM, "bytes": 0, "seconds": 1.0}
                capture.append(Kind.END, at, exchange=opened.seq, task=task, meta=meta, **common)
                capture.flush()
            else:
                raw = _EVENT % (task.encode(), number, b"true" if number % STREAM > 1 else b"false")
                chunk: dict[str, Any] = {"event": "artifact", "task": task, "label": "report.md"}
                capture.append(Kind.FRAME, at, exchange=opened.seq, payloads=[(len(raw), raw)], **chunk, **common)
        capture.append(
            Kind.BODY,
            count * 0.001 + 9,
            operation="GetTask",
            event="status",
            task="ffff",
            state="TASK_STATE_FAILED",
            payloads=[(20_000, b"a needle")],
            findings=[fault],
        )


def first_hit(capture: Capture, query: Query) -> tuple[float, float]:
    """Return the seconds until the first hit, and those of the longest page."""
    began = before = time.perf_counter()
    longest = 0.0
    for page in capture.search(query):
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
        if page.hits:
            return now - began, longest
    raise RuntimeError(f"{query} has no hit")


def captures(rounds: int, home: Path) -> list[Row]:
    """Measure a capture of many records: opened, on the screen, and searched for its last record."""
    path = home / "many.a2a"
    record(path, RECORDS)
    opened = Figure([_opened(path) for _ in range(rounds)])
    shown = [tui.recording(path) for _ in range(rounds)]
    chosen = Figure([tui.chosen(path) for _ in range(rounds)])
    painted, read = Figure([screen.painted for screen in shown]), Figure([screen.read for screen in shown])
    grown = Figure([screen.growth / 2**20 for screen in shown])
    rows = [
        Row(f"open {RECORDS:,} records", opened.text("{:,.3f}", " s")),
        Row(
            "the same on the screen, from choosing it to its first row",
            chosen.text(unit=" s"),
            f"from the start of the program {painted.text(unit=' s')}",
            "",
            "at most 0.5 s",
            chosen.median <= OPENED,
        ),
        Row("all of it read, from the start of the program", read.text("{:,.1f}", " s")),
        Row("memory that reading it adds", grown.text("{:,.0f}", " MB"), "", "", "at most 150 MB", grown.median <= 150),
    ]
    with Capture.open(path) as capture:
        for line in FILTERS:
            query = parse(line)
            if isinstance(query, Mistake):
                raise TypeError(query.sentence)
            found = [first_hit(capture, query) for _ in range(rounds)]
            figure, longest = Figure([hit for hit, _ in found]), Figure([page for _, page in found])
            rows.append(
                Row(
                    f"`{line}`, to the last record",
                    figure.text(unit=" s"),
                    f"longest page {longest.text('{:.3f}', ' s')}",
                    "",
                    "at most 0.3 s",
                    figure.median <= FOUND,
                )
            )
    remove(path)
    return rows


def _opened(path: Path) -> float:
    began = time.perf_counter()
    Capture.open(path).close()
    return time.perf_counter() - began
