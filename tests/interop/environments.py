"""Make the environments of the interop agents under `.interop/`: one for each version of the official SDK."""

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
    """A version of the SDK: the version that it speaks, over what, and what its environment holds.

    `card` is where its agents serve their card; one that `waits` answers a send when the task is over, whatever the
    client wishes, pushes once at the end, and cancels tasks that have ended.
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
    # Its HTTP server is no extra, it always comes along; it has none for HTTP+JSON.
    "v0_2": Sdk(
        "0.2.16",
        "0.2",
        ("JSONRPC", "GRPC"),
        ("a2a-sdk[grpc]==0.2.16", "uvicorn==0.54.0"),
        card="/.well-known/agent.json",
        waits=True,
    ),
}
"""The SDKs, newest first; the agent of each is `agents/agent_<name>.py`."""


def python(name: str) -> Path:
    """Return the interpreter of an environment, whether it exists or not."""
    return HOME / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ready(name: str) -> bool:
    """Say whether an environment exists and holds exactly what it should."""
    stamp = _stamp(name)
    return stamp.is_file() and stamp.read_text() == _contents(name)


def make(name: str) -> None:
    """Make an environment from nothing; raises CalledProcessError where pip cannot install what it holds.

    Our own pip does it, and leaves compiling to whoever imports: both save time that nobody gets back.
    """
    venv.create(HOME / name, clear=True, symlinks=os.name != "nt")
    pip = [sys.executable, "-m", "pip", "--python", python(name), "install", "-qq", "--no-compile"]
    subprocess.run([*pip, *SDKS[name].packages], check=True)
    _stamp(name).write_text(_contents(name))


def _stamp(name: str) -> Path:
    return HOME / name / "complete"


def _contents(name: str) -> str:
    return "\n".join((sys.version, *SDKS[name].packages))


def _made(name: str) -> bool:
    print(f"making {HOME / name}: {', '.join(SDKS[name].packages)}", flush=True)
    try:
        make(name)
    except subprocess.CalledProcessError as error:
        print(f"pip could not make the environment {name!r} (exit {error.returncode})", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Make whatever is not ready, all of it at once; a second run does nothing."""
    missing = [name for name in SDKS if not ready(name)]
    if not missing:
        return 0
    with ThreadPoolExecutor(len(missing)) as workers:
        return 0 if all(list(workers.map(_made, missing))) else 1


if __name__ == "__main__":
    sys.exit(main())
