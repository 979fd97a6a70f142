"""Settings of the whole test run."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Exclude all tests and modules from garbage collection: there are a million objects, and none becomes garbage."""
    gc.collect()
    gc.freeze()
