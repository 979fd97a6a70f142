"""Read files of unknown size, such as devices and pipes without an end."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import BinaryIO

LARGEST_DOCUMENT = 16 * 1024 * 1024
"""The limit for a card, a set of keys or a data part, in bytes."""
_AT_ONCE = 1024 * 1024


def read_limited(file: Path | BinaryIO, most: int = LARGEST_DOCUMENT) -> bytes:
    """Return the content of a file or a stream; raises `OSError`, also if it has more than `most` bytes."""
    if isinstance(file, Path):
        with file.open("rb") as opened:
            return read_limited(opened, most)
    content = bytearray()
    while piece := file.read(_AT_ONCE):
        content += piece
        if len(content) > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return bytes(content)
