"""Content codings, undone within bounds: bytes in, bytes out, and an end to bodies that only grow."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
"""The codings that are undone here."""

_PIECE = 256 * 1024
_FREE = 64 * 1024
"""So many bytes may always grow by the ratio: the first bytes of a body say little about the rest."""


class TooMuchError(Exception):
    """Raised inside the tap when a limit is reached; the message names it."""


class CodingError(Exception):
    """Raised inside the tap when a body is not what its content coding says; the message tells why."""


class Inflater:
    """Undoes gzip and deflate piece by piece; growth of more than `ratio` times raises `TooMuchError`."""

    def __init__(self, coding: str, ratio: int) -> None:
        self._coding = coding
        self._ratio = ratio
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: a gzip or a zlib header, whichever is there
        self._taken = 0
        self._grown = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what the next bytes are without their coding; raises `CodingError` where they are not coded so."""
        self._taken += len(chunk)
        while chunk:
            if self._stream.eof:
                raise CodingError(f"the {self._coding} body goes on behind its end")
            try:
                piece = self._stream.decompress(chunk, _PIECE)
            except zlib.error as error:
                raise CodingError(f"the body says that it is {self._coding} and is not: {error}") from error
            self._grown += len(piece)
            if self._grown > self._ratio * max(self._taken, _FREE):
                raise TooMuchError(f"the {self._coding} body grew more than {self._ratio} times")
            yield piece
            chunk = self._stream.unconsumed_tail or self._stream.unused_data

    def finish(self) -> bytes:
        """Return what is left at the end of the body; raises `CodingError` where the coding has not ended there."""
        left = self._stream.flush()
        if self._taken and not self._stream.eof:
            raise CodingError(f"the {self._coding} body breaks off")
        return left
