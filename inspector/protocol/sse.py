"""Decode Server-Sent Events incrementally, within limits.

The decoder follows the WHATWG algorithm: lines end in CR, LF or CRLF, and a byte order mark at the start is skipped.
Additionally it returns comments, blocks without data, and the bytes of every block.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from inspector.protocol.jsonvalue import parse

DEFAULT_LIMIT = 16 * 1024 * 1024
"""The default limit for the size of a block, in bytes."""

COMMENTS = 100
"""How many comments, and how many unknown lines, a frame lists; `Frame.raw` contains all of them."""

_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_BOM = b"\xef\xbb\xbf"
_DATA = b"data: "
_LINE_ENDS = (b"\n", b"\r\n", b"\r")
_LOOSE_LINES = 512
_IGNORED_BYTES = 200
"""How many bytes of an unknown line a frame lists."""


def unframed_events(raw: bytes) -> str:
    """Return which events a body that was not sent as a stream consists of, as words; `""` if it consists of none."""
    body = raw.lstrip()
    if body.startswith(_STREAM_STARTS):
        return "a stream of events"
    first, _, others = body.partition(b"\n")
    return "lines of JSON" if others.lstrip().startswith(b"{") and isinstance(parse(first), dict) else ""


class Frame(NamedTuple):
    """A block of a stream, which ends with an empty line.

    - `raw`: the bytes of the block with its line ends and the empty line. All `raw` values and `Decoder.rest` together
      are the stream.
    - `data`: the joined `data` lines, None without such a line (a keep-alive).
    - `event`, `id`: the fields of this name, `""` and None if missing.
    - `comments`: the first lines that start with a colon; `ignored`: the beginnings of the first unknown lines.
    """

    raw: bytes
    data: bytes | None
    event: str = ""
    id: str | None = None
    comments: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class Decoder:
    """Decodes the bytes of a stream to frames; a block beyond the limit sets `overrun` and ends decoding.

    It stores at most `limit` bytes and one chunk, and twice as much while it decodes a block of nearly `limit` bytes.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.overrun = False
        self._limit = limit
        self._partial = bytearray()  # the incomplete last line
        self._lines: list[bytes] = []  # the complete lines of the incomplete block
        self._joined: list[bytes] = []  # earlier lines of the block, joined to save memory
        self._size = 0  # the number of bytes in these three buffers
        self._has_content = False  # whether the block has a line that is not empty
        self._started = False
        self._after_cr = False

    @property
    def rest(self) -> bytes:
        """Return the bytes after the last frame, which are an incomplete block if the stream ends."""
        return b"".join((*self._joined, *self._lines, self._partial))

    def feed(self, chunk: bytes) -> list[Frame]:
        """Decode the next bytes and return the frames that they complete."""
        if self.overrun or not chunk:
            return []
        self._size += len(chunk)
        if self._after_cr:
            self._after_cr = False
            if chunk.startswith(b"\n"):  # the LF of a CRLF that was split between two chunks
                self._lines.append(b"\n")
                chunk = chunk[1:]
        frames: list[Frame] = []
        if b"\n" in chunk or b"\r" in chunk:
            lines = b"".join((self._partial, chunk)).splitlines(keepends=True)
            self._partial = bytearray() if lines[-1].endswith((b"\n", b"\r")) else bytearray(lines.pop())
            self._after_cr = not self._partial and lines[-1].endswith(b"\r")
            frames = self._decode(lines)
        else:
            self._partial += chunk
        self.overrun = self._size > self._limit
        return frames

    def _decode(self, lines: list[bytes]) -> list[Frame]:
        frames: list[Frame] = []
        block = self._lines
        for line in lines:
            block.append(line)
            if line not in _LINE_ENDS:
                self._has_content = True
            elif self._has_content:
                self._has_content = False
                frame = _frame(self._joined, block, first=not self._started)
                if frame is None:
                    continue
                self._started = True
                self._size -= len(frame.raw)
                frames.append(frame)
                block = []
                if self._joined:
                    self._joined = []
        if len(block) > _LOOSE_LINES:
            self._joined.append(b"".join(block))
            block = []
        self._lines = block
        return frames


def _frame(joined: list[bytes], loose: list[bytes], *, first: bool) -> Frame | None:
    """Return the frame of a block; None for a byte order mark alone, which then belongs to the next block."""
    if len(loose) == 2 and loose[0].startswith(_DATA) and not joined and not first:  # nearly all blocks
        return Frame(loose[0] + loose[1], loose[0][len(_DATA) :].rstrip(b"\r\n"))
    return _any_frame(joined, loose, first=first)


def _any_frame(joined: list[bytes], loose: list[bytes], *, first: bool) -> Frame | None:
    data: bytes | bytearray | None = None
    comments: list[str] = []
    ignored: list[str] = []
    event, identity = "", None
    fields = 0
    lines = chain(chain.from_iterable(map(bytes.splitlines, joined)), loose) if joined else loose
    for line_with_end in lines:
        line = line_with_end.rstrip(b"\r\n")
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
            ignored.append(line[:_IGNORED_BYTES].decode("utf-8", "replace"))
    if not fields:
        return None
    raw = b"".join((*joined, *loose))
    return Frame(
        raw, bytes(data) if isinstance(data, bytearray) else data, event, identity, tuple(comments), tuple(ignored)
    )
