"""Settings of Python's garbage collector for programs that load many modules."""

from __future__ import annotations

import gc

_THRESHOLDS = (20_000, 20, 50)
"""The thresholds of the garbage collector, high because streams and drawing create thousands of objects, hardly any of
which are in a cycle."""


def freeze_loaded_modules() -> None:
    """Exclude the loaded modules from garbage collection: collecting them once costs a command 10 ms, a key 100 ms.

    Does nothing the second time: frozen objects are never freed, and a second app would freeze those of the first app.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.set_threshold(*_THRESHOLDS)
    gc.enable()
