"""Open a capture of many records and look for one hit, the last of all: `python -m benchmarks.filter [RECORDS]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Figure, Row, table
from inspector.capture.query import Mistake, Query, parse
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.finding import Finding, Severity

RECORDS = 1_000_000
ROUNDS = 5
OPENED = 1.0
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
"""Filters that only the last record answers, so that every other one has to be passed over."""

_EVENT = (
    b'data: {"jsonrpc":"2.0","id":"1","result":{"artifactUpdate":{"taskId":"59f8f6bc-f766-49ae-abcb-abb4fea4815c",'
    b'"contextId":"1a9f4f64-f766-49ae-abcb-abb4fea4815c","artifact":{"artifactId":"a1","name":"report.md",'
    b'"parts":[{"text":"some words of a report"}]},"append":true}}}\n\n'
)


def record(path: Path, count: int) -> None:
    """Make a capture of so many records."""
    fault = Finding("STREAM-003", Severity.ERROR, "", "seen")
    with Capture.create(path) as capture:
        for number in range(count - 1):
            capture.append(
                Kind.FRAME,
                number * 0.001,
                exchange=number // 1000 * 1000 + 1,
                operation="SendStreamingMessage",
                event="artifact",
                task=f"{number // 1000:08x}-f766-49ae-abcb-abb4fea4815c",
                context="1a9f4f64-f766-49ae-abcb-abb4fea4815c",
                label="report.md",
                size=len(_EVENT),
                raw=_EVENT,
            )
            if number % 5_000 == 0:
                capture.flush()
        capture.append(
            Kind.BODY,
            count * 0.001 + 9,
            operation="GetTask",
            event="status",
            task="ffff",
            state="TASK_STATE_FAILED",
            size=20_000,
            raw=b"a needle",
            findings=[fault],
        )


def first_hit(capture: Capture, query: Query) -> tuple[float, float]:
    """Return the seconds to the first hit, and those that the longest page took."""
    began = before = time.perf_counter()
    longest = 0.0
    for page in capture.search(query):
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
        if page.hits:
            return now - began, longest
    raise RuntimeError(f"{query} has no hit")


def main(count: int) -> int:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        path = Path(folder) / "session.a2a"
        record(path, count)
        opened = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            Capture.open(path).close()
            opened.append(time.perf_counter() - began)
        figure = Figure(opened)
        rows.append(
            Row(f"open {count:,} records", figure.text(unit=" s"), "", "", "at most 1 s", figure.median <= OPENED)
        )
        with Capture.open(path) as capture:
            for line in FILTERS:
                query = parse(line)
                if isinstance(query, Mistake):
                    raise TypeError(query.sentence)
                found = [first_hit(capture, query) for _ in range(ROUNDS)]
                figure, longest = Figure([hit for hit, _ in found]), Figure([page for _, page in found])
                rows.append(
                    Row(
                        f"{line}, to the last record",
                        figure.text(unit=" s"),
                        f"longest page {longest.text('{:.3f}', ' s')}",
                        "",
                        "at most 0.3 s",
                        figure.median <= FOUND,
                    )
                )
    print(table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS))
