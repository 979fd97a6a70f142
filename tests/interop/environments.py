"""Create the environments of the interop agents in `.interop/`, one for each version of the official SDK."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".interop"


@dataclass(frozen=True)
class Sdk:
    """A release of the SDK: its protocol version, its transports and the packages of its environment.

    `card` is the path of the card. An agent that `waits` responds to a send when the task has ended, whatever the
    client requested; it pushes once at the end and cancels ended tasks.
    """

    release: str
    version: str
    transports: tuple[str, ...]
    packages: tuple[str, ...]
    card: str = "/.well-known/agent-card.json"
    waits: bool = False


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
"""The SDKs, the newest first; the agent of each is `agents/agent_<name>.py`."""


def python(name: str) -> Path:
    """Return the path of the interpreter of an environment, which may not exist."""
    return HOME / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_ready(name: str) -> bool:
    """Return whether an environment exists and has exactly the expected packages."""
    stamp = _stamp(name)
    return stamp.is_file() and stamp.read_text() == _contents(name)


def create(name: str) -> None:
    """Create an environment; raises CalledProcessError if pip cannot install its packages.

    It uses the pip of this environment and skips compilation, both to save time.
    """
    venv.create(HOME / name, clear=True, symlinks=os.name != "nt")
    pip = [sys.executable, "-m", "pip", "--python", python(name), "install", "-qq", "--no-compile"]
    subprocess.run([*pip, *SDKS[name].packages], check=True)
    _stamp(name).write_text(_contents(name))


def _stamp(name: str) -> Path:
    return HOME / name / "complete"


def _contents(name: str) -> str:
    return "\n".join((sys.version, *SDKS[name].packages))


def _create(name: str) -> bool:
    print(f"creating {HOME / name}: {', '.join(SDKS[name].packages)}", flush=True)
    try:
        create(name)
    except subprocess.CalledProcessError as error:
        print(f"pip could not install the environment {name!r} (exit code {error.returncode})", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Create the missing environments in parallel; the exit code is 1 if one fails."""
    missing = [name for name in SDKS if not is_ready(name)]
    if not missing:
        return 0
    with ThreadPoolExecutor(len(missing)) as workers:
        return 0 if all(list(workers.map(_create, missing))) else 1


if __name__ == "__main__":
    sys.exit(main())
