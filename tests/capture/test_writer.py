"""The writing thread: how it commits records in batches."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from inspector.capture.file_format import create
from inspector.capture.records import Kind, Record
from inspector.capture.writer import BATCH, LINGER, Writer

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
    count, began = 1500, time.monotonic()
    for seq in range(1, count + 1):
        writer.put((RECORD._replace(seq=seq),))
        time.sleep(0.0004)
    writer.close()
    seconds = time.monotonic() - began  # on a busy machine much longer than the pauses
    assert writer.failure is None
    with sqlite3.connect(path) as again:
        assert again.execute("SELECT count(*) FROM record").fetchone() == (count,)
    assert len(commits) <= seconds / LINGER + 3


@pytest.mark.parametrize("temporary", [False, True])
def test_closing_a_temporary_capture_does_not_write_the_waiting_records(
    tmp_path: Path, temporary: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.capture.writer.LINGER", 60)  # so that the records wait until the capture is closed
    path = tmp_path / "records.a2a"
    writer = Writer(create(path, temporary=temporary), path, temporary=temporary)
    writer.put((RECORD,))
    assert writer.flush(5)
    writer.put(tuple(RECORD._replace(seq=seq) for seq in range(2, 2 + 3 * BATCH)))
    writer.close()
    assert writer.failure is None
    with sqlite3.connect(path) as again:
        (count,) = again.execute("SELECT count(*) FROM record").fetchone()
    assert count < 1 + 3 * BATCH if temporary else count == 1 + 3 * BATCH


@pytest.mark.usefixtures("waits_for_the_disk")
def test_commits_of_a_temporary_capture_do_not_wait_for_the_disk(tmp_path: Path):
    for temporary, synchronous in ((False, 1), (True, 0)):
        connection = create(tmp_path / f"{temporary}.a2a", temporary=temporary)
        assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        connection.close()
