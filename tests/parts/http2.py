"""A server for gRPC that writes the frames of HTTP/2 that a test defines, valid or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from stream_servers import serving_bytes

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
_MOST = 16_384
"""The largest frame that a client accepts without a setting."""

Pair: TypeAlias = tuple[bytes, bytes]
Step: TypeAlias = bytes | float | None
"""Bytes to write, seconds to wait, or None to close the connection."""
Answer: TypeAlias = Callable[[int, bytes], Sequence[Step]]
"""Returns the steps of the response to a request, from the number of its stream and its body."""
OK: Pair = (b"grpc-status", b"0")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def headers(stream: int, *pairs: Pair, flags: int = END_HEADERS) -> bytes:
    """Return a HEADERS frame; HPACK writes each pair as a literal, so that any bytes are possible."""
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in pairs)
    return frame(HEADERS, flags, stream, block)


def _text(raw: bytes) -> bytes:
    """Return a string of HPACK: its length as an integer with a prefix of 7 bits, and its bytes."""
    rest = len(raw) - 127
    if rest < 0:
        return bytes([len(raw)]) + raw
    length = bytearray([127])
    while rest >= 128:
        length.append(rest % 128 + 128)
        rest //= 128
    return bytes(length) + bytes([rest]) + raw


def head(stream: int, *pairs: Pair, flags: int = END_HEADERS) -> bytes:
    """Return the head of a response of gRPC."""
    return headers(stream, (b":status", b"200"), (b"content-type", b"application/grpc"), *pairs, flags=flags)


def trailers(stream: int, *pairs: Pair) -> bytes:
    """Return the trailers, which end a response."""
    return headers(stream, *pairs, flags=END_HEADERS | END_STREAM)


def message(raw: bytes, *, compressed: int = 0, length: int | None = None) -> bytes:
    """Return a message of gRPC with its prefix, by default with the correct length."""
    return bytes([compressed]) + (len(raw) if length is None else length).to_bytes(4, "big") + raw


def data(stream: int, raw: bytes, flags: int = 0) -> bytes:
    """Return bytes as DATA frames; the flags are those of the last frame."""
    starts = range(0, len(raw), _MOST)
    return b"".join(
        frame(DATA, flags if at == starts[-1] else 0, stream, raw[at : at + _MOST]) for at in starts
    ) or frame(DATA, flags, stream)


def goaway(code: int, words: bytes = b"", last: int = 0) -> bytes:
    """Return a GOAWAY frame: the streams up to `last` are still answered."""
    return frame(GOAWAY, 0, 0, last.to_bytes(4, "big") + code.to_bytes(4, "big") + words)


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """Serve gRPC on a free port, and give `host:port`."""
    async with serving_bytes(lambda reader, writer: _serve(reader, writer, answer)) as place:
        yield place


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    bodies: dict[int, bytes] = {}
    with suppress(ConnectionError, asyncio.IncompleteReadError):  # the client has disconnected
        assert await reader.readexactly(len(PREFACE)) == PREFACE
        writer.write(frame(SETTINGS, 0, 0))
        while not writer.is_closing():
            start = await reader.readexactly(9)
            kind, flags, stream = start[3], start[4], int.from_bytes(start[5:], "big")
            payload = await reader.readexactly(int.from_bytes(start[:3], "big"))
            if kind in (SETTINGS, PING) and not flags & ACK:
                writer.write(frame(kind, ACK, 0, payload if kind == PING else b""))
            elif kind == DATA:
                bodies[stream] = bodies.get(stream, b"") + payload
                if flags & END_STREAM:
                    await _write(writer, answer(stream, bodies[stream]))
    writer.close()


async def _write(writer: asyncio.StreamWriter, steps: Sequence[Step]) -> None:
    for step in steps:
        match step:
            case bytes():
                writer.write(step)
                await writer.drain()
            case None:
                writer.close()
            case seconds:
                await asyncio.sleep(seconds)
