"""Run the program in pseudo-terminals, with a home folder that is not the user's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from terminal import Terminal

Run = Callable[..., Terminal]
"""Runs the program with arguments in a terminal; `env`, `cols` and `rows` are those of the terminal."""


@contextmanager
def running(home: Path) -> Iterator[Run]:
    """Yield a function that runs the program; all programs end with the context."""
    with ExitStack() as terminals:

        def run(*words: str | Path, env: Mapping[str, str] | None = None, cols: int = 120, rows: int = 40) -> Terminal:
            argv = [sys.executable, "-m", "inspector.cli", *map(str, words)]
            settings = {"A2A_INSPECT_HOME": str(home), **(env or {})}
            return terminals.enter_context(Terminal(argv, env=settings, cols=cols, rows=rows))

        yield run


def only_capture(home: Path) -> Path:
    """Return the path of the only capture."""
    [path] = (home / "captures").glob("*.a2a")
    return path
