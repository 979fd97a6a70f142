"""Fixtures of the end-to-end tests: a separate home folder, the program in a terminal, and an agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread
from programs import Run, running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder for captures and settings of the program."""
    return tmp_path / "home"


@pytest.fixture
def inspect(home: Path) -> Iterator[Run]:
    """Run the program in a terminal."""
    with running(home) as run:
        yield run


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The built-in mock agent, with its pauses."""
    with serve_in_thread() as url:
        yield url
