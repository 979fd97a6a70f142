"""Fixtures: a thread for hostile agents, and the program in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "e2e"))  # has the module `terminal`

from hostile_agent import ServerThread
from programs import Run, running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder for captures and state of the program."""
    return tmp_path / "home"


@pytest.fixture
def inspect(home: Path) -> Iterator[Run]:
    """Run the program in a terminal."""
    with running(home) as run:
        yield run


@pytest.fixture(scope="session")
def server_thread() -> Iterator[ServerThread]:
    made = ServerThread()
    yield made
    made.end()
