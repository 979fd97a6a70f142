"""`mock --capture`: open the capture that the mock agent serves."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from inspector.cli.errors import usage
from inspector.cli.output import Output

_READER = "inspector.sample_agents.replay.recording"
_OF_THE_AGENT = (
    "protocol_versions",
    "spec",
    "capabilities",
    "require_extension",
    "card",
    "scenario",
    "fault",
    "auth",
    "secret",
    "sign",
    "state",
)
"""The options that change what the built-in agent does; a recording determines the same."""
_HINT = "Check the path. Captures are files written with --capture, or files in your data folder."


@contextmanager
def opened_recording(given: Namespace, out: Output) -> Iterator[Any]:
    """Open the recording of `--capture`; raises `FaultError` for other options of the agent, and for an unusable file.

    Prints a warning for each part of the recording that is not served.
    """
    chosen = [f"--{name.replace('_', '-')}" for name in _OF_THE_AGENT if name in given.chosen]
    if chosen:
        raise usage(
            f"{' and '.join(chosen)} cannot be combined with --capture.",
            "A recording determines the responses: use either --capture or the options of the built-in agent.",
        )
    from inspector.capture.paths import is_being_written  # noqa: PLC0415 - the built-in agent needs no captures
    from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - likewise
    from inspector.capture.store import Capture  # noqa: PLC0415 - likewise
    from inspector.session.replay.validation import validated  # noqa: PLC0415 - likewise

    reader = import_module(_READER)
    try:
        with Capture.open(given.capture, validated) as capture:
            if is_being_written(given.capture):
                out.warn("another process is still writing this capture: later records are missing")
            recording = reader.read_recording(capture)
            if recording.skipped:
                out.warn(f"requests without a valid response are not served: {recording.skipped:,}")
            if not recording.cards:
                out.warn("the capture contains no Agent Card: clients need the URLs of the interfaces")
            yield recording
    except (CaptureError, reader.RecordingError) as error:
        raise usage(str(error), _HINT) from error
