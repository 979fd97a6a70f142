"""Completion of the path of a file, as in a shell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from inspector.text.typed_path import typed_path
from inspector.text.units import size

_MOST_FILES = 200
"""The most files that are listed."""
_MOST_READ = 10_000


class Candidate(NamedTuple):
    """A file or folder: the path to type, the text after its name (a size or `folder`), and whether it is a folder."""

    path: str
    words: str
    folder: bool

    @property
    def name(self) -> str:
        """The last part of the path, with the slash of a folder."""
        return self.path.removesuffix("/").rpartition("/")[2] + ("/" if self.folder else "")


def candidates(typed: str) -> tuple[list[Candidate], str]:
    """Return the files and folders whose path begins with `typed`; if there are none, return the reason.

    A file with exactly this path is the first, then folders. Hidden files are included once their dot is typed.
    """
    head, slash, start = typed.rpartition("/")
    found: list[Candidate] = []
    try:
        with os.scandir(typed_path(f"{head}{slash}" or ".")) as entries:
            for _, entry in zip(range(_MOST_READ), entries, strict=False):
                name = entry.name
                if name.lower().startswith(start.lower()) and (start.startswith(".") or not name.startswith(".")):
                    found.append(_candidate(f"{head}{slash}{name}", entry))
    except OSError as error:
        return [], error.strerror or "no such folder"
    found.sort(key=lambda candidate: (candidate.path != typed, not candidate.folder, candidate.path.lower()))
    return found[:_MOST_FILES], "" if found else "no matching file"


def completed(typed: str, found: Sequence[Candidate]) -> str:
    """Extend the typed path to the beginning that all its candidates share, like the completion of a shell."""
    common = os.path.commonprefix([candidate.path for candidate in found])  # noqa: RUF071 - letters are completed, not folders
    return common if len(common) > len(typed) and common.lower().startswith(typed.lower()) else typed


def _candidate(path: str, entry: os.DirEntry[str]) -> Candidate:
    try:
        if entry.is_dir():
            return Candidate(f"{path}/", "folder", True)
        return Candidate(path, size(entry.stat().st_size), False)
    except OSError:
        return Candidate(path, "?", False)
