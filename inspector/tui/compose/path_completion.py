"""The files that a path which is being typed may mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from inspector.text.units import size

MOST = 200
"""So many are offered; whoever types on gets fewer."""
_LOOKED_AT = 10_000


class Candidate(NamedTuple):
    """One file or folder: the path to type, a word about it, and whether it can be gone into."""

    path: str
    words: str
    folder: bool

    @property
    def name(self) -> str:
        """The last part of the path, with the slash of a folder."""
        return self.path.removesuffix("/").rpartition("/")[2] + ("/" if self.folder else "")


def candidates(typed: str) -> tuple[list[Candidate], str]:
    """Return what is in the folder that was typed and begins as the rest, folders first, and a word where none can be.

    Hidden files are offered once their dot is typed.
    """
    head, slash, start = typed.rpartition("/")
    folder = Path(f"{head}{slash}" or ".")
    found: list[Candidate] = []
    try:
        with os.scandir(folder.expanduser()) as entries:
            for _, entry in zip(range(_LOOKED_AT), entries, strict=False):
                name = entry.name
                if name.lower().startswith(start.lower()) and (start.startswith(".") or not name.startswith(".")):
                    found.append(_candidate(f"{head}{slash}{name}", entry))
    except (OSError, ValueError, RuntimeError) as error:
        return [], getattr(error, "strerror", None) or "no such folder"
    found.sort(key=lambda one: (not one.folder, one.path.lower()))
    return found[:MOST], "" if found else "no file begins so"


def completed(typed: str, found: Sequence[Candidate]) -> str:
    """Return what was typed and as much more as all that begins so has in common, as a shell completes it.

    What was `found` for something else that was typed before completes nothing.
    """
    common = os.path.commonprefix([one.path for one in found])  # noqa: RUF071 - letters are completed, not folders
    return common if len(common) > len(typed) and common.lower().startswith(typed.lower()) else typed


def _candidate(path: str, entry: os.DirEntry[str]) -> Candidate:
    try:
        if entry.is_dir():
            return Candidate(f"{path}/", "folder", True)
        return Candidate(path, size(entry.stat().st_size), False)
    except OSError:
        return Candidate(path, "?", False)
