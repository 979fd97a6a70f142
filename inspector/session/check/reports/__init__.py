"""Reports of a run: the JSON of ACTS, JUnit XML, TAP and HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from inspector.session.check.result import RunResult

FORMATS: Mapping[str, str] = {"json": ".json", "junit": ".xml", "tap": ".tap", "html": ".html"}
"""The formats with the suffixes of their files; the module of a format has its name."""


def render(name: str, run: RunResult) -> list[str]:
    """Return the documents of a report: one for each transport in the JSON of ACTS, otherwise one."""
    write: Callable[[RunResult], list[str]] = import_module(f"{__name__}.{name}").write
    return write(run)
