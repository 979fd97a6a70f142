"""A fork of the program behaves like a new process (`parts/forking.py`)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from forking import Program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


def alone(home: Path) -> dict[str, str]:
    """Return an environment with a home folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    return kept | {"A2A_INSPECT_HOME": str(home)}


def test_output_errors_and_exit_status(tmp_path: Path) -> None:
    with Program("--version", env=alone(tmp_path)) as program:
        out, err = program.communicate()
    assert (program.returncode, err) == (0, "")
    assert out.startswith("a2a-inspect ")
    with Program("card", "get", "--nope", env=alone(tmp_path)) as program:
        out, err = program.communicate()
    assert (program.returncode, out) == (2, "")
    assert "--nope" in err


def test_working_folder_environment_and_stdin_are_those_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"name": "from a file"}')
    with Program("card", "get", "-a", "card.json", cwd=tmp_path, env=alone(tmp_path)) as program:
        out, _ = program.communicate()
    assert "from a file" in out
    with Program("lint", "-", env=alone(tmp_path) | {"A2ACLI_OUTPUT": "json"}) as program:
        out, _ = program.communicate('{"name": 5}')
    assert out.startswith("[")
    assert program.returncode == 1


def test_a_signal_ends_a_program_and_not_the_others(tmp_path: Path) -> None:
    with Program("listen", env=alone(tmp_path)) as first, Program("listen", env=alone(tmp_path)) as second:
        assert first.pid != second.pid
        assert first.stdout.readline().startswith("URL: ")
        assert second.stdout.readline().startswith("URL: ")
        first.kill()
        assert first.wait() == -signal.SIGKILL
        assert second.poll() is None
        second.send_signal(signal.SIGINT)
        assert second.wait() == 0


def test_a_program_that_is_left_running_is_killed(tmp_path: Path) -> None:
    with Program("listen", env=alone(tmp_path)) as program:
        assert program.stdout.readline().startswith("URL: ")
    assert program.returncode == -signal.SIGKILL
