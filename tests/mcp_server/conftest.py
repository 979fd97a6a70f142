"""Fixtures: the MCP server in a process of its own, its clients, and agents for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.server import serve_in_thread
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

sys.path.append(str(Path(__file__).parent.parent / "cli"))  # has the module `puppets`

from mcp_calls import Connect
from puppets import Answer, MakeAgent, Puppet, ServerThread, silence


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


@pytest.fixture(scope="session")
def server_thread() -> Iterator[ServerThread]:
    thread = ServerThread()
    yield thread
    thread.end()


@pytest.fixture
def make_agent(server_thread: ServerThread) -> Iterator[MakeAgent]:
    """Return a function that starts an agent: `answer` handles calls, `card` has members for the standard card."""
    serving = []

    def make(answer: Answer = silence, card: Any = None) -> Puppet:
        made = Puppet(answer, {} if card is None else card)
        context = server_thread.serve(made.handle)
        made.url = context.__enter__()
        serving.append(context)
        return made

    yield make
    for context in serving:
        context.__exit__(None, None, None)
