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

import psutil

COLUMNS, ROWS = 120, 40
PATIENCE = 60.0
"""Seconds until something that should appear on the screen counts as missing."""

# Makes the pseudo-terminal the controlling one, as that of a shell is.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
_SEQUENCE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\s+")


class Screen:
    """What a program writes to its terminal, when it was read, and how large the program was at most."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, started: float) -> None:
        self.started = started
        self.written = bytearray()
        self.most = 0
        """The most memory of the program in bytes, looked at whenever it wrote something."""
        self._master = master
        self._process = psutil.Process(process.pid)

    @property
    def memory(self) -> int:
        """Return the memory of the program in bytes."""
        return int(self._process.memory_info().rss)

    def press(self, keys: bytes) -> float:
        """Press keys and return when."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def wait_for(self, *wanted: bytes, since: int = 0) -> float:
        """Return when some pieces of output had been read, in their order, behind the first `since` bytes."""
        deadline = at = time.perf_counter()
        deadline += PATIENCE
        for piece in wanted:
            while (found := self.written.find(piece, since)) < 0:
                since = max(since, len(self.written) - len(piece))
                if not self.read(deadline - time.perf_counter()):
                    said = _SEQUENCE.sub(b" ", bytes(self.written[-20_000:]))
                    raise RuntimeError(f"{piece!r} did not appear; the output ends with {said[-1500:]!r}")
                at = time.perf_counter()
            since = found + len(piece)
        return at

    def rest(self, until: float) -> None:
        """Take in what is written until a time has come."""
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def read(self, seconds: float) -> bool:
        """Take in what is written next, within some seconds; False where nothing is."""
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
    """Start a program in a terminal; on leaving, it and all that it started are gone."""
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
