"""Read a card or lines from stdin, and answers to prompts.

Lines and answers are read without blocking the event loop: a command that blocks it reacts neither to the first Ctrl+C
nor to SIGTERM nor to `--timeout`.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from getpass import getpass
from typing import TextIO

from inspector.cli.errors import usage
from inspector.text.limited_file import read_limited

if sys.platform != "win32":
    import termios

STDIN = "-"
"""What a user writes instead of a file to have stdin read."""
_BLOCK = 65_536


def read_card() -> bytes:
    """Return the bytes of a card on stdin; raises `FaultError`. Blocks until they are read."""
    try:
        return read_limited(sys.stdin.buffer)
    except OSError as error:
        raise usage(f"The card on stdin could not be read: {error.strerror or error}.") from error


async def read_lines(stream: TextIO) -> AsyncGenerator[str]:
    """Yield the lines of a stream without blocking the event loop while a pipe or a terminal has no data.

    Raises `FaultError` if they are not UTF-8.
    """
    try:
        async with aclosing(_decoded_lines(stream)) as lines:
            async for line in lines:
                yield line
    except UnicodeDecodeError as error:
        raise usage("stdin is not UTF-8 text.", "Check the encoding of the file or program before the pipe.") from error


async def _decoded_lines(stream: TextIO) -> AsyncGenerator[str]:
    try:
        descriptor = stream.fileno()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):  # not a stream of the system
        is_file = True
    if is_file:
        for raw in stream.buffer:
            yield raw.decode("utf-8")
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    pending, ended = "", False
    while not ended:
        await _readable(descriptor)
        block = os.read(descriptor, _BLOCK)
        ended = not block
        *lines, pending = (pending + decoder.decode(block, final=ended)).split("\n")
        for line in lines:
            yield line
    if pending:
        yield pending


async def _readable(descriptor: int) -> None:
    """Wait until a descriptor has data; return at once if the event loop cannot wait for it."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except (NotImplementedError, PermissionError):  # Windows; a device such as /dev/null
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


def can_ask() -> bool:
    """Return whether a person can read a prompt and answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def ask(prompt: str) -> str:
    """Return the line that the user types after a prompt, `""` at the end of the input."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = None
    try:
        async with aclosing(read_lines(sys.stdin)) as lines:
            line = await anext(lines, None)  # a read from a terminal returns one line
    finally:
        if line is None:  # what is printed next starts on a new line
            sys.stderr.write("\n")
    return (line or "").strip()


async def ask_secret(prompt: str) -> str:
    """Return the line that the user types after a prompt like `ask`, without showing it."""
    if sys.platform == "win32":
        return getpass(prompt, sys.stderr)
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    silent = [*before]
    silent[3] &= ~termios.ECHO  # the local flags
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    try:
        secret = await ask(prompt)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    sys.stderr.write("\n")  # the terminal does not show that of the user
    return secret
