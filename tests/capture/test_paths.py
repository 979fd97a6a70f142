"""The folders and names of captures, and the deletion of old captures."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import platformdirs
import pytest

from inspector.capture.paths import captures_folder, new_capture_path, prune, recent_captures, state_folder
from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.capture.store import Capture

NOW = datetime(2026, 3, 1, 14, 5, 9)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_folders_follow_the_platform_unless_the_environment_sets_one(home: Path, monkeypatch) -> None:
    assert captures_folder() == home / "captures"
    assert state_folder() == home / "state"
    assert not home.exists()
    monkeypatch.setenv("A2A_INSPECT_HOME", "~/portable")
    assert captures_folder() == Path.home() / "portable" / "captures"
    monkeypatch.setenv("A2A_INSPECT_HOME", "")
    assert captures_folder() == platformdirs.user_data_path("a2a-inspect", appauthor=False) / "captures"
    assert state_folder() == platformdirs.user_state_path("a2a-inspect", appauthor=False)


@pytest.mark.parametrize(
    ("host", "stem"),
    [
        ("agent.example:8080", "agent.example-8080"),
        ("[::1]:9999", "1-9999"),
        ("../../etc/passwd", "etc-passwd"),
        ("Bücher.example", "b-cher.example"),
        ("a\x00b\n\x1b[2J\u202ec", "a-b-2j-c"),
        ("", "agent"),
        ("...", "agent"),
        ("-rf", "rf"),
        ("x" * 5_000, "x" * 80),
    ],
)
def test_a_name_contains_time_and_agent_and_is_valid_on_every_system(home: Path, host: str, stem: str) -> None:
    path = new_capture_path(host, NOW)
    assert path == home / "captures" / f"2026-03-01_14-05-09_{stem}.a2a"


def test_a_new_path_is_reserved_by_an_empty_file(home: Path) -> None:
    paths = [new_capture_path("host", NOW) for _ in range(3)]
    assert [path.name[20:] for path in paths] == ["host.a2a", "host_2.a2a", "host_3.a2a"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert stat.S_IMODE((home / "captures").stat().st_mode) == 0o700
    for path in paths:
        with Capture.create(path) as capture:
            capture.append(Kind.NOTE, 1.0)
    assert new_capture_path("host", NOW).name == "2026-03-01_14-05-09_host_4.a2a"


def test_a_home_folder_that_is_a_file_is_reported(home: Path) -> None:
    home.write_text("not a folder")
    with pytest.raises(CaptureError, match="Cannot create"):
        new_capture_path("host", NOW)


def put(folder: Path, name: str, age: int, size: int = 100) -> Path:
    path = folder / name
    path.write_bytes(bytes(size))
    os.utime(path, (1e9 - age, 1e9 - age))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_prune_deletes_the_oldest_captures_beyond_the_number_with_their_companions(tmp_path: Path) -> None:
    for age in range(5):
        put(tmp_path, f"{age}.a2a", age)
        put(tmp_path, f"{age}.a2a-wal", age, 10)
    pruned = prune(tmp_path, keep=2)
    assert [path.name for path in pruned] == ["2.a2a", "3.a2a", "4.a2a"]
    assert names(tmp_path) == ["0.a2a", "0.a2a-wal", "1.a2a", "1.a2a-wal"]


def test_prune_deletes_the_oldest_captures_beyond_the_size_but_never_the_newest(tmp_path: Path) -> None:
    for age, size in enumerate((500, 300, 200, 100)):
        put(tmp_path, f"{age}.a2a", age, size)
    assert [path.name for path in prune(tmp_path, most_bytes=900)] == ["2.a2a"]
    assert [path.name for path in prune(tmp_path, most_bytes=10)] == ["1.a2a", "3.a2a"]
    assert prune(tmp_path, keep=0, most_bytes=0) == []
    assert names(tmp_path) == ["0.a2a"]


def test_prune_ignores_other_files(tmp_path: Path) -> None:
    put(tmp_path, "new.a2a", 0)
    for name in ("notes.txt", "a2a", "x.a2a.bak", "x.A2A.json", "lonely.a2a-wal"):
        put(tmp_path, name, 100)
    (tmp_path / "folder.a2a").mkdir()
    (tmp_path / "link.a2a").symlink_to(tmp_path / "notes.txt")
    before = names(tmp_path)
    assert prune(tmp_path, keep=0) == []
    assert names(tmp_path) == before


def test_prune_of_a_missing_folder_or_a_file_does_nothing(tmp_path: Path) -> None:
    assert prune(tmp_path / "missing") == prune(tmp_path)
    put(tmp_path, "file", 0)
    assert prune(tmp_path / "file") == []


@contextmanager
def other_process(path: Path, how: str) -> Iterator[None]:
    script = (
        "import sys; from pathlib import Path\n"
        "from inspector.capture.store import Capture\n"
        f"capture = Capture.{how}(Path(sys.argv[1]))\n"
        "print('ready', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        yield
        program.communicate(timeout=10)


@pytest.mark.parametrize("how", ["create", "open"])
def test_prune_ignores_a_capture_while_another_process_uses_it(tmp_path: Path, how: str) -> None:
    used = tmp_path / "used.a2a"
    if how == "open":
        with Capture.create(used) as capture:
            capture.append(Kind.NOTE, 1.0)
    with other_process(used, how):
        put(tmp_path, "newest.a2a", -(10**9) * 2)
        put(tmp_path, "oldest.a2a", 10**8)
        assert [path.name for path in prune(tmp_path, keep=0)] == ["oldest.a2a"]
    assert prune(tmp_path, keep=0) == [used]
    assert names(tmp_path) == ["newest.a2a"]


def test_prune_ignores_a_capture_while_this_process_uses_it(tmp_path: Path) -> None:
    put(tmp_path, "newest.a2a", -(10**9) * 2)
    with Capture.create(tmp_path / "used.a2a") as capture:
        capture.append(Kind.NOTE, 1.0)
        assert prune(tmp_path, keep=0) == []
        capture.append(Kind.NOTE, 2.0)
        assert capture.flush(10)
        with other_process(tmp_path / "used.a2a", "open"):
            assert prune(tmp_path, keep=0) == []
    assert capture.failure is None
    with Capture.open(tmp_path / "used.a2a") as opened:
        assert len(opened) == 2
        assert prune(tmp_path, keep=0) == []
    assert prune(tmp_path, keep=0) == [tmp_path / "used.a2a"]


def test_prune_deletes_the_capture_of_a_killed_program(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from inspector.capture.store import Capture; from inspector.capture.records import Kind\n"
        "capture = Capture.create(Path(sys.argv[1])); capture.append(Kind.NOTE, 1.0); capture.flush(10)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "left.a2a"], check=False, timeout=20)
    assert names(tmp_path) == ["left.a2a", "left.a2a-shm", "left.a2a-wal"]
    put(tmp_path, "newest.a2a", -(10**9) * 2)
    assert prune(tmp_path, keep=1) == [tmp_path / "left.a2a"]
    assert names(tmp_path) == ["newest.a2a"]


def test_the_newest_capture_is_the_one_that_changed_last_also_if_only_its_log_did(home: Path) -> None:
    folder = captures_folder()
    with Capture.create(folder / "running.a2a") as running:
        running.append(Kind.NOTE, 1.0)
        running.flush()
        put(folder, "later.a2a", 0)
        os.utime(folder / "running.a2a", (1, 1))
        os.utime(folder / "running.a2a-wal", (2, 2))
        assert [capture.path.name for capture in recent_captures(2)] == ["later.a2a", "running.a2a"]
        os.utime(folder / "running.a2a-wal")
        os.utime(folder / "later.a2a", (3, 3))
        assert [capture.path.name for capture in recent_captures(2)] == ["running.a2a", "later.a2a"]


def test_prune_does_not_count_empty_captures(tmp_path: Path) -> None:
    for age in range(5):
        (tmp_path / f"empty{age}.a2a").touch()
    put(tmp_path, "old.a2a", 10)
    put(tmp_path, "older.a2a", 11)
    put(tmp_path, "forgotten.a2a", 90_000, 0)
    assert [path.name for path in prune(tmp_path, keep=1)] == ["older.a2a"]
    assert len(names(tmp_path)) == 6
    assert "forgotten.a2a" not in names(tmp_path)
