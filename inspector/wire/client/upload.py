"""Send the body of a request whose files are read from disk during the upload."""

from __future__ import annotations

import asyncio
import os
import stat
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import BinaryIO

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import FileSplice, HttpRequest

_CHUNK = 3 * 2**18
"""How many bytes of a file are read at once; a multiple of three, so that the base64 has padding at the end only."""


class UploadError(Exception):
    """A file could not be read completely; the message names the file and the reason."""


@dataclass(slots=True)
class Upload:
    """The progress of an upload: bytes in total, and bytes sent."""

    total: int = 0
    done: int = 0


async def body_of(request: HttpRequest, upload: Upload) -> AsyncGenerator[bytes, None]:
    """Yield the parts of a body and count them in `upload`; raises `UploadError` if a file has changed."""
    for piece in request.pieces():
        if isinstance(piece, bytes):
            upload.done += len(piece)
            yield piece
            continue
        async with aclosing(_content(piece)) as chunks:
            async for chunk in chunks:
                upload.done += len(chunk)
                yield chunk


def _open(path: Path) -> BinaryIO:
    """Open a regular file, without waiting if it has been replaced by a pipe."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UploadError(f"{path} is not a regular file any more")
    return os.fdopen(handle, "rb")


async def _content(splice: FileSplice) -> AsyncGenerator[bytes, None]:
    left = splice.size
    try:
        with await asyncio.to_thread(_open, Path(splice.path)) as file:
            while left:
                chunk = await asyncio.to_thread(file.read, min(left, _CHUNK))
                if not chunk:
                    raise UploadError(f"The file {splice.path} became shorter while it was sent")
                left -= len(chunk)
                yield b64encode(chunk)
    except OSError as error:
        raise UploadError(f"The file {splice.path} could not be read: {error.strerror or error}") from error
