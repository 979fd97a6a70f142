"""The list of check files that were opened in the app, stored between sessions in a JSON file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, private_folder, replace_file

MOST = 8
"""How many files are stored."""
_LARGEST_FILE = 2**16


def recent_path() -> Path:
    """Return the path of the file with the list."""
    return state_folder() / "check-files.json"


def load() -> list[Path]:
    """Return the files that still exist, the latest first; none if the list is missing or not valid."""
    try:
        with recent_path().open("rb") as file:
            names = json.loads(file.read(_LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return []  # the list only saves typing, and the next file replaces it
    if not isinstance(names, list):
        return []
    # `Path.is_file` raises errors, for example for a folder that cannot be read.
    return [Path(name) for name in names if isinstance(name, str) and os.path.isfile(name)][:MOST]  # noqa: PTH113


def remember(path: Path) -> str:
    """Put a file first in the list; return an error message, or `""`."""
    path = path.absolute()
    names = [str(path), *(str(other) for other in load() if other != path)]
    try:
        private_folder(recent_path().parent)
        replace_file(recent_path(), json.dumps(names[:MOST], indent=2).encode())
    except CaptureError as error:
        return str(error)
    except OSError as error:
        return f"Cannot write the list of recent check files, {recent_path()}: {error.strerror}."
    return ""
