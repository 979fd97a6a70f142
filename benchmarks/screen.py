"""A program in a pseudo-terminal of 120 x 40, watched by its bytes alone so that watching costs next to nothing."""

from __future__ import annotations

import fcntl
import os
import pty
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
    """What a program writes to its terminal, with the time at which each piece was read."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, started: float) -> None:
        self.pid = process.pid
        self.started = started
        self._master = master
        self._seen = bytearray()

    def press(self, keys: bytes) -> float:
        """Press keys and return when that was done."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def wait_for(self, *wanted: bytes, timeout: float = PATIENCE) -> float:
        """Return when the last of some pieces of output was read, looking only at what was not waited for before."""
        deadline = time.perf_counter() + timeout
        at = time.perf_counter()
        start = 0
        for piece in wanted:
            while (found := self._seen.find(piece, start)) < 0:
                at = self._read(deadline, piece)
            start = found + len(piece)
        del self._seen[:start]
        return at

    def _read(self, deadline: float, piece: bytes) -> float:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.perf_counter()))
        if not ready:
            raise TimeoutError(f"{piece!r} did not appear; the end of what did: {bytes(self._seen[-2000:])!r}")
        self._seen += os.read(self._master, 1 << 16)
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
