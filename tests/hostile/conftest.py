"""What hostile agents need: a place to live, and a program to attack."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "e2e"))  # where the terminal is

from programs import Run, running
from villain import Lair


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
def lair() -> Iterator[Lair]:
    made = Lair()
    yield made
    made.end()
