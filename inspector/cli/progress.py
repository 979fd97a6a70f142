"""A transient line on stderr that shows what a command waits for, if stderr is a terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from inspector.text.sanitise import clean, crop

_DELAY = 1.0
"""Seconds before a wait is shown: most waits are shorter."""
_DEFAULT_WIDTH = 80
_ERASE = "\r\x1b[K"


class ProgressLine:
    """The transient line. It is erased before other output, and drawn again by the next `draw`.

    While `blocked` returns True, the cursor is in a line of output, and nothing is drawn.
    """

    def __init__(self, stream: TextIO, *, shown: bool, blocked: Callable[[], bool]) -> None:
        self.shown = shown and os.environ.get("TERM") != "dumb"
        self._stream = stream
        self._blocked = blocked
        self._drawn = ""
        self._describe: Callable[[], str] | None = None
        self._began = 0.0

    @contextmanager
    def waiting(self, describe: Callable[[], str]) -> Iterator[None]:
        """Show what the command waits for until the end of the context; inside of another wait, do nothing."""
        if not self.shown or self._describe is not None:
            yield
            return
        self._describe, self._began = describe, time.monotonic()
        try:
            yield
        finally:
            self._describe = None
            self.clear()

    def draw(self) -> None:
        """Draw what the command waits for and for how long, unless it has just started to wait."""
        elapsed = time.monotonic() - self._began
        if self._describe is None or elapsed < _DELAY or self._blocked():
            return
        text = crop(clean(f"{self._describe()}, {elapsed:.0f} s"), width_of(self._stream) - 1)
        if text != self._drawn:
            self._write(f"{_ERASE}{text}")
            self._drawn = text

    def clear(self) -> None:
        """Erase the line if it is drawn."""
        if self._drawn:
            self._drawn = ""
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone: the result of the command does not depend on this line
            self.shown, self._describe = False, None


def width_of(stream: TextIO) -> int:
    """Return the width of the terminal of a stream in cells."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):  # not a terminal
        return _DEFAULT_WIDTH
