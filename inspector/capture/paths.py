"""The folders of captures and of state between sessions, and the deletion of old captures.

`A2A_INSPECT_HOME` names one folder for everything; without it the folders are the platform's.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

import platformdirs

from inspector.capture.private_files import CaptureError, companions, is_busy, private_folder, reason, remove

HOME_VARIABLE = "A2A_INSPECT_HOME"
SUFFIX = ".a2a"
"""How the name of a capture ends."""

_APPLICATION = "a2a-inspect"
_LONGEST_HOST = 80


@dataclass(frozen=True, slots=True)
class KeptCapture:
    """A capture in a folder: when it was last written (seconds since 1970), and its bytes with its companion files."""

    path: Path
    changed: float
    size: int


def captures_folder() -> Path:
    """Return the user's folder for captures; it may not exist yet."""
    home = _home()
    data = platformdirs.user_data_path(_APPLICATION, appauthor=False) if home is None else home
    return data / "captures"


def state_folder() -> Path:
    """Return the user's folder for state that outlives a session; it may not exist yet."""
    home = _home()
    return platformdirs.user_state_path(_APPLICATION, appauthor=False) if home is None else home / "state"


def new_capture_path(agent_host: str, now: datetime) -> Path:
    """Make an empty file for `Capture.create` in the captures folder, under a name that no other process uses.

    The name contains the time and the agent, as in `2026-03-01_14-05-09_agent.example-8080.a2a`. Raises `CaptureError`
    if the folder or the file cannot be made.
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
            raise CaptureError(f"Cannot make a capture in {folder}: {reason(error)}.") from error
        break
    return path


def prune(folder: Path, *, keep: int = 50, most_bytes: int = 2**30) -> list[Path]:
    """Delete the oldest captures beyond `keep` or beyond `most_bytes` in total, except the newest and those in use.

    Only files whose names end in `.a2a` are deleted, with the files that SQLite keeps beside them. A capture that
    cannot be deleted stays. Returns the deleted captures.
    """
    removed: list[Path] = []
    total = 0
    for position, capture in enumerate(_captures(folder)):
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
    """Return whether a process has a capture open for writing; a killed process left only its log behind."""
    with suppress(OSError, sqlite3.Error):  # of a file that cannot be written here, this cannot be found out
        return companions(path)[0].exists() and _in_use(path)
    return False


def recent_captures(most: int) -> list[KeptCapture]:
    """List the newest captures of the user's folder that are not empty, the newest first."""
    return [capture for capture in _captures(captures_folder()) if capture.size][:most]


def _home() -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).expanduser().absolute() if home else None


def _readable(host: str) -> str:
    """Return the part of a host that is valid in file names on every system; `agent` if there is none."""
    return re.sub(r"[^a-z0-9.-]+|-{2,}|\.{2,}", "-", host.lower())[:_LONGEST_HOST].strip(".-") or "agent"


def _captures(folder: Path) -> list[KeptCapture]:
    """List the captures in a folder, the newest first; none if the folder cannot be read."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            there = _status(path) if path.name.endswith(SUFFIX) else None
            if there is not None and stat.S_ISREG(there.st_mode):
                beside = sum(one.st_size for one in map(_status, companions(path)) if one is not None)
                found.append(KeptCapture(path, there.st_mtime, there.st_size + beside))
        return sorted(found, key=lambda capture: (capture.changed, capture.path.name), reverse=True)
    return []


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:  # another process removes captures too
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
