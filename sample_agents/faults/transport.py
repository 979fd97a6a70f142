"""Faults in the bytes of a response and in their timing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from .fault import AbortConnectionError, FaultRegistry, Level

WRITTEN = FaultRegistry(Level.BYTES)
FRAMES = FaultRegistry(Level.FRAMES)
REGISTRIES = (FRAMES, WRITTEN)

_Frames = AsyncIterator[bytes]


@FRAMES.fault("break-off", "closes the connection", "STREAM-008", number="frames before it", default=2)
async def break_off(frames: _Frames, after: float) -> _Frames:
    left = int(after)
    async for frame in frames:
        if left == 0:
            break
        left -= 1
        yield frame
    raise AbortConnectionError


@FRAMES.fault(
    "hang", "stops sending and keeps the connection open", "A2ACLI_ERR_TIMEOUT", number="frames before it", default=2
)
async def hang(frames: _Frames, after: float) -> _Frames:
    left = int(after)
    async for frame in frames:
        if left == 0:
            break
        left -= 1
        yield frame
    await asyncio.Event().wait()


@FRAMES.fault("slow-start", "delays the first byte", "A2ACLI_ERR_TIMEOUT", number="seconds", default=10)
async def slow_start(frames: _Frames, seconds: float) -> _Frames:
    await asyncio.sleep(seconds)
    async for frame in frames:
        yield frame


@FRAMES.fault("trickle", "sends byte by byte", "", number="bytes per second", default=1)
async def trickle(frames: _Frames, rate: float) -> _Frames:
    async for frame in frames:
        for byte in frame:
            yield bytes((byte,))
            await asyncio.sleep(1 / max(rate, 0.1))


@FRAMES.fault("batch", "sends the whole response at once, as a buffering proxy does", "")
async def batch(frames: _Frames) -> _Frames:
    yield b"".join([frame async for frame in frames])


@WRITTEN.fault("malformed-json", "omits the last brace", "STREAM-007")
def malformed_json(raw: bytes) -> bytes:
    return raw[:-1]


@WRITTEN.fault("invalid-utf8", "puts a byte that is not UTF-8 into a text", "STREAM-007")
def invalid_utf8(raw: bytes) -> bytes:
    return raw.replace(b'":"', b'":"\xff', 1)


@WRITTEN.fault("giant-frame", "pads each payload with spaces", "STREAM-008", number="megabytes", default=20)
def giant_frame(raw: bytes, megabytes: float) -> bytes:
    return raw[:-1] + b" " * int(megabytes * 1_000_000) + raw[-1:]
