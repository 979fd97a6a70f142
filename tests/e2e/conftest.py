"""What the journeys share: a home of its own for every program that runs in a terminal, and an agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread
from programs import Run, running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where the program keeps its captures and its state."""
    return tmp_path / "home"


@pytest.fixture
def inspect(home: Path) -> Iterator[Run]:
    """Run the program in a terminal."""
    with running(home) as run:
        yield run


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The built-in mock agent, as slow as it is."""
    with serve_in_thread() as url:
        yield url
