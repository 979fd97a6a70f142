"""Make an expensive folder or file once for all workers of a test run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """Return what the first worker made in a new folder of a name; the other workers wait for it.

    If making it fails, the next worker that needs it tries again.
    """
    workers_use = "PYTEST_XDIST_WORKER" in os.environ
    folder = (factory.getbasetemp().parent if workers_use else factory.getbasetemp()) / name
    result = folder.with_suffix(".made")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result.exists():
            folder.mkdir(exist_ok=True)
            result.write_text(str(make(folder)))
    return Path(result.read_text())
