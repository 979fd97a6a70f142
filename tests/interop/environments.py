"""Make the environments of the interop agents under `.interop/`: one for each generation of the official SDK."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".interop"

PACKAGES: dict[str, tuple[str, ...]] = {
    "v1": ("a2a-sdk[http-server,grpc]==1.3.0", "uvicorn==0.54.0"),
    "v0_3": ("a2a-sdk[http-server,grpc]==0.3.26", "uvicorn==0.54.0"),
    "v0_2": ("a2a-sdk[grpc]==0.2.16", "uvicorn==0.54.0"),
}
"""What each environment holds; its agent is `agents/agent_<name>.py`."""


def python(name: str) -> Path:
    """Return the interpreter of an environment, whether it exists or not."""
    return HOME / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ready(name: str) -> bool:
    """Say whether an environment exists and holds exactly what it should."""
    stamp = _stamp(name)
    return stamp.is_file() and stamp.read_text() == _contents(name)


def make(name: str) -> None:
    """Make an environment from nothing; raises CalledProcessError where pip cannot install what it holds."""
    venv.create(HOME / name, clear=True, with_pip=True, symlinks=os.name != "nt")
    subprocess.run([python(name), "-m", "pip", "install", "-qq", *PACKAGES[name]], check=True)
    _stamp(name).write_text(_contents(name))


def _stamp(name: str) -> Path:
    return HOME / name / "complete"


def _contents(name: str) -> str:
    return "\n".join((sys.version, *PACKAGES[name]))


def main() -> int:
    """Make whatever is not ready; a second run does nothing."""
    for name, packages in PACKAGES.items():
        if ready(name):
            continue
        print(f"making {python(name).parent.parent}: {', '.join(packages)}", flush=True)
        try:
            make(name)
        except subprocess.CalledProcessError as error:
            print(f"pip could not make the environment {name!r} (exit {error.returncode})", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
