"""What goes wrong with the bytes of an answer and with when they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from .fault import Book, BrokenOffError, Level

WRITTEN = Book(Level.BYTES)
FRAMES = Book(Level.FRAMES)
BOOKS = (FRAMES, WRITTEN)

_Frames = AsyncIterator[bytes]


@FRAMES.fault("break-off", "cuts the connection", "STREAM-008", number="frames before that", usual=2)
async def break_off(frames: _Frames, after: float) -> _Frames:
    left = int(after)
    async for frame in frames:
        if left == 0:
            break
        left -= 1
        yield frame
    raise BrokenOffError


@FRAMES.fault(
    "hang", "says nothing more, and keeps the connection", "A2ACLI_ERR_TIMEOUT", number="frames before that", usual=2
)
async def hang(frames: _Frames, after: float) -> _Frames:
    left = int(after)
    async for frame in frames:
        if left == 0:
            break
        left -= 1
        yield frame
    await asyncio.Event().wait()


@FRAMES.fault("slow-start", "lets the first byte wait", "A2ACLI_ERR_TIMEOUT", number="seconds", usual=10)
async def slow_start(frames: _Frames, seconds: float) -> _Frames:
    await asyncio.sleep(seconds)
    async for frame in frames:
        yield frame


@FRAMES.fault("trickle", "sends byte by byte", "", number="bytes a second", usual=1)
async def trickle(frames: _Frames, rate: float) -> _Frames:
    async for frame in frames:
        for byte in frame:
            yield bytes((byte,))
            await asyncio.sleep(1 / max(rate, 0.1))


@FRAMES.fault("batch", "holds everything back and sends it at once, as a buffering proxy does", "")
async def batch(frames: _Frames) -> _Frames:
    yield b"".join([frame async for frame in frames])


@WRITTEN.fault("malformed-json", "leaves the last brace out", "STREAM-007")
def malformed_json(raw: bytes) -> bytes:
    return raw[:-1]


@WRITTEN.fault("invalid-utf8", "puts a byte into a text that is no UTF-8", "STREAM-007")
def invalid_utf8(raw: bytes) -> bytes:
    return raw.replace(b'":"', b'":"\xff', 1)


@WRITTEN.fault("giant-frame", "pads each payload with blanks", "STREAM-008", number="megabytes", usual=20)
def giant_frame(raw: bytes, megabytes: float) -> bytes:
    return raw[:-1] + b" " * int(megabytes * 1_000_000) + raw[-1:]
