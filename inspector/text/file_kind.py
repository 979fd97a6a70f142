"""The kind of a file, by its name or its first bytes: a capture, another database, or recorded HTTP traffic (HAR)."""

from __future__ import annotations

import shlex
from pathlib import Path

from inspector import PROGRAM

APPLICATION_ID = 0x41324163
"""The bytes `A2Ac`, at byte 68 of a capture."""

_SQLITE = b"SQLite format 3\0"
_PLACE = slice(68, 72)


def is_database(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is an SQLite database."""
    return head.startswith(_SQLITE)


def is_capture(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a capture."""
    return is_database(head) and head[_PLACE] == APPLICATION_ID.to_bytes(4, "big")


def har_hint(path: Path) -> str:
    """Return how to read a file with recorded HTTP traffic (HAR), `""` for another file."""
    if path.suffix.lower() != ".har":
        return ""
    return f"This is a HAR file. Make a capture of it: {PROGRAM} import {shlex.quote(str(path))}"
