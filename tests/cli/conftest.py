"""Fixtures: run the program in this process, and agents for it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "e2e"))  # has the modules `terminal` and `programs`

from closed_port import closed_port  # noqa: F401 - a fixture
from inspector.sample_agents.server import serve_in_thread
from puppets import SECONDS, CliResult, RunCli, make_agent, server_thread  # noqa: F401 - fixtures
from time_limit import time_limit  # noqa: F401 - a fixture

from inspector.cli.main import main


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    for name in list(os.environ):
        if name.startswith("A2ACLI_"):
            monkeypatch.delenv(name)


class Terminal(io.TextIOWrapper):
    """A stream that is read by people."""

    def isatty(self) -> bool:
        """Return True."""
        return True


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> RunCli:
    """Run the program in this process; `width` is the width of the terminal on stdout, 0 for a pipe."""

    def run(*words: str, stdin: bytes = b"", width: int = 0, **environment: str) -> CliResult:
        kinds = Terminal if width else io.TextIOWrapper, io.TextIOWrapper
        streams = [kind(io.BytesIO(), encoding="ascii") for kind in kinds]
        with monkeypatch.context() as patch:
            patch.setattr("inspector.cli.output.width_of", lambda _: width)
            patch.setenv("NO_COLOR", "1")
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            for name, value in {"A2ACLI_TIMEOUT": f"{SECONDS}s", **environment}.items():
                patch.setenv(name, value)
            code = main(words)
        out, err = (stream.buffer.getvalue().decode("utf-8") for stream in streams)
        return CliResult(code, out, err)

    return run


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The built-in mock agent without pauses."""
    with serve_in_thread(pace=0) as url:
        yield url


@pytest.fixture(scope="session")
def slow_mock() -> Iterator[str]:
    """The built-in mock agent with its pauses, for tasks that have not ended yet."""
    with serve_in_thread() as url:
        yield url
