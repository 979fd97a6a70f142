"""The example of an image and of a compose file: without Docker, its parts are checked and its commands are run."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from ports import unused_port

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "examples" / "docker"
SERVICES = ("agent", "webhooks", "doctor")
SECONDS = 60


def copied() -> list[str]:
    """Return the files and folders that the first stage of the Dockerfile copies."""
    lines = re.findall(r"^COPY (.+) \S+$", (FOLDER / "Dockerfile").read_text(), re.MULTILINE)
    return [name for line in lines for name in line.split()]


def services() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]


def test_the_image_has_every_shipped_package_and_a_user_without_privileges():
    packages = {"inspector", "themes", "sample_agents"}
    assert set(copied()) == {"pyproject.toml", "README.md", "LICENSE", *packages}
    assert all((ROOT / name).exists() for name in copied())
    stage = (FOLDER / "Dockerfile").read_text().rpartition("FROM ")[2]
    assert re.search(r"^USER inspector$", stage, re.MULTILINE)
    assert stage.index("USER inspector") < stage.index("ENTRYPOINT")


def test_the_services_are_built_from_the_dockerfile():
    assert set(services()) == set(SERVICES)
    for service in services().values():
        assert (FOLDER / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]).is_file()


@pytest.fixture
def commands() -> dict[str, list[str]]:
    """The commands of the services, with free ports of this machine."""
    local = {number: str(unused_port()) for number in ("9000", "9001", "9100", "9200")}

    def here(word: str) -> str:
        word = re.sub("//(?:agent|webhooks|doctor):", "//127.0.0.1:", word).replace("0.0.0.0", "127.0.0.1")
        return re.sub(r"\b(9[012]0[01])\b", lambda port: local[port[0]], word)

    return {name: [here(word) for word in service["command"]] for name, service in services().items()}


def test_the_services_work_together(commands: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path))
    monkeypatch.setenv("A2ACLI_TOKEN", "the-token-of-the-example")
    program = [sys.executable, "-m", "inspector"]
    with ExitStack() as running:
        for name, first_line in (("agent", "http://"), ("webhooks", "URL: http://")):
            process = subprocess.Popen([*program, *commands[name]], stdout=subprocess.PIPE, text=True)
            running.enter_context(process)
            running.callback(process.send_signal, signal.SIGINT)
            assert process.stdout is not None
            assert process.stdout.readline().startswith(first_line)
        assert process.stdout.readline() == "Token: the-token-of-the-example\n"
        ran = subprocess.run(
            [*program, *commands["doctor"]], check=False, capture_output=True, text=True, timeout=SECONDS
        )
    assert ran.returncode == 0, ran.stdout
    assert "+ push" in ran.stdout
