"""Create and replace files that only their owner may read, and describe their errors."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
import sys
import tempfile
from pathlib import Path

COMPANIONS = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite keeps beside a database."""

_REASONS = {
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than this system allows",
    errno.ENOTDIR: "a folder in its path is a file",
    errno.ELOOP: "it is a symbolic link",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EMFILE: "too many files are open",
}

_SQLITE_REASONS = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the file is read-only",
    "SQLITE_CANTOPEN": "the file or its folder cannot be opened",
    "SQLITE_PERM": "no permission",
    "SQLITE_BUSY": "another program has locked it",
    "SQLITE_CORRUPT": "it is damaged or truncated",
    "SQLITE_NOTADB": "it is not a capture of a2a-inspect",
    "SQLITE_IOERR": "the disk reported a read or write error",
    "SQLITE_TOOBIG": "a record is too large for SQLite",
}

CHECK_PATH = "Check the path. Captures are files written with --capture, or files in your data folder."
COPY_AGAIN = "If the file is a copy, copy the capture again after the program that records it has ended."
"""Next steps: for a file that is not a capture, and for a capture that is not complete."""


class CaptureError(Exception):
    """An error while creating, opening or reading a capture or a file beside it.

    `str` is a sentence for the user, `hint` the next step if there is one that the sentence does not name.
    """

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.hint = hint


class MissingRecordError(CaptureError):
    """The capture has no record with this number, or the record is lost."""


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether an error means that another connection holds a lock."""
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def reason(error: Exception) -> str:
    """Return the cause of an error with a file, in a few words."""
    if isinstance(error, OSError):
        return _REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        main = next((known for known in _SQLITE_REASONS if name.startswith(known)), "")
        return _SQLITE_REASONS.get(main, str(error))
    return f"{type(error).__name__}: {error}"


def hint_of(error: Exception) -> str:
    """Return the next step after an error while a capture is read, `""` if there is none."""
    name = getattr(error, "sqlite_errorname", "")
    return COPY_AGAIN if name.startswith("SQLITE_CORRUPT") else CHECK_PATH if name.startswith("SQLITE_NOTADB") else ""


def companions(path: Path) -> list[Path]:
    """Return the paths of the files that SQLite keeps beside a database, whether they exist or not."""
    return [Path(f"{path}{ending}") for ending in COMPANIONS]


def remove(path: Path) -> None:
    """Delete a capture and the files that SQLite keeps beside it; raises `OSError`."""
    for file in (path, *companions(path)):
        file.unlink(missing_ok=True)


def private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each with mode 0700; existing folders are not changed.

    Raises `CaptureError`.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CaptureError(f"Cannot create the folder {folder}: {reason(error)}.") from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file with mode 0600 atomically; raises `OSError`."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def claim(path: Path) -> None:
    """Create an empty file with mode 0600, or use an existing empty file.

    Raises `CaptureError`, also for links and for files with content.
    """
    try:
        _check_unused(path)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            if sys.platform != "win32":
                os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError as error:
        raise CaptureError(f"Cannot create the capture {path}: {reason(error)}.") from error


def _check_unused(path: Path) -> None:
    # The file is not opened, because closing it would drop the locks that SQLite may hold on it in this process.
    remaining = [companion.name for companion in companions(path) if os.path.lexists(companion)]
    if remaining:
        raise CaptureError(
            f"The capture {path} exists already, or its SQLite files remain ({', '.join(remaining)});"
            " choose another name."
        )
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(status.st_mode):
        raise CaptureError(f"{path} is a symbolic link; enter the path of the file itself.")
    if not stat.S_ISREG(status.st_mode):
        raise CaptureError(f"{path} is not a file.")
    if status.st_size:
        raise CaptureError(f"The capture {path} exists already; choose another name.")
