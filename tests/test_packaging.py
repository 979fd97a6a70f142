"""The wheel: built from a copy of the tree, installed into an empty environment, and run."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import inspector

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"inspector": "inspector", "themes": "inspector/themes", "sample_agents": "inspector/sample_agents"}
"""The folders that ship, and where they are in the wheel."""

SECONDS = 300


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, check=False, cwd=cwd, env=clean, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, because setuptools leaves a `build/` folder behind and reuses it."""
    home = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
    tree = shutil.copytree(ROOT, home / "tree", ignore=left_out)
    built = run(sys.executable, "-m", "build", "--wheel", "--outdir", home, tree, cwd=home)
    assert built.returncode == 0, built.stdout + built.stderr
    [path] = home.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with its dependencies into an empty environment, and return the folder of its programs."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=True, symlinks=os.name != "nt")
    folder = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    installed = run(folder / "python", "-m", "pip", "install", "-qq", "--no-compile", wheel, cwd=home)
    assert installed.returncode == 0, installed.stderr
    return folder


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_installs_nothing_outside_the_package(wheel: Path):
    tops = {name.partition("/")[0] for name in contents(wheel)}
    assert tops == {"inspector", f"a2a_inspect-{inspector.__version__}.dist-info"}


def test_every_file_of_the_shipped_packages_is_in_the_wheel(wheel: Path):
    expected = {
        f"{place}/{path.relative_to(ROOT / room).as_posix()}"
        for room, place in ROOMS.items()
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected - contents(wheel) == set()


@pytest.mark.slow
def test_the_installed_program_prints_its_version(programs: Path, tmp_path: Path):
    ran = run(programs / "a2a-inspect", "--version", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert inspector.__version__ in ran.stdout


@pytest.mark.slow
def test_the_installed_package_is_not_the_one_of_this_tree(programs: Path, tmp_path: Path):
    ran = run(programs / "python", "-c", "import inspector; print(inspector.__file__)", cwd=tmp_path)
    assert Path(ran.stdout.strip()).is_relative_to(programs.parent), ran.stderr


@pytest.fixture
def card_server() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.path == "/.well-known/agent-card.json"
            body = json.dumps(CARD | {"supportedInterfaces": [INTERFACE | {"url": base}]}).encode() if known else b""
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        base = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield base
        server.shutdown()
        thread.join()


INTERFACE = {"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
CARD = {
    "name": "the card of a tiny server",
    "description": "Serves its card and nothing else",
    "version": "1.0.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "none", "name": "None", "description": "Does nothing", "tags": ["test"]}],
}


@pytest.mark.slow
def test_the_installed_program_reads_a_card(programs: Path, card_server: str, tmp_path: Path):
    ran = run(programs / "a2a-inspect", "card", "get", "-a", card_server, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert CARD["name"] in ran.stdout


@pytest.mark.slow
def test_the_installed_program_reports_a_missing_card(programs: Path, card_server: str, tmp_path: Path):
    ran = run(programs / "a2a-inspect", "card", "get", "-a", f"{card_server}/elsewhere.json", cwd=tmp_path)
    assert ran.returncode != 0
    assert "card" in ran.stderr.lower()
    assert "Traceback" not in ran.stderr
