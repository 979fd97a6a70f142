"""Write to a stream without waiting for its reader, so that a server responds while its output is not read."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from inspector.cli.output import Output, OutputLostError

_PIECE = select.PIPE_BUF if hasattr(select, "PIPE_BUF") else 512
"""The bytes of one write: a pipe that is ready accepts at least so many without waiting."""


@contextmanager
def unblocked(out: Output, on_ready: Callable[[], None]) -> Iterator[tuple[UnblockedStream, UnblockedStream]]:
    """Write stdout and stderr through an `UnblockedStream` each, until the end of the context.

    `drain` waits for the reader of a stream. Raises `OutputLostError` at the end if a stream has failed.
    """
    with out.through(lambda stream: UnblockedStream(stream, on_ready)) as streams:
        out.is_stderr_waiting = lambda: streams[1].is_waiting
        try:
            yield streams
        finally:
            for stream in streams:
                stream.close()
    for stream in streams:
        if stream.error is not None:
            raise OutputLostError(stream.stream, stream.error)


class UnblockedStream:
    """Writes as much of a text as its `stream` accepts without waiting, and keeps the rest until its reader reads more.

    `on_ready` is called by the event loop when nothing is kept any more, and when the stream has failed (`error`);
    later texts are then dropped. A stream that is not a file descriptor is written to directly.
    """

    def __init__(self, stream: TextIO, on_ready: Callable[[], None]) -> None:
        stream.flush()
        self.error: OSError | None = None
        self.stream = stream
        self._on_ready = on_ready
        self._kept = bytearray()
        self._loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        self._empty.set()
        self._descriptor = _descriptor(stream)

    @property
    def is_waiting(self) -> bool:
        """Return whether a part of the text is not written yet."""
        return not self._empty.is_set()

    def write(self, text: str) -> None:
        """Keep a text for `flush`."""
        if self.error is not None:
            return
        self._kept += text.encode(self.stream.encoding or "utf-8", self.stream.errors or "strict")

    def flush(self) -> None:
        """Write what the stream accepts without waiting."""
        if not self._kept or self.is_waiting:
            return
        if not self._write():
            self._empty.clear()
            self._loop.add_writer(self._descriptor, self._go_on)
        elif self.error is not None:
            self._loop.call_soon(self._on_ready)

    async def drain(self) -> None:
        """Wait until everything is written, or the stream has failed."""
        await self._empty.wait()

    def close(self) -> None:
        """Drop what is not written yet, and then also what is written to the stream later."""
        if self.is_waiting:
            self._loop.remove_writer(self._descriptor)
            self._empty.set()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._descriptor)
            os.close(nowhere)

    def _go_on(self) -> None:
        if self._write():
            self._loop.remove_writer(self._descriptor)
            self._empty.set()
            self._on_ready()

    def _write(self) -> bool:
        """Write until the stream is not ready; return whether nothing is kept."""
        try:
            if self._descriptor < 0:
                self.stream.write(self._kept.decode(self.stream.encoding or "utf-8"))
                self.stream.flush()
                self._kept.clear()
            while self._kept and _is_ready(self._descriptor):
                del self._kept[: os.write(self._descriptor, self._kept[:_PIECE])]
        except OSError as error:
            self.error = error
            self._kept.clear()
        return not self._kept


def _descriptor(stream: TextIO) -> int:
    """Return the file descriptor of a stream, -1 if it has none, or without `poll` (Windows)."""
    try:
        return stream.fileno() if hasattr(select, "poll") else -1
    except OSError:
        return -1


def _is_ready(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))
