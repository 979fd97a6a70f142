"""Open the capture and read the filter that a command names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from inspector.capture.paths import is_being_written
from inspector.capture.private_files import CaptureError
from inspector.capture.query import Mistake, Query, parse
from inspector.capture.store import Capture
from inspector.cli.errors import refuse_url, usage
from inspector.cli.output import Output
from inspector.session.replay.validation import validated


@contextmanager
def opened_capture(path: Path, out: Output) -> Iterator[Capture]:
    """Open a capture, and close it at the end; raises `FaultError` if it cannot be opened or read."""
    refuse_url(
        path, "a capture", "To record a capture of an agent, use send --capture FILE. To check its card, use lint."
    )
    is_written = is_being_written(path)
    try:
        with Capture.open(path, validated) as capture:
            if is_written:
                out.warn("another process is still writing this capture: later records are missing")
            yield capture
    except CaptureError as error:
        raise usage(str(error), error.hint) from error


def read_filter(words: Sequence[str]) -> Query | None:
    """Return the query of a filter, None without words; raises `FaultError` if it is not valid."""
    query = parse(" ".join(words)) if words else None
    if isinstance(query, Mistake):
        raise usage(query.sentence, "docs/filter.md describes filters.")
    return query
