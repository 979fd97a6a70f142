"""Create an environment in `.interop/` for each SDK and authorization server and for the browser, with pip or npm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1] / ".interop"


@dataclass(frozen=True)
class Sdk:
    """A release of the SDK: its protocol version, its transports and the packages of its environment.

    `card` is the path of the card. An agent that `waits` responds to a send when the task has ended, whatever the
    client requested; it pushes once at the end and cancels ended tasks. The packages of an SDK for Node.js (`node`) are
    those of npm.
    """

    release: str
    version: str
    transports: tuple[str, ...]
    packages: tuple[str, ...]
    card: str = "/.well-known/agent-card.json"
    waits: bool = False
    node: bool = False


SDKS: dict[str, Sdk] = {
    "v1": Sdk(
        "1.3.0",
        "1.0",
        ("JSONRPC", "HTTP+JSON", "GRPC"),
        ("a2a-sdk[http-server,grpc]==1.3.0", "uvicorn==0.54.0"),
    ),
    "v0_3": Sdk(
        "0.3.26",
        "0.3",
        ("JSONRPC", "HTTP+JSON", "GRPC"),
        ("a2a-sdk[http-server,grpc]==0.3.26", "uvicorn==0.54.0"),
    ),
    # Its HTTP server is always installed, without an extra. It has no server for HTTP+JSON.
    "v0_2": Sdk(
        "0.2.16",
        "0.2",
        ("JSONRPC", "GRPC"),
        ("a2a-sdk[grpc]==0.2.16", "uvicorn==0.54.0"),
        card="/.well-known/agent.json",
        waits=True,
    ),
}
"""The Python SDKs, the newest first; the agent of each is `agents/agent_<name>.py`."""

_NPM = ("express@5.3.0", "@grpc/grpc-js@1.14.7", "@bufbuild/protobuf@2.17.0")

NODE_SDKS: dict[str, Sdk] = {
    "js_v1": Sdk("1.3.0", "1.0", ("JSONRPC", "HTTP+JSON", "GRPC"), ("@a2a-js/sdk@1.3.0", *_NPM), node=True),
    "js_v0_3": Sdk("0.3.14", "0.3", ("JSONRPC", "HTTP+JSON", "GRPC"), ("@a2a-js/sdk@0.3.14", *_NPM), node=True),
}
"""The JavaScript SDKs, the newest first; the agent of each is `agents/agent_<name>.mjs`."""

ALL: dict[str, Sdk] = SDKS | NODE_SDKS


@dataclass(frozen=True)
class Library:
    """A library for scripts of these tests: the packages of its environment, of pip or of npm (`node`)."""

    packages: tuple[str, ...]
    node: bool = False


AUTHORIZATION_SERVERS: dict[str, Library] = {
    "authlib": Library(("authlib==1.9.9", "flask==3.1.3", "joserfc==1.8.0")),
    "oidc_provider": Library(("oidc-provider@9.13.3",), node=True),
}
"""The authorization servers; the script of each is `authorization/server_<name>.py` or `.mjs`."""

BROWSER = "browser"
"""The environment of `browser/visit.py`, which drives the Chromium of the system."""

_ENVIRONMENTS: dict[str, Sdk | Library] = {
    **ALL,
    **AUTHORIZATION_SERVERS,
    BROWSER: Library(("playwright==1.65.2",)),
}

_SCRIPTS = "scripts"
"""A link in an environment of Node.js to this folder: Node.js searches for packages in the folders above a script."""


def command(name: str, script: str) -> list[str | Path]:
    """Return the command that runs a script of this folder in an environment: `agents/agent_v1`, without its suffix."""
    if _ENVIRONMENTS[name].node:
        links = ("--preserve-symlinks", "--preserve-symlinks-main")
        return ["node", *links, HOME / name / _SCRIPTS / f"{script}.mjs"]
    return [python(name), HERE / f"{script}.py"]


def python(name: str) -> Path:
    """Return the path of the interpreter of an environment, which may not exist."""
    return HOME / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(name: str) -> bool:
    """Return whether an environment exists and has exactly the expected packages."""
    stamp = _stamp(name)
    return stamp.is_file() and stamp.read_text() == _contents(name)


def are_complete() -> bool:
    """Return whether all environments are ready."""
    return all(map(is_ready, _ENVIRONMENTS))


def create(name: str) -> None:
    """Create an environment; raises CalledProcessError or FileNotFoundError if its packages cannot be installed."""
    shutil.rmtree(HOME / name, ignore_errors=True)
    environment = _ENVIRONMENTS[name]
    (_create_node if environment.node else _create_python)(HOME / name, environment.packages)
    _stamp(name).write_text(_contents(name))


def _create_python(folder: Path, packages: tuple[str, ...]) -> None:
    """Create an environment with the pip of this environment and without compilation, both to save time."""
    venv.create(folder, clear=True, symlinks=os.name != "nt")
    pip = [sys.executable, "-m", "pip", "--python", python(folder.name), "install", "-qq", "--no-compile"]
    subprocess.run([*pip, *packages], check=True)


def _create_node(folder: Path, packages: tuple[str, ...]) -> None:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}')
    (folder / _SCRIPTS).symlink_to(HERE, target_is_directory=True)
    # Scripts of packages are not run: the packages need none.
    npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder]
    subprocess.run([*npm, *packages], check=True, stdout=subprocess.DEVNULL)


def _stamp(name: str) -> Path:
    return HOME / name / "complete"


def _contents(name: str) -> str:
    return "\n".join((sys.version, *_ENVIRONMENTS[name].packages))


def _create(name: str) -> bool:
    print(f"creating {HOME / name}: {', '.join(_ENVIRONMENTS[name].packages)}", flush=True)
    try:
        create(name)
    except FileNotFoundError as error:
        print(f"the environment {name!r} needs a program: {error}", file=sys.stderr)
        return False
    except subprocess.CalledProcessError as error:
        print(f"the packages of {name!r} could not be installed (exit code {error.returncode})", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Create the missing environments in parallel; the exit code is 1 if one fails."""
    missing = [name for name in _ENVIRONMENTS if not is_ready(name)]
    if not missing:
        return 0
    with ThreadPoolExecutor(len(missing)) as workers:
        return 0 if all(list(workers.map(_create, missing))) else 1


if __name__ == "__main__":
    sys.exit(main())
