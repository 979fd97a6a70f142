"""Run the program in pseudo-terminals, with a home folder that is not the user's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from forking import Process
from terminal import Running, Terminal

Run = Callable[..., Terminal]
"""Runs the program in a terminal; `start` is `forked` or `Spawned`; for `env`, `cols` and `rows` see `Terminal`."""


@contextmanager
def running(home: Path) -> Iterator[Run]:
    """Yield a function that runs the program; all programs end with the context."""
    with ExitStack() as terminals:

        def run(
            *words: str | Path,
            env: Mapping[str, str] | None = None,
            cols: int = 120,
            rows: int = 40,
            start: Callable[..., Running] = forked,
        ) -> Terminal:
            argv = [sys.executable, "-m", "inspector.cli", *map(str, words)]
            settings = {"A2A_INSPECT_HOME": str(home), **(env or {})}
            return terminals.enter_context(Terminal(argv, start=start, env=settings, cols=cols, rows=rows))

        yield run


def forked(argv: Sequence[str], terminal: int, env: Mapping[str, str], cwd: Path | None) -> Running:
    """Start the program with a fork; `start=Spawned` starts it like a user."""
    return Process(tuple(argv[3:]), (terminal,) * 3, env=env, cwd=cwd, new_session=True)


def only_capture(home: Path) -> Path:
    """Return the path of the only capture."""
    [path] = (home / "captures").glob("*.a2a")
    return path
