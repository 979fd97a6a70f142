"""`export`: write a capture in another format."""

from __future__ import annotations

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.opened_capture import opened_capture, read_filter
from inspector.cli.output import Output
from inspector.cli.output_file import write_new_file
from inspector.session.exporters import CAPTURE_FORMATS, OTLP, CaptureFormat
from inspector.session.exporters.selection import Selection
from inspector.text.sanitise import clean

_SUFFIXES = {".yml": "acts", ".ndjson": "jsonl", ".bash": "curl"}
"""Further suffixes of the formats."""


def export(invocation: Invocation, out: Output) -> int:
    """Write the chosen records of a capture to stdout or to a new file."""
    given = invocation.given
    if given.otlp_endpoint and (given.out or given.format not in (None, OTLP)):
        raise usage("--otlp-endpoint sends spans; it has no other format and no file.", "Leave out --format and --out.")
    if given.otlp_headers and not given.otlp_endpoint:
        raise usage("--otlp-header is sent to an endpoint, and none is given.", "Add --otlp-endpoint URL.")
    form = _format(given.format, given.out.suffix.lower() if given.out else "")
    query = read_filter(given.filter)
    with opened_capture(given.file, out) as capture:
        selection = Selection(capture, query)
        if not selection:
            raise usage("There is no record to export.", "Choose another filter." if query else "")
        if given.otlp_endpoint:
            _send(selection, invocation, out)
            return OK
        pieces = form.write(selection, out.warn)
        if given.out is not None:
            write_new_file(given.out, pieces)
            return OK
        for piece in pieces:
            out.write(clean(piece, newlines=True, emoji=True) if out.is_terminal else piece)
    return OK


def _format(name: str | None, suffix: str) -> CaptureFormat:
    """Return the format with this name, or else with the suffix of the file, or else the first.

    Raises `FaultError` for the suffix of no format.
    """
    if name is None:
        name = _SUFFIXES.get(suffix) or next((form.name for form in CAPTURE_FORMATS if form.suffix == suffix), None)
    if name is None and suffix:
        known = ", ".join(form.name for form in CAPTURE_FORMATS)
        raise usage(f"No format of captures has the suffix {suffix}.", f"Name one with --format: {known}.")
    return next((form for form in CAPTURE_FORMATS if form.name == name), CAPTURE_FORMATS[0])


def _send(selection: Selection, invocation: Invocation, out: Output) -> None:
    """Send the spans to the endpoint that the user named; raises `FaultError`."""
    from inspector.cli.otlp_endpoint import send_spans  # noqa: PLC0415 - loads httpx

    given = invocation.given
    sent = send_spans(selection, given.otlp_endpoint, given.otlp_headers or ())
    if sent.rejected or sent.reason:
        out.warn(f"the endpoint rejected {sent.rejected:,} spans: {sent.reason or 'no reason'}")
    accepted = sent.spans - sent.rejected
    out.field("Sent", f"{accepted:,} {'span' if accepted == 1 else 'spans'}")
