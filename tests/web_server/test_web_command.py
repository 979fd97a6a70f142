"""The command `web` without its library, and with invalid options."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from visiting import SECONDS

WITHOUT = """
import sys
sys.modules["textual_serve"] = None
from inspector.cli.main import main
sys.exit(main(["web"]))
"""


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=SECONDS)


def test_without_the_library_the_extra_is_named(environment: dict[str, str]):
    ran = run(environment, "-c", WITHOUT)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "pip install 'a2a-inspect[web]'" in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--port", "99999"],
        ["--visitors", "0"],
        ["--visitors", "x"],
        ["--host", "0.0.0.0"],
        ["--capture", "x.a2a"],
        ["missing.a2a"],
        ["~nosuch/missing.a2a"],
        [f"{'x' * 300}.a2a"],
        ["http://a.example", "b"],
    ],
)
def test_wrong_options_are_reported(environment: dict[str, str], words: list[str]):
    ran = run(environment, "-m", "inspector", "web", *words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Hint:" in ran.stderr


def test_a_port_in_use_is_reported(environment: dict[str, str]):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ran = run(environment, "-m", "inspector", "web", "--port", port)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"Port {port} cannot be used: " in ran.stderr
