"""The wheel: built from a copy of the tree, installed into an empty environment, and run."""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared import made_once

sys.path.append(str(Path(__file__).parent / "e2e"))  # has the module `terminal`

from terminal import Terminal

import inspector

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"inspector": "inspector", "themes": "inspector/themes", "sample_agents": "inspector/sample_agents"}
"""The folders that ship, and where they are in the wheel."""

SECONDS = 300


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, check=False, cwd=cwd, env=clean, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, because setuptools leaves a `build/` folder behind and reuses it."""
    left_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
    return made_once(tmp_path_factory, "copy", lambda folder: shutil.copytree(ROOT, folder / "tree", ignore=left_out))


@pytest.fixture(scope="session")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""

    def build(folder: Path) -> Path:
        built = run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, tree, cwd=folder)
        assert built.returncode == 0, built.stdout + built.stderr
        [path] = folder.glob("*.whl")
        return path

    return made_once(tmp_path_factory, "wheel", build)


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with its dependencies into an empty environment, and return the folder of its programs."""
    return made_once(tmp_path_factory, "installed", lambda folder: environment_with(folder, "--no-compile", wheel))


def environment_with(folder: Path, *packages: str | Path) -> Path:
    """Make an environment, install packages with pip, and return the folder of its programs."""
    venv.create(folder / "venv", with_pip=True, symlinks=os.name != "nt")
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    installed = run(programs / "python", "-m", "pip", "install", "-qq", *packages, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    return programs


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


FIRST_COMMANDS = ("pip install .", "a2a-inspect demo", "a2a-inspect lint http://localhost:9000")
"""The commands of the README that install the program, show the demo and check a card."""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a new user: an empty home folder and no other variables."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}


@pytest.fixture
def installed_by_user(wheel: Path, bare: dict[str, str], tmp_path: Path) -> Path:
    """Run the first command of the README for the wheel, as a new user, and return the program."""
    folder = tmp_path / "own"
    venv.create(folder, with_pip=True, symlinks=True)
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_PROXY")}
    command = [folder / "bin" / "pip", *FIRST_COMMANDS[0].split()[1:-1], "-qq", wheel]
    ran = subprocess.run(
        command, check=False, env=bare | settings | certificates(), capture_output=True, text=True, timeout=SECONDS
    )
    assert ran.returncode == 0, ran.stderr
    return folder / "bin" / "a2a-inspect"


def certificates() -> dict[str, str]:
    """Return the variables with which this machine names its own certificate authorities."""
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
    return {name: os.environ[name] for name in names if name in os.environ}


def test_the_readme_has_the_three_first_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [command for command in FIRST_COMMANDS if command not in text] == []


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_new_user_installs_the_program_sees_the_demo_and_checks_a_card(
    installed_by_user: Path, bare: dict[str, str], card_server: str, tmp_path: Path
):
    folder = tmp_path / "work"
    folder.mkdir()
    words = FIRST_COMMANDS[1].split()[1:]
    with Terminal([installed_by_user, *words], env=bare, cwd=folder) as terminal:
        terminal.wait_for("A small agent for trying things out.")
        terminal.press("ctrl+q")
        terminal.wait_exit()
    words = FIRST_COMMANDS[2].replace("http://localhost:9000", card_server).split()[1:]
    ran = subprocess.run(
        [installed_by_user, *words], check=False, env=bare, cwd=folder, capture_output=True, text=True, timeout=SECONDS
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Findings: " in ran.stdout
    assert list(folder.iterdir()) == [], "nothing is written into the folder of the user"
    written = {path.relative_to(bare["HOME"]).parts[0] for path in Path(bare["HOME"]).rglob("*") if path.is_file()}
    assert written <= {".local", ".config", ".cache"}


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["mcp", "web"])
def test_a_missing_extra_is_named_by_the_installed_program(programs: Path, tmp_path: Path, extra: str):
    ran = run(programs / "a2a-inspect", extra, cwd=tmp_path)
    assert ran.returncode == 2
    assert f"pip install 'a2a-inspect[{extra}]'" in ran.stderr


MOST_LIBRARIES = 39
MOST_MEGABYTES = 80
"""The largest installation without extras and without compiled files, which need 35 MB more."""


@pytest.mark.slow
def test_the_installation_stays_small(programs: Path):
    [packages] = programs.parent.glob("lib/python*/site-packages")
    installer = ("pip", "pip-", "setuptools", "setuptools-", "pkg_resources", "_distutils_hack")
    own = [path for path in packages.iterdir() if not path.name.startswith(installer)]
    libraries = [path.name for path in own if path.name.endswith(".dist-info") and "a2a_inspect" not in path.name]
    assert len(libraries) <= MOST_LIBRARIES, sorted(libraries)
    files = [file for path in own for file in (path.rglob("*") if path.is_dir() else [path])]
    size = sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")
    assert size <= MOST_MEGABYTES * 1e6, f"{size / 1e6:.0f} MB"


INSTALLERS = ("uv tool install .", "pipx install .", "uvx --from . a2a-inspect demo")
"""The other commands of the README; they are run in a copy of the repository."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="session")
def installers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install uv and pipx, and return the folder of their programs."""
    return made_once(tmp_path_factory, "installers", lambda folder: environment_with(folder, "uv", "pipx"))


def python(version: str, installers: Path, tmp_path: Path) -> Path:
    """Return an interpreter of this machine; skips the test if there is none of this version."""
    found = run(installers / "uv", "python", "find", "--no-python-downloads", version, cwd=tmp_path)
    lines = [*found.stdout.split(), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))]
    if not lines:
        pytest.skip(f"Python {version} is not installed on this machine")
    return Path(lines[0])


@pytest.fixture
def user(bare: dict[str, str], installers: Path) -> dict[str, str]:
    """The environment of a new user with uv and pipx, who may have to reach the registry as the user of the tests."""
    kept = ("PIP_", "UV_")
    settings = {name: value for name, value in os.environ.items() if name.startswith(kept) or name.endswith("_PROXY")}
    search = f"{bare['HOME']}/.local/bin:{installers}:{os.defpath}"
    return bare | settings | certificates() | {"PATH": search}


def as_user(user: dict[str, str], cwd: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, env=user, cwd=cwd, capture_output=True, text=True, timeout=SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("command", ["uv tool install", "pipx install"])
def test_the_wheel_is_installed_as_a_tool(
    wheel: Path, installers: Path, user: dict[str, str], card_server: str, tmp_path: Path, command: str, version: str
):
    interpreter = python(version, installers, tmp_path)
    installed = as_user(user, tmp_path, *command.split(), "--python", interpreter, wheel)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    facts = as_user(user, tmp_path, "a2a-inspect", "version", "--verbose", "-o", "json")
    assert json.loads(facts.stdout)["python"].startswith(f"{version}."), facts.stderr
    ran = as_user(user, tmp_path, "a2a-inspect", "lint", card_server)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with Terminal(["a2a-inspect", "demo"], env=user, cwd=tmp_path) as terminal:
        terminal.wait_for("A small agent for trying things out.")
        terminal.press("ctrl+q")
        terminal.wait_exit()


@pytest.mark.slow
@pytest.mark.parametrize("command", INSTALLERS)
def test_a_new_user_installs_the_program_from_the_repository(
    tree: Path, user: dict[str, str], tmp_path: Path, command: str
):
    assert f"    {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
    copy = shutil.copytree(tree, tmp_path / "copy")
    words = command.split()
    words[-1] = {"demo": "--version"}.get(words[-1], words[-1])
    ran = as_user(user, copy, *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if "--version" not in words:
        ran = as_user(user, tmp_path, "a2a-inspect", "--version")
    assert ran.stdout == f"a2a-inspect {inspector.__version__}\n", ran.stderr


@pytest.mark.slow
def test_an_extra_is_installed_with_the_wheel(wheel: Path, user: dict[str, str], tmp_path: Path):
    installed = as_user(user, tmp_path, "uv", "tool", "install", "--python", sys.executable, f"{wheel}[web,images]")
    assert installed.returncode == 0, installed.stderr
    command = [str(Path(user["HOME"], ".local/bin/a2a-inspect")), "web", "demo"]
    with subprocess.Popen(command, env=user, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("URL: http://127.0.0.1:")
        process.terminate()


@pytest.mark.slow
def test_the_installed_program_prints_its_skill_and_its_extras(programs: Path, tmp_path: Path):
    assert run(programs / "a2a-inspect", "help", "--skill", cwd=tmp_path).stdout.startswith("---\nname: a2a-inspect\n")
    facts = json.loads(run(programs / "a2a-inspect", "version", "--verbose", "-o", "json", cwd=tmp_path).stdout)
    assert facts["extras"] == dict.fromkeys(("images", "keyring", "mcp", "web"), "not installed")


@pytest.mark.slow
def test_the_files_that_the_dockerfile_copies_are_enough_for_the_wheel(wheel: Path, tmp_path: Path):
    lines = re.findall(r"^COPY (.+) \S+$", (ROOT / "docs/examples/docker/Dockerfile").read_text(), re.MULTILINE)
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in (name for line in lines for name in line.split()):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree)
    built = run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, tree, cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    [path] = tmp_path.glob("*.whl")
    assert contents(path) == contents(wheel)
