"""Server-Sent Events, decoded incrementally and within bounds: bytes in, frames out, however the bytes are cut.

Follows the WHATWG algorithm (lines end in CR, LF or CRLF and in nothing else; a byte order mark at the start is
skipped), and keeps what that algorithm throws away: comments, blocks without data and the bytes of every block.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

DEFAULT_LIMIT = 16 * 1024 * 1024
"""The largest block that is decoded, in bytes."""

COMMENTS = 100
"""How many comments of a block are read, and lines that are no field; the others are in its bytes."""

_BOM = b"\xef\xbb\xbf"
_LINE_ENDS = (b"\n", b"\r\n", b"\r")
_LOOSE_LINES = 512
_SHOWN = 200
"""So many bytes of a line that is no field are kept."""


class Frame(NamedTuple):
    """One block of a stream.

    `raw` is the block with its line ends, the closing empty line included; `data` is the joined `data` lines, or None
    for a block that has none (a keep-alive); `event` and `id` are the fields of that name, `""` and None where absent;
    `comments` are the first lines that start with a colon, `ignored` the beginnings of the first that are no field.
    The raws of all frames and `Decoder.rest` add up to the stream.
    """

    raw: bytes
    data: bytes | None
    event: str = ""
    id: str | None = None
    comments: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class Decoder:
    """Turns the bytes of one stream into frames; stops for good, with `overrun` set, at a block beyond the limit.

    Holds at most the limit, a chunk, and about as much again while a block that is nearly as large is read.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.overrun = False
        self._limit = limit
        self._partial = bytearray()  # a line that has not ended yet
        self._lines: list[bytes] = []  # the whole lines of the block that has not ended yet
        self._packed: list[bytes] = []  # the lines before those, many in a piece: small ones cost more than their text
        self._held = 0  # how many bytes the three hold
        self._filled = False  # whether the block has more than empty lines
        self._started = False
        self._after_cr = False

    @property
    def rest(self) -> bytes:
        """Return the bytes that belong to no frame yet: what a stream that ends now leaves unfinished."""
        return b"".join((*self._packed, *self._lines, self._partial))

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take in the next bytes and return the frames that they complete."""
        if self.overrun or not chunk:
            return []
        self._held += len(chunk)
        if self._after_cr:
            self._after_cr = False
            if chunk.startswith(b"\n"):  # the second half of a CRLF that was cut in two
                self._lines.append(b"\n")
                chunk = chunk[1:]
        frames: list[Frame] = []
        if b"\n" in chunk or b"\r" in chunk:
            lines = b"".join((self._partial, chunk)).splitlines(keepends=True)
            self._partial = bytearray() if lines[-1].endswith((b"\n", b"\r")) else bytearray(lines.pop())
            self._after_cr = not self._partial and lines[-1].endswith(b"\r")
            frames = self._take(lines)
        else:
            self._partial += chunk
        self.overrun = self._held > self._limit
        return frames

    def _take(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        block = self._lines
        for line in lines:
            block.append(line)
            if line not in _LINE_ENDS:
                self._filled = True
            elif self._filled:
                self._filled = False
                frame = _frame(self._packed, block, first=not self._started)
                if frame is None:
                    continue
                self._started = True
                self._held -= len(frame.raw)
                frames.append(frame)
                block = []
                if self._packed:
                    self._packed = []
        if len(block) > _LOOSE_LINES:
            self._packed.append(b"".join(block))
            block = []
        self._lines = block
        return frames


def _frame(packed: list[bytes], loose: list[bytes], *, first: bool) -> Frame | None:
    """Read the lines of one block; None where all that it holds is a byte order mark, so that it joins the next."""
    data: bytes | bytearray | None = None
    comments: list[str] = []
    ignored: list[str] = []
    event, identity = "", None
    fields = 0
    lines = chain(chain.from_iterable(map(bytes.splitlines, packed)), loose) if packed else loose
    for ended in lines:
        line = ended.rstrip(b"\r\n")
        if first:
            line = line.removeprefix(_BOM)
            first = False
        if not line:
            continue
        fields += 1
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            if data is None:
                data = value
            else:
                data = bytearray(data) if isinstance(data, bytes) else data
                data += b"\n"
                data += value
        elif not name:
            if len(comments) < COMMENTS:
                comments.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            event = value.decode("utf-8", "replace")
        elif name == b"id":
            identity = value.decode("utf-8", "replace") if b"\0" not in value else identity
        elif name != b"retry" and len(ignored) < COMMENTS:
            ignored.append(line[:_SHOWN].decode("utf-8", "replace"))
    if not fields:
        return None
    raw = b"".join((*packed, *loose))
    return Frame(
        raw, bytes(data) if isinstance(data, bytearray) else data, event, identity, tuple(comments), tuple(ignored)
    )
