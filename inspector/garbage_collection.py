"""Settings of Python's garbage collector for programs that load many modules."""

from __future__ import annotations

import gc

_THRESHOLDS = (20_000, 20, 50)
"""The thresholds of the garbage collector, high because streams and drawing create thousands of objects, hardly any of
which are in a cycle."""

_frozen: bool | None = None
"""Whether this module froze objects, None before; others (tests) may have frozen more, which must stay frozen."""


def freeze_loaded_modules() -> None:
    """Exclude the loaded modules from garbage collection: collecting them once costs a command 10 ms, a key 100 ms.

    Does nothing the second time: frozen objects are never freed, and a second app would freeze those of the first app.
    """
    global _frozen  # noqa: PLW0603
    if _frozen is None:
        _frozen = not gc.get_freeze_count()  # counts them one by one, so it is asked once
        if _frozen:
            gc.freeze()
            gc.set_threshold(*_THRESHOLDS)
    gc.enable()


def collect_closed_objects() -> None:
    """Collect the objects that were closed: the garbage collector runs too seldom to free them soon.

    Objects that were in use when the modules were frozen are collected, too; those in use now are frozen again.
    """
    if _frozen:
        gc.unfreeze()
    gc.collect()
    if _frozen:
        gc.freeze()
