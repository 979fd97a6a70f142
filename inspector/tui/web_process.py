"""The process of a visitor of the web server: the app with the driver for the browser."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable

from inspector.agents_file import NamedAgent
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.tui.launch import run

_HEAD = 5
"""The bytes before the content of a packet: its type, and its size in four bytes."""


def main() -> int:
    """Read the arguments from the first packet on stdin, and run the app; report a failure on stderr."""
    options, options_of_agent = _read_arguments()
    try:
        return run(options, options_of_agent)
    except FaultError as error:
        sys.stderr.write(f"{error.fault.sentence()}\n")
        return 1


def _read_arguments() -> tuple[Options, Callable[[NamedAgent], Options]]:
    """Read exactly one packet, and return the arguments of `launch.run`; the driver reads the rest."""
    size = int.from_bytes(_read(_HEAD)[1:], "big")
    arguments: tuple[Options, Callable[[NamedAgent], Options]] = pickle.loads(_read(size))  # noqa: S301 - from our server
    return arguments


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
