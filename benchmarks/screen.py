"""A program in a pseudo-terminal of 120 x 40, watched by its bytes alone so that watching costs next to nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

COLUMNS, ROWS = 120, 40
PATIENCE = 60.0
"""Seconds until something that should appear on the screen counts as missing."""

# Makes the pseudo-terminal the controlling one, so that Textual finds it.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"


class Screen:
    """What a program writes to its terminal, and when it was read."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, started: float) -> None:
        self.pid = process.pid
        self.started = started
        self.written = bytearray()
        self._master = master

    def press(self, keys: bytes) -> float:
        """Press keys and return when that was done."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def wait_for(self, *wanted: bytes, since: int = 0, timeout: float = PATIENCE) -> float:
        """Return when some pieces of output had been read, in their order, behind the first `since` bytes."""
        deadline = time.perf_counter() + timeout
        at = time.perf_counter()
        for piece in wanted:
            while (found := self.written.find(piece, since)) < 0:
                since = max(since, len(self.written) - len(piece))
                at = self.read(deadline - time.perf_counter(), piece)
            since = found + len(piece)
        return at

    def read(self, timeout: float, wanted: bytes) -> float:
        """Read what was written next and return when; `wanted` names what a failure missed."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, timeout))
        try:
            if not ready:
                raise TimeoutError
            self.written += os.read(self._master, 1 << 16)
        except OSError as error:
            said = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\s+", b" ", bytes(self.written))
            raise RuntimeError(f"{wanted!r} did not appear; the output ends with {said[-1000:]!r}") from error
        return time.perf_counter()


@contextmanager
def opened(argv: Sequence[str], environment: Mapping[str, str]) -> Iterator[Screen]:
    """Start a program in a terminal, and end it, with all that it started, on leaving."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _LAUNCH, *argv],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Screen(process, master, started)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)
