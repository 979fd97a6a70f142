"""A check file made from the recorded exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspector.session.check.recorded.making import make_check
from inspector.session.check.recorded.yaml_text import write_yaml
from inspector.session.exporters.selection import Selection


def write_capture(selection: Selection, warn: Callable[[str], None]) -> Iterator[str]:
    """Write a check of the chosen exchanges; raises `FaultError` if none can be checked."""
    made = make_check(selection.capture, selection.query)
    for note in made.notes:
        warn(note)
    name = selection.capture.path.name
    yield write_yaml(made.document, [f"made by a2a-inspect from {name}; run it with: a2a-inspect check FILE -a URL"])
