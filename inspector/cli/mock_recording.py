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
    from inspector.cli.opened_capture import opened_capture  # noqa: PLC0415 - the built-in agent needs no captures

    reader = import_module(_READER)
    try:
        with opened_capture(given.capture, out) as capture:
            recording = reader.read_recording(capture)
            if recording.skipped:
                out.warn(f"requests without a valid response are not served: {recording.skipped:,}")
            if not recording.cards:
                out.warn("the capture contains no Agent Card: clients need the URLs of the interfaces")
            yield recording
    except reader.RecordingError as error:
        raise usage(str(error), "Choose a capture with requests and their responses.") from error
