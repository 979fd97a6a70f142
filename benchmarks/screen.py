"""Run a program in a pseudo-terminal of 120 x 40, and search the bytes of its output, which needs little time."""

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

import psutil

COLUMNS, ROWS = 120, 40
PATIENCE = 60.0
"""Seconds after which an expected output is missing."""

# Makes the pseudo-terminal the controlling terminal, like that of a shell.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
_SEQUENCE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\s+")


class Screen:
    """The output of a program to its terminal, and the largest memory of the program."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, started: float) -> None:
        self.started = started
        self.written = bytearray()
        self.most = 0
        """The largest memory of the program in bytes, measured after each output."""
        self._master = master
        self._process = psutil.Process(process.pid)

    @property
    def memory(self) -> int:
        """Return the memory of the program in bytes."""
        return int(self._process.memory_info().rss)

    def press(self, keys: bytes) -> float:
        """Press keys and return the time."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def wait_for(self, *wanted: bytes, since: int = 0) -> float:
        """Wait for pieces of output in this order, after the first `since` bytes, and return the time of the last."""
        deadline = at = time.perf_counter()
        deadline += PATIENCE
        for piece in wanted:
            while (found := self.written.find(piece, since)) < 0:
                since = max(since, len(self.written) - len(piece))
                if not self.read(deadline - time.perf_counter()):
                    output = _SEQUENCE.sub(b" ", bytes(self.written[-20_000:]))
                    raise RuntimeError(f"{piece!r} did not appear; the output ends with {output[-1500:]!r}")
                at = time.perf_counter()
            since = found + len(piece)
        return at

    def rest(self, until: float) -> None:
        """Read the output until a time."""
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def read(self, seconds: float) -> bool:
        """Read the next output, within some seconds; return False if there is none."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            self.written += os.read(self._master, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.most = max(self.most, self.memory)
        return True


@contextmanager
def opened(argv: Sequence[str | Path], environment: Mapping[str, str], cwd: Path) -> Iterator[Screen]:
    """Start a program in a terminal; at the end of the context, it and its child processes are killed."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _LAUNCH, *argv],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        cwd=cwd,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Screen(process, master, started)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)
