"""Find the folders for captures and for state between sessions, list captures, and delete old captures.

If the environment variable `A2A_INSPECT_HOME` is set, both are in that folder, otherwise in the usual folders of
the platform.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

import platformdirs

from inspector import PROGRAM
from inspector.capture.private_files import CaptureError, companions, is_busy, private_folder, reason, remove
from inspector.lazy_dataclass import dataclass
from inspector.options import home_folder

SUFFIX = ".a2a"
"""The suffix of the name of a capture."""

_LONGEST_HOST = 80
_DAY = 86_400.0
"""A day in seconds."""


@dataclass(frozen=True, slots=True)
class StoredCapture:
    """A capture in a folder.

    `changed` is the time of its last change in seconds since 1970. `size` is the size of the capture and of the files
    that SQLite keeps beside it, in bytes.
    """

    path: Path
    changed: float
    size: int


def captures_folder() -> Path:
    """Return the folder for the user's captures, which may not exist yet."""
    home = home_folder()
    data = platformdirs.user_data_path(PROGRAM, appauthor=False) if home is None else home
    return data / "captures"


def state_folder() -> Path:
    """Return the folder for the user's state between sessions, which may not exist yet."""
    home = home_folder()
    return platformdirs.user_state_path(PROGRAM, appauthor=False) if home is None else home / "state"


def stored_tokens_path() -> Path:
    """Return the path of the list of stored tokens, which may not exist yet."""
    return state_folder() / "logins.json"


def has_stored_tokens() -> bool:
    """Return whether tokens were stored, without loading what reads them."""
    return stored_tokens_path().exists()


def new_capture_path(agent_host: str, now: datetime) -> Path:
    """Create an empty file for `Capture.create` in the captures folder, with a name that no other process uses.

    The name contains the time and the agent, as in `2026-03-01_14-05-09_agent.example-8080.a2a`. Raises `CaptureError`
    if the folder or the file cannot be created.
    """
    folder = captures_folder()
    private_folder(folder)
    stem = f"{now:%Y-%m-%d_%H-%M-%S}_{_readable(agent_host)}"
    for number in count(1):
        path = folder / f"{stem}{'' if number == 1 else f'_{number}'}{SUFFIX}"
        if any(os.path.lexists(companion) for companion in companions(path)):
            continue
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            continue
        except OSError as error:
            raise CaptureError(f"Cannot create a capture in {folder}: {reason(error)}.") from error
        break
    return path


def prune(folder: Path, *, keep: int = 50, most_bytes: int = 2**30) -> list[Path]:
    """Keep the newest captures, up to `keep` and `most_bytes` in total, and delete the others; never delete the newest.

    Empty captures are not counted, and deleted after a day: a process may have just created them. Only files with the
    suffix `.a2a` are deleted, with the files that SQLite keeps beside them. A capture that is in use or cannot be
    deleted stays. Returns the deleted captures with records.
    """
    removed: list[Path] = []
    total = 0
    found = _captures(folder)
    for empty in (capture.path for capture in found if not capture.size and capture.changed < time.time() - _DAY):
        with suppress(OSError):
            remove(empty)
    for position, capture in enumerate(capture for capture in found if capture.size):
        total += capture.size
        if position == 0 or (position < keep and total <= most_bytes):
            continue
        with suppress(OSError, sqlite3.Error):
            if not _in_use(capture.path):
                remove(capture.path)
                total -= capture.size
                removed.append(capture.path)
    return removed


def is_being_written(path: Path) -> bool:
    """Return whether a process has a capture open for writing, False if that cannot be determined.

    The existence of a log (`-wal`) alone does not show this, because a killed process leaves its log behind.
    """
    with suppress(OSError, sqlite3.Error):
        return companions(path)[0].exists() and _in_use(path)
    return False


def recent_captures(limit: int | None = None) -> list[StoredCapture]:
    """Return the captures of the user's folder that are not empty, up to `limit`, the newest first."""
    return [capture for capture in _captures(captures_folder()) if capture.size][:limit]


def _readable(host: str) -> str:
    """Return a host as a part of a file name that is valid on every system; `agent` if nothing is left."""
    return re.sub(r"[^a-z0-9.-]+|-{2,}|\.{2,}", "-", host.lower())[:_LONGEST_HOST].strip(".-") or "agent"


def _captures(folder: Path) -> list[StoredCapture]:
    """Return the captures in a folder, the newest first; none if the folder cannot be read."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            status = _status(path) if path.name.endswith(SUFFIX) else None
            if status is not None and stat.S_ISREG(status.st_mode):
                beside = [_status(companion) for companion in companions(path)]
                log = beside[0]  # a record that was just written is only there
                changed = status.st_mtime if log is None else max(status.st_mtime, log.st_mtime)
                size = status.st_size + sum(other.st_size for other in beside if other is not None)
                found.append(StoredCapture(path, changed, size))
        return sorted(found, key=lambda capture: (capture.changed, capture.path.name), reverse=True)
    return []


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:  # another process may have removed it
        return None


def _in_use(path: Path) -> bool:
    """Return whether any process has a capture open, by asking SQLite for an exclusive lock.

    The file is not opened in any other way: closing it would drop the locks that SQLite holds in this process.
    """
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return True
        raise
    except sqlite3.DatabaseError:
        return False  # it is not a database, or damaged
    finally:
        connection.close()
    return False


def without_home(path: Path) -> str:
    """Return a path with `~` instead of the home folder, whose name is often the name of the user."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):  # it is elsewhere, or no home folder is known
        return str(path)
