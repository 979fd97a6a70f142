"""What the journeys share: a home of its own for every program that runs in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread
from terminal import Terminal

Run = Callable[..., Terminal]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the program keeps its captures and its state."""
    return tmp_path / "home"


@pytest.fixture
def inspect(home: Path) -> Iterator[Run]:
    """Run the program in a terminal of its own."""
    with ExitStack() as terminals:

        def run(*words: str | Path, env: Mapping[str, str] | None = None, cols: int = 120, rows: int = 40) -> Terminal:
            argv = [sys.executable, "-m", "inspector.cli", *map(str, words)]
            settings = {"A2A_INSPECT_HOME": str(home), **(env or {})}
            return terminals.enter_context(Terminal(argv, env=settings, cols=cols, rows=rows))

        yield run


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The built-in mock agent, as slow as it is."""
    with serve_in_thread() as url:
        yield url


def the_capture(home: Path) -> Path:
    """Return the only capture that was made."""
    [path] = (home / "captures").glob("*.a2a")
    return path
