"""Fixtures: the MCP server in a process of its own, its clients, and agents for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

sys.path.append(str(Path(__file__).parent.parent / "cli"))  # has the module `puppets`

from mcp_calls import Connect
from puppets import make_agent, server_thread  # noqa: F401 - fixtures


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which the server is started."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(home))
    return {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}


@pytest.fixture
def connect(folder: Path, environment: dict[str, str]) -> Connect:
    """Return a function that makes a client of `a2a-inspect mcp OPTIONS`, over stdio."""

    def start(*options: str, **more: str) -> Client:
        words = ["-m", "inspector", "mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=words, env=environment | more, cwd=folder)
        return Client(stdio_client(server))

    return start


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    with serve_in_thread(pace=0) as url:
        yield url
