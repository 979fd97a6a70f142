"""Settings of the whole test run."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Exclude the collected tests and modules from garbage collection, which none of them needs, and collect seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)  # as the app does
