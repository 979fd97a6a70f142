"""The process of a visitor of the web server: the app with the driver for the browser."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable

from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.tui.launch import run

_HEAD = 5
"""The bytes before the content of a packet: its type, and its size in four bytes."""


def main() -> int:
    """Read the options from the first packet on stdin, and run the app; report a failure on stderr."""
    options, named_options = _read_options()
    try:
        return run(options, named_options)
    except FaultError as error:
        sys.stderr.write(f"{error.fault.sentence()}\n")
        return 1


def _read_options() -> tuple[Options, Callable[[str], Options]]:
    """Read exactly one packet: what follows is for the driver. The function is that of `launch.run`."""
    size = int.from_bytes(_read(_HEAD)[1:], "big")
    found: tuple[Options, Callable[[str], Options]] = pickle.loads(_read(size))  # noqa: S301 - of our own server
    return found


def _read(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            raise SystemExit(1)  # the server has ended
        data += piece
    return data


if __name__ == "__main__":
    raise SystemExit(main())
