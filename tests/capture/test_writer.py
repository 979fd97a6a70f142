"""The writing thread: how it commits records in batches."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from inspector.capture.file_format import create
from inspector.capture.records import Kind, Record
from inspector.capture.writer import Writer

RECORD = Record(1, 1.0, Kind.FRAME)


def test_a_continuous_flow_of_records_is_committed_in_batches(tmp_path: Path):
    path = tmp_path / "busy.a2a"
    connection = create(path)
    commits: list[str] = []

    def watch(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(statement)
            time.sleep(0.005)  # a slow disk: some records come while others are being committed

    connection.set_trace_callback(watch)
    writer = Writer(connection, path)
    count = 1500
    for seq in range(1, count + 1):
        writer.put((RECORD._replace(seq=seq),))
        time.sleep(0.0004)
    writer.close()
    assert writer.failure is None
    with sqlite3.connect(path) as again:
        assert again.execute("SELECT count(*) FROM record").fetchone() == (count,)
    assert len(commits) < count / 50


def test_commits_of_a_temporary_capture_do_not_wait_for_the_disk(tmp_path: Path):
    for durable, synchronous in ((True, 1), (False, 0)):
        connection = create(tmp_path / f"{durable}.a2a", durable=durable)
        assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        connection.close()
