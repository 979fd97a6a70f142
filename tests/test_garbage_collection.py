"""Frozen objects are freed after they were closed. In a process of its own: what is frozen concerns a whole process."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc, weakref
from inspector.garbage_collection import collect_closed_objects, freeze_loaded_modules

class Session:
    def __init__(self):
        self.cycle = self

session = Session()
reference = weakref.ref(session)
freeze_loaded_modules()
del session
if {collect!r}:
    collect_closed_objects()
else:
    gc.collect()
print(reference() is None, gc.get_freeze_count() > 0)
"""


@pytest.mark.parametrize("collect", [True, False])
def test_closed_objects_are_freed_although_they_were_frozen(collect: bool):
    program = PROGRAM.format(collect=collect)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(collect), "True"]
