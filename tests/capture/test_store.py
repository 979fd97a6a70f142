"""Captures: appended records can be read at once, are written to the file, and survive crashes and other errors."""

from __future__ import annotations

import math
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from inspector.capture import file_format, store
from inspector.capture.private_files import CaptureError, MissingRecordError
from inspector.capture.query import parse
from inspector.capture.records import Kind, Record
from inspector.capture.store import RECENT_COUNT, Capture
from inspector.capture.writer import BATCH
from inspector.findings.finding import Finding, Severity

FINDING = Finding("STREAM-003", Severity.ERROR, "/result/status", 'state "done"')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.a2a"


@pytest.fixture
def capture(path: Path):
    with Capture.create(path) as capture:
        yield capture


def fill(capture: Capture, count: int, **fields) -> None:
    for number in range(count):
        capture.append(Kind.FRAME, 1.0 + number, payloads=[(0, b"frame %d" % number)], **fields)


def test_a_record_can_be_read_as_soon_as_it_is_appended(capture: Capture) -> None:
    record = capture.append(
        Kind.FRAME,
        12.5,
        exchange=3,
        operation="SendStreamingMessage",
        event="status",
        task="t-1",
        context="c-1",
        state="TASK_STATE_WORKING",
        label="working",
        payloads=[(7, b"\x00\xff{}")],
        meta={"event": "message", "ids": [1, 2]},
        findings=[FINDING],
    )[0]
    assert record == Record(
        1,
        12.5,
        Kind.FRAME,
        3,
        "SendStreamingMessage",
        "status",
        "t-1",
        "c-1",
        "TASK_STATE_WORKING",
        "working",
        7,
        b"\x00\xff{}",
        {"event": "message", "ids": [1, 2]},
        (FINDING,),
    )
    assert len(capture) == 1
    assert capture.get(1) is record
    assert capture.slice(1, 1) == capture.select() == [record]


def test_a_record_is_read_from_the_file_unchanged(capture: Capture, path: Path) -> None:
    full = capture.append(
        Kind.DELIVERY,
        1.25,
        exchange=9,
        task="t",
        label="näh 中 😀",
        payloads=[(0, bytes(range(256)))],
        meta={"a": None},
        findings=[FINDING],
    )[0]
    bare = capture.append(Kind.KEEPALIVE, 2.0)[0]
    capture.close()
    with Capture.open(path) as opened:
        assert opened.slice(1, 2) == [full, bare]
        assert type(opened.get(1).kind) is Kind
        assert type(opened.get(1).findings[0].severity) is Severity


def test_seq_counts_from_one_without_gaps_and_time_never_decreases(capture: Capture) -> None:
    times = [capture.append(Kind.NOTE, at)[0].at for at in (5.0, 4.0, math.nan, 5.5, -1.0)]
    assert times == [5.0, 5.0, 5.0, 5.5, 5.5]
    assert [record.seq for record in capture.slice(1, 5)] == [1, 2, 3, 4, 5]


def test_records_of_one_batch_differ_only_in_number_bytes_and_size(capture: Capture, path: Path) -> None:
    first, *others = capture.append(
        Kind.FRAME,
        2.0,
        exchange=3,
        operation="o",
        event="artifact",
        task="t",
        context="c",
        label="l",
        payloads=[(1, b"x"), (9, b"more"), (0, b"")],
    )
    assert others == [first._replace(seq=2, size=9, raw=b"more"), first._replace(seq=3, size=0, raw=b"")]
    assert capture.slice(2, 3) == others
    capture.close()
    with Capture.open(path) as reopened:
        assert reopened.slice(2, 3) == others
        assert len(reopened) == 3
    with pytest.raises(CaptureError, match="closed"):
        capture.append(Kind.NOTE, 6.0)


def test_a_request_starts_an_exchange_unless_it_belongs_to_one(capture: Capture) -> None:
    capture.append(Kind.NOTE, 1.0)
    assert capture.append(Kind.REQUEST, 1.0)[0].exchange == 2
    assert capture.append(Kind.RESPONSE, 1.0, exchange=2)[0].exchange == 2
    assert capture.append(Kind.REQUEST, 1.0, exchange=2)[0].exchange == 2
    assert capture.append(Kind.NOTE, 1.0)[0].exchange == 0


def test_text_that_utf8_cannot_encode_is_stored(capture: Capture, path: Path) -> None:
    plain = capture.append(Kind.FRAME, 1.0, label="plain")[0]
    odd = capture.append(
        Kind.FRAME,
        1.0,
        operation="\udc80",
        event="e\ud800",
        task="\ud800\udc00 \udfff",
        context="\ud800",
        state="\udfff",
        label="a\x00b\ud83d",
        meta={"\ud800": "\udc00"},
        findings=[Finding("X-1", Severity.HINT, "/\ud800", "\udfff")],
    )[0]
    assert capture.flush(10)
    assert capture.failure is None
    capture.close()
    with Capture.open(path) as opened:
        assert opened.slice(1, 2) == [plain, odd]
        assert opened.select(task=odd.task) == [odd]


@pytest.mark.parametrize(
    "value", [1 << 20_000, {1, 2}, b"bytes", Path("x"), math.inf], ids=lambda value: type(value).__name__
)
def test_meta_that_json_cannot_represent_does_not_stop_the_writer(capture: Capture, path: Path, value: object) -> None:
    capture.append(Kind.NOTE, 1.0, label="kept", meta={"value": value, "deep": {}})
    assert capture.flush(10)
    capture.close()
    with Capture.open(path) as opened:
        assert opened.get(1).label == "kept"
        assert opened.get(1).meta.keys() & {"value", "unwritten"}


def test_meta_nested_too_deeply_does_not_stop_the_writer(capture: Capture, path: Path) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    capture.append(Kind.NOTE, 1.0, label="kept", meta={"deep": deep})
    assert capture.flush(10)
    capture.close()
    with Capture.open(path) as opened:
        assert opened.get(1).label == "kept"
        assert "RecursionError" in opened.get(1).meta["unwritten"]


def test_old_records_from_the_file_equal_new_records_from_memory(capture: Capture) -> None:
    count = 3 * RECENT_COUNT
    fill(capture, count)
    assert capture.flush(10)
    middle = count - RECENT_COUNT
    for first, last in ((1, 5), (middle - 50, middle + 50), (count - 5, count), (-7, 3), (count - 1, count + 9)):
        expected = list(range(max(first, 1), min(last, count) + 1))
        assert [record.seq for record in capture.slice(first, last)] == expected
    assert capture.get(1).raw == b"frame 0"
    assert [record.seq for record in capture.slice(3, 60)] == list(range(3, 61))  # partly read before
    assert capture.slice(9, 8) == []
    assert [record.seq for record in capture.slice(1, count)] == list(range(1, count + 1))


@pytest.mark.parametrize("seq", [0, -1, 2, 10**12])
def test_a_missing_record_is_an_error_with_its_number(capture: Capture, seq: int) -> None:
    capture.append(Kind.NOTE, 1.0)
    with pytest.raises(MissingRecordError):
        capture.get(seq)


@pytest.fixture(scope="module", params=["live", "reopened"])
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("mixed") / "mixed.a2a"
    kinds = list(Kind)
    with Capture.create(path) as capture:
        for number in range(500):
            kind = kinds[number * 7 % 11 % len(kinds)]
            capture.append(kind, 1.0, exchange=number % 5, task=("", "t-1", "t-2")[number % 3])
        if request.param == "live":
            yield capture
    if request.param == "reopened":
        with Capture.open(path) as opened:
            yield opened


@pytest.mark.parametrize("kinds", [None, {Kind.END}, {Kind.FRAME, Kind.DELIVERY}, set(Kind), set()])
@pytest.mark.parametrize("exchange", [None, 0, 2, 77])
@pytest.mark.parametrize("task", [None, "", "t-1", "nobody"])
def test_select_finds_the_same_as_a_plain_search(mixed: Capture, kinds, exchange, task) -> None:
    expected = [
        record
        for record in mixed.slice(1, 500)
        if (kinds is None or record.kind in kinds)
        and (exchange is None or record.exchange == exchange)
        and (task is None or record.task == task)
    ]
    assert mixed.select(kinds=kinds, exchange=exchange, task=task) == expected
    for after, limit in ((0, 3), (250, None), (250, 2), (499, 5), (600, 5), (0, 0)):
        behind = [record for record in expected if record.seq > after]
        assert mixed.select(kinds=kinds, exchange=exchange, task=task, after=after, limit=limit) == behind[:limit]
    for after, through in ((0, 250), (100, 499), (250, 250), (0, 0), (400, 9999)):
        between = [record for record in expected if after < record.seq <= through]
        assert mixed.select(kinds=kinds, exchange=exchange, task=task, after=after, through=through) == between


def test_select_joins_committed_and_uncommitted_records(capture: Capture, path: Path) -> None:
    for number in range(3 * RECENT_COUNT):
        capture.append(Kind.END if number % 1000 == 0 else Kind.FRAME, 1.0, exchange=1, task="t")
    assert capture.flush(10)
    with Locked(path):
        late = capture.append(Kind.END, 2.0, exchange=1, task="t")[0]
        assert capture.backlog == 1
        ends = [1, 1001, 2001, 3001, 4001, 5001, 6001, late.seq]
        assert [record.seq for record in capture.select(kinds={Kind.END})] == ends
        assert [record.seq for record in capture.select(kinds={Kind.END}, exchange=1, limit=3)] == ends[:3]
        assert [record.seq for record in capture.select(kinds={Kind.END}, task="t", after=2001, limit=9)] == ends[3:]
        assert capture.select(after=late.seq - 1) == [late]


class Locked:
    """A lock of another connection on the capture, so that its own writer has to wait."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_: object) -> None:
        self.connection.execute("ROLLBACK")
        self.connection.close()


def test_appending_does_not_wait_for_the_disk_and_the_backlog_is_counted(capture: Capture, path: Path) -> None:
    with Locked(path):
        fill(capture, 3 * BATCH)
        assert capture.backlog == 3 * BATCH
        assert not capture.flush(0.05)
        assert capture.get(1).raw == b"frame 0"
        assert len(capture.slice(1, 3 * BATCH)) == 3 * BATCH
    assert capture.flush(10)
    assert capture.backlog == 0
    assert capture.failure is None


def test_appended_records_are_written_automatically(capture: Capture, path: Path) -> None:
    capture.append(Kind.NOTE, 1.0)
    wait_until(lambda: capture.backlog == 0)
    with Capture.open(path) as other:
        assert len(other) == 1
        capture.append(Kind.NOTE, 1.0)
        capture.flush(10)
        assert len(other) == 1, "an opened capture is as it was when it was opened"


def test_a_capture_can_be_opened_at_any_moment_of_its_writing(capture: Capture, path: Path) -> None:
    capture.append(Kind.NOTE, 1.0)
    capture.flush(10)
    ends = threading.Event()

    def write() -> None:
        while not ends.is_set():
            capture.append(Kind.NOTE, 1.0)
            capture.flush(10)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            with Capture.open(path) as other:
                assert len(other)
    finally:
        ends.set()
        writer.join()


def wait_until(condition, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


def test_a_closed_capture_is_one_file_and_refuses_records(capture: Capture, path: Path) -> None:
    fill(capture, 10)
    capture.close()
    capture.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    with pytest.raises(CaptureError, match="is closed"):
        capture.append(Kind.NOTE, 1.0)


def test_a_program_without_close_loses_nothing_and_exits(path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from inspector.capture.store import Capture; from inspector.capture.records import Kind\n"
        "capture = Capture.create(Path(sys.argv[1]))\n"
        "for _ in range(5000): capture.append(Kind.NOTE, 1.0)\n"
        "raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, path], check=False, timeout=20).returncode == 7
    with Capture.open(path) as opened:
        assert len(opened) == 5000


def test_memory_is_bounded(capture: Capture) -> None:
    def append_and_measure(count: int) -> int:
        for _ in range(count):
            capture.append(Kind.FRAME, 1.0, task="t", label="step", payloads=[(0, os.urandom(500))])
            if capture.backlog > BATCH:
                capture.flush(10)
        capture.flush(10)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = append_and_measure(2 * RECENT_COUNT)
        assert append_and_measure(6_000) - before < 1_000_000
        for _ in range(60):
            capture.append(Kind.BODY, 1.0, payloads=[(0, bytes(2**20))])
        capture.flush(10)
        assert tracemalloc.get_traced_memory()[0] - before < 40 * 2**20
        for first in range(1, len(capture), 40):  # reading all of it again does not keep all of it
            capture.slice(first, first + 39)
        assert tracemalloc.get_traced_memory()[0] - before < 56 * 2**20
    finally:
        tracemalloc.stop()


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        tmp_path.chmod(0o755)
        path = tmp_path / "made" / "too" / "session.a2a"
        with Capture.create(path) as capture:
            capture.append(Kind.NOTE, 1.0)
            capture.flush(10)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert modes == {"session.a2a": 0o600, "session.a2a-wal": 0o600, "session.a2a-shm": 0o600}
        folders = [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent, tmp_path)]
        assert folders == [0o700, 0o700, 0o755]
    finally:
        os.umask(old)


def test_an_empty_file_is_used_and_made_private(path: Path) -> None:
    path.touch(0o644)
    with Capture.create(path) as capture:
        capture.append(Kind.NOTE, 1.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Capture.open(path) as opened:
        assert len(opened) == 1


def test_a_deleted_file_is_noticed_and_the_lost_records_are_reported(capture: Capture, path: Path) -> None:
    fill(capture, 3)
    assert capture.flush(10)
    path.unlink()
    fill(capture, 2)
    assert not capture.flush(10)
    assert "was deleted" in capture.failure
    assert capture.backlog == 0
    fill(capture, 2 * RECENT_COUNT)
    newest = len(capture)
    assert newest == 5 + 2 * RECENT_COUNT
    assert capture.get(newest).seq == newest
    assert f"Records 4 to {newest - RECENT_COUNT} are lost." in capture.failure
    assert f"Records {newest - RECENT_COUNT + 1} to {newest} are only in memory" in capture.failure
    with pytest.raises(MissingRecordError):
        capture.get(7)
    capture.close()
    assert "was deleted" in capture.failure


def test_records_in_memory_are_found_after_other_records_are_lost(capture: Capture, path: Path) -> None:
    path.unlink()
    fill(capture, 1)
    assert not capture.flush(10)
    fill(capture, 2 * RECENT_COUNT, label="later")
    oldest = len(capture) - RECENT_COUNT + 1
    for line, first in (("later", oldest), ("at>=1000s", oldest), ("gap>0", oldest + 1)):
        pages = list(capture.search(parse(line)))
        hits = [seq for page in pages for seq in page.hits if seq >= oldest]
        assert hits == list(range(first, len(capture) + 1))
        assert pages[-1].through == len(capture)


def test_a_label_with_a_nul_is_read_completely(path: Path) -> None:
    labels = ["before\0after", "x" * 99_999 + "\0", "y" * 200_000, "\ud83d\0"]
    with Capture.create(path) as capture:
        for label in labels:
            capture.append(Kind.NOTE, 1.0, label=label)
    with Capture.open(path) as opened:
        assert [record.label for record in opened.select()] == [*labels[:2], "y" * 100_000, labels[3]]
        assert [len(page.hits) for page in opened.search(parse('"after"'))] == [1]


def test_a_file_deleted_after_the_last_record_is_noticed_on_closing(capture: Capture, path: Path) -> None:
    fill(capture, 3)
    assert capture.flush(10)
    path.unlink()
    capture.close()
    assert "was deleted" in capture.failure


APPEND_FOREVER = """
import sys, time
from pathlib import Path
from inspector.capture.store import Capture
from inspector.capture.records import Kind

path, pause = Path(sys.argv[1]), float(sys.argv[2])
with Capture.create(path) as capture:
    reported = 0.0
    while True:
        now = time.monotonic()
        payloads = [(0, b"%d" % (len(capture) + 1))]
        [record] = capture.append(Kind.FRAME, now, exchange=1, payloads=payloads, label="x" * 300)
        if now - reported > 0.02:
            reported = now
            print(record.seq, now, flush=True)
        while capture.backlog > 4_000:
            time.sleep(0.001)
        if pause:
            time.sleep(pause)
"""


@pytest.mark.parametrize("pause", [0.0, 0.02], ids=["as fast as it can", "now and then"])
def test_a_killed_program_leaves_a_readable_capture_with_all_but_the_last_moment(path: Path, pause: float) -> None:
    command = [sys.executable, "-c", APPEND_FOREVER, str(path), str(pause)]
    seen: list[tuple[int, float]] = []
    before, ran = math.inf, 0.0  # `ran` does not count the times in which the machine stalled, and nothing was written
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        for line in program.stdout:
            seq, now = line.split()
            ran += max(0.0, min(float(now) - before, 0.1))
            before = float(now)
            seen.append((int(seq), ran))
            if ran > 1.0:
                break
        program.kill()
    due = max(seq for seq, at in seen if at < ran - 0.5)
    with Capture.open(path) as opened:
        count = len(opened)
        assert count >= due
        expected = b"".join(b"%d" % number for number in range(1, count + 1))
        assert b"".join(record.raw for record in opened.slice(1, count)) == expected
    with pytest.raises(CaptureError, match="exists already"):
        Capture.create(path)


def test_the_package_is_cheap_to_import() -> None:
    script = (
        "import sys, inspector.capture.store, inspector.capture.recent_agents, inspector.capture.redaction\n"
        "print([name for name in ('pydantic', 'asyncio', 'textual', 'httpx', 'aiohttp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_huge_record_of_a_changed_file_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_format, "LARGEST_PAYLOAD", 1000)
    monkeypatch.setattr(store, "READ_COLUMNS", file_format.READ_COLUMNS.replace(f"{64 * 1024 * 1024}", "1000"))
    path = tmp_path / "c.a2a"
    with Capture.create(path) as capture:
        for _ in range(3):
            capture.append(Kind.NOTE, 1.0, label="note", payloads=[(4, b"tiny")])
    with sqlite3.connect(path) as database:
        database.execute("UPDATE record SET raw = zeroblob(5000), size = 5000 WHERE seq = 2")
    with Capture.open(path) as capture:
        for records in (capture.slice(1, 3), capture.select(), capture.select(kinds={Kind.NOTE})):
            assert [len(record.raw) for record in records] == [4, 1000, 4]
            assert [record.label for record in records] == [
                *("note", "note (only the first 1,000 bytes are shown)", "note")
            ]


def test_a_journal_that_was_left_behind_does_not_make_a_capture_unreadable(tmp_path: Path):
    path = tmp_path / "c.a2a"
    with Capture.create(path) as capture:
        capture.append(Kind.NOTE, 1.0, label="note", payloads=[(0, b"")])
    header = bytes.fromhex("d9d505f920a163d7") + (1).to_bytes(4, "big") * 4 + (16384).to_bytes(4, "big")
    path.with_name("c.a2a-journal").write_bytes(header.ljust(512, b"\0") + b"x" * 16392)
    with Capture.open(path) as capture:
        assert [record.label for record in capture.select()] == ["note"]


def test_sizes_and_exchanges_are_read_without_the_records(tmp_path: Path) -> None:
    """Most of the records are no longer in memory; some of the others are."""
    with Capture.create(tmp_path / "one.a2a") as capture:
        first, second = (capture.append(Kind.REQUEST, 1.0, task="t", payloads=[(1, b"a")])[0].seq for _ in range(2))
        for number in range(3 * RECENT_COUNT):
            owner, task = (first, "t") if number % 3 else (second, "u")
            capture.append(Kind.FRAME, 2.0, exchange=owner, task=task, payloads=[(number, b"b")])
        capture.append(Kind.DELIVERY, 3.0, task="u")
        for exchange in (first, second):
            assert capture.sizes(exchange) == [(each.seq, each.size) for each in capture.select(exchange=exchange)]
        assert capture.exchanges_of("t") == [first, second]
        assert capture.exchanges_of("u") == [second]
        assert capture.sizes(7) == capture.exchanges_of("unknown") == []
