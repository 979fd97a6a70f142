"""Fixtures: the MCP server in this process or in its own, its clients, and agents for it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from inspector.sample_agents.server import serve_in_thread
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client._memory import InMemoryTransport
from mcp.client.stdio import stdio_client

from inspector.cli.arguments import invocation
from inspector.cli.commands import find
from inspector.cli.mcp import options_for
from inspector.mcp_server.agents import Agents
from inspector.mcp_server.server import make_server
from inspector.settings_file import load

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
    for name in list(os.environ):
        if name.startswith("A2ACLI_"):
            monkeypatch.delenv(name)
    return dict(os.environ)


@pytest.fixture
def connect(folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Return a function that connects to the server of `a2a-inspect mcp OPTIONS` in this process."""
    monkeypatch.chdir(folder)

    @asynccontextmanager
    async def start(*options: str, **more: str) -> AsyncIterator[Client]:
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        command = find(["mcp"])
        assert command is not None
        given = invocation(command.parser().read(options, os.environ, load))
        agents = Agents(options_for(given.options), may_send=given.given.allow_send)
        try:
            async with Client(InMemoryTransport(make_server(agents))) as client:
                yield client
        finally:
            await agents.close()

    return start


@pytest.fixture
def connect_stdio(folder: Path, environment: dict[str, str]) -> Connect:
    """Return a function that connects to `a2a-inspect mcp OPTIONS` over stdio."""

    def start(*options: str, **more: str) -> Client:
        words = ["-m", "inspector", "mcp", *options]
        server = StdioServerParameters(command=sys.executable, args=words, env=environment | more, cwd=folder)
        return Client(stdio_client(server))

    return start


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    with serve_in_thread(pace=0) as url:
        yield url
