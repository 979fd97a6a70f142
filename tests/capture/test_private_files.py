"""Errors of captures: files that cannot be created, invalid or untrusted files; a message names the reason."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from inspector.capture.file_format import VERSION
from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.text.file_kind import APPLICATION_ID


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A valid capture of 3,000 records, closed."""
    path = tmp_path / "valid.a2a"
    with Capture.create(path) as capture:
        for number in range(3_000):
            capture.append(Kind.FRAME, 1.0, exchange=1, task="t", payloads=[(0, b"%d" % number)])
    return path


def alter(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


# Making


def test_an_existing_file_is_not_changed(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(CaptureError, match="exists already"):
        Capture.create(path)
    assert path.read_bytes() == before


def test_a_capture_that_is_being_written_cannot_be_created_again(tmp_path: Path) -> None:
    with Capture.create(tmp_path / "new.a2a") as capture:
        with pytest.raises(CaptureError, match="exists already"):
            Capture.create(tmp_path / "new.a2a")
        capture.append(Kind.NOTE, 1.0)
        assert capture.flush(10)


@pytest.mark.parametrize("target", ["existing", "missing"])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "existing").touch()
    link = tmp_path / "link.a2a"
    link.symlink_to(tmp_path / target)
    with pytest.raises(CaptureError, match="symbolic link"):
        Capture.create(link)
    assert (tmp_path / "existing").read_bytes() == b""
    assert not (tmp_path / "missing").exists()


def test_remaining_files_of_another_database_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "new.a2a-wal").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CaptureError, match="its SQLite files remain"):
        Capture.create(tmp_path / "new.a2a")
    assert [file.name for file in tmp_path.iterdir()] == ["new.a2a-wal"]


def test_a_folder_and_a_path_below_a_file_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="is not a file"):
        Capture.create(tmp_path)
    with pytest.raises(CaptureError, match=r"a folder in its path is a file|Cannot create"):
        Capture.create(path / "below.a2a")
    with pytest.raises(CaptureError, match="name is too long"):
        Capture.create(tmp_path / ("x" * 300))


IN_A_SCRIPT = """
import json, os, resource, sys
import urllib.parse  # from Python 3.13 on, pathlib imports it later: the user of the script may not read it then
from pathlib import Path
from inspector.capture.private_files import CaptureError
from inspector.capture.store import Capture
from inspector.capture.records import Kind

path = Path(sys.argv[1])
def sentence(make):
    try:
        make().close()
    except CaptureError as error:
        return str(error)
"""


def run_script(script: str, *arguments: object, prefix: tuple[str, ...] = ()) -> dict[str, object]:
    command = [*prefix, sys.executable, "-c", IN_A_SCRIPT + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_folder_without_write_permission_is_reported_and_its_captures_can_be_read() -> None:
    folder = Path(tempfile.mkdtemp())  # not `tmp_path`, into which another user cannot look
    try:
        path = folder / "valid.a2a"
        with Capture.create(path) as capture:
            capture.append(Kind.NOTE, 1.0)
        path.chmod(0o444)
        folder.chmod(0o555)
        result = run_script(
            "if os.geteuid() == 0: os.seteuid(65534)\n"
            "print(json.dumps({'file': sentence(lambda: Capture.create(path.with_name('new.a2a'))),\n"
            "  'folder': sentence(lambda: Capture.create(path.parent / 'new' / 'new.a2a')),\n"
            "  'read': len(Capture.open(path)) }))",
            path,
        )
        assert "no permission" in str(result["file"])
        assert "no permission" in str(result["folder"])
        assert result["read"] == 1
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


FILL = """
capture = Capture.create(path)
while capture.failure is None and len(capture) < 100_000:
    capture.append(Kind.FRAME, 1.0, payloads=[(0, bytes(10_000))])
    if len(capture) % 50 == 0: capture.flush(5)
failed_at = len(capture)
for _ in range(5_000): [newest] = capture.append(Kind.NOTE, 1.0, label="later")
assert capture.get(newest.seq).label == "later"
first = capture.get(1).seq
failure, backlog = capture.failure, capture.backlog
capture.close()
with Capture.open(path) as opened: kept = len(opened)
print(json.dumps({"failed_at": failed_at, "failure": failure, "backlog": backlog, "first": first, "kept": kept}))
"""


def test_a_write_error_stops_the_file_but_not_the_session(tmp_path: Path) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))\n"
    check_failure(run_script(limit + FILL, tmp_path / "full.a2a"), "read or write error")


def check_failure(result: dict[str, object], why: str) -> None:
    failure, kept = str(result["failure"]), int(str(result["kept"]))
    assert why in failure
    assert 0 < kept < int(str(result["failed_at"]))
    assert f"Records 1 to {kept} were written before." in failure
    assert f"Records {kept + 1} to " in failure
    assert " are lost. " in failure
    assert result["first"] == 1
    assert result["backlog"] == 0


SMALL_DISK = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs -o size=2m none "$0" && exec "$@"')


def small_disk_works(folder: Path) -> bool:
    try:
        return subprocess.run([*SMALL_DISK, folder, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_a_full_disk_is_reported_at_every_moment(tmp_path: Path) -> None:
    if not small_disk_works(tmp_path):
        pytest.skip("no permission to mount a small disk here")
    prefix = (*SMALL_DISK, str(tmp_path))
    check_failure(run_script(FILL, tmp_path / "full.a2a", prefix=prefix), "the disk is full")
    result = run_script(
        "try:\n"
        "    with open(path.with_name('big'), 'wb', buffering=0) as big:\n"
        "        while big.write(bytes(4096)): pass\n"
        "except OSError: pass\n"
        "print(json.dumps({'why': sentence(lambda: Capture.create(path)), 'left': os.listdir(path.parent)}))",
        tmp_path / "full.a2a",
        prefix=prefix,
    )
    assert "the disk is full" in str(result["why"])
    assert result["left"] == ["big"]


# Opening


def test_a_missing_capture_an_empty_file_and_a_folder_have_different_messages(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="does not exist"):
        Capture.open(tmp_path / "missing.a2a")
    assert not (tmp_path / "missing.a2a").exists()
    (tmp_path / "empty.a2a").touch()
    with pytest.raises(CaptureError, match="is empty"):
        Capture.open(tmp_path / "empty.a2a")
    os.mkfifo(tmp_path / "pipe.a2a")
    for other in (tmp_path, tmp_path / "pipe.a2a"):
        with pytest.raises(CaptureError, match="is not a file"):
            Capture.open(other)


@pytest.mark.parametrize(
    "content",
    [b"{}", b"SQLite format 3\x00", b"SQLite format 3\x00" + bytes(5_000), random.Random(1).randbytes(50_000)],
    ids=["JSON", "a bare SQLite head", "zeros behind a SQLite head", "noise"],
)
def test_a_file_that_is_not_a_capture_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.a2a").write_bytes(content)
    with pytest.raises(CaptureError, match=r"not a capture|damaged"):
        Capture.open(tmp_path / "other.a2a")
    assert (tmp_path / "other.a2a").read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    alter(tmp_path / "other.a2a", "CREATE TABLE record (seq INTEGER PRIMARY KEY)")
    with pytest.raises(CaptureError, match="is not a capture of a2a-inspect"):
        Capture.open(tmp_path / "other.a2a")


def test_a_newer_format_is_refused_with_advice(path: Path) -> None:
    alter(path, f"PRAGMA user_version={VERSION + 1}")
    with pytest.raises(CaptureError, match=rf"format {VERSION + 1}; .* Update a2a-inspect"):
        Capture.open(path)


def test_an_earlier_format_is_refused_by_its_number(path: Path) -> None:
    alter(path, f"PRAGMA user_version={VERSION - 1}")
    with pytest.raises(CaptureError, match=rf"format {VERSION - 1}, which an earlier a2a-inspect wrote"):
        Capture.open(path)


def test_a_truncated_capture_is_refused_at_every_length(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    cut = tmp_path / "cut.a2a"
    for size in range(1, len(content), 1_111):
        cut.write_bytes(content[:size])
        with pytest.raises(CaptureError, match=r"truncated|not a capture"):
            Capture.open(cut)


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE record", "CREATE VIEW record AS SELECT load_extension('/tmp/evil') AS seq"],
        [
            "DROP TABLE meta",
            "CREATE VIEW meta AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT * FROM r",
        ],
        ["CREATE TRIGGER evil AFTER INSERT ON record BEGIN DELETE FROM record; END"],
        ["CREATE VIRTUAL TABLE evil USING fts5(x)"],
        ["ALTER TABLE record ADD COLUMN more GENERATED ALWAYS AS (size + 1)"],
        ["DROP INDEX record_by_kind"],
        ["DELETE FROM meta"],
        ["PRAGMA application_id=1"],
        ["PRAGMA user_version=0"],
        ["PRAGMA user_version=-5"],
    ],
    ids=lambda statements: statements[-1][:40],
)
def test_a_capture_with_anything_but_plain_rows_is_refused(path: Path, statements: list[str]) -> None:
    alter(path, *statements)
    with pytest.raises(CaptureError, match="is not a capture of a2a-inspect"):
        Capture.open(path)


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM record WHERE seq = 7", "UPDATE record SET seq = 4611686018427387904 WHERE seq = 3000"],
)
def test_a_capture_with_gaps_is_refused(path: Path, statement: str) -> None:
    alter(path, statement)
    with pytest.raises(CaptureError, match="records are missing"):
        Capture.open(path)


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'dance'",
        "kind = 7",
        "at = 'noon'",
        "exchange = 'x'",
        "size = x'00'",
        "meta = '[]'",
        "meta = '{'",
        "meta = replace(hex(zeroblob(50000)), '00', '[')",
        "findings = '7'",
        "findings = '[[1,2]]'",
        """findings = '[["R-1","fatal","",""]]'""",
    ],
)
def test_an_invalid_row_is_shown_as_unreadable_and_affects_no_other(path: Path, change: str) -> None:
    alter(path, f"UPDATE record SET {change} WHERE seq = 2")
    with Capture.open(path) as opened:
        before, bad, after = opened.slice(1, 3)
        assert (before.raw, after.raw) == (b"0", b"2")
        assert (bad.seq, bad.kind, bad.event) == (2, Kind.NOTE, "unreadable")
        assert "cannot be read" in bad.label
        assert opened.select(limit=2)[1].seq == 2


def test_text_of_the_wrong_type_or_encoding_is_read_as_text(path: Path) -> None:
    alter(path, "UPDATE record SET label = CAST(x'61ff' AS TEXT), task = 5, state = x'ff', raw = 'text' WHERE seq = 2")
    with Capture.open(path) as opened:
        record = opened.get(2)
    assert (record.label, record.task, record.state, record.raw) == ("a\ufffd", "5", "\ufffd", b"text")


def test_opening_a_capture_does_not_change_it(path: Path) -> None:
    before = hashlib.sha256(path.read_bytes()).digest()
    path.chmod(0o400)
    with Capture.open(path) as opened:
        assert len(opened) == 3_000
        assert opened.backlog == 0
        assert opened.failure is None
        assert opened.flush(1)
        with pytest.raises(CaptureError, match="open for reading only"):
            opened.append(Kind.NOTE, 1.0)
        assert opened.slice(1_000, 1_002)[1].raw == b"1000"
    with pytest.raises(CaptureError, match="is closed"):
        opened.get(17)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_special_characters_of_uris_are_allowed_in_names(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory&x#y%20ü.a2a"
    with Capture.create(path) as capture:
        capture.append(Kind.NOTE, 1.0)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with Capture.open(path) as opened:
        assert len(opened) == 1


def test_a_file_that_is_damaged_while_it_is_read_is_reported(path: Path) -> None:
    with Capture.open(path) as opened:
        with path.open("r+b") as file:
            file.seek(4096 * 3)
            file.write(random.Random(2).randbytes(path.stat().st_size - 4096 * 3))
        with pytest.raises(CaptureError, match="Cannot read the capture"):
            opened.slice(1, 3_000)


def test_the_head_of_a_file_has_the_application_id(path: Path) -> None:
    head = path.read_bytes()[:100]
    assert head[68:72] == APPLICATION_ID.to_bytes(4, "big") == b"A2Ac"
    assert head[60:64] == VERSION.to_bytes(4, "big")
