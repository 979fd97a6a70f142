"""Where captures and the state between two sessions are kept, and how old captures go.

`A2A_INSPECT_HOME` names one folder for all of it; without it they are where the platform keeps such things.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import platformdirs

from inspector.capture.private_files import CaptureError, companions, is_busy, private_folder, reason, remove

HOME_VARIABLE = "A2A_INSPECT_HOME"
SUFFIX = ".a2a"
"""How the name of a capture ends."""

_APPLICATION = "a2a-inspect"
_LONGEST_HOST = 80


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune` did: captures removed, their bytes, and a sentence for each that should have gone and did not."""

    removed: tuple[Path, ...] = ()
    freed: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptCapture:
    """A capture in a folder: when it was last written, in seconds since 1970, and its bytes with all beside it."""

    path: Path
    changed: float
    size: int


def captures_folder() -> Path:
    """Return the user's folder for captures, which may not exist yet."""
    home = _home()
    data = platformdirs.user_data_path(_APPLICATION, appauthor=False) if home is None else home
    return data / "captures"


def state_folder() -> Path:
    """Return the user's folder for what one session tells the next, which may not exist yet."""
    home = _home()
    return platformdirs.user_state_path(_APPLICATION, appauthor=False) if home is None else home / "state"


def new_capture_path(agent_host: str, now: datetime) -> Path:
    """Take a name in the captures folder that no other process has: an empty file for `Capture.create` stands there.

    The name says when and with whom, as in `2026-03-01_14-05-09_agent.example-8080.a2a`. `CaptureError` when the
    folder or the file cannot be made.
    """
    folder = captures_folder()
    private_folder(folder)
    stem = f"{now:%Y-%m-%d_%H-%M-%S}_{_readable(agent_host)}"
    number = 1
    while True:
        path = folder / f"{stem}{'' if number == 1 else f'_{number}'}{SUFFIX}"
        number += 1
        if any(os.path.lexists(companion) for companion in companions(path)):
            continue
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            continue
        except OSError as error:
            raise CaptureError(f"Cannot make a capture in {folder}: {reason(error)}.") from error
        return path


def prune(folder: Path, *, keep: int = 50, most_bytes: int = 2**30) -> Pruned:
    """Delete the oldest captures beyond `keep` or beyond `most_bytes` together, but never the newest or one in use.

    Only files whose names end in `.a2a` go, with what SQLite keeps beside them; links and folders stay.
    """
    removed: list[Path] = []
    problems: list[str] = []
    freed = total = 0
    try:
        found = sorted(_captures(folder), key=lambda one: (one.changed, one.path.name), reverse=True)
    except OSError as error:
        return Pruned(problems=(f"Cannot look into {folder}: {reason(error)}.",))
    for position, capture in enumerate(found):
        total += capture.size
        if position == 0 or (position < keep and total <= most_bytes):
            continue
        try:
            if _in_use(capture.path):
                continue
            remove(capture.path)
        except (OSError, sqlite3.Error) as error:
            problems.append(f"Cannot remove {capture.path}: {reason(error)}.")
        else:
            total -= capture.size
            freed += capture.size
            removed.append(capture.path)
    return Pruned(tuple(removed), freed, tuple(problems))


def is_being_written(path: Path) -> bool:
    """Tell whether some process has a capture open for writing now; one that was killed left only its log behind."""
    log = companions(path)[0]
    try:
        return log.exists() and _in_use(path)
    except (OSError, sqlite3.Error):
        return False  # it cannot be written from here, so nobody can be asked whether it is


def recent_captures(most: int) -> list[KeptCapture]:
    """List the newest captures of the user's folder that hold anything, the newest first; none where it is not."""
    try:
        found = [one for one in _captures(captures_folder()) if one.size]
    except OSError:
        return []
    found.sort(key=lambda one: (one.changed, one.path.name), reverse=True)
    return found[:most]


def _home() -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).expanduser().absolute() if home else None


def _readable(host: str) -> str:
    """Return a host as it can stand in a file name on every system; `agent` when nothing of it can."""
    return re.sub(r"[^a-z0-9.-]+|-{2,}|\.{2,}", "-", host.lower())[:_LONGEST_HOST].strip(".-") or "agent"


def _captures(folder: Path) -> list[KeptCapture]:
    try:
        paths = [path for path in folder.iterdir() if path.name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    found = []
    for path in paths:
        there = _status(path)
        if there is not None and stat.S_ISREG(there.st_mode):
            beside = sum(one.st_size for one in map(_status, companions(path)) if one is not None)
            found.append(KeptCapture(path, there.st_mtime, there.st_size + beside))
    return found


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:  # another process removes captures too
        return None


def _in_use(path: Path) -> bool:
    """Tell whether any process has a capture open, by asking SQLite for a lock that allows no other.

    The file is not opened in any other way: closing it would drop the locks that SQLite holds in this very process.
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
        return False  # not a database or a damaged one: nobody works with it
    finally:
        connection.close()
    return False
