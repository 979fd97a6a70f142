"""Fixtures: an environment for servers, and the mock agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread

sys.path.append(str(Path(__file__).parent.parent / "e2e"))  # has the module `terminal`

from visiting import Server, clean_environment, serving


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return clean_environment(tmp_path / "home")


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with serve_in_thread(pace=0) as url:
        yield url


@pytest.fixture(scope="module")
def server(mock: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the mock agent, for the tests of a module."""
    with serving(clean_environment(tmp_path_factory.mktemp("home")), mock) as server:
        yield server
